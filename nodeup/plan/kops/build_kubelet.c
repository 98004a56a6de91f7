#include "nodeup/plan/kops/kubelet_config.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/yaml.h"
#include "nodeup/plan/assets.h"

enum { TEXT_MAX = 256 << 10 };

static const char kubelet_unit[] = "kubelet.service";
static const char config[] = "/var/lib/kubelet/kubelet.conf";
static const char sysconfig[] = "/etc/sysconfig/kubelet";
static const char kubeconfig[] = "/var/lib/kubelet/kubeconfig";
static const char provider_config[] = "/var/lib/kubelet/credential-provider.conf";
static const char server_cert[] = "/srv/kubernetes/kubelet-server.crt";
static const char server_key[] = "/srv/kubernetes/kubelet-server.key";

/* kubelet asks the credential provider for images of these registries.
 * source: kops 1.37 nodeup/pkg/model/kubelet.go addECRCredentialProvider */
static const char *const registries[] = {
	"*.dkr.ecr.*.amazonaws.com",
	"*.dkr.ecr.*.amazonaws.com.cn",
	"*.dkr.ecr-fips.*.amazonaws.com",
	"*.dkr.ecr.us-iso-east-1.c2s.ic.gov",
};

#define REQUEST_TIMEOUT_NS (15 * 60 * DUR_SEC)
#define RESTART_PERIOD_NS (60 * DUR_SEC)

/* As kops has it: wherever systemd-resolved is. */
static const char *resolv_conf(const struct plan *p)
{
	const struct opt_bool resolved = p->req->facts->resolved;

	return (resolved.set ? resolved.v : plan_distro(p)->has_resolved) ? plan_resolved_conf
									  : NULL;
}

/* Those of the document, and what this node makes of them. */
static struct kops_kubelet settings_of(struct plan *p)
{
	struct kops_kubelet s = kops_of(p)->config->kubelet;

	s.client_ca_file = "/srv/kubernetes/ca.crt";
	if (!s.runtime_request_timeout.set)
		s.runtime_request_timeout = (struct opt_dur){ true, REQUEST_TIMEOUT_NS };
	if (!s.max_pods.set)
		s.max_pods = kops_max_pods(p);
	if (str_is_empty(s.volume_plugin_directory))
		s.volume_plugin_directory = plan_distro(p)->volume_plugins_dir;
	if (!s.resolv_conf)
		s.resolv_conf = resolv_conf(p);
	/* a kubelet may not say of itself what it is for: kops-controller sets the labels */
	s.node_labels = (struct strmap){ 0 };
	/* pods of a control plane wait less for each other when all of them start */
	if (p->req->node->is_master && node_k8s_at_least(p->req->node, 1, 35))
		s.crash_loop_back_off_max_container_restart_period =
			(struct opt_dur){ true, RESTART_PERIOD_NS };
	if (str_is_empty(s.authorization_mode))
		s.authorization_mode = "Webhook";
	if (!s.authentication_token_webhook.set)
		s.authentication_token_webhook = (struct opt_bool){ true, true };
	return s;
}

static const char *flags_text(struct plan *p, const struct kops_kubelet *settings)
{
	struct arena *a = p->arena;
	struct strv flags = kops_flags(p, &kops_kubelet_schema, settings);

	if (kops_has_addresses(kops_of(p)->config) && p->req->facts->local_ipv4)
		strv_addf(a, &flags, "--node-ip=%s", p->req->facts->local_ipv4);
	if (kops_is_ipv6_only(p))
		strv_add(a, &flags, "--node-ip=::");
	strv_addf(a, &flags, "--config=%s", config);
	strv_addf(a, &flags, "--image-credential-provider-config=%s", provider_config);
	strv_addf(a, &flags, "--image-credential-provider-bin-dir=%s", plan_distro(p)->kubelet_dir);
	/* HOME makes kubelet read /root/.docker/config.json */
	return arena_printf(a, "DAEMON_ARGS=\"%s\"\nHOME=\"/root\"\n", strv_join(a, &flags, " "));
}

static struct strv provider_registries(struct plan *p)
{
	const struct kops_containerd *c = &kops_of(p)->config->containerd;
	struct strv all = { 0 }, mirrors = { 0 };

	strv_add_array(p->arena, &all, registries);
	for (size_t i = 0; c->use_ecr_credentials_for_mirrors && c->registry_mirrors &&
			   i < c->registry_mirrors->n;
	     i++)
		strv_add(p->arena, &mirrors, c->registry_mirrors->items[i].key);
	strv_sort(&mirrors);
	strv_add_all(p->arena, &all, &mirrors);
	return all;
}

