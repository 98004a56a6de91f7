/* plan.h - node + facts -> tasks; pure
 * The builders of the era (era.h) append tasks through tasklist.h; the dependency rules then add the edges. Planning
 * reads no file and asks no server: same model, same facts, same plan. Tasks stay in the order of their builders.
 * Owner: the arena of the plan. Errors: CONFIG. Threads: one; const afterwards.
 * Source: kops upup/pkg/fi/nodeup/loader.go, nodeup/pkg/model.
 * Tests: test_plan.c, test_plan_many.c. */
#pragma once

#include "nodeup/base/map.h"
#include "nodeup/config/facts.h"
#include "nodeup/config/node.h"
#include "nodeup/tasks/task.h"
#include "units/unit.h"

/* Says how the boot unit starts nodeup. */
struct plan_boot {
	/* flags after the program's name; NULL: the unit file stays as it is */
	const char *const *flags;
	const char *record;  /* the text of the record of flags and environment */
	bool damaged;        /* the existing record is set aside */
	const char *version; /* version of the running program */
	bool install;        /* the running program and its flags replace the installed ones */
	bool packaged; /* a package's program is on the PATH; the running program may be another */
};

struct plan_req {
	const struct node *node;
	const struct facts *facts;
	const struct settings *settings; /* NULL: none */
	struct runtime runtime;
	bool imds_lacks_version1; /* the metadata service demands tokens, which this kubelet cannot get */
	bool image_mode;
	bool verify; /* check all assets of the documents that the cache has, even those that this node does not use */
	struct strv written; /* paths that an earlier run wrote; the files may be gone */
	/* tells whether the file still exists; asked only of paths without a task. NULL: all exist */
	bool (*has_file)(void *arg, const char *path);
	void *has_file_arg;
	const struct plan *before; /* in a diff: the other plan, whose files exist; or NULL */
	bool no_machine;           /* documents are compared: some facts are nobody's */
	bool no_keys; /* only the documents are checked: their key pairs and secrets are empty */
	const char *only;             /* one builder by name; NULL: all of the node's role */
	const struct node_lost *lost; /* documents to be restored */
	size_t n_lost;
	const struct plan_boot *boot; /* NULL: nothing starts nodeup at boot here */
	struct strmap
		volume_uuids; /* UUIDs of volumes whose file system does not have the derived UUID */
	/* keeps every error; NULL: the other errors become notes of the first error */
	struct errs *errors;
	bool is_partial; /* some values of the documents were wrong, and such a value may seem to be missing */
	struct strmap environment; /* AWS_REGION and the like, for the boot unit and protokube */
	struct strmap proxy_environment; /* this run's own proxy, for the boot unit */
};

/* Describes a host file that a static pod's flag names. */
struct plan_pod_file {
	const char *pod, *flag, *path;
};

struct plan {
	struct arena *arena;
	const struct plan_req *req;
	const struct plan_era *era; /* era of the planned node */
	struct task **tasks;
	size_t n;
	struct plan_index *index; /* finds tasks by path and by name; see tasklist.c */
	struct asset **assets;    /* parsed Assets list, in the order of the document */
	size_t n_assets;
	struct map known_by; /* one asset for each digest */
	struct map asset_by; /* finds a task by its kind and the digest or name of its asset */
	struct signature_keys *keys; /* the keys that signatures are checked with */
	bool no_mirrors;     /* a mirror of the machine's own is wrong, and the error is reported */
	bool list_is_signed; /* the list as a whole has a valid signature */
	const char *builder; /* the running builder: the origin of new tasks */
	const char *asked;   /* the place in the documents for new tasks, or NULL */
	struct err **wrong;  /* every error; see plan_error() */
	size_t n_wrong, n_wrong_before; /* n_wrong_before: the count before the running builder */
	bool is_partial; /* as the member of the request; also true if an asset is wrong */
	bool lists_none; /* the documents list no assets, and the error is reported */
	struct plan_pod_file *pod_files;
	size_t n_pod_files;
	struct strv packages; /* packages that the builders need, each text separated by blanks */
	struct strv warnings;
	struct strv remarks; /* lines about what nodeup worked out by itself */
	const char *sha1;    /* a warning that an asset has only a sha1, or NULL */
	bool keep_unused;    /* assets stay even if nothing uses them */
};

/* Returns whether this host can run the planned node. Changes nothing, so it can be called before anything else;
 * plan_build() gives the reasons. */
bool plan_may_run(struct arena *a, const struct plan_req *req);
/* Builds the whole plan. */
int plan_build(struct arena *a, const struct plan_req *req, struct plan *ret,
	       struct err *e) must_check;

/* The path of the file that remembers the boot unit's flags and environment. */
extern const char plan_boot_record[];
/* The unit that starts the guard. */
extern const char plan_guard_timer[];
