/* asset.h - an asset of a document: its digest, and the places to get its bytes
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
	struct strv urls; /* asked in this order: http, https, s3 or file URLs */
	enum asset_form form;
	bool unpack;          /* the archive is unpacked while it is fetched */
	struct strv *members; /* the last part of each needed member's name; NULL: not known */
	/* signature over the asset's bytes, checked before they are used; or NULL */
	const struct signature *signature;
	const struct signature_keys *keys; /* keys that may have made the signature */
	const char *where;                 /* the signature's place, for messages */
	const char *listed; /* "file:line:column" of the asset in its document; NULL: in none */
	/* next asset of the same digest, in a ring; NULL: no other asset has this digest */
	struct asset *twin;
};

/* Parses the text form. Fails for a missing hash, an unknown scheme and an empty name; the error quotes the URL
 * without user, password and query. */
int asset_parse(struct arena *a, const char *text, struct asset *ret, struct err *e) must_check;
/* Joins two assets of the same digest, each of which may be in a ring already. From then on the two assets share
 * mirrors and signatures. */
void asset_join(struct asset *as, struct asset *other);
/* Returns the next asset of the same digest after `at` (which may be `first`); NULL: `at` is the last one of the
 * ring. */
const struct asset *asset_next(const struct asset *first, const struct asset *at);
/* For each URL that begins with FROM of a mirror FROM=TO, adds the mirror's URL before the asset's own. CONFIG if
 * the result is no valid URL. */
int asset_add_mirrors(struct arena *a, struct asset *as, const struct strv *mirrors,
		      struct err *e) must_check;
/* Copies the fields that unpacking needs into a new arena. */
struct asset *asset_copy_archive(struct arena *a, const struct asset *as);
/* Returns whether `as` has all members that `other` needs. */
bool asset_has_members(const struct asset *as, const struct asset *other);
/* Returns whether the asset is an archive. */
bool asset_is_archive(const struct asset *as);
/* Returns a URL for people: without user, password and query, which may be secrets. */
char *asset_url_public(struct arena *a, const char *url);
