/* task.h - one piece of desired state, and the table of what can be done with each kind
 * A task is data: the plan builds it, and walks over tasks print, compare or execute them. check only compares the
 * effect with the wish; apply carries it out if they differ. Both may be killed any time: a re-run converges.
 * Owner: tasks live in the plan's arena and are const after planning; struct task_run has what changes in a run.
 * Errors: by kind. Threads: kinds marked `on_main` run on the scheduler's (they use the bus), others on workers.
 * Source: kops upup/pkg/fi/nodeup/nodetasks. Tests: test_tasks.c. */
#pragma once

#include "assets/cache/cache.h"
#include "assets/fetch/fetch.h"
#include "nodeup/base/flush.h"
#include "nodeup/tasks/payload.h"
#include "nodeup/volumes/disk.h"
#include "units/bus.h"

struct task_ops;

struct task {
	enum task_kind kind;
	const struct task_ops *ops; /* the operations of the task's kind, or other ones (kinds.h) */
	const char *name;   /* a path or a unit, as people call it; unique within its kind */
	const char *origin; /* the builder that asked for the task */
	const char *asked;  /* the place in a document that asks for it; NULL: all documents do */
	size_t index;       /* position in the plan */
	bool optional; /* its failure is a warning; tasks made from its result are skipped, other tasks go on */
	bool advisory; /* tasks that use it go on after its failure; the run fails in the end */
	bool always;   /* done even if its needs failed */
	bool unused;   /* an asset for other nodes: kept right if present, but not fetched */
	union {
		struct task_dir dir;
		struct task_file file;
		struct task_asset asset;
		struct task_asset unpack;
		struct task_install install;
		struct task_sysctl sysctl;
		struct task_user user;
		struct task_package package;
		struct task_image image;
		struct task_pull pull;
		struct task_unit unit;
		struct task_volume volume;
		struct task_move move;
		struct task_hosts hosts;
		struct task_program program;
		struct task_link link;
		struct task_stray stray;
		struct task_prefix prefix;
		struct task_keyring keyring;
		struct task_lifecycle lifecycle;
	};
	/* edges, filled by the plan's dependency rules */
	const struct task **needs; /* tasks that must be done before this task starts */
	size_t n_needs;
	const struct task **users; /* tasks that need this task */
	size_t n_users;
	/* tasks for which this task exists; when all of them are right, this task is not needed */
	const struct task **serves;
	size_t n_serves;
};

struct images;
struct members;
struct state;
struct map;
struct volume_guard;

struct task_ctx { /* The context of tasks: the seams that tests replace. */
	int root_fd;
	bool image_mode; /* a root that is not running: no bus, no runtime, no sysctl */
	bool verify;     /* trusts no record: reads and hashes again */
	bool prune;      /* removes objects that the documents no longer name */
	bool is_offline; /* asks no server outside */
	bool has_labels; /* SELinux may be in use */
	bool only_looks; /* a plan: applies nothing, and watches no unit afterwards */
	bool gives_away; /* the cache keeps no second copy of a program */
	bool no_answer, spares_runtime; /* a plan met a silent runtime; images are not asked for */
	struct cache *cache;
	int cache_root_fd; /* the root of the cache's paths; the path of an explicit --cache is one of the host */
	struct fetcher *fetcher;
	struct members *members; /* members of archives; NULL: takes none */
	struct images *images;   /* images of containerd; NULL: asks for each image separately */
	struct http *http;
	struct flush *flush; /* files that are flushed together; NULL: each by itself */
	struct bus *bus;     /* NULL in image mode and without a manager */
	struct state *state;
	int64_t deadline_ns;                /* monotonic; 0: none */
	const struct disk_host *disks;      /* NULL: looks at no disk (image mode) */
	const struct node_volumes *volumes; /* all wanted volumes; NULL: not known */
	const struct volume_guard *guard;   /* guards EBS volumes; NULL: does not ask EC2 */
	const char *machine; /* the instance id, by which file systems are ours; NULL: not known */
	const struct map *baseline; /* for diff: earlier tasks, by title; else NULL */
	const char *own_unit;       /* "kops-configuration.service" if we run inside it, or NULL */
	/* by task index: the task was applied in this run; in a plan: would be */
	const bool *changed;
	const bool *kept; /* tasks of `changed` that change only mode or owner; NULL: none */
	/* Makes the scheduler look at run->woken; see task_wake. */
	void (*wake)(void *arg);
	void *wake_arg;
};

/* The result of a check; why is empty if the task is equal. */
struct task_diff {
	char why[ERR_NOTE_MAX];
	bool kept; /* the content is right, but mode or owner is not */
	bool lost; /* the object existed and is damaged: it must be restored, whether it is needed or not */
	bool spare; /* of a lost object: no task needs it now, so a failure is a warning and stops nothing */
	bool missing;  /* no part of the object exists yet: it would be made, not changed */
	bool restarts; /* a running unit, which would be restarted */
	bool removes;  /* the existing object would be removed, now or with --prune */
	bool left;     /* a part of the object differs, but a person made it so; `why` says this */
	const char *how; /* how it is equal in an unusual way; a constant. NULL: as wanted */
	/* nothing is known to be wrong. apply fetches what it needs to compare, and changes only what then differs. */
	bool unsure;
};

