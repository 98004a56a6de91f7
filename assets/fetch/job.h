/* job.h - one asset on its way into the cache: its mirrors, parts, rounds and last errors
 * Holds the memory of a job and words its errors; run.h moves the job from state to state. A part is one transfer:
 * some bytes of the object from one mirror.
 * Owner: the fetcher. Errors: NET, INTEGRITY. Units: bytes, monotonic ns.
 * Tests: test_fetch_rounds.c. Threads: under the fetcher's lock, except for members of the net thread. */
#pragma once

#include <pthread.h>
#include "assets/cache/mismatch.h"
#include "assets/fetch/fetch.h"
#include "assets/fetch/hosts.h"
#include "assets/url.h"
#include "nodeup/base/pool.h"

struct fetcher {
	struct http *http; /* NULL: offline */
	struct cache *cache;
	struct fetch_opts opts;
	struct fetch_sink sink; /* its `open` is NULL: no members are taken */
	struct pool *
		work; /* workers that read, write and hash, a few megabytes an errand; the net thread never waits for
		       * them */
	const struct fetch_ops *ops; /* the functions of move.h */

	pthread_mutex_t lock; /* guards the jobs and all members below */
	pthread_cond_t changed;
	struct fetch_job *jobs;
	struct fetch_hosts hosts;
	size_t pending;            /* jobs that are not idle, and running callbacks */
	size_t active, active_max; /* jobs that are neither idle nor queued; see run.h */
	struct fetch_job *queue, **queue_last;
	uint64_t tick_id;
	bool closing;

	/* only the net thread uses this member and the next */
	size_t connections;
	bool ticking;
};

/* Errnums: a mirror sends without end, and is not asked again; a mirror still has its wrong file of an earlier run. */
enum { FETCH_ENDLESS = EOVERFLOW, FETCH_MISMATCH = EALREADY };

enum fetch_state {
	FETCH_IDLE,      /* done, or never started; dropped mirrors stay dropped */
	FETCH_QUEUED,    /* waits for its turn, and holds nothing */
	FETCH_LOOKUP,    /* a worker asks the cache */
	FETCH_ELSEWHERE, /* another process fetches the asset; asks the cache again soon */
	FETCH_MOVING,    /* from this state on, the net thread has parts, timer and follower */
	FETCH_STARVED    /* as MOVING, but no part moves: waits for a connection */
};

/* A worker's part: none; it reads the entry, to which the net thread may write; or it owns the entry. */
enum fetch_errand { FETCH_NO_ERRAND, FETCH_READS, FETCH_OWNS };

/* Events of a round, each a bit. */
enum fetch_met {
	FETCH_MET_EARLY = 1 << 0,    /* a certificate that is not valid yet by our clock */
	FETCH_MET_THROTTLE = 1 << 1, /* a mirror that is overloaded */
	FETCH_MET_OTHER = 1 << 2, /* a mirror whose object differs from that of earlier mirrors */
};

/* Values of `source`, if an entry's bytes are not from one mirror. */
#define FETCH_NOBODY SIZE_MAX
#define FETCH_SEVERAL (SIZE_MAX - 1)

/* The entry's end, once nothing moves. FETCH_EMPTY: the job goes on with the entry, but drops its bytes. */
enum fetch_settle { FETCH_KEEP, FETCH_DROP, FETCH_EMPTY };

struct fetch_mirror {
	char *url;
	char public[URL_PUBLIC_MAX];
	char last_error[ERR_NOTE_MAX]; /* the mirror's last error; "" none */
	struct err_note got;   /* digest of the mirror's wrong bytes, in cache_commit's words */
	bool dropped;          /* the mirror sent wrong bytes in this run */
	bool unchanged;        /* the mirror still has the wrong file of an earlier run */
	bool endless;          /* the mirror sent more in this run than fits on the disk */
	bool tried, failed;    /* whether it was asked, and failed, in this round */
	bool whole_only;       /* the mirror's answers to range requests are useless */
	bool gave;             /* the mirror gave bytes of the present entry */
	int64_t not_before_ns; /* the mirror's Retry-After: it is not asked before this time */
	enum fetch_rank rank;  /* rank of the mirror's host when a mirror was last chosen */
	size_t active, limit;  /* number of parts under way, and the most that there may be */
	size_t came_well;      /* parts that ended well since the limit changed */
	double rate;           /* bytes a second of the mirror's last part; 0: not measured */
};

struct fetch_waiter {
	struct fetch_waiter *next;
	const struct asset *as;
	fetch_done_fn *done;
	void *arg;
	bool cancelled;
};

/* Kept apart from the job, as they are large, and a run may have a thousand jobs that are done. */
struct fetch_errs {
	struct err last;   /* the last error of a mirror */
	struct err follow; /* result of a worker's errand */
	struct err end; /* the result for the waiters, which they get when nothing moves any more */
	struct err unpack; /* why right bytes could not be unpacked */
};

