/* task.h - one piece of desired state, and the table of what can be done with each kind
 * A task is data: the plan builds it, printing, diffing and executing are walks over it. check compares the effect with the
 * wish and changes nothing; apply makes it so, only after check said "differs". Both may be killed at any point: a re-run converges.
 * Owner: tasks live in the plan's arena and are const after planning; what changes during a run is in struct task_run.
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
	const struct task_ops *ops; /* what can be done with it: of its kind (kinds.h), or others */
	const char *name;   /* a path, a unit: what people call it; unique within its kind */
	const char *origin; /* the builder that asked for it */
	const char *asked;  /* "file:line:column" of what it is for; NULL: all of the documents */
	size_t index;       /* position in the plan */
	bool optional; /* failing is a warning; what is made from it is skipped, all else goes on */
	bool advisory; /* what needs it goes on when it fails; the run fails in the end */
	bool always;   /* done also when what it needs failed */
	bool unused;   /* an asset for other nodes: kept in order where it is, and not fetched */
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
	const struct task **needs; /* must be done before this one starts */
	size_t n_needs;
	const struct task **users; /* the other direction */
	size_t n_users;
	/* tasks that this one exists for; when all of them are right, it is not needed at all */
	const struct task **serves;
	size_t n_serves;
};

struct images;
struct members;
struct state;
struct map;
struct volume_guard;

struct task_ctx { /* what tasks work with: the seams that tests replace */
	int root_fd;
	bool image_mode; /* a root that is not running: no bus, no runtime, no sysctl */
	bool verify;     /* trust no record: read and hash again */
	bool prune;      /* what the documents no longer name goes */
	bool is_offline; /* no server outside is asked */
	bool only_looks; /* a plan: nothing is applied, and no unit is watched afterwards */
	bool gives_away; /* the cache keeps no second copy of a program */
	bool no_answer;  /* a plan met a runtime that says nothing: it is asked no more */
	struct cache *cache;
	int cache_root_fd; /* what the cache's paths are below: an explicit --cache is the host's */
	struct fetcher *fetcher;
	struct members *members; /* of archives; NULL: none are taken */
	struct images *images;   /* of containerd; NULL: it is asked for each by itself */
	struct http *http;
	struct flush *flush; /* what is flushed together; NULL: each file by itself */
	struct bus *bus;     /* NULL in image mode and without a manager */
	struct state *state;
	int64_t deadline_ns;                /* monotonic; 0: none */
	const struct disk_host *disks;      /* NULL: no disk is looked at (image mode) */
	const struct node_volumes *volumes; /* all that are wanted of them; NULL: not known */
	const struct volume_guard *guard;   /* of volumes of EBS; NULL: EC2 is not asked */
	const char *machine;        /* whose file systems are ours: the instance id; NULL unknown */
	const struct map *baseline; /* of diff: tasks of before, by title; else NULL */
	const char *own_unit; /* "kops-configuration.service" when we run inside it, or NULL */
	/* by task index: applied in this run, or in a plan's walk: would be */
	const bool *changed;
	const bool *kept; /* of these: its content stays, mode or owner do not; NULL: of none */
	/* Have the scheduler look at run->woken; see task_wake. */
	void (*wake)(void *arg);
	void *wake_arg;
};

/* The findings of a check; why is empty when equal. */
struct task_diff {
	char why[ERR_NOTE_MAX];
	bool kept; /* the content is right: mode or owner are not */
	bool lost; /* it was here and is damaged: to be done whether it is needed or not */
	bool spare; /* of what is lost: no task needs it now, so a failure is a warning, and stops nothing */
	bool missing;  /* nothing of it is there yet: it would be made, and not changed */
	bool restarts; /* a unit that runs now, and would be restarted */
	bool removes;  /* what is there would go, now or with --prune */
	bool left; /* it, or some of it, is not what it should be, but a person's own: why says so */
	const char *how; /* equal: in what way, where not plain; a constant. NULL: as wanted */
	/* differs: nothing is known to be wrong. apply fetches what it takes to compare, and changes only what it then finds wrong. */
	bool unsure;
};

/* The run's view of one task, owned by the scheduler, passed to apply. */
struct task_run {
	int stage;         /* apply's own progress, 0 at the first call */
	uint32_t job;      /* a unit job */
	int result;        /* set by completion callbacks before wake, with error when < 0 */
	struct err *error; /* whose is the caller's */
	bool last_call;    /* nothing else can go on: what is not there now will not come */
	bool unsure;       /* check could not compare: apply does, before it changes anything */
	bool equal;        /* set by apply: it was right, or is so by itself; nothing was changed */
	bool final;        /* set by apply: this error has had its retries */
	bool detached;     /* set by apply: enqueued, but it starts only when we end */
	char remark[64];   /* set by apply: how it was done, for the line that says so */
	int64_t since_ns;  /* waiting since, monotonic; 0 not waiting */
	char waiting[ERR_NOTE_MAX]; /* what a waiting apply waits for, shown to people */
	enum err_kind trouble;      /* of its last error, if what it waits for goes wrong so far */
	bool on_tasks;              /* wake when a task that serves this one is settled */
	int64_t next_ns; /* wake at this monotonic time at the latest; 0: only by task_wake */
	bool woken;      /* by task_wake, since apply was called last */
};

