/* job.h - one asset on its way into the cache: its mirrors, its parts, its rounds, its last errors
 * The fetcher moves a job from state to state (run.h); here is its memory, in words.
 * A part is one transfer: some bytes of the object from one mirror.
 * Owner: the fetcher. Errors: NET, INTEGRITY. Units: bytes, monotonic ns. Tests: test_fetch_rounds.c.
 * Threads: everything under the fetcher's lock, but what is said to be the net thread's. */
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
	struct fetch_sink sink; /* open NULL: nobody wants members */
	struct pool *
		work; /* workers that read, write and hash, a few megabytes an errand; the net thread waits for none of them */
	const struct fetch_ops *ops; /* move.h */

	pthread_mutex_t lock; /* guards all below, and the jobs */
	pthread_cond_t changed;
	struct fetch_job *jobs;
	struct fetch_hosts hosts;
	size_t pending;            /* jobs that are not idle, and callbacks under way */
	size_t active, active_max; /* jobs that are neither idle nor queued: run.h */
	struct fetch_job *queue, **queue_last;
	uint64_t tick_id;
	bool closing;

	/* the net thread's */
	size_t connections;
	bool ticking;
};

/* The errnums of a mirror that sends without an end (it is not asked again in this run), and of one that still has the
 * wrong file of a former run. */
enum { FETCH_ENDLESS = EOVERFLOW, FETCH_MISMATCH = EALREADY };

enum fetch_state {
	FETCH_IDLE,      /* done, or never started; dropped mirrors stay dropped */
	FETCH_QUEUED,    /* its turn has not come: it holds nothing */
	FETCH_LOOKUP,    /* a worker asks the cache */
	FETCH_ELSEWHERE, /* another process fetches it: the cache is asked again soon */
	FETCH_MOVING,    /* from here on the net thread's: parts, timer, follower */
	FETCH_STARVED    /* as MOVING, without a part: it waits for a connection */
};

/* The errand of a worker: none; it reads the entry, to which the net thread writes; or the entry is its alone. */
enum fetch_errand { FETCH_NO_ERRAND, FETCH_READS, FETCH_OWNS };

/* Met in a round, each a bit. */
enum fetch_met {
	FETCH_MET_EARLY = 1 << 0,    /* a certificate that is not valid yet by our clock */
	FETCH_MET_THROTTLE = 1 << 1, /* a mirror that has too much to do */
	FETCH_MET_OTHER = 1 << 2,    /* a mirror with another object than those before */
};

/* The source of an entry's bytes, where it is not a mirror's number. */
#define FETCH_NOBODY SIZE_MAX
#define FETCH_SEVERAL (SIZE_MAX - 1)

/* The fate of the entry once nothing moves any more. EMPTY: go on with it, without its bytes. */
enum fetch_settle { FETCH_KEEP, FETCH_DROP, FETCH_EMPTY };

struct fetch_mirror {
	char *url;
	char public[URL_PUBLIC_MAX];
	char last_error[ERR_NOTE_MAX]; /* "" none */
	struct err_note got; /* the digest of wrong bytes that it sent, as cache_commit notes it */
	bool dropped;        /* sent wrong bytes in this run */
	bool unchanged;      /* ... or in a former one, and has them still */
	bool endless;        /* sent more than the disk has room for in this run */
	bool tried, failed;  /* in this round */
	bool whole_only;     /* its answers to ranges are of no use */
	bool gave;           /* bytes of the entry that is being written */
	int64_t not_before_ns; /* Retry-After */
	enum fetch_rank rank;  /* of its host, when a mirror was last chosen */
	size_t active, limit;  /* parts that it sends now, and at most */
	size_t came_well;      /* parts since the limit was set or raised */
	double rate;           /* bytes a second of its last part; 0 not measured */
};

struct fetch_waiter {
	struct fetch_waiter *next;
	const struct asset *as;
	fetch_done_fn *done;
	void *arg;
	bool cancelled;
};

/* Apart from the job, as they are large, and there may be a thousand jobs that are done. */
struct fetch_errs {
	struct err last;   /* of a mirror */
	struct err follow; /* the result of a worker's errand */
	struct err end;    /* the result for the waiters once nothing moves any more */
	struct err unpack; /* why the bytes are not an archive to unpack, if they turn out right */
};

