/* readers.c - what else the documents of today's kops hold: assets, images, keysets
 * No message shows a key, nor a URL's user, password or query.
 * Source: kops 1.37 upup/pkg/fi/vfs_keystorereader.go, pkg/apis/kops/v1alpha2/keyset.go, util/pkg/mirrors. */
#include "nodeup/config/kops/kops.h"

#include <string.h>
#include "assets/asset.h"
#include "nodeup/base/enc.h"
#include "nodeup/config/pem.h"

static int no_list(struct arena *a, const struct tree *all, const char *key, const char *arch,
		   const struct dialect_opts *o, struct err *e)
{
	int r = err_config(e, "%s: %s: expected a list for %s", tree_where(a, &all->pos), key,
			   arch);

	return errs_keep(o->errors, r, e);
}

/* Checks an asset: kops has only sha256 digests, and its schemes gs and azureblob belong to other clouds. */
static int check_asset(struct arena *a, const char *text, const struct tree_pos *pos,
		       const struct dialect_opts *o, const char **ret_name, struct err *e)
{
	struct asset as;
	int r = asset_parse(a, text, &as, e);

	*ret_name = "";
	if (r < 0)
		return errs_keep(o->errors, err_wrap(e, "%s", tree_where(a, pos)), e);
	*ret_name = as.name;
	if (as.digest.algo == DIGEST_SHA256)
		return 0;
	r = err_config(e, "%s: asset '%s': its hash is not a sha256", tree_where(a, pos), as.name);
	return errs_keep_apart(o->errors, r, e);
}

int kops_assets(struct arena *a, const struct kops_config *c, const char *arch,
		const struct dialect_opts *o, struct node_texts *ret, struct err *e)
{
	const struct tree *list = c->assets ? tree_get(c->assets, arch) : NULL;
	int r = 0;

	/* no error if the assets could not be read */
	if (!c->assets && errs_any(o->errors))
		return 0;
	if (!c->assets)
		return errs_keep(o->errors, err_config(e, "NodeupConfig has no Assets"), e);
	if (!list || list->kind != TREE_SEQ)
		return no_list(a, c->assets, "Assets", arch, o, e);
	for (size_t i = 0; i < list->n && r == 0; i++) {
		const struct tree *item = list->items[i].value;
		const struct node_text text = { .text = item->scalar, .pos = item->pos };
		const char *ignored;

		if (item->kind == TREE_SCALAR)
			r = check_asset(a, item->scalar, &item->pos, o, &ignored, e);
		else
			r = errs_keep(o->errors,
				      err_config(e, "%s: Assets.%s[%zu]: expected HASH@url",
						 tree_where(a, &item->pos), arch, i),
				      e);
		if (item->kind == TREE_SCALAR)
			arena_push(a, ret->v, ret->n, text);
	}
	return r;
}

/* clang-format off */
#define IMAGE(X) \
	X(const char *, name, "name", .doc = "its name in the runtime; kops leaves it out") \
	/* their order is the order in which they are tried */ \
	X(struct strv, sources, "sources", .required = true, .secret = true, .doc = "URLs of the archive") \
	X(const char *, hash, "hash", .required = true, .doc = "sha256 of the archive")
/* clang-format on */

struct image {
	IMAGE(FIELD_MEMBER)
};

static const struct schema image_schema = SCHEMA_OF_LIST(struct image, "Image", IMAGE);

static int read_image(struct arena *a, const struct tree *item, const char *path,
		      const struct dialect_opts *o, struct node_image *ret, struct err *e)
{
	const struct field_opts opts = { .path = path };
	struct image image = { 0 };
	const char *name, *sources;
	int r = field_parse(a, &image_schema, item, &image, &opts, e);

	if (r < 0)
		return errs_keep(o->errors, r, e);
	sources = strv_join(a, &image.sources, ",");
	r = check_asset(a, arena_printf(a, "%s@%s", image.hash, sources), &item->pos, o, &name, e);
	if (r < 0)
		return r;
	*ret = (struct node_image){ .name = str_is_empty(image.name) ? name : image.name,
				    .is_unnamed = str_is_empty(image.name),
				    .source = sources,
				    .hash = image.hash,
				    .pos = item->pos };
	return 0;
}

