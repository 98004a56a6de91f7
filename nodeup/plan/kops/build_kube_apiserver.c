/* Tests: test_kops_pods.c. */
#include "nodeup/plan/kops/pods.h"

#include <string.h>

#define SRV "/srv/kubernetes/kube-apiserver"
#define SET(m, w, v) KOPS_RULE(struct kops_kube_apiserver, m, w, v)

enum { HEALTHCHECK_PORT = 3990, OLD_PROBE_DELAY = 45 };

static const char authn_config[] = "/etc/kubernetes/authn.config";

static const struct kops_mount mounts[] = {
	{ .name = "logfile", .path = "/var/log/kube-apiserver.log", .is_writable = true },
	{ .is_ssl = true },
	KOPS_IN_TREE_MOUNT,
	{ .name = "kubernetesca", .path = "/srv/kubernetes/ca.crt" },
	{ .name = "srvkapi", .path = SRV },
	{ .name = "srvsshproxy", .path = "/srv/sshproxy" },
};

static const struct kops_pod form = {
	.name = "kube-apiserver",
	.priority_class = "system-cluster-critical",
	.mounts = mounts,
	.n_mounts = ARRAY_LEN(mounts),
};

/* Sets the files that this node keeps at its own paths. */
static const struct kops_rule rules[] = {
	SET(client_ca_file, RULE_IF_EMPTY, "/srv/kubernetes/ca.crt"),
	SET(etcd_ca_file, RULE_ALWAYS, SRV "/etcd-ca.crt"),
	SET(etcd_cert_file, RULE_ALWAYS, SRV "/etcd-client.crt"),
	SET(etcd_key_file, RULE_ALWAYS, SRV "/etcd-client.key"),
	SET(kubelet_client_certificate, RULE_ALWAYS, SRV "/kubelet-api.crt"),
	SET(kubelet_client_key, RULE_ALWAYS, SRV "/kubelet-api.key"),
	SET(proxy_client_cert_file, RULE_ALWAYS, SRV "/apiserver-aggregator.crt"),
	SET(proxy_client_key_file, RULE_ALWAYS, SRV "/apiserver-aggregator.key"),
	SET(requestheader_client_ca_file, RULE_ALWAYS, SRV "/apiserver-aggregator-ca.crt"),
	SET(service_account_signing_key_file, RULE_IF_ABSENT, SRV "/service-account.key"),
	SET(tls_cert_file, RULE_ALWAYS, SRV "/server.crt"),
	SET(tls_private_key_file, RULE_ALWAYS, SRV "/server.key"),
};
/* Sets the files of the secret encryptionconfig and of aws-iam-authenticator. */
static const struct kops_rule encryption_rules[] = {
	SET(encryption_provider_config, RULE_ALWAYS, SRV "/encryptionconfig.yaml"),
};
static const struct kops_rule authenticator_rules[] = {
	SET(authentication_token_webhook_config_file, RULE_ALWAYS, authn_config),
};

/* Names the etcd servers for an API server on a node without etcd: the servers of all keys (overrides NULL), and
 * those of keys with servers of their own. */
static const struct {
	const char *overrides, *name;
	enum kops_change when;
} etcd_names[] = {
	{ NULL, "main.etcd", KOPS_ALWAYS },
	{ "/events", "events.etcd", KOPS_ALWAYS },
	{ "coordination.k8s.io/leases", "leases.etcd", KOPS_ETCD_LEASES },
};

/* Returns the list with `what` replaced by `with` in each text that begins with `prefix`. */
static struct strv replaced(struct arena *a, const struct strv *list, const char *prefix,
			    const char *what, const char *with)
{
	struct strv out = { 0 };

	for (size_t i = 0; i < list->n; i++) {
		const char *text = list->v[i], *at;
		struct strv parts = { 0 };

		if (prefix && !str_has_prefix(text, prefix)) {
			strv_add(a, &out, text);
			continue;
		}
		for (; (at = strstr(text, what)); text = at + strlen(what))
			strv_add(a, &parts, arena_strn(a, text, (size_t)(at - text)));
		strv_add(a, &parts, text);
		strv_add(a, &out, strv_join(a, &parts, with));
	}
	return out;
}

