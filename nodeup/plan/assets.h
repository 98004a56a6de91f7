/* assets.h - the assets of the documents, and what is installed of them
 * Tasks for assets are made when something needs them, one for the same bytes; so are those that unpack.
 * Owner: the arena of the plan. Errors: CONFIG, INTEGRITY, with file:line:column. Threads: one. */
#pragma once

#include "nodeup/plan/plan.h"

/* Read the Assets list into plan->assets; errors name file:line:column. */
int plan_parse_assets(struct plan *p, struct err *e) must_check;
/* Install an asset found by name at path. */
struct task *plan_install(struct plan *p, const char *asset_name, const char *path, mode_t mode,
			  struct err *e);
/* Install a member found by base name in any archive of the Assets list. */
struct task *plan_install_member(struct plan *p, const char *member, const char *path, mode_t mode,
				 struct err *e);
/* As plan_install; where the documents list no such asset, the one of text, "sha1@url". */
struct task *plan_install_known(struct plan *p, const char *name, const char *text,
				const char *path, mode_t mode, struct err *e);
/* A package as a file: "sha1@url". */
struct task *plan_package_file(struct plan *p, const char *name, const char *text, struct err *e);
/* An image archive to be loaded into the runtime. */
struct task *plan_image(struct plan *p, const struct node_image *image, struct err *e);
