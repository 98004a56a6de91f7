/* extras.h - what must hold of hooks and files of the user's own, whatever documents say them
 * `where` begins each message: "kube_env.yaml:7:3: hooks[0].name".
 * Invariant: pure; no message shows a content. Owner: the arena. Errors: CONFIG. Threads: all functions.
 * Source: systemd.unit(5); kops nodeup/pkg/model/{hooks,file_assets}.go. */
#pragma once

#include "nodeup/base/str.h"

/* How many a node may have: each costs memory. */
enum { EXTRAS_HOOKS_MAX = 100, EXTRAS_FILES_MAX = 1000 };

/* Check the name of a unit, with or without its ending: names of units end up in paths. */
int extras_check_unit(const char *where, const char *name, struct err *e) must_check;
/* Check the path of a file: absolute, and with no component that is empty, "." or "..". */
int extras_check_path(const char *where, const char *path, struct err *e) must_check;
/* Decode base64 with or without padding: Go's raw encoding has none. */
int extras_decode(struct arena *a, const char *where, const char *text, const char **ret,
		  size_t *ret_n, struct err *e) must_check;
