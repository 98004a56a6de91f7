/* unknown.h - keys of documents that nodeup does not know
 * An unknown key is an error, as the node would be silently wrong; acceptKeys of the machine or of BootConfig lets one
 * through.
 * Owner: the arena. Errors: CONFIG with file:line:column. Threads: all functions.
 * Tests: test_kops_config.c. */
#pragma once

#include "nodeup/config/dialect.h"

/* Keys of a document that are not known, but for those that are to be left alone. */
struct kops_unknowns {
	struct field_unknowns all;
	const struct dialect_opts *opts;
	const struct tree *accept; /* of BootConfig; NULL: none */
};

/* Whether this one is to be left alone: then it is told as that. */
bool kops_accept(struct kops_unknowns *k, const struct field_unknown *u);
/* Make an error of each unknown key. */
int kops_refuse_unknown(const struct kops_unknowns *unknown, struct err *e) must_check;
