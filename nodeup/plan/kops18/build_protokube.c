/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/kops18/kops18.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/plan/assets.h"
#include "nodeup/plan/docker.h"
#include "nodeup/plan/environment.h"

static const char kubeconfig[] = "/var/lib/kops/kubeconfig";
static const char env_file[] = "/etc/sysconfig/protokube";

static void add_flag(struct plan *p, struct strv *v, const char *key, const char *value)
{
	strv_addf(p->arena, v, "--%s=%s", key, value);
}

static void add_dns_flags(struct plan *p, struct strv *flags)
{
	const struct node *n = p->req->node;
	const char *internal = n->master_internal_name;

	if (kops18_uses_gossip(p)) {
		if (str_has_prefix(internal, "api."))
			internal += strlen("api.");
		add_flag(p, flags, "dns", "gossip");
		add_flag(p, flags, "dns-internal-suffix", internal);
		return;
	}
	if (str_eq(n->cloud_provider, "aws"))
		add_flag(p, flags, "dns", "aws-route53");
	add_flag(p, flags, "dns-internal-suffix",
		 arena_printf(p->arena, ".internal.%s", n->cluster_name));
}

static void add_zone(struct plan *p, struct strv *flags)
{
	const char *zone = kops18_of(p)->dns_zone;

	if (!str_is_empty(zone)) {
		/* the zone of that name, or the zone with that id whatever its name */
		add_flag(p, flags, "zone",
			 strchr(zone, '.') ? zone : arena_printf(p->arena, "*/%s", zone));
		return;
	}
	if (!kops18_uses_gossip(p))
		plan_warn(p, "dnsZone is in no document: protokube cannot write DNS names");
}

static void add_tls_flags(struct plan *p, struct strv *flags)
{
	static const struct {
		const char *key, *file;
	} args[] = {
		{ "peer-ca", "ca.crt" },        { "peer-cert", "etcd.pem" },
		{ "peer-key", "etcd-key.pem" }, { "tls-ca", "ca.crt" },
		{ "tls-cert", "etcd.pem" },     { "tls-key", "etcd-key.pem" },
	};

	for (size_t i = 0; i < ARRAY_LEN(args) && kops18_of(p)->etcd_tls; i++)
		add_flag(p, flags, args[i].key, kops18_in_srv(p, args[i].file));
}

static void add_milliseconds(struct plan *p, struct strv *flags, const char *key,
			     const struct opt_dur *d)
{
	if (d->set)
		add_flag(p, flags, key,
			 arena_printf(p->arena, "%lld", (long long)(d->ns / DUR_MS)));
}

static void add_etcd_flags(struct plan *p, struct strv *flags)
{
	const struct kops18_etcds *all = &kops18_of(p)->etcd_clusters;
	const struct kops18_etcd *c = all->v;

	if (all->n == 0)
		return;
	add_flag(p, flags, "etcd-image", c->image);
	add_milliseconds(p, flags, "etcd-election-timeout", &c->leader_election_timeout);
	add_milliseconds(p, flags, "etcd-heartbeat-interval", &c->heartbeat_interval);
}

static struct strv protokube_flags(struct plan *p)
{
	const struct node *n = p->req->node;
	struct strv flags = { 0 };

	if (!str_is_empty(n->cloud_provider))
		add_flag(p, &flags, "cloud", n->cloud_provider);
	add_flag(p, &flags, "containerized", "true");
	add_flag(p, &flags, "master", n->is_master ? "true" : "false");
	add_flag(p, &flags, "v", "4");
	if (kops18_of(p)->channels.n)
		add_flag(p, &flags, "channels", strv_join(p->arena, &kops18_of(p)->channels, ","));
	if (node_k8s_at_least(n, 1, 6))
		add_flag(p, &flags, "initialize-rbac", "true");
	add_etcd_flags(p, &flags);
	add_dns_flags(p, &flags);
	add_zone(p, &flags);
	add_tls_flags(p, &flags);
	strv_sort(&flags);
	return flags;
}

