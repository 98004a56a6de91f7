/* job.h - one asset on its way into the cache: its mirrors, parts, rounds and last errors
 * This is the memory of a job and its words; run.h moves it from state to state. A part is one transfer: some bytes
 * of the object from one mirror.
 * Owner: the fetcher. Errors: NET, INTEGRITY. Units: bytes, monotonic ns.
 * Tests: test_fetch_rounds.c. Threads: under the fetcher's lock, unless a member is the net thread's. */
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
	const struct fetch_ops *ops; /* move.h */

	pthread_mutex_t lock; /* guards the jobs and all members below */
	pthread_cond_t changed;
	struct fetch_job *jobs;
	struct fetch_hosts hosts;
	size_t pending;            /* jobs that are not idle, and running callbacks */
	size_t active, active_max; /* jobs that are neither idle nor queued; see run.h */
	struct fetch_job *queue, **queue_last;
	uint64_t tick_id;
	bool closing;

	/* from here on only the net thread uses the members */
	size_t connections;
	bool ticking;
};

/* Errnums: a mirror sends without end, so this run does not ask it again; a mirror still has the wrong file of an
 * earlier run. */
enum { FETCH_ENDLESS = EOVERFLOW, FETCH_MISMATCH = EALREADY };

enum fetch_state {
	FETCH_IDLE,      /* done, or never started; dropped mirrors stay dropped */
	FETCH_QUEUED,    /* waits for its turn, and holds nothing */
	FETCH_LOOKUP,    /* a worker asks the cache */
	FETCH_ELSEWHERE, /* another process fetches it; asks the cache again soon */
	FETCH_MOVING,    /* from here on the net thread has parts, timer and follower */
	FETCH_STARVED    /* as MOVING, but without a part: waits for a connection */
};

/* A worker's errand: none; reads the entry, while the net thread writes to it; or owns the entry. */
enum fetch_errand { FETCH_NO_ERRAND, FETCH_READS, FETCH_OWNS };

/* Events of a round, each a bit. */
enum fetch_met {
	FETCH_MET_EARLY = 1 << 0,    /* a certificate that is not valid yet by our clock */
	FETCH_MET_THROTTLE = 1 << 1, /* a mirror that is overloaded */
	FETCH_MET_OTHER = 1 << 2, /* a mirror whose object differs from that of earlier mirrors */
};

/* The source of an entry's bytes, if it is not one mirror. */
#define FETCH_NOBODY SIZE_MAX
#define FETCH_SEVERAL (SIZE_MAX - 1)

/* The fate of the entry once nothing moves any more. EMPTY: the job goes on with the entry, but without its bytes. */
enum fetch_settle { FETCH_KEEP, FETCH_DROP, FETCH_EMPTY };

struct fetch_mirror {
	char *url;
	char public[URL_PUBLIC_MAX];
	char last_error[ERR_NOTE_MAX]; /* "" none */
	struct err_note got; /* digest of the wrong bytes that it sent, in cache_commit's words */
	bool dropped;        /* sent wrong bytes in this run */
	bool unchanged; /* an earlier run got wrong bytes from it, and it still has the same file */
	bool endless;   /* sent more in this run than fits on the disk */
	bool tried, failed;    /* in this round */
	bool whole_only;       /* its answers to range requests are useless */
	bool gave;             /* gave bytes of the present entry */
	int64_t not_before_ns; /* not to be asked before this time, by its Retry-After */
	enum fetch_rank rank;  /* rank of its host, when a mirror was last chosen */
	size_t active, limit; /* number of parts that it sends now, and the most that it may send */
	size_t came_well;     /* parts that ended well since the limit changed */
	double rate;          /* bytes a second of its last part; 0: not measured */
};

struct fetch_waiter {
	struct fetch_waiter *next;
	const struct asset *as;
	fetch_done_fn *done;
	void *arg;
	bool cancelled;
};

/* Apart from the job: they are large, and a thousand jobs may be done. */
struct fetch_errs {
	struct err last;   /* a mirror's error */
	struct err follow; /* result of a worker's errand */
	struct err end;    /* the result for the waiters, once nothing moves any more */
	struct err unpack; /* why the bytes cannot be unpacked, if they turn out right */
};

