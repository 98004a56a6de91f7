#include "nodeup/config/kops/model.h"

#include <string.h>
#include "nodeup/config/kops/changes.h"

/* Names that several rows use. */
static const char etcd_ca[] = "etcd-clients-ca", aggregator_ca[] = "apiserver-aggregator-ca";
static const char cilium_ca[] = "etcd-clients-ca-cilium";

static const char healthcheck[] = "kube-apiserver-healthcheck";

const char *kops_healthcheck(const struct kops_config *c)
{
	for (size_t i = 0; i < c->static_manifests.n; i++)
		if (str_eq(c->static_manifests.v[i].key, healthcheck))
			return c->static_manifests.v[i].path;
	return NULL;
}

unsigned int kops_conditions(const struct kops_node *n)
{
	const struct kops_config *c = n->config;
	const bool api = n->boot->role->serves_api;
	const struct {
		unsigned int bit;
		bool holds;
	} all[] = {
		{ KOPS_API, api },
		{ KOPS_CHANNELS_POD, !kops_does(c, KOPS_PROTOKUBE) },
		{ KOPS_PROTOKUBE_UNIT, kops_does(c, KOPS_PROTOKUBE) },
		{ KOPS_CONTROL_PLANE, c->has_control_plane && n->boot->role->is_control_plane },
		{ KOPS_KUBE_PROXY, c->has_kube_proxy },
		{ KOPS_KUBE_ROUTER, c->networking.kuberouter },
		{ KOPS_CILIUM_ETCD, c->use_cilium_etcd },
		{ KOPS_HEALTHCHECK, kops_healthcheck(c) },
		{ KOPS_AWS_LOGIN, c->apiserver.auth_aws },
		{ KOPS_KCM_TLS, !c->kcm.tls_cert_file },
		{ KOPS_SCHEDULER_TLS, !c->scheduler.tls_cert_file },
		{ KOPS_SIGNS_TOKENS,
		  !c->apiserver.kube_apiserver.service_account_signing_key_file },
	};
	unsigned int conditions = 0;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		conditions |= all[i].holds ? all[i].bit : 0;
	return conditions;
}

static struct strv names_of_kubelet(struct arena *a, const struct kops_node *n)
{
	(void)a;
	return n->names;
}

/* source: kops 1.37 nodeup/pkg/model/kube_apiserver.go writeServerCertificate */
static struct strv names_of_api(struct arena *a, const struct kops_node *n)
{
	const struct kops_apiserver_config *c = &n->config->apiserver;
	const struct strv *const lists[] = { &c->additional_sans,
					     &n->config->apiserver_additional_ips };
	struct strv names = { 0 };

	strv_add(a, &names, "kubernetes");
	strv_add(a, &names, "kubernetes.default");
	strv_add(a, &names, "kubernetes.default.svc");
	strv_addf(a, &names, "kubernetes.default.svc.%s", c->cluster_dns_domain);
	if (!str_is_empty(c->public_name))
		strv_add(a, &names, c->public_name);
	strv_add(a, &names, kops_name_inside(a, "api", n->config->cluster_name));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			strv_add(a, &names, str_trim(a, lists[i]->v[k]));
	strv_add(a, &names, n->service_ip);
	strv_add(a, &names, "127.0.0.1");
	return names;
}

static struct strv name_of_service(struct arena *a, const struct kops_node *n, const char *name)
{
	struct strv names = { 0 };

	strv_addf(a, &names, "%s.kube-system.svc.%s", name,
		  n->config->apiserver.cluster_dns_domain);
	return names;
}

static struct strv names_of_kcm(struct arena *a, const struct kops_node *n)
{
	return name_of_service(a, n, "kube-controller-manager");
}

static struct strv names_of_scheduler(struct arena *a, const struct kops_node *n)
{
	return name_of_service(a, n, "kube-scheduler");
}

static struct strv names_of_kops_controller(struct arena *a, const struct kops_node *n)
{
	struct strv names = { 0 };

	strv_add(a, &names, kops_name_inside(a, "kops-controller", n->config->cluster_name));
	strv_add_all(a, &names, &n->boot->apiserver_ips);
	return names;
}

