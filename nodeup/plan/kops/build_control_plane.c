/* Tests: test_kops_control_plane.c. */
#include "nodeup/plan/kops/pods.h"

#include "nodeup/base/quantity.h"
#include "nodeup/plan/assets.h"

#define SRV_KCM "/srv/kubernetes/kube-controller-manager"
#define LIB_KCM "/var/lib/kube-controller-manager"
#define SRV_SCHEDULER "/srv/kubernetes/kube-scheduler"
#define LIB_SCHEDULER "/var/lib/kube-scheduler"
#define SET_KCM(m, w, v) KOPS_RULE(struct kops_kcm, m, w, v)
#define SET_SCHEDULER(m, w, v) KOPS_RULE(struct kops_scheduler, m, w, v)

enum { CONFIG_MAX = 4096 };

static const struct kops_mount kcm_mounts[] = {
	{ .name = "logfile", .path = "/var/log/kube-controller-manager.log", .is_writable = true },
	{ .is_ssl = true },
	KOPS_IN_TREE_MOUNT,
	{ .name = "cabundle", .path = "/srv/kubernetes/ca.crt" },
	{ .name = "srvkcm", .path = SRV_KCM },
	{ .name = "varlibkcm", .path = LIB_KCM },
};
static const struct kops_pod kcm_form = {
	.name = "kube-controller-manager",
	.priority_class = "system-cluster-critical",
	.mounts = kcm_mounts,
	.n_mounts = ARRAY_LEN(kcm_mounts),
	.healthz = 10257,
};
static const struct kops_rule kcm_rules[] = {
	SET_KCM(root_ca_file, RULE_ALWAYS, "/srv/kubernetes/ca.crt"),
	SET_KCM(service_account_private_key_file, RULE_ALWAYS, SRV_KCM "/service-account.key"),
	KOPS_RULE_OF(struct kops_kcm, tls_private_key_file, RULE_IF_ABSENT, tls_cert_file,
		     SRV_KCM "/server.key"),
	SET_KCM(tls_cert_file, RULE_IF_ABSENT, SRV_KCM "/server.crt"),
};
static const char *const kcm_flags[] = {
	"--kubeconfig=" LIB_KCM "/kubeconfig",
	"--authentication-kubeconfig=" LIB_KCM "/kubeconfig",
	"--authorization-kubeconfig=" LIB_KCM "/kubeconfig",
	"--cluster-signing-cert-file=" SRV_KCM "/ca.crt",
	"--cluster-signing-key-file=" SRV_KCM "/ca.key",
};

static const struct kops_mount scheduler_mounts[] = {
	{ .name = "varlibkubescheduler", .path = LIB_SCHEDULER },
	{ .name = "srvscheduler", .path = SRV_SCHEDULER },
	{ .name = "logfile", .path = "/var/log/kube-scheduler.log", .is_writable = true },
};
static const struct kops_pod scheduler_form = {
	.name = "kube-scheduler",
	.priority_class = "system-cluster-critical",
	.mounts = scheduler_mounts,
	.n_mounts = ARRAY_LEN(scheduler_mounts),
	.healthz = 10259,
};
static const struct kops_rule scheduler_rules[] = {
	KOPS_RULE_OF(struct kops_scheduler, tls_private_key_file, RULE_IF_ABSENT, tls_cert_file,
		     SRV_SCHEDULER "/server.key"),
	SET_SCHEDULER(tls_cert_file, RULE_IF_ABSENT, SRV_SCHEDULER "/server.crt"),
};
static const char *const scheduler_flags[] = {
	"--config=" LIB_SCHEDULER "/config.yaml",
	"--authentication-kubeconfig=" LIB_SCHEDULER "/kubeconfig",
	"--authorization-kubeconfig=" LIB_SCHEDULER "/kubeconfig",
};

static const char *const lookup_flags[] = {
	"--authentication-tolerate-lookup-failure=false",
	"--authentication-skip-lookup=false",
};

