/* Tests: test_kops_pki.py. */
#include "nodeup/config/kops/model.h"
#include "nodeup/plan/kops/kops.h"

#include <string.h>
#include "nodeup/base/enc.h"

enum { TEXT_MAX = 256 << 10 };

#define APISERVER "/srv/kubernetes/kube-apiserver"
#define KCM "/srv/kubernetes/kube-controller-manager"
#define CONTROLLER "/etc/kubernetes/kops-controller"
#define HEALTHCHECK "/etc/kubernetes/kube-apiserver-healthcheck/secrets"

/* Lists users for programs that do not run as root in their containers. Files of these users get the users' ids, and
 * the group root. source: kops 1.37 pkg/wellknownusers, useradd(8) */
static const struct {
	struct task_user user;
	unsigned int conditions;
	bool own_group; /* the user's files get the user's group as well */
} users[] = {
	{ { "kops-controller", "/home/kops-controller", "/sbin/nologin", 10011 },
	  KOPS_CONTROL_PLANE },
	{ { "kube-apiserver-healthcheck", HEALTHCHECK, "/sbin/nologin", 10012 },
	  KOPS_API | KOPS_HEALTHCHECK },
	{ { "kops-channels", "/var/lib/kops", "/sbin/nologin", 10013 },
	  KOPS_CONTROL_PLANE | KOPS_CHANNELS_POD },
	{ { "aws-iam-authenticator", "/srv/kubernetes/aws-iam-authenticator", "/sbin/nologin",
	    10000 },
	  KOPS_API | KOPS_AWS_LOGIN,
	  true },
};

static bool has(struct plan *p, unsigned int conditions)
{
	return (kops_conditions(kops_of(p)) & conditions) == conditions;
}

/* Gives the file to the user; NULL: root keeps it. */
static struct task *give(struct task *file, const char *user)
{
	for (size_t i = 0; user && i < ARRAY_LEN(users); i++)
		if (str_eq(users[i].user.name, user)) {
			file->file.attr.uid = users[i].user.uid;
			file->file.attr.gid = users[i].own_group ? users[i].user.uid : 0;
		}
	return file;
}

static void add_users(struct plan *p)
{
	for (size_t i = 0; i < ARRAY_LEN(users); i++)
		if (has(p, users[i].conditions))
			plan_new_task(p, TASK_USER, users[i].user.name)->user = users[i].user;
}

/* Returns the certificate's text. The API server sends its CA as well, because some clients do not have it. */
static const char *text_of_cert(struct plan *p, const struct kops_certificate *c,
				const struct node_keypair *pair)
{
	if (!str_eq(c->name, "master") || pair->unmade)
		return pair->cert;
	return arena_printf(p->arena, "%s\n%s", pair->cert,
			    plan_keypair(p, c->signer, false)->cert);
}

static void add_pair(struct plan *p, const struct kops_certificate *c)
{
	const struct node_keypair *pair = plan_keypair(p, c->name, true);
	/* the authenticator owns both its certificate and its key */
	const bool is_private = str_has_suffix(c->cert_at, ".pem");

	give(plan_issued(plan_file(p, c->cert_at, is_private ? 0600 : 0644,
				   text_of_cert(p, c, pair)),
			 pair),
	     c->user);
	give(plan_issued(plan_secret(p, c->key_at, 0600, pair->key), pair), c->user);
}

/* Adds the certificates of a node with an API server. Other builders add the certificates that a worker has as well. */
static void add_issued(struct plan *p)
{
	const struct kops_certificate *c;
	size_t at = 0;

	while ((c = kops_certificate(kops_of(p), &at))) {
		if (!(c->conditions & (KOPS_API | KOPS_CONTROL_PLANE)))
			continue;
		if (c->login)
			give(kops_kubeconfig(p, c->login, c->name), c->user);
		else
			add_pair(p, c);
	}
}

enum half { CERT = 1 << 0, KEY = 1 << 1, POOL = 1 << 2 };