static const char *provider_text(struct plan *p)
{
	static const char form[] = "apiVersion: kubelet.config.k8s.io/v1\n"
				   "kind: CredentialProviderConfig\n"
				   "providers: []\n";
	const struct strv images = provider_registries(p);
	struct arena *a = p->arena;
	struct tree *doc, *provider = tree_map(a), *region = tree_map(a);
	struct err e;

	if (yaml_parse(a, provider_config, form, sizeof(form) - 1, &doc, &e) < 0) {
		plan_fail(p, &e);
		return "";
	}
	tree_set_text(a, provider, "apiVersion", "credentialprovider.kubelet.k8s.io/v1");
	(void)tree_set(a, provider, "args",
		       tree_add(a, tree_seq(a), tree_string(a, "get-credentials")));
	tree_set_text(a, provider, "defaultCacheDuration", "12h0m0s");
	tree_set_text(a, region, "name", "AWS_REGION");
	tree_set_text(a, region, "value", p->req->facts->region ? p->req->facts->region : "");
	(void)tree_set(a, provider, "env", tree_add(a, tree_seq(a), region));
	(void)tree_set(a, provider, "matchImages", tree_of_strv(a, &images));
	tree_set_text(a, provider, "name", "ecr-credential-provider");
	(void)tree_add(a, tree_get(doc, "providers"), provider);
	return plan_yaml(p, provider_config, doc, TEXT_MAX);
}

static void add_provider(struct plan *p)
{
	plan_install(
		p, arena_printf(p->arena, "ecr-credential-provider-linux-%s", kops_of(p)->arch),
		arena_printf(p->arena, "%s/ecr-credential-provider", plan_distro(p)->kubelet_dir));
	plan_file(p, provider_config, 0644, provider_text(p));
}

/* kubelet and the runtime make them when they start; their files say that they stop late. */
static void add_slices(struct plan *p, const struct kops_kubelet *settings)
{
	const char *const cgroups[] = { settings->kubelet_cgroups, settings->runtime_cgroups,
					settings->system_cgroups };

	for (size_t i = 0; i < ARRAY_LEN(cgroups); i++)
		if (!str_is_empty(cgroups[i]))
			plan_unit_file(
				p, arena_printf(p->arena, "%s.slice", kops_slice(p, cgroups[i])),
				"[Unit]\n"
				"Documentation=man:systemd.special(7)\n"
				"Before=slices.target\n"
				"DefaultDependencies=no\n");
}

/* source: kops 1.37 nodeup/pkg/model/kubelet.go buildSystemdService */
static const char *unit_text(struct plan *p, const char *binary, const char *cgroup)
{
	return arena_printf(p->arena,
			    "[Unit]\n"
			    "Description=Kubernetes Kubelet Server\n"
			    "Documentation=https://github.com/kubernetes/kubernetes\n"
			    "After=containerd.service\n"
			    "\n"
			    "[Service]\n"
			    "EnvironmentFile=%s\n"
			    "ExecStart=%s \"$DAEMON_ARGS\"\n"
			    "Restart=always\n"
			    "RestartSec=2s\n"
			    "StartLimitInterval=0\n"
			    "KillMode=process\n"
			    "User=root\n"
			    "CPUAccounting=true\n"
			    "MemoryAccounting=true\n"
			    "%s"
			    "\n"
			    "[Install]\n"
			    "WantedBy=multi-user.target\n",
			    sysconfig, binary, kops_slice_line(p, cgroup));
}

void build_kops_kubelet(struct plan *p)
{
	const struct kops_kubelet settings = settings_of(p);
	const struct node_keypair *server = plan_keypair(p, "kubelet-server", true);
	const char *binary = arena_printf(p->arena, "%s/kubelet", plan_distro(p)->kubelet_dir);
	const char *const inputs[] = { binary,      sysconfig,       config,
				       kubeconfig,  provider_config, settings.client_ca_file,
				       server_cert, server_key };
	struct task *unit;

	plan_issued(plan_file(p, server_cert, 0644, server->cert), server);
	plan_issued(plan_secret(p, server_key, 0400, server->key), server);
	plan_install(p, "kubelet", binary);
	plan_dir(p, "/var/lib/kubelet", 0755);
	if (!str_is_empty(settings.pod_manifest_path))
		plan_dir(p, settings.pod_manifest_path, 0755);
	plan_file(p, config, 0644, kops_kubelet_config(p, &settings));
	plan_file(p, sysconfig, 0644, flags_text(p, &settings));
	kops_kubeconfig(p, kubeconfig, "kubelet");
	add_provider(p);
	add_slices(p, &settings);
	(void)plan_unit_file(p, kubelet_unit, unit_text(p, binary, settings.kubelet_cgroups));
	if (kops_is_warming(p)) {
		(void)plan_unit_off(p, kubelet_unit);
		return;
	}
	unit = plan_unit(p, kubelet_unit, true);
	unit->unit.must_answer = true;
	strv_add_array(p->arena, &unit->unit.inputs, inputs);
	plan_checkpoints(p, unit, settings.root_dir, settings.cpu_manager_policy);
}
