/* fetch.h - brings assets into the cache, with mirrors, retries, and one verdict for each asset
 * All requested assets move at once and share what is learned about mirrors. README.md has the policy: order of
 * mirrors, ranges, retries, slow and wrong mirrors. An HTTP status, a short body, an empty body and a wrong hash
 * have four different messages, each with URL, attempt, size, and the hashes where they apply (notes want, got,
 * size, url, why, mirror).
 * Owner: the fetcher owns its jobs. Errors: NET, INTEGRITY, SYSTEM. Units: bytes, ns.
 * Threads: all functions; `done` is called on the net thread.
 * Tests: test_fetch.c, test_fetch_meanwhile.c, test_fetch_members.c, test_fetch_parts.c. */
#pragma once

#include "assets/cache/unpack.h"
#include "assets/http/http.h"

struct fetcher;

/* 0 in a member means its default. */
struct fetch_opts {
	uint64_t
		range_bytes; /* size of a first request, 8 MiB; a later request asks for 1/8 to 4 times that size, by
			      * the mirror's rate */
	size_t connections;        /* connections of all assets together; default 15 */
	size_t job_connections;    /* connections of one asset; default 8 */
	size_t mirror_connections; /* connections of one asset with one mirror; default 6 */
	int64_t patience_ns; /* how long a slow mirror has a part for itself before another mirror helps; default 3 s */
	int64_t stuck_ns; /* wait for a process that makes next to no progress; default 60 s */
};

struct fetch_status {
	int64_t bytes, total; /* total: -1 unknown */
	unsigned int attempt; /* number of the attempt, from 1 */
	char url[256];        /* current or last mirror, without secrets */
	char last_error[256]; /* the last error of any mirror; "" none */
	int64_t next_try_ns;  /* time of the next attempt, monotonic; 0 while bytes move */
	int64_t waited_ns;    /* sum of the waits between attempts */
	/* name of the process that fetches the asset, if this process waits for it; "" none */
	char other[64];
	int64_t since_ns; /* begin of the wait for that process, monotonic */
	int64_t unpacker_ns; /* since when a worker waits for the unpacker, monotonic; 0: it does not wait */
};

/* Members to take out of an arriving archive; v and arena belong to the sink until it is closed. */
struct fetch_takes {
	struct arena *arena;
	struct extract_take *v;
	size_t n;
};

/* Takes members of archives. Workers call both functions. */
struct fetch_sink {
	/* The archive begins to arrive. Returns false if no member of the archive is needed. */
	bool (*open)(void *arg, const struct asset *as, struct fetch_takes *ret);
	/* `complete`: the archive is a verified entry, and its members are taken; otherwise the members' bytes are
	 * useless. */
	void (*close)(void *arg, const struct asset *as, bool complete);
	void *arg;
};

/* `done` gets 0, or < 0 with the error. */
typedef void fetch_done_fn(void *arg, int r, const struct err *e);

/* Makes a fetcher. If http is NULL (offline), an asset that is not cached fails at once, and its error says so; a
 * thread of the fetcher calls its `done`. Free the fetcher before engine and cache. */
int fetch_new(struct http *http, struct cache *cache, struct fetcher **ret,
	      struct err *e) must_check;
/* Sets other limits than the defaults. Call it before anything is started. */
void fetch_tune(struct fetcher *f, const struct fetch_opts *opts);
/* Sets the sink for members of archives that begin to arrive from now on. Call it only once. */
void fetch_set_sink(struct fetcher *f, const struct fetch_sink *sink);
/* Cancels all jobs, waits for the last `done` and releases the fetcher. Never call it from a `done`. NULL is fine. */
void fetch_free(struct fetcher *f);
/* Starts one asset, which must stay until its `done` is called. Assets of the same digest share a job. */
void fetch_start(struct fetcher *f, const struct asset *as, fetch_done_fn *done, void *arg);
/* Begins one asset early, for a later fetch_start with a `done`. Without a fetch_start, the transfer goes on until
 * fetch_free. */
void fetch_begin(struct fetcher *f, const struct asset *as);
/* Returns the (monotonic) time at which fetch_begin began this asset. 0: fetch_begin did not begin it, or
 * fetch_start has started it. */
int64_t fetch_begun(struct fetcher *f, const struct asset *as);
/* Stops one asset; done gets -ECANCELED unless `done` was called already. */
void fetch_cancel(struct fetcher *f, const struct asset *as);
/* Returns whether this verified archive was unpacked on arrival and refused for its content. If it was refused, *e
 * has the reason in the words of cache_take. */
bool fetch_has_refused(struct fetcher *f, const struct asset *as, struct err *e);
/* Returns whether members of this archive were taken on arrival, perhaps only in part. */
bool fetch_unpacks(struct fetcher *f, const struct asset *as);
/* Returns a snapshot for progress lines; false if there is no such job. */
bool fetch_status(struct fetcher *f, const struct asset *as, struct fetch_status *ret);
