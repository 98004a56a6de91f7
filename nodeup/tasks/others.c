#include "nodeup/tasks/others.h"

#include <string.h>
#include "nodeup/base/walk.h"

enum { FILE_MAX = 1 << 20 };

static const char *const unit_dirs[] = {
	"/etc/systemd/system",
	"/run/systemd/system",
	"/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system",
};

static void add_folder(const struct task *unit, int root_fd, struct arena *a, const char *folder,
		       const char *ending, struct strv *paths)
{
	struct strv names = { 0 };
	struct err ignored;

	if (walk_names_at(a, root_fd, folder, &names, &ignored) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		const char *path = arena_printf(a, "%s/%s", folder, names.v[i]);

		if (str_has_suffix(path, ending) && !strv_has(&unit->unit.inputs, path))
			strv_add(a, paths, path);
	}
}

struct strv others_paths(const struct task *unit, int root_fd, struct arena *a)
{
	const bool is_service = str_has_suffix(unit->name, ".service");
	struct strv paths = { 0 };

	for (size_t i = 0; is_service && i < ARRAY_LEN(unit_dirs); i++)
		add_folder(unit, root_fd, a, arena_printf(a, "%s/%s.d", unit_dirs[i], unit->name),
			   ".conf", &paths);
	if (unit->unit.shared)
		add_folder(unit, root_fd, a, unit->unit.shared, unit->unit.shared_ending, &paths);
	return paths;
}

void others_digest(int root_fd, const struct strv *paths, struct digest *ret)
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
