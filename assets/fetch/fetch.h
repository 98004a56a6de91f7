/* fetch.h - bring assets into the cache: mirrors, retries, one verdict each
 * All assets that are asked for move at once, and share what is learned of mirrors. README.md has the
 * policy: order of mirrors, ranges, retries, slow and wrong mirrors.
 * An HTTP status, a short body, an empty body and a wrong hash are four different messages, each with
 * URL, attempt, size, and the hashes where they apply (notes want, got, size, url, why, mirror).
 * Owner: the fetcher owns its jobs. Errors: NET, INTEGRITY, SYSTEM. Units: bytes, ns.
 * Threads: all functions; `done` is called on the net thread.
 * Tests: test_fetch.c, test_fetch_meanwhile.c, test_fetch_members.c, test_fetch_parts.c. */
#pragma once

#include "assets/cache/unpack.h"
#include "assets/http/http.h"

struct fetcher;

/* 0: the default. */
struct fetch_opts {
	uint64_t
		range_bytes; /* of one request at first, 8 MiB; an eighth to four times that by rate */
	size_t connections;        /* in all, 15 */
	size_t job_connections;    /* of one asset, 8 */
	size_t mirror_connections; /* of one asset with one mirror, 6 */
	int64_t patience_ns;       /* with a slow mirror before another helps, 3 s */
	int64_t stuck_ns;          /* with another process that gets next to nothing, 60 s */
};

struct fetch_status {
	int64_t bytes, total; /* total -1 unknown */
	unsigned int attempt; /* from 1 */
	char url[256];        /* current or last mirror, public form */
	char last_error[256]; /* of any mirror; "" none */
	int64_t next_try_ns;  /* monotonic; 0 while moving */
	int64_t waited_ns;    /* between attempts, in all */
	char other[64];       /* another process that fetches it, and is waited for; "" none */
	int64_t since_ns;     /* since when, monotonic */
	int64_t unpacker_ns; /* monotonic: since when a worker waits for the unpacker; 0 it does not */
};

/* Members that are taken of an archive while it arrives; v and arena are the sink's until it is closed. */
struct fetch_takes {
	struct arena *arena;
	struct extract_take *v;
	size_t n;
};

/* Takes members of archives. Both functions are called on a worker. */
struct fetch_sink {
	/* The archive begins to arrive: false, nothing of it is wanted. */
	bool (*open)(void *arg, const struct asset *as, struct fetch_takes *ret);
	/* It is a verified entry, and its members are taken; or else what they have is of no use. */
	void (*close)(void *arg, const struct asset *as, bool complete);
	void *arg;
};

/* `done` gets 0, or < 0 with the error. */
typedef void fetch_done_fn(void *arg, int r, const struct err *e);

/* http may be NULL for an offline fetcher: what is not cached fails at once, saying so (its `done` is
 * called on one of the fetcher's own threads). Free the fetcher before the engine and the cache. */
int fetch_new(struct http *http, struct cache *cache, struct fetcher **ret,
	      struct err *e) must_check;
/* Set other limits than the usual ones, before anything is started. */
void fetch_tune(struct fetcher *f, const struct fetch_opts *opts);
/* Archives that are to be unpacked, and begin to arrive from now on: what comes of them goes there. To be set once. */
void fetch_set_sink(struct fetcher *f, const struct fetch_sink *sink);
/* Cancel what runs, wait for the last `done` and release; never from a `done`. NULL is fine. */
void fetch_free(struct fetcher *f);
/* Start one asset (kept by reference until done). A job for the same digest is shared. */
void fetch_start(struct fetcher *f, const struct asset *as, fetch_done_fn *done, void *arg);
/* Start one asset for whoever starts it with a `done` later. If nobody does, it goes on until fetch_free. */
void fetch_begin(struct fetcher *f, const struct asset *as);
/* Since when an asset is fetched, or was, that nobody has started so far, monotonic; 0: it is not. */
int64_t fetch_begun(struct fetcher *f, const struct asset *as);
/* Stop one asset; done is called with -ECANCELED unless it already was. */
void fetch_cancel(struct fetcher *f, const struct asset *as);
/* Returns whether this verified archive was unpacked while it arrived and refused for its content; then *e says
 * why, as cache_take would. */
bool fetch_has_refused(struct fetcher *f, const struct asset *as, struct err *e);
/* Returns whether members of this archive were taken while it arrived, as far as that went. */
bool fetch_unpacks(struct fetcher *f, const struct asset *as);
/* A snapshot for progress lines; false if there is no such job. */
bool fetch_status(struct fetcher *f, const struct asset *as, struct fetch_status *ret);
