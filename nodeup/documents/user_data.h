/* user_data.h - the documents that user data bring
 * User data is a script that writes kube_env.yaml, alone or as a part of a MIME message. The whole text may be in
 * gzip, and then in base64, as EC2's API shows it. Reads what cloud-init would run. For anything else an error says
 * what it is: a cloud-config, a list of URLs, a script that cloud-init or the kernel does not run.
 * Invariant: pure; what is unpacked is at most USER_DATA_MAX bytes in all.
 * Bodies: mime_parts.c.
 * Owner: the arena. Errors: CONFIG, with the place; no message shows the text, which may be a secret.
 * Threads: all functions. Source: cloud-init cloudinit/user_data.py (what is unpacked, and which types),
 * cloudinit/handlers/__init__.py INCLUSION_TYPES_MAP (what a text begins with), cloudinit/handlers/shell_script.py.
 * Tests: test_user_data.c. */
#pragma once

#include "nodeup/base/str.h"

/* Limit on the bytes that gzip unpacks to. */
enum { USER_DATA_MAX = 4 << 20 };

/* A document. Empty lines before the document's text keep the file's line numbers. */
struct user_data_file {
	const char *name, *text;
	size_t n;
	size_t padding; /* number of the empty lines before the text; n includes their bytes */
};

struct user_data {
	const char *file; /* for messages: the file's name, and the part that was decoded */
	/* all of the text, unpacked: a message with all its parts; NULL: it cannot be unpacked. Also after a failure */
	const char *whole;
	size_t whole_n;
	struct user_data_file conf;
	/* the script that writes the document, with the file's line numbers; NULL: none */
	const char *script;
	/* other documents in a script of `nodeup userdata` */
	struct user_data_file *others;
	size_t n_others;
};

/* Reads the documents in a text. A text that is not user data is itself the document. raw: the text is never base64. */
int user_data_read(struct arena *a, const char *file, const struct user_data_file *text, bool raw,
		   struct user_data *ret, struct err *e) must_check;

struct mime_part {
	const char *number; /* "2", or "2.1" for a part in a part; "": the message has no parts */
	const char *type;   /* in lower case; "text/plain" if the part names none */
	const char *broken; /* why the part was not decoded; else NULL */
	const char *text;   /* decoded, followed by a NUL, without CR at the ends of lines */
	size_t n;
	unsigned int line; /* line of the message where the text begins; 0: it was decoded */
};

typedef int mime_part_fn(void *arg, const struct mime_part *part, struct err *e);

/* Returns whether a text begins with the headers of a message. */
bool mime_is_message(const char *text, size_t n);
/* Calls fn for each part that has no parts inside, in order, until a call fails. */
int mime_walk(struct arena *a, const char *file, const char *text, size_t n, mime_part_fn *fn,
	      void *arg, struct err *e) must_check;
