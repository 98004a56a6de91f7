/* Tests: test_build_extras.c, test_plan.c. */
#include "nodeup/plan/builders.h"

#include <string.h>
#include "manifests/pod.h"
#include "nodeup/plan/static_pod.h"

/* Returns whether a file at `path` and what the task writes cannot both exist. */
static bool is_in_the_way(const struct task *t, const char *path)
{
	const char *have = task_path(t);

	if (!have)
		return false;
	return str_is_within(have, path) || (t->kind != TASK_DIR && str_is_within(path, have));
}

/* Refuses a file that is in the way of one of the first n tasks, which other builders made. */
static void check_place(struct plan *p, size_t n, const struct node_file *f)
{
	for (size_t i = 0; i < n; i++) {
		const struct task *t = p->tasks[i];

		if (is_in_the_way(t, f->path))
			plan_refuse(p, "%s: fileAssets: '%s': %s is %s's",
				    tree_where(p->arena, &f->pos), f->path, task_path(t),
				    t->origin);
	}
}

void build_file_assets(struct plan *p)
{
	const struct node_files *files = &p->req->node->files;
	const size_t n = p->n;

	for (size_t i = 0; i < files->n; i++) {
		const struct node_file *f = &files->v[i];

		p->asked = tree_where(p->arena, &f->pos);
		check_place(p, n, f);
		if (str_is_within(f->path, POD_MANIFESTS))
			plan_check_manifest(p, arena_printf(p->arena, "%s: %s", p->asked, f->path),
					    arena_strn(p->arena, f->content, f->len));
		plan_bytes(p, f->path, f->mode, f->content, f->len, true);
	}
}

/* Restores lost documents so that only root can read them: a document may hold passwords, and only nodeup reads it. */
void build_documents(struct plan *p)
{
	for (size_t i = 0; i < p->req->n_lost; i++) {
		const struct node_lost *lost = &p->req->lost[i];
		struct task *file = plan_bytes(p, lost->path, 0600, lost->text, lost->n, true);

		file->file.set_aside = lost->damaged;
	}
}