/* The run's state of one task, owned by the scheduler and passed to apply. */
struct task_run {
	int stage;         /* apply's own progress, 0 at the first call */
	uint32_t job;      /* id of a unit's job */
	int result;        /* set by callbacks before wake; < 0 with error */
	struct err *error; /* owned by the caller */
	bool last_call;    /* nothing else can go on, so missing objects will not come */
	bool unsure;       /* the check could not compare: apply does, before it changes anything */
	bool equal; /* set by apply: the object was right, or became right by itself; nothing was changed */
	bool final;                 /* set by apply: this error was retried already */
	bool detached;              /* set by apply: enqueued, but starts only when we end */
	char remark[64];            /* set by apply: how it was done, for the log line */
	int64_t since_ns;           /* begin of its wait, monotonic; 0: does not wait */
	char waiting[ERR_NOTE_MAX]; /* what a waiting apply waits for, for people */
	enum err_kind trouble;      /* kind of its last error, while its wait goes wrong */
	bool on_tasks;              /* wakes when a task that serves this one is settled */
	int64_t next_ns; /* wakes at this monotonic time at the latest; 0: only by task_wake */
	bool woken;      /* set by task_wake since the last call of apply */
};

enum { TASK_DONE = 0, TASK_WAIT = 1, TASK_EQUAL = 0, TASK_DIFFERS = 1 };

struct task_ops {
	const char *kind;    /* "file" */
	bool on_main, brief; /* brief: the check reads a few small files, and waits for nothing */
	bool writes_little;  /* apply too does little: it writes one small object */
	bool is_preflight; /* apply makes this check before it does anything, and an error ends the run */
	bool stays; /* its object stays on the machine when no document names it any more (a reload has none) */
	bool says_all_is_well; /* reports that all is well, so it is skipped if an advisory task failed */
	/* Return the bytes that check reads, and its turn: lower turns end before. 0 or NULL: few bytes, no turn. */
	uint64_t (*reads)(const struct task *, struct task_ctx *);
	int (*turn)(const struct task *, struct task_ctx *);
	/* Returns TASK_EQUAL, or TASK_DIFFERS with diff->why; no side effect. */
	int (*check)(const struct task *, struct task_ctx *, struct task_diff *, struct err *);
	/* Returns TASK_DONE, or TASK_WAIT with run->waiting; called again after each wake-up. */
	int (*apply)(const struct task *, struct task_ctx *, struct task_run *, struct err *);
	/* Begins long work that changes only the cache, before the run; called if check differs. May be NULL. */
	void (*begin)(const struct task *, struct task_ctx *);
	/* Asked for each need of a unit before it starts; fails if the unit must not start any more. May be NULL. */
	int (*may_start)(const struct task *, const struct task *unit, struct task_ctx *,
			 struct err *);
	/* Compares with `was`, the task of earlier documents (NULL: none). A NULL compare: see baseline.h. */
	int (*compare)(const struct task *, const struct task *was, struct task_ctx *,
		       struct task_diff *);
	/* Adds what this task puts on the machine to the digest of a unit's inputs; may be NULL. */
	void (*inputs)(const struct task *, struct digest_ctx *);
	/* Gives up the pending work of a waiting apply. If the run ends before a task that is always done, does what
	 * can be done at once. May be NULL. */
	void (*cancel)(const struct task *, struct task_ctx *);
	/* Returns a warning that a person should see in addition to the result; NULL: none. May be NULL. */
	const char *(*remark)(const struct task *, struct task_ctx *, struct arena *);
	/* Returns whether another task did this task's work in this run; fills diff as for a change. May be NULL. */
	bool (*in_passing)(const struct task *, struct task_ctx *, struct task_diff *);
};

/* Returns the path of the task's object; NULL for kinds without one. */
const char *task_path(const struct task *t);
/* Fills diff and returns TASK_DIFFERS: `return task_differs(d, "absent")`. The caller sets `kept`. */
int task_differs(struct task_diff *d, const char *fmt, ...) printf_like(2, 3);
/* Like task_differs, for an object that does not exist. */
int task_missing(struct task_diff *d, const char *fmt, ...) printf_like(2, 3);
/* For a place that a person has changed: returns TASK_EQUAL, and `why` is a warning. */
int task_left(struct task_diff *d, const char *fmt, ...) printf_like(2, 3);
/* Returns how long an action may take: `most`, or less before the deadline. */
int64_t task_time_left(const struct task_ctx *ctx, int64_t most_ns);
/* Runs a program as proc_run does, within most_ns and before the deadline. stdin_fd -1: no input. */
int task_run_program(const struct task_ctx *ctx, const char *const *argv, int stdin_fd,
		     int64_t most_ns, struct buf *out, struct err *e) must_check;
/* Makes the scheduler call a waiting apply again; any thread. Tasks on its own thread wake at each event too. */
void task_wake(const struct task_ctx *ctx, struct task_run *run);
/* Notes what a waiting apply waits for, until next_ns at the latest, and returns TASK_WAIT. */
int task_wait(struct task_run *run, int64_t next_ns, const char *fmt, ...) printf_like(3, 4);
/* Returns whether every task that t serves is right or not needed now, so that t need not be done. */
bool task_is_unneeded(const struct task *t, struct task_ctx *ctx);
/* Returns whether t exists for `other`. */
bool task_serves(const struct task *t, const struct task *other);
/* Gives the staged file of t its final name when its group is flushed, and records the content. Returns TASK_WAIT,
 * or TASK_DONE if there is no group. After TASK_WAIT apply is called again, and begins with task_is_committed. */
int task_commit(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		struct io_stage *s, const struct io_attr *attr, const struct digest *content,
		struct err *e) must_check;
/* Returns whether task_commit was called in this run of t; apply then returns *ret. */
bool task_is_committed(struct task_run *run, int *ret, struct err *e) must_check;
/* Returns kind and name: "file /etc/hosts". */
char *task_title(struct arena *a, const struct task *t);
