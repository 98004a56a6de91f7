#include "nodeup/plan/static_pod.h"

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/plan/era.h"
#include "nodeup/plan/tasklist.h"

/* Goes through the flags of one pod. */
struct reader {
	struct plan *p;
	struct pod *pod;
	bool is_fixed; /* the manifest is not ours: no mount is added */
};

/* Returns the folder of a path: "" if the file is in the root, "." if the path has no folder. */
static const char *folder_of(struct plan *p, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? arena_strn(p->arena, path, (size_t)(slash - path)) : ".";
}

void plan_mount_folder_of(struct plan *p, struct pod *pod, const char *volume, const char *file,
			  bool read_only)
{
	const char *folder = file ? folder_of(p, file) : "";

	if (*folder == '/')
		pod_host_path(p->arena, pod, volume, folder, NULL, read_only);
}

/* Returns the innermost mount through which the container sees the path, or NULL. */
static const struct pod_mount *mount_over(const struct pod *pod, const char *path)
{
	const struct pod_container *c = &pod->container;
	const struct pod_mount *best = NULL;

	for (size_t i = 0; i < c->n_mounts; i++)
		if (str_is_within(path, c->mounts[i].path) &&
		    (!best || strlen(c->mounts[i].path) > strlen(best->path)))
			best = &c->mounts[i];
	return best;
}

/* Returns whether the folder can be mounted as a whole: it is no folder of the image's own system, and no other
 * mount lies in it. */
static bool is_alone_in(const struct pod *pod, const char *folder)
{
	const struct pod_container *c = &pod->container;

	if (!strchr(folder + 1, '/') || str_is_within(folder, "/usr"))
		return false;
	for (size_t i = 0; i < c->n_mounts; i++)
		if (str_is_within(c->mounts[i].path, folder))
			return false;
	return true;
}

/* Mounts the folder of the file, so that the file may be replaced; if that is not possible, mounts the file alone.
 * If the file does not exist, the mount's type keeps the runtime from making a directory in its place. */
static void mount_file(const struct reader *r, const char *flag, const char *path)
{
	const char *folder = folder_of(r->p, path), *name = flag;
	struct pod *pod = r->pod;

	for (size_t i = 2; pod_volume(pod, name); i++)
		name = arena_printf(r->p->arena, "%s-%zu", flag, i);
	if (is_alone_in(pod, folder)) {
		pod_host_path(r->p->arena, pod, name, folder, NULL, true);
		return;
	}
	pod_host_path(r->p->arena, pod, name, path, NULL, true);
	pod->volumes[pod->n_volumes - 1].type = "File";
}

static void note_file(void *arg, const struct field *f, const char *path)
{
	const struct reader *r = arg;
	struct plan *p = r->p;
	const struct pod_mount *mount = mount_over(r->pod, path);
	const struct pod_volume *volume;

	if (f->file == FIELD_LOG && strcmp(path, "-") == 0)
		return;
	if (!mount && f->file == FIELD_FILE && *path == '/' && !r->is_fixed) {
		mount_file(r, f->flag, path);
		mount = mount_over(r->pod, path);
	}
	volume = mount ? pod_volume(r->pod, mount->name) : NULL;
	if (!mount) {
		plan_warn(p, "%s: --%s=%s: no mount of its pod is for this path", r->pod->name,
			  f->flag, path);
	} else if (f->file == FIELD_FILE && volume && volume->host_path) {
		const struct plan_pod_file file = {
			.pod = r->pod->name,
			.flag = f->flag,
			.path = arena_printf(p->arena, "%s%s", volume->host_path,
					     path + strlen(mount->path)),
		};

		arena_push(p->arena, p->pod_files, p->n_pod_files, file);
	}
}

void plan_pod_files(struct plan *p, struct pod *pod, const struct schema *s, const void *spec)
{
	struct reader r = { .p = p, .pod = pod };

	field_files(s, spec, note_file, &r);
}

/* Returns the words of a container's command. A shell's line is split at blanks: no word that names a file is quoted
 * there. */
