/* Tests: test_kops_kubelet.c. */
#include "nodeup/plan/kops/kops.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/yaml.h"
#include "nodeup/config/kops/changes.h"
#include "nodeup/plan/assets.h"
#include "nodeup/plan/reserved.h"

enum { TEXT_MAX = 256 << 10 };

static const char kubelet_unit[] = "kubelet.service";
static const char config[] = "/var/lib/kubelet/kubelet.conf";
static const char sysconfig[] = "/etc/sysconfig/kubelet";
static const char kubeconfig[] = "/var/lib/kubelet/kubeconfig";
static const char provider_config[] = "/var/lib/kubelet/credential-provider.conf";

/* Lists the registries for whose images kubelet asks the credential provider. source: kops 1.37
 * nodeup/pkg/model/kubelet.go addECRCredentialProvider */
static const char *const registries[] = {
	"*.dkr.ecr.*.amazonaws.com",
	"*.dkr.ecr.*.amazonaws.com.cn",
	"*.dkr.ecr-fips.*.amazonaws.com",
	"*.dkr.ecr.us-iso-east-1.c2s.ic.gov",
};

#define REQUEST_TIMEOUT_NS (15 * 60 * DUR_SEC)
#define RESTART_PERIOD_NS (60 * DUR_SEC)

/* Returns the file with name servers, as kops chooses it on hosts with systemd-resolved. */
static const char *resolv_conf(const struct plan *p)
{
	const struct opt_bool resolved = p->req->facts->resolved;

	return (resolved.set ? resolved.v : plan_distro(p)->has_resolved) ? plan_resolved_conf
									  : NULL;
}

/* Clears keys that this kops does not know, or writes in another way. */
static void drop_unknown(const struct kops_config *c, struct kops_kubelet *s)
{
	if (!kops_does(c, KOPS_PARALLEL_PULLS))
		s->max_parallel_image_pulls.set = false;
	if (!kops_does(c, KOPS_RESTART_PERIOD))
		s->crash_loop_back_off_max_container_restart_period.set = false;
	if (!kops_does(c, KOPS_SANDBOX_OF_KUBELET))
		s->pod_infra_container_image = NULL;
	if (kops_does(c, KOPS_IMAGE_AGES_ARE_FLAGS))
		s->image_minimum_gc_age.set = s->image_maximum_gc_age.set = false;
}

/* Returns the document's settings of kubelet, completed for this node. */
static struct kops_kubelet settings_of(struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;
	struct kops_kubelet s = c->kubelet;

	s.client_ca_file = "/srv/kubernetes/ca.crt";
	if (!s.runtime_request_timeout.set && kops_does(c, KOPS_KUBELET_FILE))
		s.runtime_request_timeout = (struct opt_dur){ true, REQUEST_TIMEOUT_NS };
	if (!s.max_pods.set)
		s.max_pods = kops_max_pods(p);
	plan_reserve(p, &s.kube_reserved, s.system_reserved.n > 0, s.max_pods);
	if (str_is_empty(s.volume_plugin_directory))
		s.volume_plugin_directory = plan_distro(p)->volume_plugins_dir;
	if (!s.resolv_conf)
		s.resolv_conf = resolv_conf(p);
	/* a kubelet may not set its own role labels: kops-controller sets them */
	s.node_labels = (struct strmap){ 0 };
	drop_unknown(c, &s);
	/* pods of a control plane restart sooner, as they wait for each other at the start */
	if (p->req->node->is_master && kops_does(c, KOPS_SHORT_RESTART_PERIOD))
		s.crash_loop_back_off_max_container_restart_period =
			(struct opt_dur){ true, RESTART_PERIOD_NS };
	if (str_is_empty(s.authorization_mode))
		s.authorization_mode = "Webhook";
	if (!s.authentication_token_webhook.set)
		s.authentication_token_webhook = (struct opt_bool){ true, true };
	return s;
}

/* Adds ages that kops keeps as text, so that they stay as written: 168h does not become 168h0m0s. */
static void add_image_ages(struct plan *p, struct strv *flags)
{
	static const struct {
		const char *key, *flag;
	} ages[] = {
		{ "imageMaximumGCAge", "image-maximum-gc-age" },
		{ "imageMinimumGCAge", "image-minimum-gc-age" },
	};
	const struct tree *given = tree_lookup(kops_of(p)->config->tree, "KubeletConfig");

	for (size_t i = 0; i < ARRAY_LEN(ages); i++) {
		const struct tree *age = tree_lookup(given, ages[i].key);

		if (age && !str_is_empty(age->scalar))
			strv_addf(p->arena, flags, "--%s=%s", ages[i].flag, age->scalar);
	}
	strv_sort(flags);
}

/* Adds the flags whose settings kops 1.36 and later put in kubelet.conf. Adds the timeout even if the document sets
 * it, as the last flag counts. source: kops 1.35 nodeup/pkg/model/kubelet.go buildSystemdEnvironmentFile */
