/* enc.h - hex, base64, URL encoding and gzip
 * Owner: results are the arena's. Errors: CONFIG for text that is not of the encoding; the message
 * never quotes the text, which may be a secret. Source: RFC 4648, RFC 3986,
 * RFC 1952.
 * Tests: test_enc.c. */
#pragma once

#include "nodeup/base/mem.h"

/* Lower-case hex of n bytes. */
char *enc_hex(struct arena *a, const void *data, size_t n);
/* Standard base64 with padding. */
char *enc_base64(struct arena *a, const void *data, size_t n);
/* Decode standard base64 (white space ignored, padding required); the result has a NUL beyond. */
int enc_unbase64(struct arena *a, const char *text, char **ret_data, size_t *ret_n,
		 struct err *e) must_check;
/* The same of a text; NULL: it is not base64, there is a NUL in it, or base64 is NULL. */
const char *enc_text(struct arena *a, const char *base64);
/* Percent-encode all but unreserved characters; '/' is kept when keep_slash. */
char *enc_url(struct arena *a, const char *text, int keep_slash);
/* As gzip -9n: equal data gives equal bytes, because the header holds no time. */
char *enc_gzip(struct arena *a, const void *data, size_t n, size_t *ret_n);
/* The other way; the result has a NUL beyond. More than `most` bytes are an error. */
int enc_gunzip(struct arena *a, const void *data, size_t n, size_t most, char **ret,
	       struct err *e) must_check;