static struct strv names_of_this_host(struct arena *a, const struct kops_node *n)
{
	struct strv names = { 0 };

	(void)n;
	strv_add(a, &names, "localhost");
	strv_add(a, &names, "127.0.0.1");
	return names;
}

#define SRV "/srv/kubernetes/"
#define PAIR(path) .cert_at = path ".crt", .key_at = path ".key"

/* clang-format off */
static const struct kops_certificate certificates[] = {
	{ "apiserver-aggregator", aggregator_ca, "aggregator", .conditions = KOPS_API,
	  PAIR(SRV "kube-apiserver/apiserver-aggregator") },
	{ "aws-iam-authenticator", KOPS_CA, "aws-iam-authenticator", .names = names_of_this_host,
	  .conditions = KOPS_API | KOPS_AWS_LOGIN, .cert_at = SRV "aws-iam-authenticator/cert.pem",
	  .key_at = SRV "aws-iam-authenticator/key.pem", .user = "aws-iam-authenticator" },
	{ "etcd-client", etcd_ca, "kube-apiserver", .conditions = KOPS_API, PAIR(SRV "kube-apiserver/etcd-client") },
	{ "etcd-client-cilium", cilium_ca, "cilium", .conditions = KOPS_CILIUM_ETCD,
	  PAIR("/etc/kubernetes/pki/cilium/etcd-client-cilium") },
	{ "kops", KOPS_CA, "kops", "system:masters", .conditions = KOPS_CONTROL_PLANE | KOPS_CHANNELS_POD,
	  .login = "/var/lib/kops/kubeconfig", .user = "kops-channels", .pod = "kops-channels", .pod_stays = true },
	{ "kops", KOPS_CA, "kops", "system:masters", .conditions = KOPS_CONTROL_PLANE | KOPS_PROTOKUBE_UNIT,
	  .login = "/var/lib/kops/kubeconfig" },
	{ "kops-controller", KOPS_CA, "kops-controller", .names = names_of_kops_controller, .conditions = KOPS_CONTROL_PLANE,
	  PAIR("/etc/kubernetes/kops-controller/kops-controller"), .user = "kops-controller" },
	{ healthcheck, KOPS_CA, healthcheck, .conditions = KOPS_API | KOPS_HEALTHCHECK,
	  PAIR("/etc/kubernetes/kube-apiserver-healthcheck/secrets/client"), .user = healthcheck, .pod = "kube-apiserver" },
	{ "kube-controller-manager", KOPS_CA, "system:kube-controller-manager", .conditions = KOPS_CONTROL_PLANE,
	  .login = "/var/lib/kube-controller-manager/kubeconfig", .pod = "kube-controller-manager" },
	{ "kube-controller-manager-server", KOPS_CA, "kube-controller-manager", .names = names_of_kcm,
	  .conditions = KOPS_CONTROL_PLANE | KOPS_KCM_TLS, PAIR(SRV "kube-controller-manager/server") },
	{ "kube-proxy", KOPS_CA, "system:kube-proxy", .conditions = KOPS_KUBE_PROXY,
	  .login = "/var/lib/kube-proxy/kubeconfig", .pod = "kube-proxy" },
	{ "kube-router", KOPS_CA, "system:kube-router", .conditions = KOPS_KUBE_ROUTER,
	  .login = "/var/lib/kube-router/kubeconfig", .pod = "kube-router", .pod_stays = true },
	{ "kube-scheduler", KOPS_CA, "system:kube-scheduler", .conditions = KOPS_CONTROL_PLANE,
	  .login = "/var/lib/kube-scheduler/kubeconfig", .pod = "kube-scheduler" },
	{ "kube-scheduler-server", KOPS_CA, "kube-scheduler", .names = names_of_scheduler,
	  .conditions = KOPS_CONTROL_PLANE | KOPS_SCHEDULER_TLS, PAIR(SRV "kube-scheduler/server") },
	{ "kubecfg", KOPS_CA, "kubecfg", "system:masters", .conditions = KOPS_API, .login = "/var/lib/kubectl/kubeconfig" },
	{ "kubelet", KOPS_CA, .organization = "system:nodes", .login = "/var/lib/kubelet/kubeconfig" },
	{ "kubelet-api", KOPS_CA, "kubelet-api", .conditions = KOPS_API, PAIR(SRV "kube-apiserver/kubelet-api") },
	{ "kubelet-server", KOPS_CA, .names = names_of_kubelet, PAIR(SRV "kubelet-server") },
	{ "master", KOPS_CA, "kubernetes-master", .names = names_of_api, .conditions = KOPS_API,
	  PAIR(SRV "kube-apiserver/server") },
};
/* clang-format on */

