/* s3.h - s3:// locations as HTTP requests, and listings
 * AWS's own endpoints get virtual-hosted style. Path style is for other endpoints (AWS_ENDPOINT_URL_S3,
 * AWS_ENDPOINT_URL, S3_ENDPOINT) and for buckets with dots in their names.
 * Owner: the arena. Errors: CONFIG (bad location), NET with S3's code, message and request id.
 * Source: Amazon S3 API reference (GetObject, ListObjectsV2).
 * Tests: test_s3.c. */
#pragma once

#include "assets/http/http.h"

struct s3_location {
	const char *bucket, *key;
};

/* The bucket's region, and whether to use host names that have IPv6 addresses too. */
struct s3_place {
	const char *region;
	bool dual_stack;
};

/* Splits s3://bucket/key. */
int s3_parse(struct arena *a, const char *location, struct s3_location *ret,
	     struct err *e) must_check;
/* Returns the URL of an object. */
char *s3_object_url(struct arena *a, const struct s3_location *loc, const struct s3_place *at);
/* Returns the URL of one page of names below a prefix (delimiter '/'). token: from the page before; NULL for the
 * first page. */
char *s3_list_url(struct arena *a, const struct s3_location *loc, const struct s3_place *at,
		  const char *token);
/* Reads one page: appends the base names of keys and folders. *ret_token is NULL on the last page. */
int s3_list_parse(struct arena *a, const char *xml, size_t n, struct strv *names,
		  const char **ret_token, struct err *e) must_check;
/* Returns the endpoint that the environment sets instead of AWS's own, or NULL. */
const char *s3_endpoint(void);
/* Returns whether s3_endpoint() is S3_ENDPOINT, a service of another company. AWS's roles and regions do not apply
 * there. */
bool s3_is_foreign(void);
/* Returns the code of S3's XML error body ("AccessDenied"), or NULL. */
const char *s3_error_code(struct arena *a, const char *xml, size_t n);
/* Appends the code, text and request id in S3's XML error body to the message of e ("GET s3://bucket/key: S3 403").
 * Adds nothing if the body is not S3's. */
void s3_explain(struct arena *a, const char *xml, size_t n, struct err *e);