/* Writes " -e 'K=V' " for each variable, as kops does; puts unusual variables into our own quotes. */
static const char *docker_env(struct plan *p, const struct strmap *open, bool has_file)
{
	struct strv out = { 0 };

	for (size_t i = 0; i < open->n; i++) {
		const char *pair =
			arena_printf(p->arena, "%s=%s", open->v[i].key, open->v[i].value);
		const char *quoted = unit_quote(p->arena, pair);

		strv_add(p->arena, &out,
			 strcmp(pair, quoted) == 0 ? arena_printf(p->arena, " -e '%s'", pair)
						   : arena_printf(p->arena, " -e %s", quoted));
	}
	if (has_file)
		strv_addf(p->arena, &out, " --env-file %s", env_file);
	return arena_printf(p->arena, "%s%s", strv_join(p->arena, &out, ""), out.n ? " " : "");
}

static const char *command(struct plan *p, const char *env)
{
	static const char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:"
				   "/bin:/opt/kops/bin";
	struct strv flags = protokube_flags(p), quoted = { 0 };
	const char *kubectl = "";

	if (p->req->node->is_master)
		kubectl = arena_printf(p->arena, "-v %s:/opt/kops/bin:ro --env %s ",
				       plan_distro(p)->kubectl_dir, path);
	for (size_t i = 0; i < flags.n; i++)
		strv_add(p->arena, &quoted, unit_quote(p->arena, flags.v[i]));
	return arena_printf(
		p->arena,
		"/usr/bin/docker run -v /:/rootfs/ -v /var/run/dbus:/var/run/dbus "
		"-v /run/systemd:/run/systemd %s--net=host --pid=host --privileged --env KUBECONFIG=/rootfs%s %s %s "
		"/usr/bin/protokube %s",
		kubectl, kubeconfig, env, unit_quote(p->arena, p->req->node->protokube.name),
		strv_join(p->arena, &quoted, " "));
}

/* Returns whether the image is an archive to load; docker pulls all others by name. */
static bool is_archive(const char *source)
{
	return !str_is_empty(source) && strstr(source, "://") != NULL;
}

static const char *unit_text(struct plan *p, const char *env)
{
	const char *source = p->req->node->protokube.source;
	const char *pull = "/bin/true";

	if (!is_archive(source) && !str_is_empty(source))
		pull = arena_printf(p->arena, "/usr/bin/docker pull %s",
				    unit_quote(p->arena, source));
	return arena_printf(p->arena,
			    "[Unit]\n"
			    "Description=Kubernetes Protokube Service\n"
			    "Documentation=https://github.com/kubernetes/kops\n"
			    "\n"
			    "[Service]\n"
			    "ExecStartPre=%s\n"
			    "ExecStart=%s\n"
			    "Restart=always\n"
			    "RestartSec=2s\n"
			    "StartLimitInterval=0\n"
			    "\n"
			    "[Install]\n"
			    "WantedBy=multi-user.target\n",
			    pull, command(p, env));
}

static void add_service(struct plan *p)
{
	const struct node *n = p->req->node;
	struct strmap open = { 0 }, secret = { 0 };
	struct task *t;

	plan_environment(p, &p->req->environment, &open, &secret);
	node_proxy_variables(p->arena, &n->proxy, n->proxy.is_secret ? &secret : &open);
	if (is_archive(n->protokube.source))
		plan_image(p, &n->protokube);
	plan_env_file(p, env_file, "protokube", &secret);
	t = plan_service(p, "protokube.service", unit_text(p, docker_env(p, &open, secret.n > 0)),
			 true);
	t->unit.last = true;
	t->unit.client_of = plan_docker_unit;
	if (n->is_master)
		strv_add(p->arena, &t->unit.inputs, kubeconfig);
	if (secret.n)
		strv_add(p->arena, &t->unit.inputs, env_file);
}

void build_protokube(struct plan *p)
{
	const struct node *n = p->req->node;

	if (!n->is_master && !kops18_uses_gossip(p))
		return;
	if (n->is_master)
		kops18_kubeconfig(p, kubeconfig, "kops");
	if (!str_is_empty(n->protokube.name))
		add_service(p);
	else
		plan_warn(p, "the documents name no protokubeImage: no program writes DNS names");
}
