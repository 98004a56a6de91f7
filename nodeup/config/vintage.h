/* vintage.h - of which kops a document is, how that is known, and whether nodeup speaks it
 * No key of kops holds it. A setting of the machine says it, where an image is made. Addresses of kops' own files name it: in user data, in Assets, in the tag of protokube's image.
 * Where none does, keys that came and went tell a range of minors. Minors are compared in the tables of the .c
 * file alone.
 * Invariant: pure; no file, network or clock. Owner: the arena. Errors: CONFIG with file:line:column.
 * Threads: all functions. Source: kops pkg/apis/nodeup/config.go of each minor, pkg/model/resources/nodeup.go.
 * Tests: test_vintage.c. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/tree.h"
#include "nodeup/config/node.h"

struct dialect_opts;
struct facts;

/* A kops of some minor of 1.x; all 0: it is not known. */
struct vintage {
	int oldest, newest;  /* minors: keys tell a range */
	const char *text;    /* "1.34.3"; NULL: its minors are all that is known */
	const char *of, *by; /* "user data", by "NODEUP_URL_AMD64" */
	struct tree_pos pos; /* where that stands */
	const char *taken; /* "1.34.3", as which a record was read; NULL: its newest patch counts */
	bool is_setting;   /* of this machine: what else is exact answers before it */
	bool is_former;    /* on record, of another document of this node */
};

/* Sources that were searched for it. */
struct vintage_sources {
	const struct tree *setting; /* of the machine, a version; NULL: none */
	const char *script;         /* user data that brought the document; NULL: none */
	struct tree_pos script_pos; /* where they begin; line 0: lines are not counted in them */
	const char *stored; /* the version that wrote the state store; NULL: it is not known */
	struct tree_pos stored_pos;
	const struct tree *document;
	bool is_node_config; /* NodeupConfig, else the document of --conf */
};

/* The variable of user data that holds the version, where nodeup renders them. */
#define VINTAGE_VARIABLE "KOPS_VERSION"

/* Returns whether it is a version of kops: "1.36.2", "v1.36.0-beta.1". */
bool vintage_is_version(struct arena *a, const char *text);
/* Know it by all that is there; the result is all 0 where nothing tells. Two answers that differ are an error. */
int vintage_find(struct arena *a, const struct vintage_sources *r, struct vintage *ret,
		 struct err *e) must_check;
/* Returns whether something names it, other than its keys and a setting. */
bool vintage_is_exact(const struct vintage *v);
/* Settles two answers that differ (r < 0) about a document that was applied before: the version on record stays, with a warning. */
int vintage_settle(struct arena *a, const struct dialect_opts *o, int r, struct vintage *ret,
		   struct err *e) must_check;
/* A line for the record of a document, and what it says; false: it is none. */
const char *vintage_record(struct arena *a, const struct vintage *v);
bool vintage_of_record(struct arena *a, const char *line, struct vintage *ret);
/* The newest that is spoken: so a nodeup that knew no other made its nodes. */
struct vintage vintage_newest(void);
/* One of another document of this node is a setting's worth. */
void vintage_set_former(struct vintage *v);
/* Checks that nodeup speaks it, or it is not known. Else an error, or a warning on a node that such a document made. */
int vintage_check(struct arena *a, const struct vintage *v, const struct dialect_opts *o,
		  struct err *e) must_check;
/* Make one of what two documents of a node tell. */
int vintage_join(struct arena *a, const struct vintage *first, const struct vintage *second,
		 struct vintage *ret, struct err *e) must_check;
/* Narrows one that is not known exactly by keys of other minors, by the documents' Kubernetes, and by what kops' own program
 * left on the host (left NULL: it made nothing there). Nothing contradicts it. */
void vintage_guess(struct arena *a, const struct tree *config, const struct facts *left,
		   struct vintage *v);
/* "1.34.3", "1.34" as which it is read. NULL: it is not known. */
const char *vintage_text(struct arena *a, const struct vintage *v);
/* "NODEUP_URL_AMD64", "its keys (1.32 to 1.34 are possible)", "its keys and what kops left here". NULL: it is not known. */
const char *vintage_known_by(struct arena *a, const struct vintage *v);
/* "kops 1.34.3 (by NODEUP_URL_AMD64)", "kops 1.34 by its keys". NULL: it is not known. */
const char *vintage_title(struct arena *a, const struct vintage *v);
/* Set `kops` and `kopsKnownBy` of a map; nothing where it is not known. */
void vintage_note(struct arena *a, const struct vintage *v, struct tree *t);
/* The version by which its documents are read: the newest patch of the newest minor that it may be. */
struct version vintage_version(struct arena *a, const struct vintage *v);
/* Returns whether that kops made nodes of that minor of Kubernetes. */
bool vintage_has_kubernetes(const struct version *kops, int minor);
/* Its minors alone, by which two are the same. */
const char *vintage_minors(struct arena *a, const struct vintage *v);
/* "kops 1.6 to 1.8, 1.29 to 1.37": what nodeup speaks. */
const char *vintage_spoken(struct arena *a);
