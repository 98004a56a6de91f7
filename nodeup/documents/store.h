/* store.h - read documents by location: s3://, https://, http://, file:// or a path
 * Everything read is remembered, so that the run's documents can be persisted as one file (0600) and
 * replayed when the store is down after a reboot.
 * s3:// is signed when there are credentials (nodeup/aws/creds.h), else asked without a signature.
 * Bodies: kept.c, saved.c.
 * Owner: store_new/store_free; texts are the arena's. Errors: NET (errnum ENOENT, EACCES...),
 * SYSTEM, CONFIG for an unknown scheme. Units: bytes. Threads: one.
 * Source: kops util/pkg/vfs (layout and listing).
 * Tests: test_store.c, test_store_signing.c, test_kept.c. */
#pragma once

#include "assets/digest.h"
#include "assets/http/http.h"
#include "nodeup/aws/imds.h"
#include "nodeup/base/buf.h"
#include "nodeup/base/str.h"
#include "nodeup/base/wait.h"

struct store;

struct store_req {
	struct http *http;  /* NULL: offline */
	const char *region; /* for s3://; NULL: environment, then IMDS */
	struct imds *imds;  /* NULL: none */
	int64_t pipe_ns;    /* how long a path that is a pipe may take; 0: IO_PIPE_NS */
	/* with transient errors; who is told before a pause, and when an attempt has no answer after a second */
	struct wait_patience patience;
};

/* A reader. */
int store_new(struct arena *a, const struct store_req *req, struct store **ret,
	      struct err *e) must_check;
/* Release; NULL is fine. */
void store_free(struct store *s);
/* Read one document of at most 4 MiB. A missing one is errnum ENOENT, whatever the scheme. Transient
 * network errors are retried with jitter (0.2 s doubling to 5 s) until the deadline of the store. */
int store_get(struct store *s, const char *location, const char **ret_text, size_t *ret_n,
	      struct err *e) must_check;
/* Know a document no more: its bytes are wrong. */
void store_forget(struct store *s, const char *location);
/* Lists the names in a folder, sorted; a missing one has none. Of http(s) the links of the server's index page are read. */
int store_list(struct store *s, const char *location, struct strv *ret, struct err *e) must_check;

/* Reads documents and lists folders (or NULL) side by side, for the calls above. A missing one is no error here. */
int store_prefetch(struct store *s, const struct strv *documents, const struct strv *folders,
		   struct err *e) must_check;
/* Ask S3 at names that have addresses of IPv6 too. */
void store_use_dual_stack(struct store *s);
/* The region that s3:// requests go to, or NULL before the first. */
const char *store_region(const struct store *s);
/* Seconds that S3's clock is ahead of ours, once it had to be followed to sign; else 0. */
int64_t store_clock_off(const struct store *s);

/* Returns whether the server that answered last has the time that this machine has. */
bool store_clock_agrees(const struct store *s);

/* Take the contents of all that was read into a digest. */
void store_digest(const struct store *s, struct digest_ctx *c);

/* Give up on transient errors after this long; 0: at once, -1 never. */
void store_set_patience(struct store *s, int64_t ns);

/* The names by which documents of this node are kept. */
struct store_kept {
	const char *key;  /* what ties it to this node; its last word is the instance */
	const char *conf; /* location of the configuration, and the name that it is kept by */
	const char *conf_name;
};

/* The name that a location is kept by: the same from whatever directory it was named. */
const char *store_kept_name(struct arena *a, const struct store_kept *kept, const char *location);
/* Write all that was read to path below root_fd (0600). */
int store_save(struct store *s, int root_fd, const char *path, const struct store_kept *kept,
	       struct err *e) must_check;
/* The day and the instance of kept documents. */
struct store_origin {
	const char *date; /* when they were last known to be current: "2026-11-23 04:05:06 UTC" */
	const char *instance;
	bool is_local; /* all of them are files of this machine */
};

/* That of what is kept at path. -ENOENT: none is there, or it is damaged. */
int store_kept_of(struct arena *a, int root_fd, const char *path, struct store_origin *ret,
		  struct err *e) must_check;
/* Kept documents: bytes as they were read, with a NUL beyond. */
struct store_texts {
	struct store_text {
		const char *location, *text;
		size_t n;
		bool issued; /* to this node: it never was a file */
	} * v;
	size_t n;
};

/* The documents that are kept at path. */
int store_kept_texts(struct arena *a, int root_fd, const char *path, const char *key,
		     struct store_texts *ret, struct err *e) must_check;
/* Returns whether two such texts have the same documents but for what was issued to this node, whenever they were seen. */
bool store_kept_equal(const struct buf *x, const struct buf *y);
/* Answer from such a file from now on; files of this machine are read as before. -ENOENT: none, or of another key. Gives its age. */
int store_replay(struct store *s, int root_fd, const char *path, const char *key,
		 int64_t *ret_age_ns, struct err *e) must_check;
/* Answers all documents from such a file, also files of this machine. Gives the name of its configuration, and its age. */
int store_use(struct store *s, int root_fd, const char *path, const char **ret_conf,
	      int64_t *ret_age_ns, struct err *e) must_check;

/* The documents of a run that ended well, a set by the number of the run: a copy of what store_save() wrote. Documents that did
 * not change are no new set; certificates that were issued anew go to the newest one. */
enum { KEPT_MAX = 3 };

struct kept_set {
	int64_t number;
	const char *path, *date;
};

struct kept_sets {
	struct kept_set *v;
	size_t n;
};

/* The sets that fit this instance, the newest first. One that is damaged is left out. */
struct kept_sets kept_of(struct arena *a, int root_fd, const char *instance);
/* The highest number that a set has; 0: there is none. */
int64_t kept_last(int root_fd);
/* Keep the documents that store_save() wrote to `from` as the set of that run. The oldest beyond KEPT_MAX goes. */
int kept_add(int root_fd, const char *from, int64_t number, struct err *e) must_check;
/* Forget all sets: they are another machine's. */
int kept_forget(int root_fd, struct err *e) must_check;
