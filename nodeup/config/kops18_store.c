#include "nodeup/config/kops18_spec.h"

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/config/pem.h"

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

/* Which key pairs and tokens a node takes from the store: every condition of a row must hold.
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
	{ "encryptionconfig", false, MASTER | AGGREGATION | ENCRYPTION },
};

static int conditions_of(const struct node *n)
{
	return (n->is_master ? MASTER : 0) | (node_k8s_at_least(n, 1, 7) ? AGGREGATION : 0) |
	       (n->secure_kubelet ? SECURE_KUBELET : 0) | (n->etcd_tls ? ETCD_TLS : 0) |
	       (n->encryption_config ? ENCRYPTION : 0) |
	       (node_runs_kube_proxy(n) ? KUBE_PROXY : 0) |
	       (str_eq(n->networking, "kuberouter") ? KUBE_ROUTER : 0);
}

static const char *store_of(struct arena *a, const struct node *n, const struct tree *cluster,
			    const char *key, const char *folder)
{
	const struct tree *spec = kops18_lookup(cluster, "spec");
	const struct tree *value = kops18_lookup(spec ? spec : cluster, key);
	const char *s = value ? value->scalar : NULL;
	size_t len;

	if (str_is_empty(s))
		return n->config_base ? arena_printf(a, "%s/%s", n->config_base, folder) : NULL;
	len = strlen(s);
	while (len > 1 && s[len - 1] == '/')
		len--;
	return arena_strn(a, s, len);
}

struct node_wants kops18_wants(struct arena *a, const struct node *n, const struct kube_env *env,
			       const struct tree *cluster)
{
	const int have = conditions_of(n);
	struct node_wants w = {
		.key_store = store_of(a, n, cluster, "keyStore", "pki"),
		.secret_store = store_of(a, n, cluster, "secretStore", "secrets"),
		.every_secret = n->is_master,
	};

	(void)env;
	for (size_t i = 0; i < ARRAY_LEN(keypairs); i++) {
		struct node_want want = {
			.name = keypairs[i].name,
			.key = keypairs[i].key,
			.optional = keypairs[i].optional,
			.told = keypairs[i].optional,
		};

		if ((keypairs[i].conditions & ~have) != 0)
			continue;
		/* masters sign certificate requests */
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
						       .optional = secrets[i].optional });
	return w;
}

int node_check_certificate(const char *name, const char *text, const char *from, struct err *e)
{
	return pem_check_certificate(text ? text : "", e) < 0
		       ? err_wrap(e, "%s: keypair %s", from, name)
		       : 0;
}

int node_add_keypair(struct arena *a, struct node *n, const struct node_keypair *pair,
		     const struct node_keypair *from, struct err *e)
{
	struct node_keypair copy;
	int r = node_check_certificate(pair->name, pair->cert, from->cert, e);

	if (r < 0)
		return r;
	if (pair->key && pem_check_key(pair->key, pair->cert, e) < 0)
		return err_wrap(e, "%s: keypair %s", from->key, pair->name);
	copy = (struct node_keypair){
		.name = arena_str(a, pair->name),
		.cert = pem_lines(a, pair->cert),
		.key = pem_lines(a, pair->key),
		.pool = pem_lines(a, pair->pool),
	};
	arena_push(a, n->keypairs.v, n->keypairs.n, copy);
	return 0;
}

/* The others are whole documents. */
static bool is_token(const char *id)
{
	return strcmp(id, "dockerconfig") != 0 && strcmp(id, "encryptionconfig") != 0;
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return true;
	return false;
}

int node_add_secret(struct arena *a, struct node *n, const char *id, const struct tree *json,
		    const char *from, struct err *e)
{
	struct secret {
		const char *data;
	} secret = { 0 };
	static const struct field fields[] = {
		FIELD(struct secret, data, .key = "Data", .required = true, .secret = true),
	};
	static const struct schema schema = SCHEMA(struct secret, "Secret", fields);
	struct err problem = { 0 };
	char *token;
	size_t len;

	/* neither message may quote the text: it is secret */
	if (field_parse(a, &schema, json, &secret, NULL, &problem) < 0)
		return err_config(e, "%s: secret %s: expected {\"Data\": \"<base64>\"}", from, id);
	if (enc_unbase64(a, secret.data, &token, &len, &problem) < 0 || strlen(token) != len)
		return err_config(e, "%s: secret %s: its data is not base64 of a text", from, id);
	if (len == 0)
		return err_config(e, "%s: secret %s is empty", from, id);
	if (is_token(id) && has_control(token))
		return err_config(e,
				  "%s: secret %s: there is a line break or another control "
				  "character in it, which no token or password has",
				  from, id);
	strmap_set(a, &n->secrets, arena_str(a, id), token);
	return 0;
}