struct fetch_job {
	struct fetch_job *next, *queue_next;
	struct fetcher *fetcher;
	struct digest digest;
	struct fetch_mirror *mirrors;
	size_t nmirrors, current; /* current: the mirror asked last */
	struct fetch_waiter *waiters;
	enum fetch_state state;
	unsigned int attempt;      /* number of the request, from 1, over all mirrors and rounds */
	unsigned int round;        /* from 0 */
	unsigned int fruitless;    /* rounds in a row without progress */
	int64_t bytes, total;      /* bytes present; total -1 unknown */
	int64_t best, best_before; /* most bytes so far; most bytes before this round */
	int64_t next_try_ns;
	int64_t begun_ns;  /* begin of an early fetch (fetch_begin); 0: not an early one */
	int64_t waited_ns; /* sum of the waits between rounds */
	struct arena *archive_arena; /* arena of `archive`; NULL without an `archive` */
	struct asset *archive;       /* our copy of the archive to unpack on arrival; NULL: none */
	struct err *refused; /* why the verified archive is refused; NULL: no refusal is known */
	unsigned int met;    /* bits of enum fetch_met, in this round */
	int64_t early_ns;    /* since when rounds met FETCH_MET_EARLY; 0: the last round did not */
	bool news;           /* a new waiter's mirrors are not added yet */
	bool whole;          /* wrong bytes came, so this run asks for the whole object only */
	bool unpacks;        /* members were taken on arrival */
	bool full;           /* the disk was full, so it is not unpacked on arrival any more */
	char last_error[ERR_NOTE_MAX]; /* from any mirror in this run; "" none */
	struct fetch_errs *errs; /* exists from the first look-up until the asset is in the cache */
	struct cache_writer other; /* the process that fetches the asset, as last seen */
	int64_t other_since_ns;    /* begin of the wait for that process; 0: none */
	int64_t other_moved_ns;    /* when it last made progress ... */
	int64_t other_bytes;       /* ... and how many bytes it had then */
	bool beside; /* that process makes no progress, so this one fetches a copy beside it */

	/* the net thread's, except for the entry (see `errand`) */
	struct cache_entry *entry;
	struct cache_mismatches *mismatches; /* from earlier runs; NULL: none */
	struct fetch_part *parts;
	struct extract *unpack; /* used only by the worker */
	int64_t unpacker_ns; /* atomic: since when the worker waits for the unpacker; 0: it does not wait */
	enum fetch_errand errand;
	uint64_t timer_id;   /* timer of the next round; 0: none */
	uint64_t follow_end; /* atomic: end of the bytes that the follower may read */
	void (*followed)(struct fetch_job *j);
	struct cache_writer found_other; /* the other process, as the look-up found it */
	int asks;                        /* `asks` of the last look-up; -1: none */
	int64_t eof;                     /* end of a stream of unknown length; -1: not reached */
	size_t source; /* the mirror that sent the entry's bytes; or FETCH_NOBODY, FETCH_SEVERAL */
	unsigned int restarts;
	enum fetch_settle settle;
	void (*then)(struct fetch_job *j); /* the next step, once nothing moves any more */
};

/* Take and release the fetcher's lock. */
void fetch_lock(struct fetcher *f);
void fetch_unlock(struct fetcher *f);
/* Ends a callback or a job that `pending` counts, for which fetch_free waits. On any thread, without the lock. */
void fetch_end_pending(struct fetcher *f);

/* Adds the asset's mirrors that the job does not have yet. */
void fetch_job_add_mirrors(struct fetch_job *j, const struct asset *as);
/* If the asset is to be unpacked on arrival, notes that. */
void fetch_job_want_members(struct fetch_job *j, const struct asset *as);
/* Begins a run of attempts: sets all counters to zero. Dropped mirrors stay dropped. */
void fetch_job_restart(struct fetch_job *j);
/* Returns whether another mirror is left in this round, on a host that has not failed. */
bool fetch_job_has_other(const struct fetch_job *j, size_t mirror, int64_t now_ns);
/* Returns whether this mirror may be asked for more in this round. */
bool fetch_job_may_ask(const struct fetch_job *j, size_t mirror, int64_t now_ns);
/* Notes a request to the mirror. Its first one of the round counts as an attempt. */
void fetch_job_asked(struct fetch_job *j, size_t mirror);
/* Ends the round. Returns the delay before the next round; < 0: there is no next round. */
int64_t fetch_job_end_round(struct fetch_job *j, int64_t now_ns, uint32_t random);
/* Notes a mirror's failure. A mirror that sent wrong bytes (INTEGRITY) is dropped. */
void fetch_job_failed(struct fetch_job *j, size_t mirror, const struct err *e, int64_t retry_at_ns);
/* Returns the error's note of this label, or NULL. */
const struct err_note *fetch_job_note(const struct err *e, const char *label);
/* Adds to the cache's error about wrong bytes what the job knows of their mirrors. */
void fetch_job_explain(const struct fetch_job *j, struct err *e);
/* Lets all mirrors be asked again in this round. */
void fetch_job_all_again(struct fetch_job *j);
/* Writes the error for the end of all attempts. Returns the negative errno. */
int fetch_job_verdict(const struct fetch_job *j, struct err *e);
/* Releases it. */
void fetch_job_free(struct fetch_job *j);

/* Failures of mirrors and hosts: on the net thread, without the fetcher's lock. */

/* Notes a mirror's failure for this round. res (may be NULL) shows whether the mirror asks for a pause. If the
 * mirror's other connections make progress, and the mirror is overloaded or the last one, only lowers its limit of
 * connections. */
void fetch_mirror_failed(struct fetch_job *j, size_t mirror, const struct err *e,
			 const struct http_result *res);
/* Counts a part that ended well. When the count reaches the mirror's limit of connections, raises the limit by one. */
void fetch_mirror_came(struct fetch_job *j, size_t mirror);
/* Counts a failure against the host. A mere refusal of this object (403, 404) does not count: the host may have
 * other objects. */
void fetch_mirror_failed_host(struct fetch_job *j, size_t mirror, int status);
