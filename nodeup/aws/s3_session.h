/* s3_session.h - credentials, region and time of requests to S3, corrected when S3 refuses one
 * The region is the caller's. If the caller gives none, the environment gives the region, or IMDS, or the bucket's
 * own answer. A region is never guessed from an error text. For S3_ENDPOINT only S3_REGION counts: AWS_REGION says
 * where the machine is. This machine's time is used until it differs too much from S3's time; then S3's time counts.
 * Each request is made and signed anew.
 * Owner: s3_session_new/_free; requests are in the caller's arena: their headers hold secrets. Errors: CONFIG, NET.
 * Units: seconds since 1970. Threads: one at a time.
 * Source: Amazon S3 API reference, "Authenticating Requests", HeadBucket, "Error responses".
 * Tests: test_s3_session.c. */
#pragma once

#include "nodeup/aws/creds.h"
#include "nodeup/aws/s3.h"

enum { S3_REGION_MAX = 64 };

struct s3_session;

/* A request for one object or one page of a listing, and the answers so far. */
struct s3_try {
	const char *location; /* "s3://bucket/key", for messages */
	struct s3_location loc;
	bool listing;
	const char *token;   /* token of a listing's next page */
	const char *method;  /* NULL: GET */
	const char *payload; /* sha256, in hex, of the body to write; NULL: a read */

	const char *region; /* the region that the last try asked */
	bool is_signed;     /* whether the last try was signed; its credentials and time */
	unsigned int serial;
	int64_t signed_at;
	char code[64];                       /* code of S3's last refusal; "" none */
	bool redirected, renewed, reclocked; /* each of these three remedies is tried only once */
};

/* An answer that refuses a request. */
struct s3_refusal {
	int status;
	const char *region, *request_id, *date; /* headers of the answer; "" if missing */
	const char *page;                       /* the body's beginning */
	size_t page_n;
	const struct err *err; /* the error in the words of the HTTP engine */
};

/* Makes a session; asks nothing yet. imds may be NULL. */
int s3_session_new(const char *region, struct imds *imds, struct s3_session **ret,
		   struct err *e) must_check;
/* Releases the session; NULL is fine. */
void s3_session_free(struct s3_session *s);
/* Returns whether the text may be a region's name: it becomes part of a host name. */
bool s3_is_region(const char *text);
/* From the next request on, uses AWS's host names that have IPv6 addresses too. */
void s3_session_use_dual_stack(struct s3_session *s);
/* Returns the region of requests, or NULL before the first request. */
const char *s3_session_region(const struct s3_session *s);
/* Returns the credentials and the clock that sign requests. */
struct creds *s3_session_creds(struct s3_session *s);

/* Finds region and credentials for a request. May ask IMDS. */
int s3_session_ready(struct s3_session *s, struct err *e) must_check;
/* Makes the request, after s3_session_ready. Gives the request's URL, and the headers if the request is signed. */
void s3_session_request(struct s3_session *s, struct arena *a, struct s3_try *t,
			const char **ret_url, struct strv *ret_headers);
/* Returns whether the answer shows how the request can succeed: another region, newer credentials, the right time.
 * The caller then repeats the request at once. */
bool s3_session_learn(struct s3_session *s, struct s3_try *t, const struct s3_refusal *refusal);
/* Fills the error, with the causes that are ruled out and the causes that remain. */
void s3_session_word(struct s3_session *s, const struct s3_try *t, const struct s3_refusal *refusal,
		     struct err *e);
/* The scheme s3:// of the HTTP engine: reads (GET, HEAD) or writes (PUT) an object. The session must outlive the
 * engine. */
struct http_scheme s3_session_scheme(struct s3_session *s);
