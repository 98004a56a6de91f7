/* fetch_box.h - a fetcher with a cache and an origin: what the tests of fetching start from
 * Owner: the test's fixture. Errors: assertions. */
#pragma once

#include <pthread.h>
#include "assets/cache/dir.h"
#include "assets/fetch/fetch.h"
#include "tests/unit/lib/origin.h"

enum { SIZE = 65536 };

struct box {
	struct origin *o;
	char dir[64];
	int root_fd;
	struct arena *a;
	struct http *http;
	struct cache *cache;
	struct fetcher *f;
	struct digest right; /* of the origin's default body */
};

/* What done said. */
struct verdict {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int calls, r, cancelled;
	struct err e;
};

#define VERDICT_INIT                                                                   \
	{                                                                              \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

/* The fixtures of a group and of a test: *state is the origin, then the box. */
int box_start_origin(void **state);
int box_stop_origin(void **state);
int box_setup(void **state);
int box_teardown(void **state);
/* With an engine that waits as long as usual: what stalls does so until the end, and what a busy machine
 * is slow with is not a failure. */
void box_be_patient(struct box *x);
/* A new fetcher: a new run. */
void box_open_fetcher(struct box *x, struct http *http);

/* Fetch; the first is a fetch_done_fn for a verdict, of which n calls can be waited for. */
void box_on_done(void *arg, int r, const struct err *e);
void box_wait_calls(struct verdict *v, int n);
/* An asset "kubelet" from these paths of the origin (or whole URLs), NULL-terminated. */
struct asset box_asset_at(struct box *x, ...);
struct verdict box_fetch(struct box *x, const struct asset *as);
void box_must_succeed(struct box *x, const struct asset *as);
struct err box_must_fail(struct box *x, const struct asset *as, enum err_kind kind,
			 const char *says);
/* The first 1000 bytes have come. */
void box_wait_moving(struct box *x, const struct asset *as);
/* The text of a note, "" if there is none. */
const char *box_note(const struct err *e, const char *label);

/* How often the origin was asked for a path, and how many bytes of bodies it sent. */
int box_count_of(struct box *x, const char *path);
int box_sent_of(struct box *x, const char *path);
/* The most requests it answered at a time, since box_forget. */
int box_peak(struct box *x);
void box_forget(struct box *x);
/* Empty the cache of what is published. */
void box_empty_cache(struct box *x);
