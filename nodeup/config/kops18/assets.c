#include "nodeup/config/kops18/spec.h"

#include <string.h>
#include "assets/asset.h"

enum { ASSETS_MAX = 2000 };

/* An entry of Assets that is a map. */
/* clang-format off */
#define ENTRY(X) \
	X(const char *, asset, "asset", .doc = "hash@url[,mirror]") \
	/* or, instead of `asset`, the hash and the URL as two keys */ \
	X(const char *, hash, "hash", .doc = "hash of the file") \
	X(const char *, url, "url", .doc = "url[,mirror]") \
	X(const char *, signature, "signature", .doc = "of minisign, over the file")
/* clang-format on */

struct entry {
	ENTRY(FIELD_MEMBER)
};

static const struct schema entry_schema = SCHEMA_OF_LIST(struct entry, "Asset", ENTRY);

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

/* Checks the digest here too: if the documents have another error, no plan is made, and only a plan would check it. */
static int check_digest(const struct node_text *text, struct err *e)
{
	autoarena struct arena *scratch = arena_new_empty();
	struct asset ignored;
	int r = asset_parse(scratch, text->text, &ignored, e);

	return r < 0 ? err_wrap(e, "%s", tree_where(scratch, &text->pos)) : 0;
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
		if (r == 0 && o->errors && text.text)
			r = check_digest(&text, e);
		r = errs_keep(o->errors, r, e);
		if (text.text)
			arena_push(a, ret->v, ret->n, text);
	}
	return r;
}