static void add_own_flags(struct plan *p, struct strv *flags)
{
	strv_add(p->arena, flags, "--runtime-request-timeout=15m");
	strv_addf(p->arena, flags, "--container-runtime-endpoint=%s", kops_runtime_endpoint(p));
	strv_addf(p->arena, flags, "--tls-cert-file=%s", kops_server_cert);
	strv_addf(p->arena, flags, "--tls-private-key-file=%s", kops_server_key);
}

static const char *flags_text(struct plan *p, const struct kops_kubelet *settings)
{
	const struct kops_config *c = kops_of(p)->config;
	struct arena *a = p->arena;
	struct strv flags = kops_flags(p, kops_kubelet_schema_of(c), settings);

	if (kops_does(c, KOPS_IMAGE_AGES_ARE_FLAGS))
		add_image_ages(p, &flags);
	if (kops_does(c, KOPS_CLOUD_CONFIG_OF_KUBELET))
		strv_add(a, &flags, "--cloud-config=/etc/kubernetes/in-tree-cloud.config");
	if (kops_has_addresses(c) && p->req->facts->local_ipv4)
		strv_addf(a, &flags, "--node-ip=%s", p->req->facts->local_ipv4);
	if (!kops_does(c, KOPS_KUBELET_FILE))
		add_own_flags(p, &flags);
	if (kops_is_ipv6_only(p))
		strv_add(a, &flags, "--node-ip=::");
	strv_addf(a, &flags, "--config=%s", config);
	if (kops_does(c, KOPS_CREDENTIAL_PROVIDER)) {
		strv_addf(a, &flags, "--image-credential-provider-config=%s", provider_config);
		strv_addf(a, &flags, "--image-credential-provider-bin-dir=%s",
			  plan_distro(p)->kubelet_dir);
	}
	/* kubelet finds /root/.docker/config.json by HOME */
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

/* source: kops 1.32 nodeup/pkg/model/kubelet.go addECRCredentialProvider */
static const char *provider_text_of_old(struct plan *p)
{
	struct strv lines = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(registries); i++)
		strv_addf(p->arena, &lines, "      - \"%s\"\n", registries[i]);
	return arena_printf(p->arena,
			    "apiVersion: kubelet.config.k8s.io/v1\n"
			    "kind: CredentialProviderConfig\n"
			    "providers:\n"
			    "  - name: ecr-credential-provider\n"
			    "    matchImages:\n"
			    "%s"
			    "      - \"*.dkr.ecr.us-isob-east-1.sc2s.sgov.gov\"\n"
			    "    defaultCacheDuration: \"12h\"\n"
			    "    apiVersion: credentialprovider.kubelet.k8s.io/v1\n"
			    "    args:\n"
			    "      - get-credentials\n",
			    strv_join(p->arena, &lines, ""));
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
	plan_file(p, provider_config, 0644,
		  kops_has(p, KOPS_CREDENTIALS_OF_MIRRORS) ? provider_text(p)
							   : provider_text_of_old(p));
}

/* Writes the slices. kubelet and the runtime would create the slices at their start; the unit files make the slices
 * stop late. */
static void add_slices(struct plan *p, const struct kops_kubelet *settings)
{
	const char *const cgroups[] = { settings->kubelet_cgroups, settings->runtime_cgroups,
					settings->system_cgroups };

	for (size_t i = 0; i < ARRAY_LEN(cgroups); i++)
		if (kops_has_slice(p, cgroups[i]))
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
	const struct kops_config *c = kops_of(p)->config;
	const bool may_write = kops_has_api_server(p) && kops_does(c, KOPS_KUBELET_KEY_0600);
	const struct kops_kubelet settings = settings_of(p);
	const struct node_keypair *server = plan_keypair(p, "kubelet-server", true);
	const char *binary = arena_printf(p->arena, "%s/kubelet", plan_distro(p)->kubelet_dir);
	const char *const inputs[] = { binary,           sysconfig,       config,
				       kubeconfig,       provider_config, settings.client_ca_file,
				       kops_server_cert, kops_server_key };
	struct task *unit;

	plan_issued(plan_file(p, kops_server_cert, 0644, server->cert), server);
	plan_issued(plan_secret(p, kops_server_key, may_write ? 0600 : 0400, server->key), server);
	plan_install(p, "kubelet", binary);
	plan_dir(p, "/var/lib/kubelet", 0755);
	if (!str_is_empty(settings.pod_manifest_path))
		plan_dir(p, settings.pod_manifest_path, 0755);
	plan_file(p, config, 0644, kops_kubelet_config(p, &settings));
	plan_file(p, sysconfig, 0644, flags_text(p, &settings));
	kops_kubeconfig(p, kubeconfig, "kubelet");
	if (kops_does(c, KOPS_CREDENTIAL_PROVIDER))
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
