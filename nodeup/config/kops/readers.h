/* readers.h - what else the documents of today's kops hold: assets, images, keysets
 * Invariant: pure. No message shows a key, nor a URL's user, password or query. The key that signs is the
 * one that KeypairIDs pins, never the primary one of the keyset.
 * Owner: the arena. Errors: CONFIG, with file:line:column. Threads: all functions.
 * Source: kops 1.37 upup/pkg/fi/vfs_keystorereader.go, pkg/apis/kops/v1alpha2/keyset.go, util/pkg/mirrors.
 * Tests: test_kops_readers.c. */
#pragma once

#include "nodeup/config/kops/kops.h"

/* The assets of an architecture, "HASH@url,mirror", each one that asset_parse() takes; all that are wrong are errors. */
int kops_assets(struct arena *a, const struct kops_config *c, const char *arch,
		const struct dialect_opts *o, struct node_texts *ret, struct err *e) must_check;
/* The images of an architecture. That there are none at all is fine. */
int kops_images(struct arena *a, const struct kops_config *c, const char *arch,
		const struct dialect_opts *o, struct node_images *ret, struct err *e) must_check;
/* The key of that id of a keyset.yaml, its certificate and its private key as PEM. */
int kops_keyset(struct arena *a, const struct tree *t, const char *name, const char *id,
		struct node_keypair *ret, struct err *e) must_check;
