/* asset.h - what a document asks for: a digest and where the bytes may be had
 * Text form: hash@url[,mirror...]. The name is the last path component of the first URL.
 * Owner: the arena. Errors: CONFIG. Source: kops nodeup.Config Assets, upup/pkg/fi/assetstore.go.
 * Tests: test_asset.c. */
#pragma once

#include "assets/digest.h"
#include "assets/signature.h"
#include "nodeup/base/str.h"

enum asset_form { ASSET_PLAIN, ASSET_TAR_GZ, ASSET_TAR_XZ, ASSET_TAR_ZST };

struct asset {
	const char *name; /* "kubelet", "cni.tar.gz" */
	struct digest digest;
	struct strv urls; /* first choice first; http, https, s3, file */
	enum asset_form form;
	bool unpack;          /* it is unpacked while it is fetched */
	struct strv *members; /* that are wanted of it, by their last part; NULL: not known */
	const struct signature
		*signature; /* over its bytes, checked before they are used; or NULL */
	const struct signature_keys *keys; /* by which */
	const char *where;                 /* it stands, for messages */
	const char *listed; /* "file:line:column" of the document that names it; NULL: none does */
	struct asset *twin; /* of the same digest: a ring of all that are, or NULL for one alone */
};

/* Parse the text form. A missing hash, an unknown scheme and an empty name are errors that quote
 * the URL without user, password and query. */
int asset_parse(struct arena *a, const char *text, struct asset *ret, struct err *e) must_check;
/* Join two of the same digest, which may be rings already: the mirrors and the signatures of one are
 * those of the other as well. */
void asset_join(struct asset *as, struct asset *other);
/* Returns the next asset of the same digest behind `at`, which may be itself; NULL: `at` was the last that `first`
 * leads to. */
const struct asset *asset_next(const struct asset *first, const struct asset *at);
/* Put what mirrors, each FROM=TO, have of an asset's URLs before these: one URL for each that begins with
 * FROM. CONFIG if that makes no URL. */
int asset_add_mirrors(struct arena *a, struct asset *as, const struct strv *mirrors,
		      struct err *e) must_check;
/* Returns a copy of what unpacking needs of the asset, in an arena of its own. */
struct asset *asset_copy_archive(struct arena *a, const struct asset *as);
/* Returns whether all members that are wanted of the one are wanted of the other. */
bool asset_has_members(const struct asset *as, const struct asset *other);
/* Returns whether the asset is an archive. */
bool asset_is_archive(const struct asset *as);
/* A URL for people: user, password and query removed (they may be secrets). */
char *asset_url_public(struct arena *a, const char *url);
