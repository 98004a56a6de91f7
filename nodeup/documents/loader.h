/* loader.h - the steps of bootstrap_load that have files of their own
 * Facts and keys, each step reading through the store and leaving its result in the bootstrap. A
 * step can be run again after the store was told to replay what is kept.
 * Bodies: archive.c, facts.c, keys.c.
 * Owner: the arena. Errors: as bootstrap.h. Threads: one. */
#pragma once

#include "nodeup/documents/bootstrap.h"

struct loader {
	struct arena *arena;
	const struct bootstrap_req *req;
	struct bootstrap *b;
};

/* The archive that is a document, from the first mirror that has the right bytes, and its files. */
int loader_archive(struct loader *l, struct err *e) must_check;
/* The facts that --facts gives. */
int loader_given_facts(struct loader *l, struct err *e) must_check;
/* Keep what the metadata service said of this instance for as long as it is booted, for runs that may
 * not ask; and fill from that what facts lack. */
int loader_keep_facts(int root_fd, const struct facts *f, struct err *e) must_check;
void loader_kept_facts(struct arena *a, int root_fd, struct facts *f);
/* The rest: what this host says, and what the documents need of IMDS. */
int loader_facts(struct loader *l, struct err *e) must_check;
/* Know which instance this is: by its firmware or metadata, else as it was known in this boot. */
int loader_instance(struct loader *l, struct err *e) must_check;
/* What ties persisted documents to this node, or NULL when that cannot be said. */
const char *loader_key(struct loader *l);
/* Key pairs and secrets of the node, all of them present. */
int loader_keys(struct loader *l, struct err *e) must_check;
