/* mime_parts.h - the parts of a MIME message, as cloud-init sees them
 * Headers in any order, case and fold, line breaks of either kind, parts in parts, and what a part's
 * Content-Transfer-Encoding did undone.
 * Owner: the arena. Errors: CONFIG, for more parts, or parts deeper in each other, than user data has; no
 * message shows the text, which may be a secret. Threads: all functions.
 * Source: RFC 2045, RFC 2046; Python's email.feedparser, by which cloud-init reads it.
 * Tests: test_user_data.c. */
#pragma once

#include "nodeup/base/str.h"

struct mime_part {
	const char *number; /* "2", of a part in a part "2.1"; "": the message is no multipart */
	const char *type;   /* in lower case; "text/plain" where it names none */
	const char *broken; /* why its encoding was not undone; else NULL */
	const char *text;   /* decoded, with a NUL behind it and no CR at the ends of lines */
	size_t n;
	unsigned int line; /* of the message, where the text begins; 0: it was decoded */
};

typedef int mime_part_fn(void *arg, const struct mime_part *part, struct err *e);

/* Returns whether a text begins with the headers of a message. */
bool mime_is_message(const char *text, size_t n);
/* Call fn for each part that has no parts of its own, in their order, until one fails. */
int mime_walk(struct arena *a, const char *file, const char *text, size_t n, mime_part_fn *fn,
	      void *arg, struct err *e) must_check;
