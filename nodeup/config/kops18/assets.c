#include "nodeup/config/kops18/spec.h"

#include <string.h>

enum { ASSETS_MAX = 2000 };

/* An entry of Assets that is more than a text. */
struct entry {
	const char *asset;      /* "hash@url[,mirror]", or: */
	const char *hash, *url; /* the same in two */
	const char *signature;
};

/* clang-format off */
static const struct field entry_fields[] = {
#define F(m, ...) FIELD(struct entry, m, __VA_ARGS__)
	F(asset, .key = "asset", .doc = "hash@url[,mirror]"),
	F(hash, .key = "hash", .doc = "hash of the file"),
	F(url, .key = "url", .doc = "url[,mirror]"),
	F(signature, .key = "signature", .doc = "of minisign, over the file"),
#undef F
};
/* clang-format on */
static const struct schema entry_schema = SCHEMA(struct entry, "Asset", entry_fields);

static int read_entry(struct arena *a, const struct tree *item, const char *path,
		      const struct dialect_opts *o, struct node_text *ret, struct err *e)
{
	struct entry entry = { 0 };
	int r = kops18_read(a, &entry_schema, item, path, o, &entry, e);

	if (r < 0)
		return r;
	if (str_is_empty(entry.asset) == str_is_empty(entry.url) ||
	    (entry.asset && !str_is_empty(entry.hash)))
		return err_config(e, "%s: %s: expected hash@url, or a map of asset and signature",
				  tree_where(a, &item->pos), path);
	ret->text = entry.asset ? entry.asset
				: arena_printf(a, "%s@%s", entry.hash ? entry.hash : "", entry.url);
	if (!str_is_empty(entry.signature))
		ret->signature = entry.signature;
	return 0;
}

int kops18_assets(struct arena *a, const struct kube_env *env, const struct dialect_opts *o,
		  struct node_texts *ret, struct err *e)
{
	const struct tree *assets = env->assets;
	int r = 0;

	if (assets && assets->kind != TREE_SEQ)
		return err_config(e, "%s: Assets: expected a list", tree_where(a, &assets->pos));
	r = kops18_at_most(a, assets, "Assets", ASSETS_MAX, e);
	for (size_t i = 0; assets && r == 0 && i < assets->n; i++) {
		const struct tree *item = assets->items[i].value;
		struct node_text text = { .pos = item->pos };

		if (item->kind == TREE_MAP)
			r = read_entry(a, item, arena_printf(a, "Assets[%zu]", i), o, &text, e);
		else if (item->kind == TREE_SCALAR && !str_is_empty(item->scalar))
			text.text = item->scalar;
		else
			r = err_config(e, "%s: Assets[%zu]: expected hash@url",
				       tree_where(a, &item->pos), i);
		r = errs_keep(o->errors, r, e);
		arena_push(a, ret->v, ret->n, text);
	}
	return r;
}
