#include "nodeup/join/protocol.h"

#include <stdlib.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/json.h"

enum { REQUEST_MAX = 64 << 10 };

/* Returns the map as a tree; NULL becomes null, as Go's nil map does. */
static struct tree *map_or_null(struct arena *a, const struct strmap *m)
{
	return m ? tree_of_strmap(a, m) : tree_null(a);
}

const char *protocol_request(struct arena *a, const struct strmap *keys,
			     const struct strmap *pair_ids)
{
	autobuf struct buf text = BUF_INIT(REQUEST_MAX);
	struct tree *map = tree_map(a);
	struct err never;

	tree_set_text(a, map, "apiVersion", "bootstrap.kops.k8s.io/v1alpha1");
	(void)tree_set(a, map, "certs", map_or_null(a, keys));
	(void)tree_set(a, map, "keypairIDs", map_or_null(a, pair_ids));
	(void)tree_set(a, map, "includeNodeConfig", tree_plain(a, keys ? "false" : "true"));
	if (json_render(map, false, &text, &never) < 0)
		abort();
	return arena_str(a, buf_str(&text));
}

static int wrong_answer(const char *what, struct err *e)
{
	return err_fail(e, ERR_INTEGRITY, EBADMSG, "kops-controller's answer: %s", what);
}

/* Reads a map of texts, which may be missing. */
static int take_map(struct arena *a, const struct tree *map, bool base64, struct strmap *ret,
		    struct err *e)
{
	if (!map || map->kind == TREE_NULL)
		return 0;
	if (map->kind != TREE_MAP)
		return wrong_answer("not a map where one should be", e);
	for (size_t i = 0; i < map->n; i++) {
		const char *text = map->items[i].value->scalar;
		char *data;
		size_t n;

		if (map->items[i].value->kind != TREE_SCALAR)
			return wrong_answer("not a text where one should be", e);
		if (base64 && enc_unbase64(a, text, &data, &n, e) < 0)
			return wrong_answer("a secret that is not base64", e);
		strmap_set(a, ret, arena_str(a, map->items[i].key),
			   base64 ? data : arena_str(a, text));
	}
	return 0;
}

int protocol_read(struct arena *a, const char *text, size_t n, struct protocol_answer *ret,
		  struct err *e)
{
	/* after a useless answer the server is asked again, perhaps for hours, so the answer's tree must not stay in
	 * memory */
	autoarena struct arena *parsed = arena_new_empty();
	struct strmap secrets = { 0 };
	const struct tree *config;
	struct tree *answer;
	int r;

	*ret = (struct protocol_answer){ 0 };
	if (json_parse_few(parsed, "answer", text, n, &answer, e) < 0)
		return wrong_answer("not JSON", e);
	if (answer->kind != TREE_MAP)
		return wrong_answer("not a map", e);
	r = take_map(a, tree_get(answer, "Certs"), false, &ret->certificates, e);
	config = tree_get(answer, "nodeConfig");
	if (r < 0 || !config || config->kind == TREE_NULL)
		return r;
	if (config->kind != TREE_MAP)
		return wrong_answer("not a map where one should be", e);
	if (tree_text(config, "nodeupConfig"))
		ret->config = arena_str(a, tree_text(config, "nodeupConfig"));
	r = take_map(ret->config ? a : parsed, tree_get(config, "nodeSecrets"), true, &secrets, e);
	if (ret->config)
		ret->secrets = secrets;
	return r;
}
