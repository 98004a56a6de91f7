#include "nodeup/plan/builders.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/plan/static_pod.h"

/* source: kops 1.8.1 protokube/pkg/protokube/etcd_cluster.go newEtcdController */
/* clang-format off */
static const struct role {
	const char *cluster, *pod, *data, *cpu;
	int64_t client_port, peer_port;
} roles[] = {
	{ "main",   "etcd-server",        "data",        "200m", 4001, 2380 },
	{ "events", "etcd-server-events", "data-events", "100m", 4002, 2381 },
};
/* clang-format on */

static const char manifest_dir[] = "/etc/kubernetes/manifests";
static const char log_inside[] = "/var/log/etcd.log";

static const struct role *find_role(const char *cluster)
{
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (str_eq(roles[i].cluster, cluster))
			return &roles[i];
	return NULL;
}

static const struct node_etcd_cluster *find_cluster(const struct node *n, const char *name)
{
	for (size_t i = 0; i < n->etcd_clusters.n; i++)
		if (str_eq(n->etcd_clusters.v[i].name, name))
			return &n->etcd_clusters.v[i];
	return NULL;
}

/* One pod in the making. */
struct making {
	struct plan *p;
	const struct role *role;
	const char *name; /* "etcd-events" */
	const char *log;
	const struct plan_etcd *mine;
	const struct node_etcd_cluster *cluster;
	struct pod *pod;
};

static void set_env(const struct making *m, const char *name, const char *value)
{
	struct pod_container *c = &m->pod->container;

	arena_push(m->p->arena, c->env, c->n_env, (struct pod_env){ .name = name, .value = value });
}

static char *url(const struct making *m, const char *host, int64_t port)
{
	return arena_printf(m->p->arena, "%s://%s:%lld",
			    m->p->req->node->etcd_tls ? "https" : "http", host, (long long)port);
}

static const char *host_of(const struct making *m, const char *member)
{
	return plan_etcd_name(m->p->arena, m->p->req->node, m->role->cluster, member);
}

static char *initial_cluster(const struct making *m)
{
	const struct strv *members = &m->mine->member.members;
	struct arena *a = m->p->arena;
	struct strv all = { 0 };

	for (size_t i = 0; i < members->n; i++)
		strv_addf(a, &all, "%s-%s=%s", m->name, members->v[i],
			  url(m, host_of(m, members->v[i]), m->role->peer_port));
	return strv_join(a, &all, ",");
}

static void set_times(const struct making *m)
{
	const struct {
		const char *name;
		int64_t ms;
	} times[] = {
		{ "ETCD_ELECTION_TIMEOUT", m->cluster->leader_election_timeout.ns / DUR_MS },
		{ "ETCD_HEARTBEAT_INTERVAL", m->cluster->heartbeat_interval.ns / DUR_MS },
	};

	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		if (times[i].ms)
			set_env(m, times[i].name,
				arena_printf(m->p->arena, "%lld", (long long)times[i].ms));
}

static void set_tls(const struct making *m)
{
	static const struct {
		const char *name, *file;
	} files[] = {
		{ "ETCD_PEER_TRUSTED_CA_FILE", "ca.crt" }, { "ETCD_PEER_CERT_FILE", "etcd.pem" },
		{ "ETCD_PEER_KEY_FILE", "etcd-key.pem" },  { "ETCD_TRUSTED_CA_FILE", "ca.crt" },
		{ "ETCD_CERT_FILE", "etcd.pem" },          { "ETCD_KEY_FILE", "etcd-key.pem" },
	};
	struct plan *p = m->p;

	if (!p->req->node->etcd_tls)
		return;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		set_env(m, files[i].name, plan_in_srv(p, files[i].file));
}

static void set_environment(const struct making *m)
{
	const char *me = host_of(m, m->mine->member.me);
	const struct role *role = m->role;
	struct arena *a = m->p->arena;

	set_env(m, "ETCD_NAME", arena_printf(a, "%s-%s", m->name, m->mine->member.me));
	set_env(m, "ETCD_DATA_DIR", arena_printf(a, "/var/etcd/%s", role->data));
	set_env(m, "ETCD_LISTEN_PEER_URLS", url(m, "0.0.0.0", role->peer_port));
	set_env(m, "ETCD_LISTEN_CLIENT_URLS", url(m, "0.0.0.0", role->client_port));
	set_env(m, "ETCD_ADVERTISE_CLIENT_URLS", url(m, me, role->client_port));
	set_env(m, "ETCD_INITIAL_ADVERTISE_PEER_URLS", url(m, me, role->peer_port));
	set_env(m, "ETCD_INITIAL_CLUSTER_STATE", "new");
	set_env(m, "ETCD_INITIAL_CLUSTER_TOKEN", arena_printf(a, "etcd-cluster-token-%s", m->name));
	set_times(m);
	set_tls(m);
	set_env(m, "ETCD_INITIAL_CLUSTER", initial_cluster(m));
}

