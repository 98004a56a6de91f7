/* store_fixture.h - a store whose S3 and IMDS are tests/fake/cloud.py, and what its tests share
 * Owner: fx_setup/fx_teardown, cmocka's. Errors: assertions. */
#pragma once

#include "nodeup/documents/store.h"
#include "tests/unit/lib/cloud.h"

struct fixture {
	struct cloud *c;
	struct imds *imds;
	struct store *s;
	int waits, silences;
	struct err last;
	char last_location[256];
	unsigned int last_attempt;
};

int fx_setup(void **state);
int fx_teardown(void **state);
/* The store again, as the next run has it; http NULL: offline, region NULL: none given. */
void fx_reopen(struct fixture *fx, struct http *http, const char *region);
/* What S3 has: "bucket/key". */
void fx_object(struct fixture *fx, const char *path, const char *text);
/* As store_get. */
int fx_get(struct fixture *fx, const char *location, const char **text, struct err *e);
/* A document with this text; one that fails so; a folder with these names, joined by spaces. */
void fx_expect(struct fixture *fx, const char *location, const char *wanted);
struct err fx_expect_failure(struct fixture *fx, const char *location, int errnum);
void fx_expect_list(struct fixture *fx, const char *location, const char *wanted);
/* The first note with this label and this in its text, or NULL. */
const char *fx_note(const struct err *e, const char *label, const char *part);
