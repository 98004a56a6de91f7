/* session.h - one run's world: documents, plan, and everything tasks work with
 * Opening for a plan creates nothing on the machine; opening for apply makes the cache and starts
 * the engines. Closing in reverse order is what keeps late callbacks away from freed memory.
 * Bodies: offline.c.
 * Owner: session_open/session_close, also after a failed open. Errors: as bootstrap and plan.
 * Threads: one.
 * Tests: test_plan.py, test_rerun.py, test_loop_disks.py, test_master_volumes.py, test_ec2_emulator.py,
 * test_ec2_faults.py, test_cache_max.py, test_cache_shared.py, test_offline.py. */
#pragma once

#include "nodeup/base/dur.h"
#include "nodeup/aws/s3_session.h"
#include "nodeup/config/policy.h"
#include "nodeup/documents/bootstrap.h"
#include "nodeup/cmd/cli.h"
#include "nodeup/plan/plan.h"
#include "nodeup/run/run.h"
#include "nodeup/tasks/volume.h"
#include "nodeup/documents/settings_dir.h"

/* How long commands that only look wait for documents. */
#define SESSION_LOOK_NS (5 * DUR_SEC)

/* How far a session was opened. After a failed open: what failed. */
enum session_stage {
	SESSION_SETTINGS,  /* the machine's own */
	SESSION_DOCUMENTS, /* and the facts that they ask for */
	SESSION_HOST,      /* whether this host can run them */
	SESSION_VOLUMES,
	SESSION_PLAN,
	SESSION_CACHE,
	SESSION_OPEN,
};

struct session {
	enum session_stage stage;
	struct arena *arena;
	int root_fd, host_fd;
	struct policy policy;
	const char *own_unit; /* the service we run in, or NULL */
	bool starts_at_boot;  /* our unit was installed here */
	struct http *http;
	struct imds *imds; /* of s3, whose thread is another than the documents' */
	struct s3_session *s3;
	struct settings settings; /* of the machine and of the documents */
	struct strv remarks;      /* lines: what is odd in the settings of the machine */
	struct bootstrap boot;
	struct errs other_errors; /* what else is wrong, after an error of the documents */
	struct plan plan;
	struct plan foreseen; /* what was fetched while certificates were waited for; or empty */
	struct strv foreign;  /* lines: what others put or changed here, and what no run restarts */
	struct task_ctx ctx;
	struct volume_guard guard; /* of ctx */
	struct strv ebs_asked;     /* volumes that EC2 was asked about, whose disks are here */
	struct read_ahead *ahead;  /* of the cache, while documents are waited for */
	struct workers *workers;
};

struct session_req {
	const struct cli *cli;
	enum mode mode;
	const char *conf;          /* NULL: the command line's */
	int64_t patience_ns;       /* for documents that cannot be read */
	const struct plan *before; /* of a diff: that of the documents before; or NULL */
	wait_fn *on_wait;
	wait_fn *on_volume_wait; /* for what EC2 says of volumes */
	int64_t deadline_ns;     /* of waiting for it; 0: none */
	int64_t end_ns;          /* of the whole run; 0: none */
	/* asked once before anything is fetched for a plan that lacks certificates alone; NULL: nothing is */
	int (*may_begin)(void *arg, struct err *e);
	void *wait_arg;          /* of all */
	struct join_keys **keys; /* see bootstrap.h */
};

/* Load documents, make the plan, open what it takes to check (and apply) it. */
int session_open(struct session *s, const struct session_req *req, struct err *e) must_check;
/* Release everything; a zeroed session is fine. */
void session_close(struct session *s);
/* S3 as the session's documents ask for it: their region, their kind of names, the role that *imds* knows. Owner: caller. */
int session_s3(const struct session *s, struct imds *imds, struct s3_session **out,
	       struct err *e) must_check;
/* What run_execute wants. */
struct run_req session_run(struct session *s);
/* Have members of archives staged beside where they go while these arrive. Before, a fetch changes nothing but the cache. */
void session_may_change(struct session *s);
/* What a run would do, by a walk over the plan that changes nothing, also while a run is under way. */
void session_look(struct session *s, bool verify, struct run_report *ret);
/* Remove what a killed run left beside the files that it was writing. False: some of it is still open. */
bool session_sweep(const struct session *s);
/* The name of the service this process runs in, from its control group; NULL for none. */
char *session_own_unit(struct arena *a);

/* Give the tasks the host's disks, see that no other instance has a volume of EBS, and find the UUIDs that volumes
 * which persist have already; not in an image. Reads only. */
int session_disks(struct session *s, const struct session_req *req, struct plan_req *plan,
		  struct err *e) must_check;
/* Look at every volume before anything is changed: what must not be done is an error here. */
int session_preflight(struct session *s, struct err *e) must_check;
/* Ask, and tell the tasks by which names volumes are attached whose disks tell no id. An apply waits for an answer about volumes
 * that are named by id; of one that is named by a device, no answer is a warning: no role of kops' nodes may ask. */
int session_ebs(struct session *s, const struct session_req *req, struct err *e) must_check;
/* Ask once about disks that came later, as volume_guard.may_use; arg is the session. */
int session_may_use(void *arg, const struct node_volume *v, const struct disks *disks,
		    struct err *e) must_check;

/* The asset cache of this command, as the host sees it. */
const char *session_cache_dir(const struct cli *cli);
/* Open the session's, unless it is open. */
int session_open_cache(struct session *s, const struct session_req *req, struct err *e) must_check;
/* Begin to hash what lies in it without a record, beside whatever this thread does, until session_end_ahead. */
void session_read_ahead(struct session *s, const struct session_req *req);
/* End that after the entry at hand; nothing to do if it never began. */
void session_end_ahead(struct session *s);
/* How many bytes of unfinished downloads the cache of this command line has. Any thread. */
uint64_t session_kept_bytes(const struct cli *cli);
/* Have other processes leave alone what this run is about to use. */
void session_note_use(struct session *s);
/* Evicts entries that no document names, the least recently used first, until max bytes are left. 0: 8 GiB; below 0: no limit. */
void session_trim_cache(struct session *s, int64_t max);

/* Fails, offline, unless the cache has every asset that this run cannot do without; each that it lacks is logged. */
int offline_check(struct session *s, struct err *e) must_check;
/* Offline the network is not to blame: what was not brought here does not come by waiting. */
void offline_blame(struct err *e);
