#include "assets/cache/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/entry.h"
#include "nodeup/base/walk.h"

/* Takes over leftovers of versions before 2027. An entry may share its bytes with an installed file (a note in
 * `lent/` says so). Archives may wait in a separate cache in memory. Unpacked archives are in `unpacked/`, with
 * records in `verified/`. If a leftover is also an installed file, only its name in the cache is removed. */

static const char lent[] = "lent", unpacked[] = "unpacked", verified[] = "verified";

/* Copies an entry that is also an installed file, since writes to that file would change the entry. A file that was
 * written to is not an entry any more. */
static void part_entry(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];
	autoclose int fd = io_open_at(c->dir_fd, cache_entry_name(d, name), O_NOFOLLOW);
	struct err ignored;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink > 1 &&
	    cache_copy_in(c, d, fd, name, &ignored) < 0)
		cache_drop(c, d);
	(void)unlinkat(c->dir_fd, cache_side_name(lent, d, name), 0);
}

/* Moves the archives to the cache. False: an archive could not be moved, and stays for the next run. */
static bool move_in(struct cache *c, struct cache *spool)
{
	autoarena struct arena *a = arena_new_empty();
	struct digest *all;
	const size_t n = cache_list(spool, a, false, &all);
	bool moved = true;

	for (size_t i = 0; i < n; i++) {
		autoclose int fd = -1;
		struct err e;

		if (!cache_has(c, &all[i]) && cache_open(spool, &all[i], &fd, &e) >= 0)
			moved = cache_copy_in(c, &all[i], fd, "spool", &e) >= 0 && moved;
	}
	return moved;
}

static void remove_trees(struct cache *c)
{
	static const char *const endings[] = { ".tree", ".seen", ".files" };
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = io_open_at(c->dir_fd, verified, O_DIRECTORY | O_NOFOLLOW);
	struct strv names = { 0 };

	if (faccessat(c->dir_fd, unpacked, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (fd >= 0 && walk_names(a, fd, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		for (size_t k = 0; k < ARRAY_LEN(endings); k++)
			if (str_has_suffix(names.v[i], endings[k]))
				(void)unlinkat(fd, names.v[i], 0);
	/* must come last: while this folder exists, the next run takes over what is left */
	(void)walk_remove(c->dir_fd, unpacked);
}

void cache_adopt_older(struct cache *c, int root_fd, const char *spool_dir)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int parent = -1;
	struct digest *all;
	const size_t n = c->writable ? cache_digests_in(c, a, lent, true, &all) : 0;
	struct cache *spool;
	const char *name;
	struct err e;

	for (size_t i = 0; i < n; i++)
		part_entry(c, &all[i]);
	if (c->writable)
		remove_trees(c);
	if (!c->writable || !spool_dir || cache_new(root_fd, spool_dir, false, &spool, &e) < 0)
		return;
	(void)unlinkat(c->dir_fd, lent, AT_REMOVEDIR);
	if (spool->dir_fd >= 0 && move_in(c, spool) &&
	    io_open_parent(root_fd, spool_dir, &parent, &name, &e) >= 0)
		(void)walk_remove(parent, name);
	cache_free(spool);
}