enum { TASK_DONE = 0, TASK_WAIT = 1 };
enum { TASK_EQUAL = 0, TASK_DIFFERS = 1 };

struct task_ops {
	const char *kind;    /* "file" */
	bool on_main, brief; /* brief: check looks at a few small files, and awaits nothing */
	bool writes_little;  /* nor does apply, which writes one of them */
	bool is_preflight; /* apply checks it before it does anything, and an error ends the run */
	bool stays; /* what it made is on the machine when no document names it any more; a reload leaves nothing */
	bool says_all_is_well; /* to others: it is skipped if an advisory task failed */
	/* Return how many bytes check reads, and its turn: it begins when those of lower turns have ended. 0, NULL: few; none. */
	uint64_t (*reads)(const struct task *, struct task_ctx *);
	int (*turn)(const struct task *, struct task_ctx *);
	/* TASK_EQUAL or TASK_DIFFERS with diff->why; no side effect. */
	int (*check)(const struct task *, struct task_ctx *, struct task_diff *, struct err *);
	/* TASK_DONE, or TASK_WAIT with run->waiting; called again after each wake-up. */
	int (*apply)(const struct task *, struct task_ctx *, struct task_run *, struct err *);
	/* Begin, before the run, what takes long and changes only the cache; called if check differs. May be NULL. */
	void (*begin)(const struct task *, struct task_ctx *);
	/* Asked of each need of a unit when the unit is to start: an error if it must not any more. May be NULL. */
	int (*may_start)(const struct task *, const struct task *unit, struct task_ctx *,
			 struct err *);
	/* As check, where `was` is what the documents before wanted and got; NULL: no such. A NULL compare: see baseline.h. */
	int (*compare)(const struct task *, const struct task *was, struct task_ctx *,
		       struct task_diff *);
	/* Feed what this task puts on the machine into the digest of a unit's inputs; may be NULL. */
	void (*inputs)(const struct task *, struct digest_ctx *);
	/* Give up what a waiting apply has under way; of a task that is done always, do what can be done
	 * at once when the run ends before it. May be NULL. */
	void (*cancel)(const struct task *, struct task_ctx *);
	/* Returns what a person should know of it beside what is done, as a warning; NULL: nothing. May be NULL. */
	const char *(*remark)(const struct task *, struct task_ctx *, struct arena *);
	/* Returns whether another task has done this one's work in this run: it is changed then, as diff->why says. May be NULL. */
	bool (*in_passing)(const struct task *, struct task_ctx *, struct task_diff *);
};

/* The path a task puts something at; NULL for kinds that have none. */
const char *task_path(const struct task *t);
/* Fill diff and return TASK_DIFFERS: `return task_differs(d, "absent")`. `kept` is for the caller to set. */
int task_differs(struct task_diff *d, const char *fmt, ...) printf_like(2, 3);
/* As task_differs, for what is not there at all. */
int task_missing(struct task_diff *d, const char *fmt, ...) printf_like(2, 3);
/* As task_differs for what a person has made of their own place: TASK_EQUAL, and `why` is a warning. */
int task_left(struct task_diff *d, const char *fmt, ...) printf_like(2, 3);
/* Returns how long something may take: `most`, or what is left until the deadline. */
int64_t task_time_left(const struct task_ctx *ctx, int64_t most_ns);
/* Run a program as proc_run does, with that input (-1: none), for at most that long and to the deadline. */
int task_run_program(const struct task_ctx *ctx, const char *const *argv, int stdin_fd,
		     int64_t most_ns, struct buf *out, struct err *e) must_check;
/* Have a waiting apply called again; any thread. One on the scheduler's thread is called after each event, too. */
void task_wake(const struct task_ctx *ctx, struct task_run *run);
/* Say what a waiting apply waits for, at the latest until next_ns, and return TASK_WAIT. */
int task_wait(struct task_run *run, int64_t next_ns, const char *fmt, ...) printf_like(3, 4);
/* Returns whether everything that t serves is right already, or not needed now, so that t need not be done. */
bool task_is_unneeded(const struct task *t, struct task_ctx *ctx);
/* Returns whether t exists for that other one. */
bool task_serves(const struct task *t, const struct task *other);
/* Give the staged file of t its name with all that is flushed together, and record that its path holds content.
 * Returns TASK_WAIT: apply is called again, and begins with task_is_committed. Without a group it is TASK_DONE. */
int task_commit(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		struct io_stage *s, const struct io_attr *attr, const struct digest *content,
		struct err *e) must_check;
/* Returns whether task_commit was called for this run of t: *ret is what apply returns then. */
bool task_is_committed(struct task_run *run, int *ret, struct err *e) must_check;
/* "file /etc/hosts": kind and name. */
char *task_title(struct arena *a, const struct task *t);