static struct pod *make_pod(struct making *m, const char *mount_point)
{
	const struct role *role = m->role;
	struct arena *a = m->p->arena;
	const char *data = arena_printf(a, "/var/etcd/%s", role->data);
	const char *srv = plan_distro(m->p)->srv;
	const struct strv no_flags = { 0 };
	struct pod *pod = plan_pod(m->p, role->pod, m->cluster->image);
	struct pod_container *c = &pod->container;

	m->pod = pod;
	c->name = "etcd-container";
	c->cpu_request = role->cpu;
	/* with TLS kubelet has no certificate that etcd would take */
	c->liveness = m->p->req->node->etcd_tls ? plan_probe(NULL, NULL, role->client_port)
						: plan_probe("/health", "HTTP", role->client_port);
	set_environment(m);
	arena_push(a, c->ports, c->n_ports, (struct pod_port){ "serverport", role->peer_port });
	arena_push(a, c->ports, c->n_ports, (struct pod_port){ "clientport", role->client_port });
	pod_shell_command(a, pod, "/usr/local/bin/etcd", &no_flags, "/bin/tee", log_inside);
	pod_host_path(a, pod, "varetcdata", arena_printf(a, "%s%s", mount_point, data), data,
		      false);
	pod_host_path(a, pod, "varlogetcd", m->log, log_inside, false);
	pod_host_path(a, pod, "hosts", "/etc/hosts", NULL, true);
	if (m->p->req->node->etcd_tls)
		pod_host_path(a, pod, NULL, srv, NULL, true);
	return pod;
}

static const char *path_of(struct plan *p, const struct plan_etcd *mine)
{
	return mine->path ? mine->path : plan_etcd_path(p->arena, p->req->facts, mine->volume_id);
}

static void add_member(struct plan *p, const struct plan_etcd *mine)
{
	const char *mount_point = path_of(p, mine);
	struct making m = {
		.p = p,
		.role = find_role(mine->cluster),
		.name = plan_etcd_cluster(mine->cluster),
		.mine = mine,
		.cluster = find_cluster(p->req->node, mine->cluster),
	};
	struct arena *a = p->arena;
	const char *name;
	struct task *t;
	struct err e;
	char *text;

	if (!m.role || !m.cluster) {
		plan_refuse(p, "etcd cluster '%s': only main and events can be run here",
			    mine->cluster);
		return;
	}
	m.log = arena_printf(a, "/var/log/%s.log", m.name);
	if (manifest_render(a, make_pod(&m, mount_point), &text, &e) < 0) {
		plan_fail(p, &e);
		return;
	}
	plan_log_file(p, m.log);
	name = arena_printf(a, "%s/%s.manifest", manifest_dir, m.name);
	t = plan_new_task(p, TASK_ETCD, name);
	t->etcd = (struct task_etcd){
		.mount_point = mount_point,
		.data = arena_printf(a, "%s/var/etcd/%s", mount_point, m.role->data),
		.manifest = arena_printf(a, "%s/k8s.io/manifests/%s.manifest", mount_point, m.name),
		.link = name,
		.content = text,
	};
}

/* kubelet finds its pods on the volumes: it waits for them at boot, and never sees the directories
 * below. */
static void add_drop_in(struct plan *p)
{
	struct strv lines = { 0 };

	for (size_t i = 0; i < p->req->n_etcd; i++) {
		const char *line = arena_printf(p->arena, "RequiresMountsFor=%s\n",
						path_of(p, &p->req->etcd[i]));

		strv_add_once(p->arena, &lines, line);
	}
	plan_unit_file(p, "kubelet.service.d/10-etcd-volumes.conf",
		       arena_printf(p->arena, "[Unit]\n%s", strv_join(p->arena, &lines, "")));
}

void build_etcd(struct plan *p)
{
	const struct plan_req *req = p->req;

	if (!str_is_empty(req->node->protokube.name))
		return;
	if (!req->n_etcd) {
		if (!req->n_claims && !req->no_keys)
			plan_warn(p,
				  "no etcd volume is known here: no etcd will run on this master");
		return;
	}
	for (size_t i = 0; i < req->n_etcd; i++)
		add_member(p, &req->etcd[i]);
	if (req->etcd_hosts.n)
		plan_new_task(p, TASK_HOSTS, "/etc/hosts")->hosts = (struct task_hosts){
			.block = &hosts_of_etcd,
			.lines = hosts_lines(p->arena, &req->etcd_hosts),
		};
	add_drop_in(p);
}
