/* policy.h - what a command may do
 * The session fills one value from the command line. Everything that loads documents points to it.
 * Owner: the caller's storage. Errors: none. Threads: all functions.
 * Tests: test_policy.c. */
#pragma once

#include <stdbool.h>

enum mode {
	MODE_LOOK,     /* plan, why: nothing changes, and no certificate is asked for */
	MODE_CHECK,    /* as MODE_LOOK, and s3:// is asked for as apply would */
	MODE_APPLY,    /* a node is made */
	MODE_INSTALL,  /* our own unit alone; documents are not read */
	MODE_BAKE,     /* assets that documents name go to the cache; no identity, no bus */
	MODE_DIFF,     /* the plan of documents as such; no cache, no bus */
	MODE_VALIDATE, /* documents are checked, and nothing is made of them */
};

struct policy {
	enum mode mode;
	bool image_mode;  /* effects go below a root that does not run */
	bool offline;     /* no server of documents is asked */
	bool no_metadata; /* nor this instance's metadata service */
	bool strict;      /* unknown keys and names are errors */
	bool verify;      /* what an earlier run has checked is checked again */
	bool may_mend; /* documents are at their usual place: what is damaged there is put back */
	bool at_boot;  /* nobody is there to correct a document that does not parse */
};

/* Returns whether the command creates and starts things. */
bool policy_may_change(const struct policy *p);
/* Returns whether the command works on this machine's node: its records, kept documents and files count. */
bool policy_is_of_node(const struct policy *p);
/* Returns whether keys and facts of the node are wanted, beside its documents. */
bool policy_makes_node(const struct policy *p);
/* Returns whether this machine counts: documents that are compared are of any, but below a root. */
bool policy_has_machine(const struct policy *p);
