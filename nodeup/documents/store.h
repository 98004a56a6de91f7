/* store.h - read documents by location: s3://, https://, http://, file:// or a path
 * Everything read is remembered, so that the run's documents can be persisted as one file (0600) and replayed when
 * the store is down after a reboot. A request to s3:// is signed if there are credentials (nodeup/aws/creds.h).
 * Bodies: kept.c, saved.c.
 * Owner: store_new/store_free; texts are the arena's. Errors: NET (errnum ENOENT, EACCES...), SYSTEM, CONFIG for an
 * unknown scheme. Units: bytes. Threads: one.
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
	const char *region; /* region for s3://; NULL: environment, then IMDS */
	struct imds *imds;  /* NULL: none */
	int64_t pipe_ns;    /* how long to wait for a document from a pipe; 0: IO_PIPE_NS */
	/* patience with transient errors; `fn` is called before a pause, and when an attempt has no answer after a
	 * second */
	struct wait_patience patience;
};

/* Makes a store. */
int store_new(struct arena *a, const struct store_req *req, struct store **ret,
	      struct err *e) must_check;
/* Releases the store; NULL is fine. */
void store_free(struct store *s);
/* Reads one document of at most 4 MiB. If the document is missing, errnum is ENOENT, whatever the scheme. Retries
 * transient network errors with jitter (0.2 s doubling to 5 s) until the store's deadline. */
int store_get(struct store *s, const char *location, const char **ret_text, size_t *ret_n,
	      struct err *e) must_check;
/* Forgets a document whose bytes are wrong. */
void store_forget(struct store *s, const char *location);
/* Lists the names in a folder, sorted; none if it is missing. For http(s) it reads the links of the server's index
 * page. */
int store_list(struct store *s, const char *location, struct strv *ret, struct err *e) must_check;

/* Reads documents and lists folders (each may be NULL) side by side, so that store_get and store_list find them in
 * memory. A missing document or folder is no error here. */
int store_prefetch(struct store *s, const struct strv *documents, const struct strv *folders,
		   struct err *e) must_check;
/* Asks S3 at host names that have IPv6 addresses too. */
void store_use_dual_stack(struct store *s);
/* Returns the region of s3:// requests, or NULL before the first. */
const char *store_region(const struct store *s);
/* Returns how many seconds S3's clock is ahead of ours, if signing had to follow it; else 0. */
int64_t store_clock_off(const struct store *s);

/* Returns whether the server that answered last has this machine's time. */
bool store_clock_agrees(const struct store *s);

/* Adds all contents that were read to a digest. */
void store_digest(const struct store *s, struct digest_ctx *c);

/* Sets how long transient errors are retried; 0: not at all, -1: for ever. */
void store_set_patience(struct store *s, int64_t ns);

/* The names under which this node's documents are kept. */
struct store_kept {
	const char *key;  /* ties the documents to this node; its last word is the instance */
	const char *conf; /* location of the configuration, and the name under which it is kept */
	const char *conf_name;
};

/* Returns the name under which a location is kept: the same from every directory. */
const char *store_kept_name(struct arena *a, const struct store_kept *kept, const char *location);
/* Writes everything that was read to path below root_fd (0600). */
int store_save(struct store *s, int root_fd, const char *path, const struct store_kept *kept,
	       struct err *e) must_check;
/* The date and the instance of kept documents. */
struct store_origin {
	/* when the documents were last known to be current: "2026-11-23 04:05:06 UTC" */
	const char *date;
	const char *instance;
	bool is_local; /* all documents are files of this machine */
};

/* Reads the date and instance of the documents kept at path. -ENOENT: no documents are kept, or they are damaged. */
int store_kept_of(struct arena *a, int root_fd, const char *path, struct store_origin *ret,
		  struct err *e) must_check;
/* Kept documents: the bytes as read, followed by a NUL. */
struct store_texts {
	struct store_text {
		const char *location, *text;
		size_t n;
		bool issued; /* issued to this node, never a file */
	} * v;
	size_t n;
	bool is_damaged; /* the bytes of another document cannot be read */
};

/* Reads the documents kept at path. */
int store_kept_texts(struct arena *a, int root_fd, const char *path, const char *key,
		     struct store_texts *ret, struct err *e) must_check;
/* Returns whether two files of kept documents hold the same documents. Ignores dates, and keys and certificates of
 * this node. */
bool store_kept_equal(const struct buf *x, const struct buf *y);
/* Makes the store answer from a file of kept documents from now on; files of this machine are still read directly.
 * -ENOENT: the file is missing, or has another key. Gives the file's age. */
int store_replay(struct store *s, int root_fd, const char *path, const char *key,
		 int64_t *ret_age_ns, struct err *e) must_check;
/* Makes the store answer every document from a file of kept documents, even files of this machine. Gives the name of
 * the file's configuration, and the file's age. */
int store_use(struct store *s, int root_fd, const char *path, const char **ret_conf,
	      int64_t *ret_age_ns, struct err *e) must_check;

/* A set is a copy of what store_save() wrote in a run that ended well; its number is the number of the run. If the
 * documents did not change, there is no new set; if only certificates were issued anew, the newest set gets them. */
enum { KEPT_MAX = 3 };

struct kept_set {
	int64_t number;
	const char *path, *date;
};

struct kept_sets {
	struct kept_set *v;
	size_t n;
};

/* Lists the sets that fit this instance, the newest first. Leaves out damaged sets. */
struct kept_sets kept_of(struct arena *a, int root_fd, const char *instance);
/* Returns the highest number of a set; 0: there is none. */
int64_t kept_last(int root_fd);
/* Keeps the documents that store_save() wrote to `from` as the set of that run. If there are more than KEPT_MAX
 * sets, removes the oldest. */
int kept_add(int root_fd, const char *from, int64_t number, struct err *e) must_check;
/* Removes all sets, because they belong to another machine. */
int kept_forget(int root_fd, struct err *e) must_check;
