#include "nodeup/tasks/extra_inputs.h"

#include <string.h>
#include "nodeup/base/walk.h"
#include "units/dropins.h"

enum { FILE_MAX = 1 << 20 };

static struct strv shared_paths(const struct task *unit, int root_fd, struct arena *a)
{
	struct strv names = { 0 }, paths = { 0 };
	struct err ignored;

	if (!unit->unit.shared ||
	    walk_names_at(a, root_fd, unit->unit.shared, &names, &ignored) < 0)
		return paths;
	for (size_t i = 0; i < names.n; i++)
		if (str_has_suffix(names.v[i], unit->unit.shared_ending))
			strv_addf(a, &paths, "%s/%s", unit->unit.shared, names.v[i]);
	return paths;
}

struct strv extra_inputs_paths(const struct task *unit, int root_fd, struct arena *a)
{
	const struct strv shared = shared_paths(unit, root_fd, a);
	struct strv all = { 0 }, paths = { 0 };

	if (str_has_suffix(unit->name, ".service"))
		all = unit_dropins(a, root_fd, unit->name);
	strv_add_all(a, &all, &shared);
	for (size_t i = 0; i < all.n; i++)
		if (!strv_has(&unit->unit.inputs, all.v[i]))
			strv_add(a, &paths, all.v[i]);
	return paths;
}

void extra_inputs_digest(int root_fd, const struct strv *paths, struct digest *ret)
{
	autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);

	for (size_t i = 0; i < paths->n; i++) {
		autobuf struct buf text = BUF_INIT(FILE_MAX);
		struct err ignored;

		digest_update(c, paths->v[i], strlen(paths->v[i]) + 1);
		if (io_read(root_fd, paths->v[i], &text, &ignored) >= 0)
			digest_update(c, buf_str(&text), text.len);
		digest_update(c, "", 1);
	}
	digest_final(c, ret);
}
