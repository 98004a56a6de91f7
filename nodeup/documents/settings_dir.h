/* settings_dir.h - the machine's own settings: /etc/nodeup/nodeup.d
 * Owner: the arena. Errors: CONFIG, SYSTEM. Threads: one.
 * Tests: test_signature.py. */
#pragma once

#include "nodeup/config/settings.h"
#include "nodeup/base/str.h"

extern const char settings_dir[];

/* Reads every *.yaml of the folder below root_fd, by name; there may be none. Unknown keys are warnings, or errors
 * if `strict`. */
int settings_load(struct arena *a, int root_fd, bool strict, struct strv *warnings,
		  struct settings *ret, struct err *e) must_check;
/* Returns the CA bundle, unless the environment names another; NULL: none is set. */
const char *settings_ca(const struct settings *s);
/* Keeps a document's public keys in an image, for the machines made from it. */
int settings_bake_keys(struct arena *a, int root_fd, const char *cluster,
		       const struct settings_doc *doc, struct err *e) must_check;
/* Adds the settings of a cluster's document. Warns of settings that a document may not set. `errors` is as in
 * settings_add. */
int settings_of_document(struct arena *a, const struct settings_doc *doc, struct strv *warnings,
			 struct settings *s, struct errs *errors, struct err *e) must_check;
