#include "nodeup/tasks/foreign.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "manifests/pod.h"
#include "nodeup/base/walk.h"

/* Folders of drop-ins by admins, programs, `systemctl edit` and `set-property`. */
static const char *const unit_dirs[] = {
	"/etc/systemd/system",
	"/run/systemd/system",
	"/etc/systemd/system.control",
	"/run/systemd/system.control",
};

static const char network_dir[] = "/etc/cni/net.d";

/* Returns whether the task writes the file, or one of its needs does, searched to this depth. A unit needs the
 * reload, and the reload needs the unit's files. */
static bool is_wanted_by(const struct task *t, const char *path, int depth)
{
	const char *own = task_path(t);

	if (own && t->kind != TASK_DIR && strcmp(own, path) == 0)
		return true;
	for (size_t i = 0; depth > 0 && i < t->n_needs; i++)
		if (is_wanted_by(t->needs[i], path, depth - 1))
			return true;
	return false;
}

static bool is_of_unit(const struct task *unit, const char *path)
{
	return strv_has(&unit->unit.inputs, path) || is_wanted_by(unit, path, 2);
}

/* Returns whether kubelet and systemd would read the file: they skip folders and dangling links. A link to /dev/null
 * hides a package's drop-in. */
static bool is_read(int root_fd, const char *path)
{
	autoclose int fd = -1;
	struct err ignored;
	struct stat st;

	return io_open(root_fd, path, O_PATH, &fd, &ignored) == 0 && fstat(fd, &st) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode));
}

/* Lists a directory's visible files with this suffix, sorted, as full paths. */
static struct strv files_in(struct arena *a, int root_fd, const char *dir, const char *suffix)
{
	const struct strv names = walk_list(a, root_fd, dir, suffix);
	struct strv found = { 0 };

	for (size_t i = 0; i < names.n; i++) {
		const char *path = arena_printf(a, "%s/%s", dir, names.v[i]);

		if (names.v[i][0] != '.' && is_read(root_fd, path))
			strv_add(a, &found, path);
	}
	return found;
}

static void add_drop_ins(struct arena *a, int root_fd, const struct task *unit, const char *name,
			 struct strv *found)
{
	for (size_t i = 0; i < ARRAY_LEN(unit_dirs); i++) {
		const char *dir = arena_printf(a, "%s/%s.d", unit_dirs[i], name);
		const struct strv files = files_in(a, root_fd, dir, ".conf");

		for (size_t k = 0; k < files.n; k++)
			if (!is_of_unit(unit, files.v[k]))
				strv_add(a, found, files.v[k]);
	}
}

/* systemd reads a-b.service.d, a-.service.d and service.d for a-b.service. */
static struct strv drop_ins(struct arena *a, int root_fd, const struct task *unit)
{
	const char *name = unit->name, *type = strrchr(name, '.');
	struct strv found = { 0 };

	add_drop_ins(a, root_fd, unit, name, &found);
	if (!type)
		return found;
	for (const char *c = name; c < type; c++)
		if (*c == '-' && c + 1 < type)
			add_drop_ins(a, root_fd, unit,
				     arena_printf(a, "%.*s%s", (int)(c + 1 - name), name, type),
				     &found);
	add_drop_ins(a, root_fd, unit, type + 1, &found);
	return found;
}

/* the documents' protokube puts etcd's manifests there */
static bool is_of_protokube(const char *path, struct task *const *tasks, size_t n)
{
	const char *name = str_basename(path);

	if (!str_has_prefix(name, "etcd") || !str_has_suffix(name, ".manifest"))
		return false;
	for (size_t i = 0; i < n; i++)
		if (tasks[i]->kind == TASK_UNIT && str_eq(tasks[i]->name, "protokube.service"))
			return true;
	return false;
}

static bool is_of_plan(const char *path, struct task *const *tasks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_wanted_by(tasks[i], path, 0))
			return true;
	return false;
}

static void add_pods(struct arena *a, int root_fd, struct task *const *tasks, size_t n,
		     struct strv *lines)
{
	const struct strv files = files_in(a, root_fd, POD_MANIFESTS, "");

	for (size_t i = 0; i < files.n; i++)
		if (!is_of_protokube(files.v[i], tasks, n) && !is_of_plan(files.v[i], tasks, n))
			strv_addf(a, lines, "foreign static pod %s: kubelet runs it; left alone",
				  files.v[i]);
}

/* Reports a foreign network that sorts before ours, as pods get the first network. Whether a pod of the cluster has
 * brought it is not known here. */
static void add_networks(struct arena *a, int root_fd, struct task *const *tasks, size_t n,
			 struct strv *lines)
{
	static const char *const endings[] = { ".conf", ".conflist", ".json" };
	struct strv files = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		const struct strv some = files_in(a, root_fd, network_dir, endings[i]);

		strv_add_all(a, &files, &some);
	}
	strv_sort(&files);
	if (files.n > 1 && !is_of_plan(files.v[0], tasks, n))
		strv_addf(a, lines,
			  "CNI configuration %s: comes before %s, so pods get their network by it; "
			  "left alone: see that it is the cluster's, or remove it",
			  files.v[0], str_basename(files.v[1]));
}

struct strv foreign_lines(struct arena *a, int root_fd, struct task *const *tasks, size_t n)
{
	struct strmap units = { 0 };
	struct strv lines = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct strv found = tasks[i]->kind == TASK_UNIT
						  ? drop_ins(a, root_fd, tasks[i])
						  : (struct strv){ 0 };

		for (size_t k = 0; k < found.n; k++) {
			const char *before = strmap_get(&units, found.v[k]);

			strmap_set(a, &units, found.v[k],
				   before ? arena_printf(a, "%s, %s", before, tasks[i]->name)
					  : tasks[i]->name);
		}
	}
	for (size_t i = 0; i < units.n; i++)
		strv_addf(a, &lines, "foreign drop-in %s: has a say in %s; left alone",
			  units.v[i].key, units.v[i].value);
	add_pods(a, root_fd, tasks, n, &lines);
	add_networks(a, root_fd, tasks, n, &lines);
	return lines;
}

void foreign_note(const struct task *unit, int root_fd, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv found = drop_ins(a, root_fd, unit);

	if (found.n)
		err_note(e, "drop-in", "not of nodeup: %s", strv_join(a, &found, ", "));
}