const struct kops_certificate *kops_certificate(const struct kops_node *n, size_t *at)
{
	const unsigned int conditions = n->config ? kops_conditions(n) : KOPS_ANY_NODE;

	while (*at < ARRAY_LEN(certificates)) {
		const struct kops_certificate *c = &certificates[(*at)++];

		if ((c->conditions & conditions) == c->conditions)
			return c;
	}
	return NULL;
}

static const char *subject_of(struct arena *a, const struct kops_certificate *c,
			      const struct kops_node *n)
{
	if (c->subject)
		return c->subject;
	return c->names ? n->name : arena_printf(a, "system:node:%s", n->name);
}

/* Sets the names on a certificate. If the node issues the certificate itself, these are all the node's names;
 * otherwise kops-controller takes the names that EC2 tells it. */
static void set_hosts(struct arena *a, const struct kops_node *n, const struct kops_certificate *c,
		      struct node_issue *issue)
{
	if (n->boot->role->serves_api) {
		issue->hosts = c->names(a, n);
		return;
	}
	strv_add(a, &issue->hosts, n->name);
	if (n->address)
		strv_add(a, &issue->hosts, n->address);
	strv_add_all(a, &issue->others, &n->names);
	strv_add_all(a, &issue->others, &n->names_of_ec2);
}

static void add_issue(struct arena *a, const struct documents *d, const struct kops_node *n,
		      const struct kops_certificate *c, struct node_wants *w)
{
	const struct kops_config *config = n->config;
	struct node_issue issue = {
		.name = c->name,
		.signer = c->signer,
		.signer_id = config ? strmap_get(&config->keypair_ids, c->signer) : NULL,
		.pool = config ? strmap_get(&config->cas, c->signer) : d->join->ca,
		.subject = subject_of(a, c, n),
		.organization = c->organization,
		.serves = c->names != NULL,
		.login = c->login,
		.cert_at = c->cert_at,
		.key_at = c->key_at,
		.pod = c->pod,
		.pod_stays = c->pod_stays,
	};

	if (c->names)
		set_hosts(a, n, c, &issue);
	arena_push(a, w->issues, w->n_issues, issue);
}

static void add_keyset(struct arena *a, const struct kops_node *n, const char *name,
		       struct node_wants *w)
{
	/* source: kops 1.37 upup/pkg/fi/vfs_keystorereader.go legacyKeysetMappings */
	static const char *const before[][2] = { { KOPS_CA, "ca" },
						 { "service-account", "master" } };
	const char *id = strmap_get(&n->config->keypair_ids, name);
	struct node_want want = { .name = name, .key = true, .id = id ? id : "" };

	for (size_t i = 0; i < w->n_keypairs; i++)
		if (str_eq(w->keypairs[i].name, name))
			return;
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (str_eq(before[i][0], name))
			want.older = before[i][1];
	arena_push(a, w->keypairs, w->n_keypairs, want);
}

/* source: kops 1.37 nodeup/pkg/model/{kube_apiserver,kube_controller_manager,kops_controller,etcd_manager_tls}.go */
static void add_keysets(struct arena *a, const struct kops_node *n, unsigned int conditions,
			struct node_wants *w)
{
	const struct strv *clusters = &n->config->etcd_cluster_names;