/* Lists keysets that become files: the certificate or key that KeypairIDs pins, or all certificates of the CA. */
static const struct keyset_file {
	const char *name, *path; /* `path` is without its ending */
	enum half half;
	mode_t mode;
	unsigned int conditions;
	const char *user;
} keyset_files[] = {
	{ KOPS_CA, KCM "/ca", CERT, 0600, KOPS_CONTROL_PLANE, NULL },
	{ KOPS_CA, KCM "/ca", KEY, 0600, KOPS_CONTROL_PLANE, NULL },
	{ KOPS_CA, CONTROLLER "/kubernetes-ca", CERT, 0600, KOPS_CONTROL_PLANE, "kops-controller" },
	{ KOPS_CA, CONTROLLER "/kubernetes-ca", KEY, 0600, KOPS_CONTROL_PLANE, "kops-controller" },
	{ "etcd-clients-ca-cilium", CONTROLLER "/etcd-clients-ca-cilium", CERT, 0600,
	  KOPS_CONTROL_PLANE | KOPS_CILIUM_ETCD, "kops-controller" },
	{ "etcd-clients-ca-cilium", CONTROLLER "/etcd-clients-ca-cilium", KEY, 0600,
	  KOPS_CONTROL_PLANE | KOPS_CILIUM_ETCD, "kops-controller" },
	{ KOPS_CA, HEALTHCHECK "/ca", CERT, 0644, KOPS_API | KOPS_HEALTHCHECK,
	  "kube-apiserver-healthcheck" },
	{ "service-account", KCM "/service-account", KEY, 0600, KOPS_CONTROL_PLANE, NULL },
	{ "service-account", APISERVER "/service-account", KEY, 0600, KOPS_API | KOPS_SIGNS_TOKENS,
	  NULL },
	{ "etcd-clients-ca", APISERVER "/etcd-ca", POOL, 0644, KOPS_API, NULL },
	{ "apiserver-aggregator-ca", APISERVER "/apiserver-aggregator-ca", POOL, 0644, KOPS_API,
	  NULL },
};

static const char *pool_of(struct plan *p, const char *name)
{
	const struct kops_config *c = kops_of(p)->config;
	const char *pool = strmap_get(&c->cas, name);

	if (!pool)
		plan_lacks(p, "%sCAs: there is no %s", tree_place(p->arena, c->tree, "CAs"), name);
	return pool ? pool : "";
}

static void add_keyset_file(struct plan *p, const struct keyset_file *f)
{
	const char *path = arena_printf(p->arena, "%s.%s", f->path, f->half == KEY ? "key" : "crt");
	struct task *file;

	if (f->half == POOL)
		file = plan_file(p, path, f->mode, pool_of(p, f->name));
	else if (f->half == CERT)
		file = plan_file(p, path, f->mode, plan_keypair(p, f->name, false)->cert);
	else
		file = plan_secret(p, path, f->mode, plan_keypair(p, f->name, true)->key);
	give(file, f->user);
}

/* Adds the CAs by which etcd-manager signs its members' certificates. source: kops 1.37
 * nodeup/pkg/model/etcd_manager_tls.go */
static void add_etcd(struct plan *p, const char *cluster)
{
	struct arena *a = p->arena;
	const char *const names[][2] = {
		{ "etcd-manager-ca", arena_printf(a, "etcd-manager-ca-%s", cluster) },
		{ "etcd-peers-ca", arena_printf(a, "etcd-peers-ca-%s", cluster) },
		{ "etcd-clients-ca", kops_etcd_clients_ca(a, kops_of(p)->config, cluster) },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = arena_printf(a, "/etc/kubernetes/pki/etcd-manager-%s/%s",
						cluster, names[i][0]);
		const struct keyset_file crt = { names[i][1], path, POOL, 0644, 0, NULL };
		const struct keyset_file key = { names[i][1], path, KEY, 0600, 0, NULL };

		add_keyset_file(p, &crt);
		add_keyset_file(p, &key);
	}
}

/* Tells kops-controller which keys sign the certificates of nodes. */
static void add_keypair_ids(struct plan *p)
{
	static const char path[] = CONTROLLER "/keypair-ids.yaml";
	struct strmap ids = { 0 };
	struct tree *t = tree_map(p->arena);

	for (size_t i = 0; i < kops_of(p)->config->keypair_ids.n; i++)
		strmap_set(p->arena, &ids, kops_of(p)->config->keypair_ids.v[i].key,
			   kops_of(p)->config->keypair_ids.v[i].value);
	strmap_sort(&ids);
	for (size_t i = 0; i < ids.n; i++)
		tree_set_text(p->arena, t, ids.v[i].key, ids.v[i].value);
	give(plan_file(p, path, 0600, plan_yaml(p, path, t, TEXT_MAX)), "kops-controller");
}

/* Returns the API server's file of tokens, which no flag names. source: kops 1.37 nodeup/pkg/model/kube_apiserver.go
 * writeStaticCredentials */
