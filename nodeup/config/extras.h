/* extras.h - checks of the user's own hooks and files, for all dialects
 * `where` begins each message: "kube_env.yaml:7:3: hooks[0].name".
 * Invariant: pure; no message shows a content.
 * Owner: the arena. Errors: CONFIG. Threads: all functions.
 * Source: systemd.unit(5); kops nodeup/pkg/model/{hooks,file_assets}.go.
 * Tests: test_field_secrets.c. */
#pragma once

#include "nodeup/base/map.h"
#include "nodeup/config/node.h"

/* The most that a node may have: each costs memory. */
enum { EXTRAS_HOOKS_MAX = 100, EXTRAS_FILES_MAX = 1400 };

/* A hook or file that is being read. */
struct extras_item {
	struct arena *arena;
	const char *where;
	struct tree_pos pos;
	struct map *seen; /* names or paths of earlier items */
};

/* Returns the place of a key: "nodeupconfig.yaml:7:3: FileAssets[0].key" */
const char *extras_key(const struct extras_item *it, const char *key);
/* Checks the names of a hook's units, with or without suffix: they become parts of paths. */
int extras_check_units(const struct extras_item *it, const char *name, const struct strv *requires,
		       const struct strv *before, struct err *e) must_check;
/* Appends the hook, unless an earlier hook has its name: the group's hooks come first and hide the cluster's. */
void extras_add_hook(const struct extras_item *it, struct node_hook *hook, struct node *n);
/* Appends the file, unless an earlier file has its path: the group's files come first and hide the cluster's. */
void extras_add_file(const struct extras_item *it, const struct node_file *f, struct node *n);
/* Gives a file's path: path, else name in dir. Fails unless it is absolute, without empty components, "." and "..". */
int extras_path(const struct extras_item *it, const char *path, const char *name, const char *dir,
		const char **ret, struct err *e) must_check;
/* Decodes base64 with or without padding: Go's raw encoding has none. */
int extras_decode(struct arena *a, const char *where, const char *text, const char **ret,
		  size_t *ret_n, struct err *e) must_check;
