/* op.h - reads locations by operations, many side by side
 * An operation reads one document or lists one folder. A wave runs many at once on the http engine and retries
 * failures that may pass. Only the main thread settles answers.
 * Invariant: between its start and `answered`, an operation's answer belongs to the net thread.
 * Bodies: index.c, request.c, store.c, wave.c.
 * Owner: the caller of store_run; texts end up in the store's arena. Errors: as store.h. Threads: one, and the net
 * thread's callbacks.
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
	bool issued;     /* issued for this node, by kops-controller or here: not a document */
	const char *why; /* if missing: what the server said about it; NULL: not known */
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
	const char *kept; /* if replaying: the file's date, for messages */
	struct wait_patience patience;
	int64_t pipe_ns;
	bool clock_agrees; /* the server that answered last has this machine's time */
};

enum store_state { OP_DUE, OP_RUNNING, OP_FINISHED };

struct store_wave;

/* The answer, written by the net thread. */
struct store_answer {
	int r, status;
	int64_t retry_after_ns;
	struct buf body, page; /* body: of a 2xx answer; page: the beginning of any other answer */
	char region[S3_REGION_MAX], request_id[80], date[40];
	struct err err;
};

struct store_op {
	struct store_entry entry; /* the result; names and text are filled at the end */
	const char *target;       /* the location after rewrites, from which it is read */
	const char *shown;        /* target without secrets, for people */
	struct s3_try s3;         /* loc.bucket NULL: not in S3 */
	enum store_state state;
	unsigned int attempt;
	int64_t since_ns, next_ns;
	int64_t silent_ns; /* when to report a try that has no answer yet; INT64_MAX: reported already, or no try has
			    * begun */
	uint64_t id;
	struct store_wave *wave;
	bool is_slow; /* an answer has begun, so it gets more time before a report */
	/* under the wave's lock. heard: some bytes came; answered: the answer ended */
	bool heard, answered;
	struct store_answer answer;
};

/* Runs remote operations to their end, at most a dozen at once. The first failure ends all operations. */
int store_run(struct store *s, struct store_op *ops, size_t n, struct err *e) must_check;

/* Keeps a result, which answers later questions from memory. */
void store_remember(struct store *s, const struct store_entry *entry);
/* Makes the request for an operation's next page or document, without callbacks. The headers of a signed request
 * hold secrets. */
void store_request(struct store *s, struct arena *a, struct store_op *op, struct http_req *ret);
/* Returns whether the answer tells how to ask again at once: another region, newer credentials, the right time. */
bool store_learn(struct store *s, struct store_op *op);
/* Words the error of an operation whose request failed, in the way of the location's scheme (s3://, https://). */
void store_word_error(struct store *s, const struct store_op *op, struct err *e);

/* Lists the names that an index page links to directly below its URL. */
void store_index_names(struct arena *a, const char *url, const char *html, struct strv *names);
