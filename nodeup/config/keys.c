#include "nodeup/config/keys.h"

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/field.h"
#include "nodeup/base/json.h"
#include "nodeup/config/pem.h"

int node_check_certificate(const char *name, const char *text, const char *from, struct err *e)
{
	return pem_check_certificate(text, e) < 0 ? err_wrap(e, "%s: keypair %s", from, name) : 0;
}

int node_add_keypair(struct arena *a, struct node *n, const struct node_keypair *pair,
		     const struct node_keypair *from, struct err *e)
{
	const char *cert = pair->cert ? pair->cert : "";
	struct node_keypair copy;

	if (!pair->key && node_check_certificate(pair->name, cert, from->cert, e) < 0)
		return err_code(e);
	if (pair->key && pem_check_key(pair->key, cert, e) < 0)
		return err_wrap(e, "%s: keypair %s",
				e->errnum == PEM_CERTIFICATE ? from->cert : from->key, pair->name);
	copy = (struct node_keypair){
		.name = arena_str(a, pair->name),
		.cert = pem_lines(a, cert),
		.key = pem_lines(a, pair->key),
		.pool = pem_lines(a, pair->pool),
	};
	arena_push(a, n->keypairs.v, n->keypairs.n, copy);
	return 0;
}

/* Returns whether the secret is a token. Two secrets are whole documents instead. */
static bool is_token(const char *id)
{
	return strcmp(id, "dockerconfig") != 0 && strcmp(id, "encryptionconfig") != 0;
}

int node_check_secret(const char *id, const char *text, const char *from, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct err ignored;
	struct tree *t;

	if (!str_eq(id, "dockerconfig") ||
	    (json_parse(a, from, text, strlen(text), &t, &ignored) == 0 && t->kind == TREE_MAP))
		return 0;
	return err_config(e, "%s: secret %s: not a JSON object", from, id);
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
	const char *token;

	/* neither of the two messages below may quote the text, which is a secret */
	if (field_parse(a, &schema, json, &secret, NULL, &problem) < 0)
		return err_config(e, "%s: secret %s: expected {\"Data\": \"<base64>\"}", from, id);
	token = enc_text(a, secret.data);
	if (!token)
		return err_config(e, "%s: secret %s: its data is not base64 of a text", from, id);
	if (!*token)
		return err_config(e, "%s: secret %s is empty", from, id);
	if (is_token(id) && !str_is_line(token))
		return err_config(e,
				  "%s: secret %s: there is a line break or another control "
				  "character in it, which no token or password has",
				  from, id);
	if (node_check_secret(id, token, from, e) < 0)
		return err_code(e);
	strmap_set(a, &n->secrets, arena_str(a, id), token);
	return 0;
}
