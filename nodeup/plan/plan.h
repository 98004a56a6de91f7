/* plan.h - node + facts -> tasks; pure
 * The builders of the era (era.h) append tasks through tasklist.h; the dependency rules then add the edges.
 * Planning reads no file and asks no server: same model, same facts, same plan. Tasks keep builder order.
 * Owner: the arena of the plan. Errors: CONFIG. Threads: one; const afterwards.
 * Source: kops upup/pkg/fi/nodeup/loader.go, nodeup/pkg/model.
 * Tests: test_plan.c, test_plan_many.c. */
#pragma once

#include "nodeup/base/map.h"
#include "nodeup/config/facts.h"
#include "nodeup/config/node.h"
#include "nodeup/tasks/task.h"
#include "units/unit.h"

/* The boot unit's way to start nodeup. */
struct plan_boot {
	const char *const *flags; /* behind the program; NULL: the unit file is left as it is */
	const char *record;       /* the text of the record of flags and environment */
	bool damaged;             /* the record that is there is set aside */
	const char *version;      /* of the program that runs */
	bool install;             /* the program that runs and its flags take the place of others */
	bool packaged;            /* people have the program of a package on their PATH */
};

struct plan_req {
	const struct node *node;
	const struct facts *facts;
	const struct settings *settings; /* NULL: none */
	struct runtime runtime;
	bool imds_lacks_version1; /* the instance's metadata service wants tokens, and kubelet has none */
	bool image_mode;
	bool verify; /* look at all that the cache has of the documents, used by this node or not */
	struct strv written; /* by an earlier run: paths, where a file may be no more */
	/* tells whether such a path is there, if no task is for it; NULL: it is */
	bool (*has_file)(void *arg, const char *path);
	void *has_file_arg;
	const struct plan *before; /* of a diff: its files are there; or NULL */
	bool no_keys; /* of the documents alone: key pairs and secrets that they need are empty */
	const char *only;             /* one builder by name; NULL: all of the node's role */
	const struct node_lost *lost; /* documents to put back */
	size_t n_lost;
	const struct plan_boot *boot; /* NULL: nothing starts nodeup at boot here */
	struct strmap
		volume_uuids; /* of volumes whose file system has another than the derived one */
	struct errs *errors;  /* keeps all; NULL: notes of the first have the others */
	bool is_partial; /* values of the documents were wrong: what is missing may be one of them */
	struct strmap environment;       /* AWS_REGION and friends for that unit and protokube */
	struct strmap proxy_environment; /* the way to the outside that we have, for that unit */
};

/* A file of this host that a flag of a static pod names. */
struct plan_pod_file {
	const char *pod, *flag, *path;
};

struct plan {
	struct arena *arena;
	const struct plan_req *req;
	const struct plan_era *era; /* of the node */
	struct task **tasks;
	size_t n;
	struct plan_index *index; /* tasklist.c's, of what the tasks are found by */
	struct asset **assets;    /* parsed Assets list, document order */
	size_t n_assets;
	struct map known_by;         /* every asset that was parsed, by its digest: one of each */
	struct map asset_by;         /* kind and digest, kind and name: the task */
	struct signature_keys *keys; /* by which signatures are checked */
	bool no_mirrors;             /* one of the machine's is wrong, and that was told */
	bool list_is_signed;         /* the Assets list, as a whole, and rightly */
	const char *builder;         /* the one that runs now: origin of new tasks */
	const char *asked;  /* the place in the documents it is at, or NULL: of new tasks */
	struct err **wrong; /* all errors; see plan_error() */
	size_t n_wrong, n_wrong_before; /* and those before the builder that runs now */
	bool is_partial;                /* the request's, or an asset is wrong */
	bool lists_none;                /* the documents list no assets, and that is told */
	struct plan_pod_file *pod_files;
	size_t n_pod_files;
	struct strv packages; /* that the builders need, each text blank-separated */
	struct strv warnings;
	const char *sha1; /* a warning that an asset is named by it, or NULL */
	bool keep_unused; /* assets are wanted for their own sake */
};

/* Returns whether this host can run what would be planned. Changes nothing; ask it before anything is changed.
 * plan_build() tells why not, with all else that is wrong. */
bool plan_may_run(struct arena *a, const struct plan_req *req);
/* Build it all. */
int plan_build(struct arena *a, const struct plan_req *req, struct plan *ret,
	       struct err *e) must_check;

/* The path of the record of the boot unit's flags and environment. */
extern const char plan_boot_record[];
