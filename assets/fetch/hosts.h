/* hosts.h - what a run has learned of its mirrors' hosts: which gave, which failed, how fast
 * The mirrors of one asset are often those of all others. A host that gave a whole object is asked first, one
 * that failed is asked last. A transfer that is far slower than the best one of this run is given up.
 * Owner: the fetcher. Errors: none. Units: bytes, bytes a second, monotonic ns. Threads: under the
 * fetcher's lock.
 * Tests: test_fetch.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which they are asked. */
enum fetch_rank { FETCH_HOST_GOOD, FETCH_HOST_UNKNOWN, FETCH_HOST_BAD };

struct fetch_hosts {
	struct fetch_host *v;
	size_t n;
	double best; /* bytes a second of the fastest transfer of this run */
};

/* The pace of one transfer. */
struct fetch_pace {
	int64_t began_ns, began_bytes;   /* the answer */
	int64_t window_ns, window_bytes; /* the current window */
};

/* Returns the rank of this URL's host, by all that is known of it. */
enum fetch_rank fetch_hosts_rank(const struct fetch_hosts *h, const char *url);
/* Note what was learned of it. */
void fetch_hosts_note(struct fetch_hosts *h, const char *url, enum fetch_rank rank);
/* Release what it points to. */
void fetch_hosts_free(struct fetch_hosts *h);

/* An answer begins, when so many bytes are here already. */
void fetch_pace_begin(struct fetch_pace *p, int64_t now_ns, int64_t bytes);
/* The answer has ended well: note its rate if it is the best. */
void fetch_pace_end(const struct fetch_pace *p, int64_t now_ns, int64_t bytes,
		    struct fetch_hosts *h);
/* Returns whether the current window is over. */
bool fetch_pace_is_due(const struct fetch_pace *p, int64_t now_ns);
/* End the window. Returns whether another mirror should be asked, as the transfer is too slow, with `moving`
 * transfers sharing the line. total: the bytes that it is to get, -1 unknown. *ret_rate: its bytes a second. */
bool fetch_pace_is_slow(struct fetch_pace *p, int64_t now_ns, int64_t bytes, int64_t total,
			size_t moving, struct fetch_hosts *h, double *ret_rate);
