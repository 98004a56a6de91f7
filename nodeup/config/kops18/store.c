#include "nodeup/config/kops18/spec.h"

#include <string.h>

enum {
	PLAIN = 0,
	MASTER = 1,
	AGGREGATION = 2,
	SECURE_KUBELET = 4,
	ETCD_TLS = 8,
	ENCRYPTION = 16,
	KUBE_PROXY = 32,
	KUBE_ROUTER = 64,
};

/* The key pairs and tokens that a node takes from the store. Every condition of a row must hold.
 * source: kops 1.8.1 nodeup/pkg/model/{secrets,kubelet,kubectl,protokube,kube_*}.go */
static const struct {
	const char *name;
	bool key, optional;
	int conditions;
} keypairs[] = {
	{ "ca", false, false, PLAIN },
	{ "kubelet", true, false, PLAIN },
	{ "kube-proxy", true, false, KUBE_PROXY },
	{ "kube-router", true, false, KUBE_ROUTER },
	{ "kops", true, false, MASTER },
	{ "kubecfg", true, false, MASTER },
	{ "master", true, false, MASTER },
	{ "kube-controller-manager", true, false, MASTER },
	{ "kube-scheduler", true, false, MASTER },
	{ "apiserver-proxy-client", true, false, MASTER | AGGREGATION },
	{ "apiserver-aggregator", true, true, MASTER | AGGREGATION },
	{ "apiserver-aggregator-ca", false, true, MASTER | AGGREGATION },
	{ "kubelet-api", true, false, MASTER | SECURE_KUBELET },
	{ "etcd", true, false, MASTER | ETCD_TLS },
	{ "etcd-client", true, false, MASTER | ETCD_TLS },
};

static const struct {
	const char *id;
	bool optional;
	int conditions;
	const char *flag; /* see node_want */
} secrets[] = {
	{ "dockerconfig", true, PLAIN },
	{ "kube", false, MASTER }, /* the admin's password */
	{ "admin", true, MASTER },
	{ "kubelet", true, MASTER },
	{ "kube-proxy", true, MASTER },
	{ "system:scheduler", true, MASTER },
	{ "system:controller_manager", true, MASTER },
	{ "system:logging", true, MASTER },
	{ "system:monitoring", true, MASTER },
	{ "system:dns", true, MASTER },
	{ "encryptionconfig", false, MASTER | AGGREGATION | ENCRYPTION,
	  "experimental-encryption-provider-config" },
};

static const struct {
	int condition;
	const char *text;
} condition_texts[] = {
	{ MASTER, "masters" },
	{ AGGREGATION, "from Kubernetes 1.7" },
	{ SECURE_KUBELET, "with kubelet.anonymousAuth false" },
	{ ETCD_TLS, "with enableEtcdTLS" },
	{ ENCRYPTION, "with encryptionConfig" },
	{ KUBE_PROXY, "unless kube-proxy is off" },
	{ KUBE_ROUTER, "with networking kuberouter" },
};

static void tell_want(const char *name, const char *what, bool optional, int conditions,
		      struct buf *b)
{
	const char *between = "  ";

	(void)buf_addf(b, "  %-26s %-20s", name, what);
	for (size_t i = 0; i < ARRAY_LEN(condition_texts); i++)
		if (conditions & condition_texts[i].condition) {
			(void)buf_addf(b, "%s%s", between, condition_texts[i].text);
			between = ", ";
		}
	(void)buf_addf(b, "%s%s\n", conditions ? "" : "  every node",
		       optional ? ", if it is there" : "");
}

void kops18_pki(struct buf *b)
{
	(void)buf_adds(
		b, "Key pairs, of the state store or of pki/ beside --conf: PEM in\n"
		   "pki/issued/NAME/ID.crt and pki/private/NAME/ID.key, of which the largest ID "
		   "counts.\n\n");
	for (size_t i = 0; i < ARRAY_LEN(keypairs); i++)
		tell_want(keypairs[i].name, keypairs[i].key ? "certificate and key" : "certificate",
			  keypairs[i].optional, keypairs[i].conditions, b);
	(void)buf_adds(
		b, "\nMasters take the key of ca as well, to sign with. All certificates of ca are "
		   "written.\n\n"
		   "Secrets, of the state store or of secrets/ beside --conf: "
		   "secrets/NAME with\n{\"Data\":\"BASE64\"}. On masters, what else is "
		   "there is a token, too.\n\n");
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		tell_want(secrets[i].id, "secret", secrets[i].optional, secrets[i].conditions, b);
}

bool kops18_runs_kube_proxy(const struct node *n)
{
	const struct kops18_node *own = n->own;
	const struct opt_bool *enabled = &own->kube_proxy.enabled;

	return !str_eq(n->networking, "kuberouter") && !(n->is_master && own->isolate_masters) &&
	       (!enabled->set || enabled->v);
}

static int conditions_of(const struct node *n)
{
	const struct kops18_node *own = n->own;

	return (n->is_master ? MASTER : 0) | (node_k8s_at_least(n, 1, 7) ? AGGREGATION : 0) |
	       (own->secure_kubelet ? SECURE_KUBELET : 0) | (own->etcd_tls ? ETCD_TLS : 0) |
	       (own->encryption_config ? ENCRYPTION : 0) |
	       (kops18_runs_kube_proxy(n) ? KUBE_PROXY : 0) |
	       (str_eq(n->networking, "kuberouter") ? KUBE_ROUTER : 0);
}

static const char *store_of(struct arena *a, const struct node *n, const struct tree *cluster,
			    const char *key, const char *folder, bool *is_unsure)
{
	const struct tree *spec = tree_lookup(cluster, "spec");
	const struct tree *value = tree_lookup(spec ? spec : cluster, key);
	const char *s = value ? value->scalar : NULL;

	*is_unsure |= value && value->is_wrong;
	if (str_is_empty(s))
		return n->config_base ? arena_printf(a, "%s/%s", n->config_base, folder) : NULL;
	return kops18_folder(a, s);
}

struct node_wants kops18_wants(struct arena *a, const struct documents *d, const struct node *n)
{
	const int have = conditions_of(n);
	struct node_wants w = { .every_secret = n->is_master };

	w.key_store = store_of(a, n, d->cluster, "keyStore", "pki", &w.is_unsure);
	w.secret_store = store_of(a, n, d->cluster, "secretStore", "secrets", &w.is_unsure);
	for (size_t i = 0; i < ARRAY_LEN(keypairs); i++) {
		struct node_want want = {
			.name = keypairs[i].name,
			.key = keypairs[i].key,
			.optional = keypairs[i].optional,
			.told = keypairs[i].optional,
		};

		if ((keypairs[i].conditions & ~have) != 0)
			continue;
		/* masters sign certificate requests, so they need the CA's key */
		if (strcmp(want.name, "ca") == 0) {
			want.key = n->is_master;
			want.pool = true;
		}
		arena_push(a, w.keypairs, w.n_keypairs, want);
	}
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		if ((secrets[i].conditions & ~have) == 0)
			arena_push(a, w.secrets, w.n_secrets,
				   (struct node_want){ .name = secrets[i].id,
						       .optional = secrets[i].optional,
						       .flag = secrets[i].flag });
	return w;
}
