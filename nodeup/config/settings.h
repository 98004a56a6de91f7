/* settings.h - what the owner of a machine sets for nodeup, whatever cluster it joins
 * Files of /etc/nodeup/nodeup.d, baked into an image or written by user data; kube_env.yaml takes the
 * same keys. Lists add up in order; of a single value the first that is given stays.
 * Owner: the arena. Errors: CONFIG with file:line:column. Threads: none of its own. */
#pragma once

#include "nodeup/base/field.h"

/* A text of a document with the place it stands at, for messages of what parses it further. */
struct settings_text {
	const char *text;
	struct tree_pos pos;
};

struct settings_texts {
	struct settings_text *v;
	size_t n;
};

/* As it stands in a document. */
struct settings_doc {
	const struct tree *url_rewrites, *mirrors, *public_keys, *accept_keys;
	const char *ca_bundle, *status_url;
	struct opt_bool require_signatures, ignore_host_checks, quiet_console;
	struct opt_dur console_after;
};

struct settings {
	struct strv url_rewrites;          /* "FROM=TO" */
	struct strv mirrors;               /* "FROM=TO" */
	struct strv accept_keys;           /* "KubeletConfig.x": unknown keys that are no error */
	const char *ca_bundle;             /* NULL: searched */
	struct settings_texts public_keys; /* of minisign */
	bool keys_are_own;                 /* of the machine: a document's do not count */
	bool require_signatures;           /* no asset without one */
	bool ignore_host_checks;           /* try also what cannot run here */
	bool quiet_console;                /* it is told nothing */
	const char *status_url;   /* s3:// where the status of a run goes as well; NULL: nowhere */
	int64_t console_after_ns; /* age of a run that it is told at; 0: none */
};

/* The rows of a document that is nothing but settings. */
extern const struct schema settings_schema;

/* Check a document's settings and add them. `own`: of the machine, not of a cluster's document. */
int settings_add(struct arena *a, const struct settings_doc *doc, bool own, struct settings *s,
		 struct err *e) must_check;
