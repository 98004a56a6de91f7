/* script.h - the user-data script that turns a bare instance over to nodeup
 * Every value of the request appears shell-quoted or in a quoted here-document whose end mark
 * does not occur in it. So the shell never interprets a value.
 * Owner: the arena. Errors: CONFIG; a message never quotes a document or a value.
 * Source: kops 1.8 pkg/model/resources/nodeup.go.
 * Tests: test_userdata.c. */
#pragma once

#include "nodeup/base/str.h"

/* A file that the script writes beside nodeup, such as kube_env.yaml. */
struct userdata_document {
	const char *name, *text;
};

/* The beginning of a line that writes a file: `put NAME <<'MARK'`. The file ends at the line MARK. */
#define USERDATA_PUT "put "

struct userdata_req {
	const char *nodeup; /* "[algo:]HASH@URL,MIRROR..."; sha1, sha256, sha512 by length */
	const struct userdata_document *documents;
	size_t n_documents;
	struct strmap env; /* exported to nodeup, such as AWS_REGION */
};

/* Writes the script. A document without a line break at its end gets one. */
int userdata_render(struct arena *a, const struct userdata_req *req, char **ret_text,
		    struct err *e) must_check;
/* Quotes s as one word that a POSIX shell reads unchanged. */
char *userdata_quote(struct arena *a, const char *s);
