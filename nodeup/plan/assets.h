/* assets.h - the assets of the documents, and what is installed of them
 * Tasks for assets are made when something needs them, one for the same bytes; so are those that unpack.
 * requireSignatures holds for all that a run fetches as an asset, what nodeup itself knows of included. The list's signature is
 * checked here, before anything is made of it; an asset's when its bytes are there (tasks/asset.c).
 * Bodies: trust.c.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Tests: test_plan.c, test_trust.c. */
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

/* Read the keys and check the signature of the list, if there is one. */
int trust_begin(struct plan *p, struct err *e) must_check;
/* Take an asset's own signature (NULL: none); `listed`: it is of the list, which may be signed. */
int trust_asset(struct plan *p, struct asset *as, const char *signature, bool listed,
		const char *where, struct err *e) must_check;
/* Take an asset of ours whose bytes no document names, text its "hash@url". It has no signature: where
 * they are required it is refused. */
int trust_built_in(const struct plan *p, const struct asset *as, const char *text,
		   struct err *e) must_check;
