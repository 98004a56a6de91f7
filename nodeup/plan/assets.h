/* assets.h - the assets of the documents, and what is installed of them
 * Tasks that fetch and unpack an asset are made when something needs it: one task of each kind for the same bytes.
 * requireSignatures holds for everything that a run fetches as an asset, even for assets that nodeup itself knows.
 * The list's signature is checked here, before anything is made of the list. An asset's signature is checked when
 * its bytes are there (tasks/asset.c).
 * Bodies: trust.c.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Tests: test_plan.c, test_trust.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Reads the Assets list into plan->assets. An error names file:line:column and fails the plan. */
void plan_parse_assets(struct plan *p);
/* Installs the asset of that name at path, as a program (0755). */
void plan_install(struct plan *p, const char *asset_name, const char *path);
/* Installs a member, found by its base name in any archive of the Assets list. */
void plan_install_member(struct plan *p, const char *member, const char *path, mode_t mode);
/* Does the same as plan_install_member, from archives whose name begins with `archives`. Returns the task. */
struct task *plan_install_member_of(struct plan *p, const char *archives, const char *member,
				    const char *path, mode_t mode);
/* Returns whether the list has an archive whose name begins with `start`. */
bool plan_has_archive(const struct plan *p, const char *start);
/* Does the same as plan_install, with that mode. If the documents list no such asset, installs the asset that
 * `text`, "sha1@url", names. */
void plan_install_known(struct plan *p, const char *name, const char *text, const char *path,
			mode_t mode);
/* Loads an image that is a member of an archive of the Assets list. */
void plan_image_member(struct plan *p, const struct node_member_image *image);
/* Fetches and installs a package file. text is the package's "sha1@url"; an error calls the package `what`. */
void plan_package_file(struct plan *p, const char *what, const char *name, const char *text);
/* Loads an image archive into the runtime. */
void plan_image(struct plan *p, const struct node_image *image);

/* Reads the keys, and checks the signature of the list if there is one. */
int trust_begin(struct plan *p, struct err *e) must_check;
/* Takes the asset's own signature (NULL: none). `listed`: the asset is in the list, which may be signed as a whole. */
int trust_asset(struct plan *p, struct asset *as, const char *signature, bool listed,
		const char *where, struct err *e) must_check;
/* Takes an asset that nodeup itself knows; text is its "hash@url". Such an asset has no signature, so it is refused
 * if signatures are required. */
int trust_built_in(const struct plan *p, const struct asset *as, const char *text,
		   struct err *e) must_check;
