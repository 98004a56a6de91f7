/* assets.h - the assets of the documents, and what is installed of them
 * Tasks for assets are made when something needs them, one for the same bytes; so are those that unpack.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Tests: test_plan.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Read the Assets list into plan->assets; errors name file:line:column, and fail the plan. */
void plan_parse_assets(struct plan *p);
/* Install an asset found by name at path, a program (0755). */
void plan_install(struct plan *p, const char *asset_name, const char *path);
/* Install a member found by base name in any archive of the Assets list. */
void plan_install_member(struct plan *p, const char *member, const char *path, mode_t mode);
/* As plan_install_member, from archives whose name begins so. Returns the task. */
struct task *plan_install_member_of(struct plan *p, const char *archives, const char *member,
				    const char *path, mode_t mode);
/* Returns whether the list has an archive whose name begins so. */
bool plan_has_archive(const struct plan *p, const char *start);
/* As plan_install, with that mode; where the documents list no such asset, the one of text, "sha1@url". */
void plan_install_known(struct plan *p, const char *name, const char *text, const char *path,
			mode_t mode);
/* An image that is a member of an archive of the Assets list. */
void plan_image_member(struct plan *p, const struct node_member_image *image);
/* A package as a file, text its "sha1@url"; what names it in an error. */
void plan_package_file(struct plan *p, const char *what, const char *name, const char *text);
/* An image archive to be loaded into the runtime. */
void plan_image(struct plan *p, const struct node_image *image);