struct fetch_job {
	struct fetch_job *next, *queue_next;
	struct fetcher *fetcher;
	struct digest digest;
	struct fetch_mirror *mirrors;
	size_t nmirrors, current; /* current: asked last */
	struct fetch_waiter *waiters;
	enum fetch_state state;
	unsigned int attempt;      /* from 1, all mirrors and rounds */
	unsigned int round;        /* from 0 */
	unsigned int fruitless;    /* rounds in a row that got no further than those before */
	int64_t bytes, total;      /* that are here; total -1 unknown */
	int64_t best, best_before; /* most bytes so far, and before this round */
	int64_t next_try_ns;
	int64_t begun_ns;            /* for nobody so far: fetch_begin; 0 it was not */
	int64_t waited_ns;           /* between rounds, in all */
	struct arena *archive_arena; /* of archive; NULL with it */
	struct asset *archive;       /* ours: what is unpacked on the way; NULL nothing */
	struct err *refused;         /* why the verified archive is refused; NULL unknown */
	unsigned int met;            /* of enum fetch_met, in this round */
	int64_t early_ns;            /* since when rounds meet FETCH_MET_EARLY; 0 they do not */
	bool news;                   /* a waiter has come whose mirrors are not added yet */
	bool whole;   /* wrong bytes came: in this run it is no more put together from parts */
	bool unpacks; /* members were taken on the way */
	bool full;    /* the disk was full: it is no more unpacked on the way */
	char last_error[ERR_NOTE_MAX]; /* of any mirror in this run; "" none */
	struct fetch_errs *errs;       /* from the first look-up until it is in the cache */
	struct cache_writer other;     /* the process that fetches it, as last seen */
	int64_t other_since_ns;        /* since when that is waited for; 0 it is not */
	int64_t other_moved_ns;        /* when it was last seen to get on ... */
	int64_t other_bytes;           /* ... with so many bytes */
	bool beside; /* that process does not get on: fetch the object beside it */

	/* the net thread's, but for the entry, see `errand` */
	struct cache_entry *entry;
	struct cache_mismatches *mismatches; /* of former runs; NULL none */
	struct fetch_part *parts;
	struct extract *unpack; /* a worker's */
	int64_t unpacker_ns;    /* atomic: since when it waits for that; 0 it does not */
	enum fetch_errand errand;
	uint64_t timer_id;   /* the next round's; 0 none */
	uint64_t follow_end; /* atomic: what the follower may read */
	void (*followed)(struct fetch_job *j);
	struct cache_writer found_other; /* by a look-up */
	int asks;                        /* its `asks`, of the last look-up; -1 none */
	int64_t eof;                     /* the end of a stream of unknown length, or -1 */
	size_t source; /* the mirror that sent the entry's bytes, or FETCH_NOBODY, FETCH_SEVERAL */
	unsigned int restarts;
	enum fetch_settle settle;
	void (*then)(struct fetch_job *j); /* the next step once nothing moves any more */
};

/* Take and give back the fetcher's lock. */
void fetch_lock(struct fetcher *f);
void fetch_unlock(struct fetcher *f);
/* End a callback or a job that `pending` counts, which fetch_free waits for. Any thread, without the lock. */
void fetch_end_pending(struct fetcher *f);

/* Add the asset's mirrors that are not there yet. */
void fetch_job_add_mirrors(struct fetch_job *j, const struct asset *as);
/* Note that the asset is unpacked on the way, if it is. */
void fetch_job_want_members(struct fetch_job *j, const struct asset *as);
/* Begin a run of attempts: set all counters to zero. Mirrors that were dropped stay dropped. */
void fetch_job_restart(struct fetch_job *j);
/* Returns whether this round has another mirror left whose host has not failed. */
bool fetch_job_has_other(const struct fetch_job *j, size_t mirror, int64_t now_ns);
/* Returns whether this mirror may be asked for more in this round. */
bool fetch_job_may_ask(const struct fetch_job *j, size_t mirror, int64_t now_ns);
/* Note that the mirror is asked. Its first request of the round counts as an attempt. */
void fetch_job_asked(struct fetch_job *j, size_t mirror);
/* End the round: the delay before the next, or < 0 when there shall be none. */
int64_t fetch_job_end_round(struct fetch_job *j, int64_t now_ns, uint32_t random);
/* Note that a mirror failed; one that sent wrong bytes (INTEGRITY) is dropped. */
void fetch_job_failed(struct fetch_job *j, size_t mirror, const struct err *e, int64_t retry_at_ns);
/* The note of this label, or NULL. */
const struct err_note *fetch_job_note(const struct err *e, const char *label);
/* Complete what the cache said about wrong bytes by what the job knows. */
void fetch_job_explain(const struct fetch_job *j, struct err *e);
/* All mirrors may be asked again in this round. */
void fetch_job_all_again(struct fetch_job *j);
/* Word the end of all attempts. Returns the negative errno. */
int fetch_job_verdict(const struct fetch_job *j, struct err *e);
/* Release. */
void fetch_job_free(struct fetch_job *j);

/* Failures of mirrors and their hosts: on the net thread, without the fetcher's lock. */

/* A mirror failed, for this round; `res` (may be NULL) says whether it wants to be left alone for a
 * while. If its other connections still make progress, lower the mirror's connection limit instead of
 * failing it (when it throttled us or is the last mirror). */
void fetch_mirror_failed(struct fetch_job *j, size_t mirror, const struct err *e,
			 const struct http_result *res);
/* A part of the mirror's ended well. After as many as its limit of connections, the limit is
 * raised by one. */
void fetch_mirror_came(struct fetch_job *j, size_t mirror);
/* Hold a failure against the host, unless it only says no (403, 404): of other assets it may have
 * more. */
void fetch_mirror_failed_host(struct fetch_job *j, size_t mirror, int status);
