/* s3.h - s3:// locations as HTTP requests, and listings
 * Virtual-hosted style on AWS's own endpoints, path style when an endpoint is given (AWS_ENDPOINT_URL_S3,
 * AWS_ENDPOINT_URL, S3_ENDPOINT) or the bucket's name has dots.
 * Owner: the arena. Errors: CONFIG (bad location), NET with S3's code, message and request id.
 * Source: Amazon S3 API reference (GetObject, ListObjectsV2).
 * Tests: test_s3.c. */
#pragma once

#include "assets/http/http.h"

struct s3_location {
	const char *bucket, *key;
};

/* The bucket's region, and whether it is asked at names that have addresses of IPv6 too. */
struct s3_place {
	const char *region;
	bool dual_stack;
};

/* Split s3://bucket/key. */
int s3_parse(struct arena *a, const char *location, struct s3_location *ret,
	     struct err *e) must_check;
/* The URL of an object. */
char *s3_object_url(struct arena *a, const struct s3_location *loc, const struct s3_place *at);
/* The URL of one page of names below a prefix (delimiter '/'); token NULL for the first. */
char *s3_list_url(struct arena *a, const struct s3_location *loc, const struct s3_place *at,
		  const char *token);
/* Read one page: appends base names of keys and of folders; *ret_token is NULL on the last page. */
int s3_list_parse(struct arena *a, const char *xml, size_t n, struct strv *names,
		  const char **ret_token, struct err *e) must_check;
/* The endpoint that the environment names instead of AWS's own, or NULL. */
const char *s3_endpoint(void);
/* Returns whether that is S3_ENDPOINT, of another company: no role and no region of AWS means anything there. */
bool s3_is_foreign(void);
/* The code of S3's XML error body ("AccessDenied"), or NULL. */
const char *s3_error_code(struct arena *a, const char *xml, size_t n);
/* Append what S3's XML error body says to the message of e ("GET s3://bucket/key: S3 403"): code,
 * text and request id. A body that is not S3's adds nothing. */
void s3_explain(struct arena *a, const char *xml, size_t n, struct err *e);
