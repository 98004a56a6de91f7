#include "nodeup/run/fields.h"

#include "nodeup/base/dur.h"

/* Returns the name of the asset that a task brings, takes apart or puts in its place; NULL: none. */
static const char *asset_of(const struct task *t)
{
	switch (t->kind) {
	case TASK_ASSET:
		return t->asset.asset->name;
	case TASK_UNPACK:
		return t->unpack.asset->name;
	case TASK_INSTALL:
		return t->install.n_sources == 1 ? t->install.sources[0]->name : NULL;
	case TASK_IMAGE:
		return t->image.asset ? t->image.asset->name : NULL;
	default:
		return NULL;
	}
}

size_t fields_of(struct arena *a, const struct run_outcome *o,
		 struct log_field fields[static FIELDS_MAX])
{
	const char *asset = asset_of(o->task);
	const int64_t end = o->end_ns ? o->end_ns : dur_now();
	size_t n = 0;

	fields[n++] = (struct log_field){ "TASK", task_title(a, o->task) };
	fields[n++] = (struct log_field){ "STATE", run_state_name(o->state) };
	fields[n++] = (struct log_field){ "ORIGIN", o->task->origin };
	fields[n++] = (struct log_field){ "KIND", o->task->ops->kind };
	if (asset)
		fields[n++] = (struct log_field){ "ASSET", asset };
	if (o->start_ns)
		fields[n++] = (struct log_field){
			"DURATION_MS",
			arena_printf(a, "%lld", (long long)((end - o->start_ns) / DUR_MS))
		};
	if (run_is_settled(o->state))
		fields[n++] =
			(struct log_field){ "CHANGED", o->state == RUN_CHANGED ? "yes" : "no" };
	return n;
}
