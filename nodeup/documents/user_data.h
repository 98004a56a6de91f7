/* user_data.h - the documents that user data bring
 * User data is a script that writes kube_env.yaml, alone or as a part of a MIME message, all of it in gzip or
 * not, and that in base64 or not, as EC2's API shows it. What cloud-init would run is read. Of all else an
 * error says what it is: a cloud-config, a list of URLs, a script that cloud-init or the kernel does not run.
 * Invariant: pure; what is unpacked is at most USER_DATA_MAX bytes in all.
 * Bodies: mime_parts.c.
 * Owner: the arena. Errors: CONFIG, with the place; no message shows the text, which may be a secret.
 * Threads: all functions. Source: cloud-init cloudinit/user_data.py (what is unpacked, and which types),
 * cloudinit/handlers/__init__.py INCLUSION_TYPES_MAP (what a text begins with), cloudinit/handlers/shell_script.py.
 * Tests: test_user_data.c. */
#pragma once

#include "nodeup/base/str.h"

/* The most bytes that gzip may unpack to. */
enum { USER_DATA_MAX = 4 << 20 };

/* A document. Lines keep the numbers of the file by empty lines that stand before the text. */
struct user_data_file {
	const char *name, *text;
	size_t n;
	size_t padding; /* so many of n are such lines */
};

struct user_data {
	const char *file; /* for messages: its name, and which part of it was decoded */
	struct user_data_file conf;
	const char *script; /* that writes it, with the lines of file; NULL: none does */
	/* what `nodeup userdata` wrote beside it; nothing of other scripts */
	struct user_data_file *others;
	size_t n_others;
};

/* Reads the documents that a text brings. One that is not user data is the document itself. raw: it is never base64. */
int user_data_read(struct arena *a, const char *file, const struct user_data_file *text, bool raw,
		   struct user_data *ret, struct err *e) must_check;

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
