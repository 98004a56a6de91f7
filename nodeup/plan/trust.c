#include "nodeup/plan/assets.h"

#include <string.h>
#include "nodeup/base/paths.h"

/* Parses the keys that signatures are checked with, once. */
static int read_keys(struct plan *p, struct signature_keys **ret, struct err *e)
{
	const struct settings *s = p->req->settings;
	struct signature_keys *keys = arena_new(p->arena, struct signature_keys);

	for (size_t i = 0; s && i < s->public_keys.n; i++) {
		const struct settings_text *text = &s->public_keys.v[i];
		struct signature_key key = { .from = tree_where(p->arena, &text->pos) };

		if (signature_parse_key(p->arena, text->text, &key, e) < 0)
			return err_wrap(e, "%s: publicKeys[%zu]", key.from, i);
		arena_push(p->arena, keys->v, keys->n, key);
	}
	*ret = keys;
	return 0;
}

static int read_signature(struct plan *p, const char *text, const char *where,
			  const struct signature **ret, struct err *e)
{
	struct signature *s = arena_new(p->arena, struct signature);

	if (p->keys->n == 0)
		return err_config(
			e,
			"%s: a signature, but no public key to check it by: publicKeys in " OWN_SETTINGS_DIR
			" or kube_env.yaml",
			where);
	if (signature_parse(p->arena, text, s, e) < 0)
		return err_wrap(e, "%s", where);
	*ret = s;
	return 0;
}

/* Returns the signed text: each entry as it stands, on a line of its own. */
static const char *list_of(struct plan *p)
{
	const struct node_texts *texts = &p->req->node->assets;
	char *list = arena_str(p->arena, "");

	for (size_t i = 0; i < texts->n; i++)
		list = arena_printf(p->arena, "%s%s\n", list, texts->v[i].text);
	return list;
}

int trust_begin(struct plan *p, struct err *e)
{
	const struct node_text *text = &p->req->node->assets_signature;
	const char *where =
		arena_printf(p->arena, "%s: assetsSignature", tree_where(p->arena, &text->pos));
	const struct signature *s;
	const char *list;
	int r = read_keys(p, &p->keys, e);

	if (r < 0 || !text->text)
		return r;
	r = read_signature(p, text->text, where, &s, e);
	if (r < 0)
		return r;
	list = list_of(p);
	r = signature_check(s, p->keys, list, strlen(list), e);
	if (r < 0)
		return err_wrap(e, "%s", where);
	p->list_is_signed = true;
	return 0;
}

static bool is_required(const struct plan *p)
{
	return p->req->settings && p->req->settings->require_signatures;
}

int trust_asset(struct plan *p, struct asset *as, const char *signature, bool listed,
		const char *where, struct err *e)
{
	if (!signature && is_required(p) && !(listed && p->list_is_signed))
		return err_fail(e, ERR_INTEGRITY, ENOKEY,
				"%s: asset %s is not signed, and requireSignatures is set", where,
				as->name);
	if (!signature)
		return 0;
	as->keys = p->keys;
	as->where = arena_printf(p->arena, "%s: signature", where);
	return read_signature(p, signature, as->where, &as->signature, e);
}

int trust_built_in(const struct plan *p, const struct asset *as, const char *text, struct err *e)
{
	int r;

	if (!is_required(p))
		return 0;
	r = err_fail(e, ERR_INTEGRITY, ENOKEY,
		     "asset %s of %s is not signed, and requireSignatures is set", as->name,
		     p->builder);
	err_note(e, "got", "a hash that is built into nodeup, and no signature by a key of yours");
	err_note(e, "do", "sign it, and list it in Assets with its signature: %s", text);
	return r;
}
