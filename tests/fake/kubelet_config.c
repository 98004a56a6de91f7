/* The kubeconfig, as client-go's clientcmd reads it (tools/clientcmd/api/v1/types.go). */
#include "tests/fake/kubelet.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct yfield cluster_fields[] = {
	{ "server", 's', true }, { "insecure-skip-tls-verify", 'b' }, { "certificate-authority", 's' },
	{ "certificate-authority-data", 's', true }, { "extensions", '*' }, { 0 },
};
static const struct yfield user_fields[] = {
	{ "client-certificate", 's' }, { "client-certificate-data", 's', true }, { "client-key", 's' },
	{ "client-key-data", 's', true }, { "token", 's' }, { "username", 's' }, { "password", 's' },
	{ 0 },
};
static const struct yfield context_fields[] = {
	{ "cluster", 's', true }, { "user", 's', true }, { "namespace", 's' }, { 0 },
};
static const struct yfield named_cluster[] = {
	{ "name", 's', true }, { "cluster", 'o', true, cluster_fields }, { 0 },
};
static const struct yfield named_user[] = {
	{ "name", 's', true }, { "user", 'o', true, user_fields }, { 0 },
};
static const struct yfield named_context[] = {
	{ "name", 's', true }, { "context", 'o', true, context_fields }, { 0 },
};
static const struct yfield config_fields[] = {
	{ "apiVersion", 's', true, .oneof = "v1" }, { "kind", 's', true, .oneof = "Config" },
	{ "clusters", 'O', true, named_cluster }, { "users", 'O', true, named_user },
	{ "contexts", 'O', true, named_context }, { "current-context", 's', true },
	{ "preferences", '*' }, { "extensions", '*' }, { 0 },
};
/* clang-format on */

/* The value called member of the list entry with that name. */
static yaml_node_t *lookup(struct yfile *y, const char *list_name, const char *name,
			   const char *member)
{
	yaml_node_t *list = ynode_get(y, y->root, list_name);

	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++) {
		yaml_node_t *n = yaml_document_get_node(&y->doc, *i);

		if (strcmp(ynode_text(ynode_get(y, n, "name")), name) == 0)
			return ynode_get(y, n, member);
	}
	ynode_die(y, list, list_name, "no entry \"%s\"", name);
}

static int base64_value(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* Standard base64 with padding, as encoding/json decodes []byte. */
static char *base64_decode(const char *s)
{
	size_t n = strlen(s), out = 0;
	char *p = calloc(1, n + 1);

	if (!p)
		abort();
	for (size_t i = 0; i < n; i += 4) {
		unsigned int bits = 0;
		int pad = 0;

		for (size_t j = i; j < i + 4; j++) {
			int v = j < n ? base64_value(s[j]) : -1;

			if (v < 0 && (j < n - 2 || j >= n || s[j] != '=')) {
				free(p);
				return NULL;
			}
			pad += v < 0;
			bits = bits << 6 | (unsigned int)(v < 0 ? 0 : v);
		}
		for (int k = 0; k < 3 - pad; k++)
			p[out++] = (char)(bits >> (16 - 8 * k));
	}
	return p;
}

static void check_pem(struct yfile *y, yaml_node_t *map, const char *key, const char *what)
{
	yaml_node_t *n = ynode_get(y, map, key);
	char *pem = base64_decode(ynode_text(n));

	if (!pem)
		ynode_die(y, n, key, "illegal base64 data");
	if (strncmp(pem, "-----BEGIN ", 11) != 0 || !strstr(pem, what) || !strstr(pem, "-----END "))
		ynode_die(y, n, key, "does not contain a PEM block \"%s\"", what);
	free(pem);
}

void kubeconfig_check(const char *path)
{
	struct yfile y;
	yaml_node_t *context, *cluster, *user, *server;

	yfile_open(&y, path);
	yobject_check(&y, y.root, "kubeconfig", config_fields);
	context = lookup(&y, "contexts", ynode_text(ynode_get(&y, y.root, "current-context")),
			 "context");
	cluster = lookup(&y, "clusters", ynode_text(ynode_get(&y, context, "cluster")), "cluster");
	user = lookup(&y, "users", ynode_text(ynode_get(&y, context, "user")), "user");
	server = ynode_get(&y, cluster, "server");
	if (strncmp(ynode_text(server), "https://", 8) != 0 || !ynode_text(server)[8])
		ynode_die(&y, server, "server", "not an https URL: \"%s\"", ynode_text(server));
	check_pem(&y, cluster, "certificate-authority-data", "CERTIFICATE-----");
	check_pem(&y, user, "client-certificate-data", "CERTIFICATE-----");
	check_pem(&y, user, "client-key-data", "PRIVATE KEY-----");
	yfile_close(&y);
}