static void reach_etcd(struct plan *p, struct kops_kube_apiserver *s)
{
	const char *cluster = kops_of(p)->config->cluster_name;

	for (size_t i = 0; i < ARRAY_LEN(etcd_names); i++) {
		const char *prefix = etcd_names[i].overrides;
		struct strv *list = prefix ? &s->etcd_servers_overrides : &s->etcd_servers;

		if (!kops_has(p, etcd_names[i].when))
			continue;
		*list = replaced(p->arena, list, prefix, "127.0.0.1",
				 kops_name_inside(p->arena, etcd_names[i].name, cluster));
	}
}

static struct kops_kube_apiserver settings_of(struct plan *p)
{
	const struct kops_apiserver_config *c = &kops_of(p)->config->apiserver;
	struct kops_kube_apiserver s = c->kube_apiserver;
	struct strv key_files = { 0 };

	kops_apply_rules(&s, rules, ARRAY_LEN(rules));
	if (!str_is_empty(c->encryption_config_secret_hash))
		kops_apply_rules(&s, encryption_rules, ARRAY_LEN(encryption_rules));
	if (c->auth_aws)
		kops_apply_rules(&s, authenticator_rules, ARRAY_LEN(authenticator_rules));
	strv_add_all(p->arena, &key_files, &s.service_account_key_file);
	strv_add(p->arena, &key_files, SRV "/service-account.pub");
	s.service_account_key_file = key_files;
	if (!p->req->node->is_master)
		reach_etcd(p, &s);
	/* the API server accepts only one of these flags */
	if (s.admission_control.n) {
		s.enable_admission_plugins = s.admission_control;
		s.admission_control = (struct strv){ 0 };
	}
	return s;
}

static void add_annotations(struct plan *p, struct pod *pod)
{
	const struct kops_config *c = kops_of(p)->config;
	struct strmap *m = &pod->annotations;

	strmap_set(p->arena, m, "kubectl.kubernetes.io/default-container", form.name);
	if (c->uses_none_dns)
		return;
	if (!c->apiserver.use_for_internal_api)
		strmap_set(p->arena, m, "dns.alpha.kubernetes.io/internal", kops_internal_name(p));
	if (c->apiserver.api_dns && !str_is_empty(c->apiserver.public_name))
		strmap_set(p->arena, m, "dns.alpha.kubernetes.io/external",
			   c->apiserver.public_name);
}

static void add_env(struct plan *p, struct pod *pod, const struct tree *env)
{
	struct pod_container *c = &pod->container;

	if (!kops_has(p, KOPS_API_ENV))
		env = NULL;
	for (size_t i = 0; env && i < env->n; i++) {
		const struct tree *item = env->items[i].value;

		if (str_is_empty(tree_text(item, "name")))
			plan_refuse(p, "%s: KubeAPIServer.env[%zu]: no name",
				    tree_where(p->arena, &item->pos), i);
		arena_push(p->arena, c->env, c->n_env, (struct pod_env){ .whole = item });
	}
	/* a variable that the user adds may be a password */
	pod->is_private = c->n_env > 0;
	kops_proxy_env(p, pod);
}

/* Adds kubelet's probes. A sidecar answers the probes without TLS: it asks the API server over TLS with its own
 * certificate. */
