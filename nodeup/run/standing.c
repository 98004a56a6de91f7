#include "nodeup/run/standing.h"

#include "manifests/pod.h"

bool standing_is_good(const struct tree *word)
{
	const char *state = tree_says(word, "state");

	return str_eq(state, "ready") || str_eq(state, "degraded");
}

bool standing_is_ours(const struct tree *status)
{
	return str_eq(tree_says(status, "unit"), BOOT_UNIT);
}

const char *standing_by(struct arena *a, const struct tree *run)
{
	const char *unit = tree_says(run, "unit"), *user = tree_says(run, "user");

	return arena_printf(a, "%s%s%s", *unit ? "by unit " : "by hand", unit,
			    *user ? arena_printf(a, " (%s)", user) : "");
}

const char *standing_maker(struct arena *a, const struct tree *run)
{
	return arena_printf(a, "%s, process %s", standing_by(a, run), tree_says(run, "pid"));
}

/* Returns whether no task is left and none failed: the signal only ended the watch on started services. */
static bool is_done(const struct tree *status)
{
	static const char *const done[] = { "changed", "right", "not needed", NULL };
	const struct tree *tasks = tree_get(status, "tasks");

	if (!tasks || tasks->kind != TREE_SEQ)
		return false;
	for (size_t i = 0; i < tasks->n; i++)
		if (!str_is_one_of(tree_says(tasks->items[i].value, "state"), done))
			return false;
	return true;
}

/* Returns whether a part of the node differed from its own documents, and stayed so. */
static bool saw_drift(const struct tree *status, const struct tree *before)
{
	const struct tree *causes = tree_get(status, "causes");
	const bool failed = causes && causes->kind == TREE_SEQ && causes->n;

	return (failed || tree_get(status, "mayNotChange")) &&
	       str_eq(tree_says(status, "conf"), tree_says(before, "conf"));
}

/* Returns whether a run that did not end well left the node as it was. */
static bool is_harmless(const struct tree *status, const struct tree *before)
{
	const bool was_ended = str_eq(tree_says(status, "state"), "interrupted");
	const char *changed = tree_says(tree_get(status, "counts"), "changed");

	if (standing_is_ours(status) && !was_ended)
		return false;
	if (*changed && !str_eq(changed, "0"))
		return was_ended && is_done(status);
	return !saw_drift(status, before);
}

/* Returns what the run did to the node, by its last status. */
static const char *hurt_of(struct arena *a, const struct tree *status)
{
	static const struct {
		const char *state, *what;
	} ends[] = {
		{ "interrupted", "was interrupted between changes" },
		{ "running", "ended without a last word" },
		{ "retrying", "failed" },
		{ "failed", "failed" },
	};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (str_eq(tree_says(status, "state"), ends[i].state))
			return arena_printf(a, "the last run, %s, %s", standing_maker(a, status),
					    ends[i].what);
	return "the run was refused: what the one before had started goes on";
}

static void copy(struct arena *a, struct tree *to, const struct tree *from, const char *const *but)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct tree_item *item = &from->items[i];

		if (!str_is_one_of(item->key, but) && !tree_get(to, item->key))
			(void)tree_set(a, to, item->key, item->value);
	}
}

static const struct tree *hurt(struct arena *a, const struct tree *status,
			       const struct tree *before)
{
	static const char *const not_its[] = { "tasks", "node", "state", NULL };
	static const char *const only[] = { "error", "causes", "hurt", NULL };
	struct tree *t = tree_map(a);

	tree_set_text(a, t, "state", "degraded");
	tree_set_text(a, t, "hurt", hurt_of(a, status));
	copy(a, t, status, not_its);
	copy(a, t, before, only);
	return t;
}

const struct tree *standing_of(struct arena *a, const struct tree *status, bool at_work)
{
	const struct tree *before = tree_get(status, "node");
	const bool was_good = standing_is_good(before);

	/* a good status is the verdict, but not after a good verdict if it has an error: then our unit's run was
	 * refused, and only started the units of an earlier run */
	if (standing_is_good(status) && !(was_good && tree_get(status, "error")))
		return status;
	if (!was_good)
		return at_work && before && before->kind == TREE_MAP ? before : status;
	return at_work || is_harmless(status, before) ? before : hurt(a, status, before);
}

/* Returns whether readers judge the node by this task. */
static bool is_judged_by(const struct tree *task)
{
	return tree_get(task, "staysUp") || tree_get(task, "left") ||
	       str_eq(tree_says(task, "kind"), "volume") ||
	       str_is_within(tree_says(task, "name"), POD_MANIFESTS);
}

struct tree *standing_carry(struct arena *a, const struct tree *word)
{
	static const char *const dropped[] = { "schema", "node",  "assets",
					       "counts", "recap", "pidStartTicks",
					       "bootId", "tasks", NULL };
	const struct tree *tasks = tree_get(word, "tasks");
	struct tree *t, *kept = tree_seq(a);

	if (!word || word->kind != TREE_MAP)
		return NULL;
	t = tree_map(a);
	copy(a, t, word, dropped);
	for (size_t i = 0; tasks && tasks->kind == TREE_SEQ && i < tasks->n; i++)
		if (is_judged_by(tasks->items[i].value))
			(void)tree_add(a, kept, tasks->items[i].value);
	tree_set_some(a, t, "tasks", kept);
	return t;
}
