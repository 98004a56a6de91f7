/* instance_store.h - the setting instanceStorePolicy: the whole instance store as one volume
 * The volume is a volume like any other: what may be formatted, moved and mounted is decided elsewhere. Here is only
 * decided whether the node gets one. kubelet, the container runtime and the logs of pods lose their directories when
 * the volume is made, so a node that may have pods never gets it.
 * Invariant: pure. Owner: the arena. Errors: CONFIG with the place of the setting. Threads: all functions.
 * Source: karpenter's EC2NodeClass, instanceStorePolicy.
 * Tests: test_instance_store.c. */
#pragma once

#include "nodeup/config/dialect.h"

/* The volume's name, and its mount point. */
extern const char instance_store_name[];

struct instance_store {
	struct arena *arena;
	const struct tree *policy; /* the setting; NULL: there is none */
	const char *filesystem;    /* NULL: ext4 */
	bool docker;               /* the node may have docker */
	bool by_unit;              /* our own unit makes the run, or the guard looks at its work */
	bool looks;                /* the command changes nothing */
	bool was_made; /* a run on this instance ended well before, so this is not its first boot */
	const struct facts *facts;
	const struct dialect_opts *opts; /* for its warnings */
	struct err *err;
};

enum instance_store_fate {
	INSTANCE_STORE_NONE,  /* the instance has no disk for it, or they are not known */
	INSTANCE_STORE_USED,  /* the volume is made, or is to be made */
	INSTANCE_STORE_KEEPS, /* the node keeps its directories, and is to be replaced */
	INSTANCE_STORE_STOPS, /* the run by hand ends before it changes anything */
};

/* Decides by the facts instanceStore, instanceStoreUsed and pods. A volume that was begun is always gone on with. */
enum instance_store_fate instance_store_fate(const struct instance_store *s);
/* Appends the volume to the node's, or words why it has none: *ret_why is set if the node is to be replaced. */
int instance_store_add(const struct instance_store *s, struct node *node,
		       const char **ret_why) must_check;