struct fetch_job {
	struct fetch_job *next, *queue_next;
	struct fetcher *fetcher;
	struct digest digest;
	struct fetch_mirror *mirrors;
	size_t nmirrors, current; /* current: index of the mirror that was asked last */
	struct fetch_waiter *waiters;
	enum fetch_state state;
	unsigned int attempt;      /* number of the request, from 1, over all mirrors and rounds */
	unsigned int round;        /* number of the round, from 0 */
	unsigned int fruitless;    /* rounds in a row without progress */
	int64_t bytes, total;      /* bytes present; total -1 unknown */
	int64_t best, best_before; /* most bytes so far; most bytes before this round */
	int64_t next_try_ns;
	int64_t begun_ns;            /* when fetch_begin began the fetch early; 0: it did not */
	int64_t waited_ns;           /* sum of the waits between rounds */
	struct arena *archive_arena; /* arena of `archive`; NULL without an `archive` */
	struct asset *archive;       /* our copy of the archive to unpack on arrival; NULL: none */
	struct err *refused; /* why the verified archive is refused; NULL: no refusal is known */
	unsigned int met;    /* bits of enum fetch_met, in this round */
	int64_t early_ns; /* since when each round met FETCH_MET_EARLY; 0: the last round did not meet it */
	bool news;    /* a new waiter's mirrors are not added yet */
	bool whole;   /* wrong bytes came, so this run asks for the whole object only */
	bool unpacks; /* members were taken on arrival */
	bool full;    /* the disk was full, so the archive is not unpacked on arrival any more */
	char last_error[ERR_NOTE_MAX]; /* last error of any mirror in this run; "" none */
	struct fetch_errs *errs; /* exists from the first look-up until the asset is in the cache */
	struct cache_writer other; /* the process that fetches the asset, as last seen */
	int64_t other_since_ns;    /* begin of the wait for the other process; 0: none */
	int64_t other_moved_ns;    /* when the other process last made progress */
	int64_t other_bytes;       /* bytes that the other process had then */
	bool beside; /* the other process makes no progress, so this process fetches a copy beside it */

	/* for the net thread only, except that an errand may own the entry (see `errand`) */
	struct cache_entry *entry;
	struct cache_mismatches *mismatches; /* wrong files of earlier runs; NULL: none */
	struct fetch_part *parts;
	struct extract *unpack; /* for the worker only */
	int64_t unpacker_ns; /* atomic: since when the worker waits for the unpacker; 0: it does not wait */
	enum fetch_errand errand;
	uint64_t timer_id;   /* timer of the next round; 0: none */
	uint64_t follow_end; /* atomic: end of the bytes that the follower may read */
	void (*followed)(struct fetch_job *j);
	struct cache_writer found_other; /* the other process, as the look-up found it */
	int asks;      /* `asks` of the process that the last look-up found; -1: none */
	int64_t eof;   /* end of a stream of unknown length; -1: not reached */
	size_t source; /* the mirror that sent the entry's bytes; or FETCH_NOBODY, FETCH_SEVERAL */
	unsigned int restarts;
	enum fetch_settle settle;
	void (*then)(struct fetch_job *j); /* the step that follows when nothing moves any more */
};

/* Take and release the fetcher's lock. */
void fetch_lock(struct fetcher *f);
void fetch_unlock(struct fetcher *f);
/* Ends a callback or a job that `pending` counts, for which fetch_free waits. Called on any thread, without the
 * lock. */
void fetch_end_pending(struct fetcher *f);

/* Adds the asset's mirrors that the job does not have yet. */
void fetch_job_add_mirrors(struct fetch_job *j, const struct asset *as);
/* If the asset is to be unpacked on arrival, notes that. */
void fetch_job_want_members(struct fetch_job *j, const struct asset *as);
/* Begins a run of attempts: sets all counters to zero. Dropped mirrors stay dropped. */
void fetch_job_restart(struct fetch_job *j);
/* Returns whether this round has another mirror to ask, on a host that has not failed. */
bool fetch_job_has_other(const struct fetch_job *j, size_t mirror, int64_t now_ns);
/* Returns whether this mirror may be asked for more in this round. */
bool fetch_job_may_ask(const struct fetch_job *j, size_t mirror, int64_t now_ns);
/* Notes a request to the mirror. The first request to it in a round counts as an attempt. */
void fetch_job_asked(struct fetch_job *j, size_t mirror);
/* Ends the round. Returns the delay before the next round; < 0: there is no next round. */
int64_t fetch_job_end_round(struct fetch_job *j, int64_t now_ns, uint32_t random);
/* Notes a mirror's failure. A mirror that sent wrong bytes (INTEGRITY) is dropped. */
void fetch_job_failed(struct fetch_job *j, size_t mirror, const struct err *e, int64_t retry_at_ns);
/* Returns the error's note of this label, or NULL. */
const struct err_note *fetch_job_note(const struct err *e, const char *label);
/* Adds to an error of the cache about wrong bytes: which mirrors sent them, and what is known of these mirrors. */
void fetch_job_explain(const struct fetch_job *j, struct err *e);
/* Forgets which mirrors were asked in this round, so that all may be asked again. */
void fetch_job_all_again(struct fetch_job *j);
/* Writes the error for the end of all attempts. Returns the negative errno. */
int fetch_job_verdict(const struct fetch_job *j, struct err *e);
/* Releases the job. */
void fetch_job_free(struct fetch_job *j);

/* The next functions note failures of mirrors and hosts: on the net thread, without the fetcher's lock. */

/* Notes a mirror's failure for this round. res (may be NULL) shows whether the mirror asks for a pause. If the
 * mirror has other connections, and is overloaded or the last mirror, only lowers its limit of connections. */
void fetch_mirror_failed(struct fetch_job *j, size_t mirror, const struct err *e,
			 const struct http_result *res);
/* Counts a part that ended well. When the count reaches the mirror's limit of connections, raises the limit by one. */
void fetch_mirror_came(struct fetch_job *j, size_t mirror);
/* Counts a failure against the host. A mere refusal of this object (403, 404) does not count: the host may have
 * other objects. */
void fetch_mirror_failed_host(struct fetch_job *j, size_t mirror, int status);
