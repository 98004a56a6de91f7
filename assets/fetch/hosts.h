/* hosts.h - a run's experience with its mirrors' hosts: which gave bytes, which failed, how fast they were
 * Most assets have the same mirrors. A host that gave a whole object is asked first, a host that failed is asked
 * last. A transfer far slower than the run's best is given up.
 * Owner: the fetcher. Errors: none. Units: bytes, bytes a second, monotonic ns. Threads: under the fetcher's lock.
 * Tests: test_fetch.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ranks, in the order in which hosts are asked. */
enum fetch_rank { FETCH_HOST_GOOD, FETCH_HOST_UNKNOWN, FETCH_HOST_BAD };

struct fetch_hosts {
	struct fetch_host *v;
	size_t n;
	double best; /* bytes a second of the fastest transfer of this run */
};

/* The pace of one transfer. */
struct fetch_pace {
	int64_t began_ns, began_bytes;   /* when the answer began, and the bytes present then */
	int64_t window_ns, window_bytes; /* time and bytes at the begin of the current window */
};

/* Returns the rank of this URL's host. */
enum fetch_rank fetch_hosts_rank(const struct fetch_hosts *h, const char *url);
/* Notes the rank of this URL's host. */
void fetch_hosts_note(struct fetch_hosts *h, const char *url, enum fetch_rank rank);
/* Releases the members. */
void fetch_hosts_free(struct fetch_hosts *h);

/* Notes that an answer begins, and how many bytes of the object are there. */
void fetch_pace_begin(struct fetch_pace *p, int64_t now_ns, int64_t bytes);
/* Notes the rate of an answer that ended well, if it is the best of the run. */
void fetch_pace_end(const struct fetch_pace *p, int64_t now_ns, int64_t bytes,
		    struct fetch_hosts *h);
/* Returns whether the current window is over. */
bool fetch_pace_is_due(const struct fetch_pace *p, int64_t now_ns);
/* Ends the window. Returns whether the transfer is so slow that another mirror should be asked. `moving`: how many
 * transfers share the line. total: the transfer's bytes, -1 unknown. *ret_rate: bytes a second. */
bool fetch_pace_is_slow(struct fetch_pace *p, int64_t now_ns, int64_t bytes, int64_t total,
			size_t moving, struct fetch_hosts *h, double *ret_rate);
