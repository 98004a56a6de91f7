/* session.h - one run's world: documents, plan, and everything tasks work with
 * Opening for a plan creates nothing on the machine; opening for apply makes the cache and starts the engines.
 * Engines are closed in reverse order, so that a late callback meets no freed memory.
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

/* How far a session was opened. After a failed open: the step that failed. */
enum session_stage {
	SESSION_SETTINGS,  /* the machine's own settings */
	SESSION_DOCUMENTS, /* the documents, and the facts that they need */
	SESSION_HOST,      /* whether this host is fit for the documents */
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
	const char *own_unit; /* the service that runs us, or NULL */
	bool starts_at_boot;  /* our unit was installed here */
	struct http *http;
	/* for `s3`, which uses it on another thread than that of the documents */
	struct imds *imds;
	struct s3_session *s3;
	struct settings settings; /* settings of the machine and of the documents */
	struct strv remarks;      /* lines about oddities in the machine's settings */
	struct bootstrap boot;
	struct errs other_errors; /* further errors in the documents, after the first */
	struct plan plan;
	struct plan foreseen; /* the plan whose assets were fetched early; or empty */
	struct strv foreign;  /* lines about foreign files, and pods that no run restarts */
	struct task_ctx ctx;
	struct volume_guard guard; /* the guard that ctx points to */
	struct strv ebs_asked;     /* volumes whose disks are here, and about which EC2 was asked */
	struct read_ahead *ahead;  /* reads the cache while documents are waited for */
	struct workers *workers;
};

struct session_req {
	const struct cli *cli;
	enum mode mode;
	const char *conf;    /* the path of the documents; NULL: the path in the command line */
	int64_t patience_ns; /* how long to wait for documents that cannot be read */
	const struct plan *before; /* for a diff: the plan of the earlier documents; or NULL */
	wait_fn *on_wait;
	wait_fn *on_volume_wait; /* reports waits for EC2's answer about volumes */
	int64_t deadline_ns;     /* deadline of the wait for EC2's answer; 0: none */
	int64_t end_ns;          /* deadline of the whole run; 0: none */
	/* asked once before an early fetch, for a plan that lacks only certificates; NULL: nothing is fetched early */
	int (*may_begin)(void *arg, struct err *e);
	void *wait_arg;          /* argument of all callbacks */
	struct join_keys **keys; /* see bootstrap.h */
};

/* Loads documents, makes the plan, and opens everything needed to check and apply it. */
int session_open(struct session *s, const struct session_req *req, struct err *e) must_check;
/* Releases everything; a zeroed session is fine. */
void session_close(struct session *s);
/* Makes an S3 session with the documents' region and kind of host names, and the role that *imds* knows. Owner:
 * caller. */
int session_s3(const struct session *s, struct imds *imds, struct s3_session **out,
	       struct err *e) must_check;
/* Returns the request for run_execute. */
struct run_req session_run(struct session *s);
/* Lets members of arriving archives be staged beside their places. Before this call, a fetch changes only the cache. */
void session_may_change(struct session *s);
/* Finds what a run would do, by a walk over the plan that changes nothing. May be called during a run. */
void session_look(struct session *s, bool verify, struct run_report *ret);
/* Removes a killed run's staging files. False: some staging files are still open. */
bool session_sweep(const struct session *s);
/* Returns the name of the service that this process runs in, from its control group; NULL for none. */
char *session_own_unit(struct arena *a);

/* Gives the tasks the host's disks, checks that no other instance has an EBS volume, and finds the UUIDs of existing
 * persistent volumes. Does none of this for an image. Only reads. */
int session_disks(struct session *s, const struct session_req *req, struct plan_req *plan,
		  struct err *e) must_check;
/* Checks every volume before anything is changed; fails if a volume must not be made or mounted. */
int session_preflight(struct session *s, struct err *e) must_check;
/* Asks EC2, and gives the tasks the attachment names of volumes whose disks show no id. An apply waits for the
 * answer about volumes that are named by id. If the answer about a volume that is named by a device is missing, only
 * warns: kops' roles for nodes may not ask. */
int session_ebs(struct session *s, const struct session_req *req, struct err *e) must_check;
/* Asks once about disks that came later. Is called as volume_guard.may_use; arg is the session. */
int session_may_use(void *arg, const struct node_volume *v, const struct disks *disks,
		    struct err *e) must_check;

/* Returns this command's asset cache, as a path of the host. */
const char *session_cache_dir(const struct cli *cli);
/* Opens the session's cache, unless it is open. */
int session_open_cache(struct session *s, const struct session_req *req, struct err *e) must_check;
/* Begins to hash the cache's entries that have no record, in the background, until session_end_ahead. */
void session_read_ahead(struct session *s, const struct session_req *req);
/* Ends the hashing after the present entry; does nothing if it never began. */
void session_end_ahead(struct session *s);
/* Returns how many bytes of unfinished downloads this command line's cache has. Any thread. */
uint64_t session_kept_bytes(const struct cli *cli);
/* Keeps other processes from evicting entries that this run is about to use. */
void session_note_use(struct session *s);
/* Evicts entries that no document names, the least recently used first, down to max bytes. 0: 8 GiB; below 0: no
 * limit. */
void session_trim_cache(struct session *s, int64_t max);

/* Fails an offline run unless the cache has every asset that the run needs. Logs each missing asset. */
int offline_check(struct session *s, struct err *e) must_check;
/* Makes a network error of an offline run a CONFIG error: the missing file must be copied here, and waiting does not
 * help. */
void offline_blame(struct err *e);
