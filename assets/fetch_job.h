/* fetch_job.h - one asset on its way into the cache: its mirrors, its rounds, its last errors
 * The fetcher moves a job from state to state; here is what it remembers and how that is worded.
 * Owner: the fetcher. Errors: NET, INTEGRITY. Units: bytes, monotonic ns.
 * Threads: everything under the fetcher's lock but `entry` to `answer`: they are who moves the job's. */
#pragma once

#include "assets/fetch.h"
#include "assets/fetch_hosts.h"
#include "assets/fetch_range.h"
#include "assets/url.h"

enum fetch_state {
	FETCH_IDLE,   /* done, or never started; dropped mirrors stay dropped */
	FETCH_LOOKUP, /* the disk thread asks the cache */
	FETCH_MOVING, /* the net thread has a transfer */
	FETCH_COMMIT, /* the disk thread verifies and publishes */
	FETCH_WAITING /* the net thread has a timer */
};

struct fetch_mirror {
	char *url;
	char public[URL_PUBLIC_MAX];
	char last_error[ERR_NOTE_MAX]; /* "" none */
	struct err_note got;           /* what a liar sent: the commit's note */
	bool dropped;                  /* sent wrong bytes in this run */
	bool tried;                    /* in this round */
	int64_t not_before_ns;         /* Retry-After */
	enum fetch_rank rank;          /* of its host, when the next mirror was last looked for */
};

struct fetch_waiter {
	struct fetch_waiter *next;
	const struct asset *as;
	fetch_done_fn *done;
	void *arg;
	bool cancelled;
};

struct fetch_job {
	struct fetch_job *next;
	struct fetcher *fetcher;
	struct digest digest;
	struct fetch_mirror *mirrors;
	size_t nmirrors, current;
	struct fetch_waiter *waiters;
	enum fetch_state state;

	struct cache_entry *entry; /* kept from attempt to attempt, until `whole` */
	bool whole;  /* wrong bytes came: nothing is put together any more in this run */
	bool mixed;  /* the entry's bytes are of several answers */
	bool headed; /* the current answer has begun, and this is what it is: */
	enum range_answer answer;
	uint64_t http_id;          /* transfer or timer */
	unsigned int attempt;      /* from 1, all mirrors and rounds */
	unsigned int round;        /* from 0 */
	unsigned int fruitless;    /* rounds in a row that got no further than those before */
	int64_t bytes, total;      /* of the attempt; total -1 unknown */
	int64_t best, best_before; /* most bytes of any attempt, and before this round */
	int64_t next_try_ns;
	struct fetch_pace pace;
	struct err err;                /* what the last step failed with */
	char last_error[ERR_NOTE_MAX]; /* of any mirror in this run; "" none */
};

/* Add the asset's mirrors that are not there yet. */
void fetch_job_add_mirrors(struct fetch_job *j, const struct asset *as);
/* Begin a run of attempts: counters back to zero, what mirrors were dropped stays. */
void fetch_job_restart(struct fetch_job *j);
/* Whether a mirror of this round is left whose host has not failed. */
bool fetch_job_has_other(const struct fetch_job *j, int64_t now_ns);
/* Pick the next mirror of this round, by rank, into j->current; false when the round is over. */
bool fetch_job_next_mirror(struct fetch_job *j, int64_t now_ns);
/* End the round: the delay before the next, or < 0 when there shall be none. */
int64_t fetch_job_end_round(struct fetch_job *j, int64_t now_ns, uint32_t random);
/* Note that the current mirror failed; a liar (INTEGRITY) is dropped. */
void fetch_job_failed(struct fetch_job *j, const struct err *e, int64_t retry_at_ns);
/* Complete what the cache said about wrong bytes by what the transfer knows. */
void fetch_job_explain(const struct fetch_job *j, struct err *e);
/* The bytes were wrong, and of several answers: from now on whole objects, and every mirror may. */
void fetch_job_be_whole(struct fetch_job *j);
/* Word the end of all attempts. Returns the negative errno. */
int fetch_job_verdict(const struct fetch_job *j, struct err *e);
/* Release. */
void fetch_job_free(struct fetch_job *j);
