/* s3_session.h - as whom, where and when S3 is asked, and what its refusals teach
 * The region: given, environment, IMDS, then what the bucket itself answers; never a guess from an error
 * text. With S3_ENDPOINT it is S3_REGION alone: AWS_REGION is where the machine is. The time: ours, and S3's once they are too far apart. Each request is made, and signed, anew.
 * Owner: s3_session_new/_free; requests are the caller's arena's: their headers hold secrets. Errors:
 * CONFIG, NET. Units: seconds since 1970. Threads: one at a time.
 * Source: Amazon S3 API reference, "Authenticating Requests", HeadBucket, "Error responses".
 * Tests: test_s3_session.c. */
#pragma once

#include "nodeup/aws/creds.h"
#include "nodeup/aws/s3.h"

enum { S3_REGION_MAX = 64 };

struct s3_session;

/* One object or one page of a listing, and what was learned while it was asked for. */
struct s3_try {
	const char *location; /* "s3://bucket/key", for messages */
	struct s3_location loc;
	bool listing;
	const char *token;   /* of a listing's next page */
	const char *method;  /* NULL: GET */
	const char *payload; /* of what is written: its sha256, in hex; NULL: it is read */

	const char *region; /* that was asked */
	bool is_signed;     /* with these credentials, at this time */
	unsigned int serial;
	int64_t signed_at;
	char code[64];                       /* of S3's last refusal; "" none */
	bool redirected, renewed, reclocked; /* each only once */
};

/* A refusal. */
struct s3_refusal {
	int status;
	const char *region, *request_id, *date; /* headers; "" where there is none */
	const char *page;                       /* the beginning of the body */
	size_t page_n;
	const struct err *err; /* as the engine words it */
};

/* imds NULL: none. Asks nothing yet. */
int s3_session_new(const char *region, struct imds *imds, struct s3_session **ret,
		   struct err *e) must_check;
/* Release; NULL is fine. */
void s3_session_free(struct s3_session *s);
/* Returns whether the text can be a region's name: it becomes part of a host name. */
bool s3_is_region(const char *text);
/* Ask AWS's own endpoints at names that have addresses of IPv6 too, from the next request on. */
void s3_session_use_dual_stack(struct s3_session *s);
/* The region that requests go to, or NULL before the first request. */
const char *s3_session_region(const struct s3_session *s);
/* The credentials and the clock that requests are signed with. */
struct creds *s3_session_creds(struct s3_session *s);

/* Know what a request takes: the region and the credentials. May ask IMDS. */
int s3_session_ready(struct s3_session *s, struct err *e) must_check;
/* The request, after s3_session_ready: URL, and headers if it is signed. */
void s3_session_request(struct s3_session *s, struct arena *a, struct s3_try *t,
			const char **ret_url, struct strv *ret_headers);
/* Returns whether the answer says what to do otherwise (another region, newer credentials, the right time):
 * then the same at once, and so. */
bool s3_session_learn(struct s3_session *s, struct s3_try *t, const struct s3_refusal *refusal);
/* The error, with what is ruled out and what is left. */
void s3_session_word(struct s3_session *s, const struct s3_try *t, const struct s3_refusal *refusal,
		     struct err *e);
/* s3:// for the http engine: an object is read (GET, HEAD) or written (PUT). The session outlives it. */
struct http_scheme s3_session_scheme(struct s3_session *s);