static struct strv words_of(struct arena *a, const struct tree *container)
{
	static const char *const lists[] = { "command", "args" };
	struct strv words = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct tree *list = tree_get(container, lists[i]);

		for (size_t k = 0; list && k < list->n; k++) {
			const struct tree *item = list->items[k].value;
			const struct strv some =
				strv_split(a, item->kind == TREE_SCALAR ? item->scalar : "", ' ');

			strv_add_all(a, &words, &some);
		}
	}
	return words;
}

/* Returns the schema of the program; NULL: the program is not known. */
static const struct schema *program_of(const struct strv *words)
{
	const struct schema *s = NULL;

	for (size_t i = 0; i < words->n && !s; i++)
		s = plan_program(str_basename(words->v[i]));
	return s;
}

/* Returns a pod that has only the mounts of one container of a manifest. */
static struct pod *view_of(struct arena *a, const struct tree *manifest,
			   const struct tree *container)
{
	const struct tree *volumes = tree_get(tree_get(manifest, "spec"), "volumes");
	const struct tree *mounts = tree_get(container, "volumeMounts");
	struct pod *pod = arena_new(a, struct pod);
	struct pod_container *c = &pod->container;

	pod->name = tree_text(tree_get(manifest, "metadata"), "name");
	for (size_t i = 0; volumes && i < volumes->n; i++) {
		const struct tree *v = volumes->items[i].value;
		const struct pod_volume volume = {
			.name = tree_text(v, "name"),
			.host_path = tree_text(tree_get(v, "hostPath"), "path"),
		};

		if (volume.name)
			arena_push(a, pod->volumes, pod->n_volumes, volume);
	}
	for (size_t i = 0; mounts && i < mounts->n; i++) {
		const struct tree *m = mounts->items[i].value;
		const struct pod_mount mount = { .name = tree_text(m, "name"),
						 .path = tree_text(m, "mountPath") };

		if (mount.name && mount.path)
			arena_push(a, c->mounts, c->n_mounts, mount);
	}
	return pod;
}

static void check_container(struct plan *p, const struct tree *manifest,
			    const struct tree *container)
{
	struct reader r = { .p = p,
			    .pod = view_of(p->arena, manifest, container),
			    .is_fixed = true };
	const struct strv words = words_of(p->arena, container);
	const struct schema *s = program_of(&words);

	for (size_t i = 0; s && i < words.n; i++) {
		const char *word = words.v[i], *value = strchr(word, '=');

		for (size_t k = 0; value && value[1] && str_has_prefix(word, "--") && k < s->n; k++)
			if (s->fields[k].file &&
			    str_eq(arena_strn(p->arena, word + 2, (size_t)(value - word) - 2),
				   s->fields[k].flag))
				note_file(&r, &s->fields[k], value + 1);
	}
}

void plan_check_manifest(struct plan *p, const char *from, const char *text)
{
	const struct tree *containers;
	struct tree *t;
	struct err e;

	/* kubelet itself reports a file that is not a pod */
	if (yaml_parse(p->arena, from, text, strlen(text), &t, &e) < 0)
		return;
	if (manifest_check(p->arena, t, &e) < 0) {
		plan_fail(p, &e);
		return;
	}
	containers = tree_get(tree_get(t, "spec"), "containers");
	for (size_t i = 0; containers && i < containers->n; i++)
		check_container(p, t, containers->items[i].value);
}

static bool is_written(const struct plan *p, const char *path)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct task *t = p->tasks[i];

		if (t->kind != TASK_DIR && !(t->kind == TASK_FILE && t->file.unwanted) &&
		    *t->name == '/' && str_is_within(path, t->name))
			return true;
	}
	return false;
}

void plan_warn_pod_files(struct plan *p)
{
	const struct plan_req *req = p->req;

	for (size_t i = 0; req->has_file && i < p->n_pod_files; i++) {
		const struct plan_pod_file *f = &p->pod_files[i];

		if (!is_written(p, f->path) && !req->has_file(req->has_file_arg, f->path))
			plan_warn(p,
				  "%s: --%s: %s is not there, and no document brings it: "
				  "the program does not start without it",
				  f->pod, f->flag, f->path);
	}
}
