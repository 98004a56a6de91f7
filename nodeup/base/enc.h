/* enc.h - hex, base64, URL encoding and gzip
 * Owner: results are the arena's. Errors: CONFIG for text that is not of the encoding; the message
 * never quotes the text, which may be a secret. Source: RFC 4648, RFC 3986,
 * RFC 1952.
 * Tests: test_enc.c. */
#pragma once

#include "nodeup/base/mem.h"

/* Returns lower-case hex of n bytes. */
char *enc_hex(struct arena *a, const void *data, size_t n);
/* Returns standard base64 with padding. */
char *enc_base64(struct arena *a, const void *data, size_t n);
/* Decodes standard base64 (white space ignored, padding required); a NUL follows the result. */
int enc_unbase64(struct arena *a, const char *text, char **ret_data, size_t *ret_n,
		 struct err *e) must_check;
/* Decodes a text; NULL: it is not base64, the result holds a NUL, or base64 is NULL. */
const char *enc_text(struct arena *a, const char *base64);
/* Percent-encodes all but unreserved characters; keeps '/' if keep_slash. */
char *enc_url(struct arena *a, const char *text, int keep_slash);
/* Compresses as gzip -9n: equal data give equal bytes, because the header holds no time. */
char *enc_gzip(struct arena *a, const void *data, size_t n, size_t *ret_n);
/* Decompresses; a NUL follows the result. Fails for more than `most` bytes. */
int enc_gunzip(struct arena *a, const void *data, size_t n, size_t most, char **ret,
	       struct err *e) must_check;
