/* mime.h - several user-data parts as one multipart document, as cloud-init reads it
 * The boundary is a line that no part contains. ASCII text stays readable; all other data are written in base64, so
 * that every byte arrives unchanged.
 * Owner: the arena. Errors: CONFIG. Source: RFC 2046; kops' multipart user data.
 * Tests: test_userdata.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/mem.h"

struct userdata_part {
	const char *type; /* "text/x-shellscript", "text/cloud-config" */
	const char *name; /* file name of the part */
	const char *data;
	size_t n;
};

/* userdata_type_is_known returns whether cloud-init handles parts of this type; it silently drops other parts.
 * userdata_type_is_handler returns whether a part of this type brings a handler for further types. */
bool userdata_type_is_known(const char *type);
bool userdata_type_is_handler(const char *type);
/* Finds the known type that is most similar to this type; or NULL. */
const char *userdata_type_near(struct arena *a, const char *type);

/* Writes the document, with the parts in their order. */
int userdata_mime(struct arena *a, const struct userdata_part *parts, size_t n, char **ret_text,
		  struct err *e) must_check;