static const char *known_tokens(struct plan *p)
{
	struct strv lines = { 0 };

	for (size_t i = 0; kops_tokens[i]; i++) {
		const char *id = kops_tokens[i], *token = strmap_get(&p->req->node->secrets, id);

		if (token)
			strv_addf(p->arena, &lines, "%s,%s,%s%s", token, id, id,
				  str_eq(id, "admin") ? ",system:masters" : "");
	}
	return strv_join(p->arena, &lines, "\n");
}

static void add_secrets(struct plan *p)
{
	const struct kops_apiserver_config *c = &kops_of(p)->config->apiserver;
	const char *encryption = strmap_get(&p->req->node->secrets, "encryptionconfig");

	plan_file(p, APISERVER "/service-account.pub", 0600,
		  c->service_account_public_keys ? c->service_account_public_keys : "");
	plan_secret(p, APISERVER "/known_tokens.csv", 0600, known_tokens(p));
	if (str_is_empty(c->encryption_config_secret_hash))
		return;
	if (!encryption && !p->req->no_keys)
		plan_refuse(p, "secret encryptionconfig: the documents ask for it");
	plan_secret(p, APISERVER "/encryptionconfig.yaml", 0600, encryption ? encryption : "");
}

/* Writes how the API server asks aws-iam-authenticator who a user is. The file has no kind and no version, as kops
 * writes none. */
static void add_authentication(struct plan *p)
{
	static const char path[] = "/etc/kubernetes/authn.config";
	static const char form[] = "apiVersion: \"\"\n"
				   "clusters:\n"
				   "- cluster:\n"
				   "    certificate-authority-data: %s\n"
				   "    server: https://127.0.0.1:21362/authenticate\n"
				   "  name: aws-iam-authenticator\n"
				   "contexts:\n"
				   "- context:\n"
				   "    cluster: aws-iam-authenticator\n"
				   "    user: kube-apiserver\n"
				   "  name: webhook\n"
				   "current-context: webhook\n"
				   "kind: \"\"\n"
				   "users:\n"
				   "- name: kube-apiserver\n"
				   "  user: {}\n";
	const char *ca = kops_ca(p) ? kops_ca(p) : "";

	if (has(p, KOPS_AWS_LOGIN))
		plan_file(p, path, 0600,
			  arena_printf(p->arena, form, enc_base64(p->arena, ca, strlen(ca))));
}

/* Gives a kubeconfig to the first user of this distribution's images that this image has. */
static void add_admin(struct plan *p)
{
	const char *known = plan_distro(p)->users;
	const struct strv names = strv_split(p->arena, known ? known : "", ' ');

	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.v[i], *home = strmap_get(&p->req->facts->homes, name);
		const char *folder = home ? arena_printf(p->arena, "%s/.kube", home) : NULL;

		if (!home)
			continue;
		plan_dir(p, folder, 0700)->dir.owner = name;
		kops_kubeconfig(p, arena_printf(p->arena, "%s/config", folder), "kubecfg")
			->file.owner = name;
		return;
	}
}

static void add_directories(struct plan *p)
{
	static const struct {
		const char *path;
		unsigned int conditions;
	} folders[] = {
		{ APISERVER, KOPS_API },
		{ KCM, KOPS_CONTROL_PLANE },
		{ "/srv/kubernetes/kube-scheduler", KOPS_CONTROL_PLANE },
		{ CONTROLLER, KOPS_CONTROL_PLANE },
		{ HEALTHCHECK, KOPS_API | KOPS_HEALTHCHECK },
	};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (has(p, folders[i].conditions))
			plan_dir(p, folders[i].path, 0755);
}

void build_kops_pki(struct plan *p)
{
	const struct strv *clusters = &kops_of(p)->config->etcd_cluster_names;

	if (!has(p, KOPS_API))
		return;
	add_users(p);
	add_directories(p);
	add_issued(p);
	for (size_t i = 0; i < ARRAY_LEN(keyset_files); i++)
		if (has(p, keyset_files[i].conditions))
			add_keyset_file(p, &keyset_files[i]);
	add_secrets(p);
	add_authentication(p);
	add_admin(p);
	if (!has(p, KOPS_CONTROL_PLANE))
		return;
	add_keypair_ids(p);
	for (size_t i = 0; i < clusters->n; i++)
		add_etcd(p, clusters->v[i]);
}