static void add_probes(struct plan *p, struct pod_container *c, const struct kops_kube_apiserver *s,
		       const struct tree *sidecar)
{
	struct pod_probe *const all[] = { &c->startup, &c->liveness, &c->readiness };
	const bool is_plain = s->insecure_port.set && s->insecure_port.v;

	c->startup = (struct pod_probe){
		.path = "/livez", .initial_delay = 10, .timeout = 300, .failures = 30, .period = 10
	};
	c->liveness = (struct pod_probe){
		.path = "/livez", .initial_delay = 10, .timeout = 15, .failures = 8, .period = 10
	};
	c->readiness =
		(struct pod_probe){ .path = "/healthz", .timeout = 15, .failures = 3, .period = 1 };
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		all[i]->host = "127.0.0.1";
		all[i]->port = HEALTHCHECK_PORT;
		if (sidecar)
			continue;
		if (is_plain || s->secure_port)
			all[i]->port = is_plain ? s->insecure_port.v : s->secure_port;
		if (!is_plain && s->secure_port)
			all[i]->scheme = "HTTPS";
	}
	if (!kops_has(p, KOPS_OLD_PROBE))
		return;
	c->startup = c->readiness = (struct pod_probe){ 0 };
	c->liveness.path = "/healthz";
	c->liveness.initial_delay = OLD_PROBE_DELAY;
	c->liveness.failures = c->liveness.period = 0;
}

static void add_ports(struct plan *p, struct pod_container *c, const struct kops_kube_apiserver *s)
{
	arena_push(p->arena, c->ports, c->n_ports, (struct pod_port){ "https", s->secure_port });
	if (s->insecure_port.set && s->insecure_port.v)
		arena_push(p->arena, c->ports, c->n_ports,
			   (struct pod_port){ "local", s->insecure_port.v });
}

/* Returns the manifest of the sidecar; NULL: the documents name none. */
static const struct tree *sidecar_of(struct plan *p)
{
	const char *at = kops_healthcheck(kops_of(p)->config);
	const char *from = at ? kops_in_base(p->arena, kops_of(p)->boot, at) : NULL;
	const char *text = from ? kops_manifest_text(p, from) : NULL;
	struct tree *t;
	struct err e;

	if (!text)
		return NULL;
	/* if only documents are checked, the state store is not read */
	if (!*text)
		return tree_map(p->arena);
	if (manifest_read(p->arena, from, text, &t, &e) < 0) {
		plan_fail(p, &e);
		return NULL;
	}
	return t;
}

/* source: kops 1.37 nodeup/pkg/model/kube_apiserver.go, kube_apiserver_healthcheck.go */
static void add_pod(struct plan *p)
{
	const struct kops_apiserver_config *c = &kops_of(p)->config->apiserver;
	const struct kops_kube_apiserver s = settings_of(p);
	const struct kops_pod_spec spec = KOPS_POD_SPEC(&s, "150m");
	struct strv flags = { 0 };
	struct pod *pod;

	if (kops_has(p, KOPS_API_CLOUD))
		strv_add(p->arena, &flags, "--cloud-config=" KOPS_IN_TREE_CONFIG);
	field_flags(p->arena, &kops_kube_apiserver_schema, &s, &flags);
	if (c->has_oidc)
		field_flags(p->arena, &kops_oidc_schema, &c->oidc, &flags);
	pod = kops_pod(p, &form, &spec, &flags);
	for (size_t i = 0; i < s.additional_service_account_issuers.n; i++)
		strv_addf(p->arena, &pod->container.args, "--service-account-issuer=%s",
			  s.additional_service_account_issuers.v[i]);
	pod->sidecar = sidecar_of(p);
	add_annotations(p, pod);
	add_env(p, pod, s.env);
	add_probes(p, &pod->container, &s, pod->sidecar);
	add_ports(p, &pod->container, &s);
	plan_mount_folder_of(p, pod, "auditlogpathdir", s.audit_log_path, false);
	plan_mount_folder_of(p, pod, "auditconfigdir", s.audit_policy_file, true);
	if (c->auth_aws)
		pod_host_path(p->arena, pod, "authn-config", authn_config, NULL, true);
	plan_pod_files(p, pod, &kops_kube_apiserver_schema, &s);
	plan_static_pod(p, pod);
}

void build_kops_kube_apiserver(struct plan *p)
{
	if (kops_has_api_server(p))
		add_pod(p);
}
