/* vintage.h - the version of kops that wrote a document, its source, and whether nodeup supports it
 * No key of kops holds the version. The addresses of kops' own files name it: in user data, in Assets, in the tag of
 * protokube's image. For images, a setting of the machine may give the version. If no address and no setting names
 * the version, keys that came and went narrow it to a range of minors. Only the tables of the .c file compare
 * minors.
 * Invariant: pure; no file, network or clock. Owner: the arena. Errors: CONFIG with file:line:column. Threads: all
 * functions. Source: kops pkg/apis/nodeup/config.go of each minor, pkg/model/resources/nodeup.go.
 * Tests: test_vintage.c. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/tree.h"
#include "nodeup/config/node.h"

struct dialect_opts;
struct facts;

/* A version of kops, 1.x; all 0: it is not known. */
struct vintage {
	int oldest, newest;  /* minors; keys tell a range */
	const char *text;    /* "1.34.3"; NULL: only the minors are known */
	const char *of, *by; /* where it was found: "user data", by "NODEUP_URL_AMD64" */
	struct tree_pos pos; /* the place of `by` */
	/* "1.34.3", the version that a record gives; NULL: the newest patch counts */
	const char *taken;
	bool is_setting; /* the version is a setting of this machine, which exact answers override */
	bool is_former;  /* the version is from the record of another document of this node */
};

/* Sources that are searched for the version. */
struct vintage_sources {
	const struct tree *setting; /* the machine's setting, a version; NULL: none */
	const char *script;         /* the user data that held the document; NULL: none */
	/* the user data's first line; line 0: their lines are not counted */
	struct tree_pos script_pos;
	const char *stored; /* the version that wrote the state store; NULL: not known */
	struct tree_pos stored_pos;
	const struct tree *document;
	bool is_node_config; /* `document` is a NodeupConfig; false: it is the document of --conf */
};

/* The variable that holds the version in user data rendered by nodeup. */
#define VINTAGE_VARIABLE "KOPS_VERSION"

/* Returns whether the text is a version of kops: "1.36.2", "v1.36.0-beta.1". */
bool vintage_is_version(struct arena *a, const char *text);
/* Finds the version by all sources; all 0 if no source tells it. Fails if two sources differ. */
int vintage_find(struct arena *a, const struct vintage_sources *r, struct vintage *ret,
		 struct err *e) must_check;
/* Returns whether a source names the version exactly; keys and settings do not count. */
bool vintage_is_exact(const struct vintage *v);
/* If two answers differ (r < 0) but the document was applied before, warns and keeps the version on record. */
int vintage_settle(struct arena *a, const struct dialect_opts *o, int r, struct vintage *ret,
		   struct err *e) must_check;
/* Write the version as a line for a document's record, and read it back; false: not such a line. */
const char *vintage_record(struct arena *a, const struct vintage *v);
bool vintage_of_record(struct arena *a, const char *line, struct vintage *ret);
/* Returns the newest supported version: an earlier nodeup knew only that version, and made its nodes with it. */
struct vintage vintage_newest(void);
/* Marks a version as that of another document, so that it weighs as much as a setting. */
void vintage_set_former(struct vintage *v);
/* Fails if nodeup does not support the version. Only warns if a document of this version made this node. An unknown
 * version is fine. */
int vintage_check(struct arena *a, const struct vintage *v, const struct dialect_opts *o,
		  struct err *e) must_check;
/* Joins the versions that two documents of a node tell. */
int vintage_join(struct arena *a, const struct vintage *first, const struct vintage *second,
		 struct vintage *ret, struct err *e) must_check;
/* Narrows a version that is not exact: by keys of other minors, by the documents' Kubernetes, and by files that
 * kops' own program left on the host (left NULL: none). Contradicting clues are skipped. */
void vintage_guess(struct arena *a, const struct tree *config, const struct facts *left,
		   struct vintage *v);
/* Words the version: "1.34.3", or "1.34" if only minors are known. NULL: not known. */
const char *vintage_text(struct arena *a, const struct vintage *v);
/* Words the version's source: "NODEUP_URL_AMD64", "its keys (1.32 to 1.34 are possible)", "its keys and what kops
 * left here". NULL: not known. */
const char *vintage_known_by(struct arena *a, const struct vintage *v);
/* Words the version and its source: "kops 1.34.3 (by NODEUP_URL_AMD64)", "kops 1.34 by its keys". NULL: not known. */
const char *vintage_title(struct arena *a, const struct vintage *v);
/* Sets `kops` and `kopsKnownBy` of a map if the version is known. */
void vintage_note(struct arena *a, const struct vintage *v, struct tree *t);
/* Returns the version that decides how documents are read: the newest patch of the newest possible minor. */
struct version vintage_version(struct arena *a, const struct vintage *v);
/* Returns whether that kops made nodes of that minor of Kubernetes. */
bool vintage_has_kubernetes(const struct version *kops, int minor);
/* Words only the minors. Versions with equal words count as equal. */
const char *vintage_minors(struct arena *a, const struct vintage *v);
/* Words the versions that nodeup supports: "kops 1.6 to 1.8, 1.29 to 1.37". */
const char *vintage_spoken(struct arena *a);