int kops_images(struct arena *a, const struct kops_config *c, const char *arch,
		const struct dialect_opts *o, struct node_images *ret, struct err *e)
{
	const struct tree *list = c->images ? tree_get(c->images, arch) : NULL;
	int r = 0;

	if (!c->images || c->images->n == 0)
		return 0;
	if (!list || list->kind != TREE_SEQ)
		return no_list(a, c->images, "images", arch, o, e);
	for (size_t i = 0; i < list->n && r == 0; i++) {
		struct node_image image = { 0 };

		r = read_image(a, list->items[i].value, arena_printf(a, "images.%s[%zu]", arch, i),
			       o, &image, e);
		/* if errors are kept, a wrong image is left out */
		if (image.hash)
			arena_push(a, ret->v, ret->n, image);
	}
	return r;
}

/* clang-format off */
#define KEY(X) \
	X(const char *, id, "id", .required = true, .doc = "its id") \
	X(const char *, public_material, "publicMaterial", .doc = "base64 of the certificate's PEM") \
	X(const char *, private_material, "privateMaterial", .secret = true, .doc = "base64 of the key's PEM") \
	X(const char *, distrusted, "distrustTimestamp", .doc = "since when it is not to be trusted")

#define KEYSET_SPEC(X) \
	X(const char *, primary_id, "primaryId", .doc = "the newest that all trust") \
	X##_LIST(struct key, keys, &key_schema, "keys", .required = true, .doc = "all keys")

#define KEYSET(X) \
	X(const char *, kind, "kind", .required = true, .oneof = "Keyset", .doc = "kind of the object") \
	X##_INSIDE(&spec_schema, "spec", .required = true, .doc = "the keys")
/* clang-format on */

struct key {
	KEY(FIELD_MEMBER)
};

struct keyset {
	KEYSET_SPEC(FIELD_MEMBER)
	KEYSET(FIELD_MEMBER)
};

static const struct schema key_schema = SCHEMA_OF_LIST(struct key, "KeysetItem", KEY);
static const struct schema spec_schema = SCHEMA_OF_LIST(struct keyset, "KeysetSpec", KEYSET_SPEC);
static const struct schema keyset_schema = SCHEMA_OF_LIST(struct keyset, "Keyset", KEYSET);

static const struct key *find_key(const struct keyset *set, const char *id)
{
	for (size_t i = 0; i < set->keys.n; i++)
		if (str_eq(set->keys.v[i].id, id))
			return &set->keys.v[i];
	return NULL;
}

/* Returns the decoded text; NULL: it is empty or absent. */
static const char *text_of(struct arena *a, const char *base64)
{
	return str_is_empty(base64) ? NULL : enc_text(a, base64);
}

static int check_pair(const struct node_keypair *pair, struct err *e)
{
	if (!pair->cert)
		return err_config(e, "publicMaterial is not the base64 of a text");
	if (!pair->key)
		return err_config(e, "privateMaterial is not the base64 of a text");
	return pem_check_key(pair->key, pair->cert, e);
}

/* Returns the place of the key in its keyset, for messages. */
static const char *place_of(struct arena *a, const struct tree *t, const struct keyset *set,
			    const struct key *key)
{
	const struct tree *list = tree_lookup(tree_lookup(t, "spec"), "keys");

	return tree_where(a, &list->items[key - set->keys.v].value->pos);
}

int kops_keyset(struct arena *a, const struct tree *t, const char *name, const char *id,
		struct node_keypair *ret, struct err *e)
{
	const struct field_opts opts = { .path = "" };
	struct keyset set = { 0 };
	const struct key *key;
	int r = field_parse(a, &keyset_schema, t, &set, &opts, e);

	if (r < 0)
		return r;
	key = find_key(&set, id);
	if (!key || !str_is_empty(key->distrusted)) {
		(void)err_config(e, "%s: keyset %s: key '%s', which KeypairIDs pins, is %s",
				 tree_where(a, &t->pos), name, id,
				 key ? "not to be trusted any more" : "not there");
		err_note(e, "ruled out", "the primary key '%s': other nodes may not know it yet",
			 set.primary_id ? set.primary_id : "");
		return err_code(e);
	}
	*ret = (struct node_keypair){ .name = name,
				      .cert = text_of(a, key->public_material),
				      .key = text_of(a, key->private_material) };
	r = check_pair(ret, e);
	if (r < 0)
		return err_wrap(e, "%s: keyset %s: key '%s'", place_of(a, t, &set, key), name, id);
	/* source: kops 1.37 pkg/pki/privatekey.go, which writes what it has read */
	ret->key = pem_own_form(a, ret->key);
	return 0;
}
