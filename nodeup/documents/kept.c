#include "nodeup/documents/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/walk.h"

enum { SET_MAX = 64 << 20 };

static const char suffix[] = ".json";

static const char *path_of(struct arena *a, int64_t number)
{
	return arena_printf(a, OWN_KEPT_SET, (long long)number);
}

/* Returns the number in a set's name; 0: it is no set. */
static int64_t number_of(const char *name)
{
	char *end;
	const long long n = *name >= '1' && *name <= '9' ? strtoll(name, &end, 10) : 0;

	return n > 0 && str_eq(end, suffix) ? n : 0;
}

static int by_number(const void *x, const void *y)
{
	const int64_t a = ((const struct kept_set *)x)->number,
		      b = ((const struct kept_set *)y)->number;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* Lists all sets, the newest first. */
static struct kept_sets list(struct arena *a, int root_fd)
{
	struct kept_sets sets = { 0 };
	struct strv names = { 0 };
	struct err ignored;

	(void)!walk_names_at(a, root_fd, OWN_KEPT_DIR, &names, &ignored);
	for (size_t i = 0; i < names.n; i++) {
		const int64_t number = number_of(names.v[i]);
		const struct kept_set set = { .number = number, .path = path_of(a, number) };

		if (number)
			arena_push(a, sets.v, sets.n, set);
	}
	if (sets.n)
		qsort(sets.v, sets.n, sizeof(*sets.v), by_number);
	return sets;
}

struct kept_sets kept_of(struct arena *a, int root_fd, const char *instance)
{
	const struct kept_sets all = list(a, root_fd);
	struct kept_sets fit = { 0 };
	struct err ignored;

	for (size_t i = 0; i < all.n; i++) {
		struct kept_set set = all.v[i];
		struct store_origin of;

		if (store_kept_of(a, root_fd, set.path, &of, &ignored) < 0 ||
		    !str_eq(of.instance, instance))
			continue;
		set.date = of.date;
		arena_push(a, fit.v, fit.n, set);
	}
	return fit;
}

int64_t kept_last(int root_fd)
{
	autoarena struct arena *a = arena_new_empty();
	const struct kept_sets sets = list(a, root_fd);

	return sets.n ? sets.v[0].number : 0;
}

static int forget_from(int root_fd, const struct kept_sets *sets, size_t first, struct err *e)
{
	for (size_t i = first; i < sets->n; i++)
		if (io_remove(root_fd, sets->v[i].path, e) < 0)
			return err_code(e);
	return 0;
}

int kept_add(int root_fd, const char *from, int64_t number, struct err *e)
{
	autobuf struct buf text = BUF_INIT(SET_MAX), newest = BUF_INIT(SET_MAX);
	autoarena struct arena *a = arena_new_empty();
	struct kept_sets sets = list(a, root_fd);
	int r = io_read(root_fd, from, &text, e);

	if (r < 0)
		return r;
	if (sets.n && record_read(root_fd, sets.v[0].path, &newest)) {
		if (newest.len == text.len &&
		    memcmp(buf_str(&newest), buf_str(&text), text.len) == 0)
			return 0;
		if (store_kept_equal(&newest, &text)) {
			if (!str_eq(from, OWN_DOCUMENTS))
				return 0;
			/* only certificates differ: replaces the newest set, since its old certificates will end and
			 * make it useless */
			number = sets.v[0].number;
		}
	}
	r = record_write(root_fd, path_of(a, number), 0600, buf_str(&text), e);
	if (r < 0)
		return r;
	sets = list(a, root_fd);
	return forget_from(root_fd, &sets, KEPT_MAX, e);
}

int kept_forget(int root_fd, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct kept_sets sets = list(a, root_fd);

	return forget_from(root_fd, &sets, 0, e);
}
