/* policy.h - what a command may do
 * The session fills one value from the command line. Everything that loads documents points to it.
 * Owner: the caller's storage. Errors: none. Threads: all functions.
 * Tests: test_policy.c. */
#pragma once

#include <stdbool.h>

enum mode {
	MODE_LOOK, /* plan, why: changes nothing, and does not ask for a certificate */
	MODE_GUARD, /* as MODE_LOOK, but asks the container runtime for nothing, and names no odd files of others */
	MODE_CHECK,    /* as MODE_LOOK, but asks s3:// as apply would */
	MODE_APPLY,    /* makes a node */
	MODE_INSTALL,  /* installs only our own unit; reads no documents */
	MODE_BAKE,     /* puts the documents' assets into the cache; no identity, no bus */
	MODE_DIFF,     /* plans documents by themselves; no cache, no bus */
	MODE_VALIDATE, /* checks documents, and makes nothing of them */
};

struct policy {
	enum mode mode;
	bool image_mode;  /* effects go below a root that is not running */
	bool offline;     /* asks no server of documents */
	bool no_metadata; /* does not ask this instance's metadata service either */
	bool strict;      /* unknown keys and names are errors */
	bool verify;      /* checks again what an earlier run has checked */
	bool may_mend; /* documents are at their usual place, so damaged documents may be put back */
	bool at_boot;  /* nobody is there to correct a document that does not parse */
};

/* Returns whether the command creates and starts things. */
bool policy_may_change(const struct policy *p);
/* Returns whether the command works on this machine's node: its records, kept documents and files count. */
bool policy_is_of_node(const struct policy *p);
/* Returns whether the command needs keys and facts of the node, in addition to its documents. */
bool policy_makes_node(const struct policy *p);
/* Returns whether this machine's state counts. The documents of diff may be of any machine, so for diff this machine
 * counts only if a root is given. */
bool policy_has_machine(const struct policy *p);
