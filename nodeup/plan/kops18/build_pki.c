/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/kops18/kops18.h"

#include <string.h>

/* Key pairs of the store as files in /srv/kubernetes. If cert or key is NULL, that half is left out. */
static const struct {
	const char *name, *cert, *key;
	mode_t cert_mode, key_mode;
	bool optional;
} files[] = {
	{ "master", "server.cert", "server.key", 0644, 0600, false },
	{ "apiserver-proxy-client", "proxy-client.cert", "proxy-client.key", 0644, 0600, true },
	{ "apiserver-aggregator", "apiserver-aggregator.cert", "apiserver-aggregator.key", 0644,
	  0600, true },
	{ "apiserver-aggregator-ca", "apiserver-aggregator-ca.cert", NULL, 0644, 0, true },
	{ "kubelet-api", "kubelet-api.pem", "kubelet-api-key.pem", 0644, 0600, true },
	{ "etcd", "etcd.pem", "etcd-key.pem", 0400, 0400, true },
	{ "etcd-client", "etcd-client.pem", "etcd-client-key.pem", 0400, 0400, true },
	{ "ca", NULL, "ca.key", 0, 0600, false },
};

static void add_keypairs(struct plan *p)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const struct node_keypair *k;

		if (files[i].optional && !node_keypair(p->req->node, files[i].name))
			continue;
		k = plan_keypair(p, files[i].name, files[i].key != NULL);
		if (files[i].cert)
			plan_file(p, kops18_in_srv(p, files[i].cert), files[i].cert_mode, k->cert);
		/* kops lets every user read private keys */
		if (files[i].key)
			plan_secret(p, kops18_in_srv(p, files[i].key), files[i].key_mode, k->key);
	}
}

/* Writes a field of a CSV file for the API server. */
static const char *csv_field(struct arena *a, const char *text)
{
	char *quoted, *out;

	if (!strpbrk(text, ",\""))
		return text;
	out = quoted = arena_alloc(a, 2 * strlen(text) + sizeof("\"\""));
	*out++ = '"';
	for (; *text; text++) {
		if (*text == '"')
			*out++ = '"';
		*out++ = *text;
	}
	*out = '"';
	return quoted;
}

static const char *known_tokens(const struct plan *p)
{
	const struct strmap *secrets = &p->req->node->secrets;
	struct strv lines = { 0 };
	struct strmap sorted = { 0 };

	for (size_t i = 0; i < secrets->n; i++)
		if (!str_eq(secrets->v[i].key, "dockerconfig") &&
		    !str_eq(secrets->v[i].key, "encryptionconfig"))
			strmap_set(p->arena, &sorted, secrets->v[i].key, secrets->v[i].value);
	strmap_sort(&sorted);
	for (size_t i = 0; i < sorted.n; i++)
		strv_addf(p->arena, &lines, "%s,%s,%s", csv_field(p->arena, sorted.v[i].value),
			  sorted.v[i].key, sorted.v[i].key);
	return strv_join(p->arena, &lines, "\n");
}

static void add_logins(struct plan *p)
{
	const char *password = strmap_get(&p->req->node->secrets, "kube");
	const char *encryption = kops18_encryption_config(p);

	if (!password && !p->req->no_keys)
		plan_refuse(p, "secret kube: the admin's password is missing");
	plan_secret(p, kops18_in_srv(p, "basic_auth.csv"), 0600,
		    arena_printf(p->arena, "%s,admin,admin,system:masters",
				 csv_field(p->arena, password ? password : "")));
	plan_secret(p, kops18_in_srv(p, "known_tokens.csv"), 0600, known_tokens(p));
	if (encryption)
		plan_secret(p, kops18_in_srv(p, "encryptionconfig.yaml"), 0600, encryption);
}

void build_pki(struct plan *p)
{
	const struct node_keypair *ca = plan_keypair(p, "ca", false);
	const char *login = strmap_get(&p->req->node->secrets, "dockerconfig");

	plan_file(p, kops18_in_srv(p, "ca.crt"), 0644, ca->pool ? ca->pool : ca->cert);
	/* kubelet's HOME is /root */
	if (login) {
		plan_dir(p, "/root/.docker", 0700);
		plan_secret(p, "/root/.docker/config.json", 0600, login);
	}
	if (!p->req->node->is_master)
		return;
	add_keypairs(p);
	add_logins(p);
}