/* source: kops 1.37 nodeup/pkg/model/kube_controller_manager.go */
static void add_controller_manager(struct plan *p)
{
	const char *plugins = kops_of(p)->config->kubelet.volume_plugin_directory;
	struct kops_kcm s = kops_of(p)->config->kcm;
	const struct kops_pod_spec spec = KOPS_POD_SPEC(&s, "100m");
	struct strv flags = { 0 };
	struct pod *pod;

	if (str_is_empty(plugins))
		plugins = plan_distro(p)->volume_plugins_dir;
	strv_add_array(p->arena, &flags, kcm_flags);
	if (kops_has(p, KOPS_IN_TREE_CLOUD))
		strv_add(p->arena, &flags, "--cloud-config=" KOPS_IN_TREE_CONFIG);
	strv_addf(p->arena, &flags, "--flex-volume-plugin-dir=%s", plugins);
	kops_apply_rules(&s, kcm_rules, ARRAY_LEN(kcm_rules));
	field_flags(p->arena, &kops_kcm_schema, &s, &flags);
	pod = kops_pod(p, &kcm_form, &spec, &flags);
	pod_host_path(p->arena, pod, "volplugins", plugins, NULL, false);
	kops_proxy_env(p, pod);
	plan_pod_files(p, pod, &kops_kcm_schema, &s);
	plan_static_pod(p, pod);
}

/* Writes the scheduler's configuration, unless the documents bring it as a file. The configuration holds the
 * settings that are not flags. */
static void add_scheduler_config(struct plan *p, const struct kops_scheduler *s)
{
	static const char path[] = LIB_SCHEDULER "/config.yaml";
	struct tree *t = tree_map(p->arena), *client = tree_map(p->arena);

	if (kops_brings_file(p, path))
		return;
	if (s->burst)
		tree_set_int(p->arena, client, "burst", s->burst);
	tree_set_text(p->arena, client, "kubeconfig", LIB_SCHEDULER "/kubeconfig");
	if (!str_is_empty(s->qps))
		(void)tree_set(p->arena, client, "qps",
			       tree_plain(p->arena, quantity_decimal(p->arena, s->qps)));
	tree_set_text(p->arena, t, "apiVersion",
		      kops_has(p, KOPS_SCHEDULER_BETA) ? "kubescheduler.config.k8s.io/v1beta2"
						       : "kubescheduler.config.k8s.io/v1");
	(void)tree_set(p->arena, t, "clientConnection", client);
	tree_set_text(p->arena, t, "kind", "KubeSchedulerConfiguration");
	plan_file(p, path, 0400, plan_yaml(p, path, t, CONFIG_MAX));
}

/* source: kops 1.37 nodeup/pkg/model/kube_scheduler.go */
static void add_scheduler(struct plan *p)
{
	struct kops_scheduler s = kops_of(p)->config->scheduler;
	const struct kops_pod_spec spec = KOPS_POD_SPEC(&s, "100m");
	struct strv flags = { 0 };
	struct pod_env volumes = { .name = "KUBE_MAX_PD_VOLS" };
	struct pod *pod;

	kops_apply_rules(&s, scheduler_rules, ARRAY_LEN(scheduler_rules));
	strv_add_array(p->arena, &flags, scheduler_flags);
	if (kops_has(p, KOPS_SCHEDULER_LOOKUP))
		strv_add_array(p->arena, &flags, lookup_flags);
	field_flags(p->arena, &kops_scheduler_schema, &s, &flags);
	pod = kops_pod(p, &scheduler_form, &spec, &flags);
	kops_proxy_env(p, pod);
	if (s.max_persistent_volumes.set) {
		volumes.value =
			arena_printf(p->arena, "%lld", (long long)s.max_persistent_volumes.v);
		arena_push(p->arena, pod->container.env, pod->container.n_env, volumes);
	}
	plan_pod_files(p, pod, &kops_scheduler_schema, &s);
	plan_static_pod(p, pod);
	add_scheduler_config(p, &s);
}

void build_kops_control_plane(struct plan *p)
{
	if (kops_has_api_server(p))
		plan_install(p, "kubectl",
			     arena_printf(p->arena, "%s/kubectl", plan_distro(p)->tools_dir));
	if (!p->req->node->is_master)
		return;
	add_controller_manager(p);
	add_scheduler(p);
}
