/* Tests: test_kops_upgrade.py. */
#include "nodeup/plan/kops/kops.h"

#include <string.h>
#include "nodeup/plan/assets.h"
#include "nodeup/plan/environment.h"
#include "nodeup/tasks/kinds.h"

#define BIN "/opt/kops/bin/"
#define UNIT "protokube.service"

static const char env_file[] = "/etc/sysconfig/protokube";
static const char kubeconfig[] = "/var/lib/kops/kubeconfig";

static const char *command(struct plan *p)
{
	const struct kops_node *n = kops_of(p);
	const char *cluster = n->config->cluster_name, *zone = n->config->dns_zone;
	struct strv words = { 0 }, flags = { 0 };

	strv_add(p->arena, &flags, "--bootstrap-master-node-labels=true");
	if (n->config->channels.n)
		strv_addf(p->arena, &flags, "--channels=%s",
			  strv_join(p->arena, &n->config->channels, ","));
	strv_addf(p->arena, &flags, "--cloud=%s", n->boot->cloud_provider);
	strv_addf(p->arena, &flags, "--cluster-id=%s", cluster);
	strv_add(p->arena, &flags, "--containerized=false");
	strv_addf(p->arena, &flags, "--dns-internal-suffix=.internal.%s", cluster);
	strv_add(p->arena, &flags, "--master=true");
	strv_addf(p->arena, &flags, "--node-name=%s", n->name);
	strv_add(p->arena, &flags, "--v=4");
	/* the zone is a name, or an id in any domain */
	if (!str_is_empty(zone))
		strv_addf(p->arena, &flags, "--zone=%s%s", strchr(zone, '.') ? "" : "*/", zone);
	strv_add(p->arena, &words, BIN "protokube");
	for (size_t i = 0; i < flags.n; i++)
		strv_add(p->arena, &words, unit_quote(p->arena, flags.v[i]));
	return strv_join(p->arena, &words, " ");
}

/* Returns a line of the environment, without quotes as kops writes it wherever the meaning stays the same. */
static const char *env_line(struct arena *a, const char *name, const char *value)
{
	return strpbrk(value, " \t\n\"'\\#;") ? unit_env_line(a, name, value)
					      : arena_printf(a, "%s=%s\n", name, value);
}

static const char *environment(struct plan *p)
{
	const struct node_proxy proxy = kops_proxy(p);
	const struct strmap *given = &p->req->environment;
	struct strmap all = { 0 };
	struct strv lines = { 0 };

	strmap_set(p->arena, &all, "KUBECONFIG", kubeconfig);
	for (size_t i = 0; plan_kops_variables[i]; i++) {
		const char *value = strmap_get(given, plan_kops_variables[i]);

		if (value)
			strmap_set(p->arena, &all, plan_kops_variables[i], value);
	}
	/* protokube looks for channels there; source: kops 1.35 nodeup/pkg/model/protokube.go */
	if (plan_distro(p)->readonly_usr)
		strmap_set(p->arena, &all, "PATH",
			   arena_printf(p->arena,
					"%s:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
					plan_distro(p)->tools_dir));
	node_proxy_variables(p->arena, &proxy, &all);
	strmap_sort(&all);
	for (size_t i = 0; i < all.n; i++)
		strv_add(p->arena, &lines, env_line(p->arena, all.v[i].key, all.v[i].value));
	return strv_join(p->arena, &lines, "");
}

/* Runs protokube, which labels its node and applies addons with the program channels. The pki builder writes its
 * kubeconfig. source: kops 1.35 nodeup/pkg/model/protokube.go */
static void add_service(struct plan *p)
{
	struct task *t;

	plan_install(p, "protokube", BIN "protokube");
	plan_install(p, "channels", BIN "channels");
	plan_secret(p, env_file, 0600, environment(p));
	t = plan_service(p, UNIT,
			 arena_printf(p->arena,
				      "[Unit]\n"
				      "Description=Kubernetes Protokube Service\n"
				      "Documentation=https://kops.sigs.k8s.io\n"
				      "\n"
				      "[Service]\n"
				      "ExecStart=%s\n"
				      "EnvironmentFile=%s\n"
				      "Restart=always\n"
				      "RestartSec=3s\n"
				      "StartLimitInterval=0\n"
				      "\n"
				      "[Install]\n"
				      "WantedBy=multi-user.target\n",
				      command(p), env_file),
			 true);
	t->unit.last = true;
	strv_add(p->arena, &t->unit.inputs, kubeconfig);
	strv_add(p->arena, &t->unit.inputs, env_file);
	strv_add(p->arena, &t->unit.inputs, BIN "protokube");
}

static bool is_there(const struct plan *p, const char *path)
{
	const struct plan_req *req = p->req;

	if (req->before)
		return plan_at(req->before, path);
	return req->has_file && req->has_file(req->has_file_arg, path);
}

/* Removes protokube, which kops 1.35 and older install: a pod, kops-channels, applies the addons now. Without that
 * pod in the documents, protokube stays. */
static void remove_service(struct plan *p)
{
	static const char *const left[] = {
		"/etc/systemd/system/" UNIT,
		"/lib/systemd/system/" UNIT,
		BIN "protokube",
		BIN "channels",
		env_file,
	};

	if (str_is_empty(kops_of(p)->config->channels_manifest))
		return;
	for (size_t i = 0; i < ARRAY_LEN(left); i++) {
		struct task *t;

		if (kops_brings_file(p, left[i]) || !is_there(p, left[i]))
			continue;
		t = plan_no_file(p, left[i], "");
		t->ops = &task_superseded_ops;
		t->advisory = true;
		if (str_has_suffix(left[i], UNIT))
			t->file.unit = UNIT;
	}
}

void build_kops_protokube(struct plan *p)
{
	if (!p->req->node->is_master)
		return;
	if (kops_has(p, KOPS_PROTOKUBE))
		add_service(p);
	else
		remove_service(p);
}