	for (size_t i = 0; i < w->n_issues; i++)
		add_keyset(a, n, w->issues[i].signer, w);
	if (conditions & (KOPS_CONTROL_PLANE | KOPS_SIGNS_TOKENS))
		add_keyset(a, n, "service-account", w);
	if (!(conditions & KOPS_CONTROL_PLANE))
		return;
	for (size_t i = 0; i < clusters->n; i++) {
		const char *cluster = clusters->v[i];

		add_keyset(a, n, arena_printf(a, "etcd-manager-ca-%s", cluster), w);
		add_keyset(a, n, arena_printf(a, "etcd-peers-ca-%s", cluster), w);
		add_keyset(a, n, kops_etcd_clients_ca(a, n->config, cluster), w);
	}
}

const char *kops_etcd_clients_ca(struct arena *a, const struct kops_config *c, const char *cluster)
{
	static const struct {
		const char *cluster;
		enum kops_change when;
	} shared[] = { { "main", KOPS_ALWAYS },
		       { "events", KOPS_ALWAYS },
		       { "leases", KOPS_ETCD_LEASES } };

	/* an API server uses one client certificate for every cluster that it asks */
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		if (str_eq(shared[i].cluster, cluster) && kops_does(c, shared[i].when))
			return etcd_ca;
	return arena_printf(a, "etcd-clients-ca-%s", cluster);
}

const char *const kops_tokens[] = { "admin",
				    "kube",
				    "kube-proxy",
				    "kubelet",
				    "system:controller_manager",
				    "system:dns",
				    "system:logging",
				    "system:monitoring",
				    "system:scheduler",
				    NULL };

static void add_secrets(struct arena *a, const struct kops_node *n, struct node_wants *w)
{
	const bool encrypts = !str_is_empty(n->config->apiserver.encryption_config_secret_hash);
	struct node_want want = { .name = "dockerconfig", .optional = true };

	arena_push(a, w->secrets, w->n_secrets, want);
	for (size_t i = 0; kops_tokens[i]; i++) {
		want.name = kops_tokens[i];
		arena_push(a, w->secrets, w->n_secrets, want);
	}
	want = (struct node_want){ .name = "encryptionconfig",
				   .flag = "encryption-provider-config" };
	if (encrypts)
		arena_push(a, w->secrets, w->n_secrets, want);
}

const char *kops_in_base(struct arena *a, const struct kops_boot *boot, const char *path)
{
	const char *base = boot->config_base ? boot->config_base : "";
	size_t n = strlen(base);

	while (n && base[n - 1] == '/')
		n--;
	return arena_printf(a, "%.*s/%s", (int)n, base, path);
}

static void add_manifests(struct arena *a, const struct kops_node *n, unsigned int conditions,
			  struct node_wants *w)
{
	const struct kops_config *c = n->config;

	for (size_t i = 0; i < c->static_manifests.n; i++)
		strv_add(a, &w->manifests, kops_in_base(a, n->boot, c->static_manifests.v[i].path));
	if (!(conditions & KOPS_CONTROL_PLANE))
		return;
	strv_add_all(a, &w->manifests, &c->etcd_manifests);
	if (!str_is_empty(c->channels_manifest))
		strv_add(a, &w->manifests, c->channels_manifest);
}

struct node_wants kops_wants(struct arena *a, const struct documents *d, const struct node *n)
{
	const struct kops_node *own = n->own;
	const struct kops_certificate *c;
	struct node_wants w = { 0 };
	size_t at = 0;

	if (!own)
		return w;
	while ((c = kops_certificate(own, &at)))
		add_issue(a, d, own, c, &w);
	if (own->otherwise) {
		struct node_wants *otherwise = arena_new(a, struct node_wants);

		*otherwise = kops_wants(a, d, &(struct node){ .own = own->otherwise });
		w.otherwise = otherwise;
	}
	if (!own->boot->role->serves_api)
		return w;
	w.key_store = own->config->keypair_store;
	w.secret_store = own->config->secret_store;
	w.is_unsure = str_is_empty(w.key_store) || str_is_empty(w.secret_store);
	add_keysets(a, own, kops_conditions(own), &w);
	add_secrets(a, own, &w);
	add_manifests(a, own, kops_conditions(own), &w);
	return w;
}
