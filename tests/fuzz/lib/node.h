/* node.h - what the targets share: an input in parts, and a node that is made of documents, with its whole plan
 * What a command would do with them is done up to the plan, with keys and without. What is not as it should be ends the process.
 * Owner: the arena. Errors: a document's are expected, and each has a text. Threads: one. */
#pragma once

#include "nodeup/base/str.h"
#include "nodeup/config/dialect.h"

/* What libFuzzer calls. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

void fuzz_expect(bool is_so, const char *what);

/* A piece of an input: lines "=== NAME" stand before each but the first, which has none. */
struct fuzz_part {
	const char *name, *text;
	size_t n;
};

struct fuzz_parts {
	struct fuzz_part *v;
	size_t n;
};

struct fuzz_parts fuzz_split(struct arena *a, const char *input, size_t n);

/* The documents of one node, as texts; NULL: there is none. */
struct fuzz_documents {
	const char *conf, *cluster, *group;
	const char *manifest; /* stands for each of the state store */
	const struct fuzz_parts
		*files; /* of the archive that is a document, below that folder; or NULL */
	const char *folder;
	struct strmap secrets;
	size_t host; /* which of ours, modulo their number */
};

void fuzz_plan(struct arena *a, const struct fuzz_documents *all);
