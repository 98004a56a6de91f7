/* op.h - how the store reads: one operation a location, many side by side
 * An operation is the reading of one document or the listing of one folder. A wave runs many of them
 * at once on the http engine and retries what may pass; the main thread alone settles answers.
 * Invariant: between its start and `answered`, an operation's answer belongs to the net thread.
 * Bodies: index.c, request.c, store.c, wave.c.
 * Owner: the caller of store_run; texts end up in the store's arena. Errors: as store.h.
 * Threads: one, and the net thread's callbacks.
 * Tests: test_store_signing.c, test_store.c. */
#pragma once

#include <pthread.h>
#include "nodeup/aws/s3_session.h"
#include "nodeup/documents/store.h"

enum { STORE_DOCUMENT_MAX = 4 << 20 };

/* A location that was read or listed, and its answer. */
struct store_entry {
	const char *location;
	bool listing, missing;
	bool issued;     /* by kops-controller or here, for this node: no document is made of it */
	const char *why; /* missing: what the server said, NULL unknown */
	const char *text;
	size_t n;
	struct strv names; /* sorted */
};

struct store {
	struct arena *arena;
	struct http *http;
	struct s3_session *s3;
	struct store_entry *entries;
	size_t n;
	bool replaying;
	const char *kept; /* replaying: the file's date, for messages */
	struct wait_patience patience;
	int64_t pipe_ns;
	bool clock_agrees; /* a server's last answer had the time that we have */
};

enum store_state { OP_DUE, OP_RUNNING, OP_FINISHED };

struct store_wave;

/* The answer that the net thread leaves behind. */
struct store_answer {
	int r, status;
	int64_t retry_after_ns;
	struct buf body, page; /* of a 2xx answer, and the beginning of another */
	char region[S3_REGION_MAX], request_id[80], date[40];
	struct err err;
};

struct store_op {
	struct store_entry entry; /* the result; names and text are filled when finished */
	const char *target;       /* the location, rewritten: it is read there */
	const char *shown;        /* the same for people */
	struct s3_try s3;         /* loc.bucket NULL: not of S3 */
	enum store_state state;
	unsigned int attempt;
	int64_t since_ns, next_ns;
	int64_t silent_ns; /* when a try without an answer is told of; INT64_MAX: it was, or began not */
	uint64_t id;
	struct store_wave *wave;
	bool is_slow;         /* it has begun to answer, and gets more time until it is told of */
	bool heard, answered; /* under the wave's lock: something came; its end */
	struct store_answer answer;
};

/* Run remote operations to their end, at most a dozen at once. The first failure ends all. */
int store_run(struct store *s, struct store_op *ops, size_t n, struct err *e) must_check;

/* Keep a result, to be answered from memory from now on. */
void store_remember(struct store *s, const struct store_entry *entry);
/* Makes the request for an operation's next page or document, without callbacks. Signed ones have secrets in their headers. */
void store_request(struct store *s, struct arena *a, struct store_op *op, struct http_req *ret);
/* Returns whether the answer names another way (region, newer credentials, right time), by which the same is tried at once. */
bool store_learn(struct store *s, struct store_op *op);
/* The error of an operation whose request failed, worded for its scheme. */
void store_word_error(struct store *s, const struct store_op *op, struct err *e);

/* Names that an index page links to directly below its URL. */
void store_index_names(struct arena *a, const char *url, const char *html, struct strv *names);
