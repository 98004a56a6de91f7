/* why.c - explains one object on this node: what asks for it, what it is made of, its last change, is it right
 * One map has all facts about a task; the text form shows its keys. */
#include "nodeup/cmd/session.h"

#include <string.h>
#include "nodeup/base/show.h"
#include "nodeup/cmd/plan.h"
#include "nodeup/documents/location.h"
#include "nodeup/run/history.h"
#include "nodeup/run/report.h"
#include "nodeup/run/standing.h"
#include "nodeup/run/health.h"
#include "nodeup/tasks/kinds.h"

enum { NAMES_MAX = 8, MOST = 8 };

/* Returns whether the word names the task: a path, a unit with or without ".service", an asset, one of several
 * packages, or "kind name" as in a run's lines. */
static bool is_called(struct arena *a, const struct task *t, const char *word)
{
	return str_eq(t->name, word) || str_eq(task_path(t), word) ||
	       str_eq(task_title(a, t), word) ||
	       (t->kind == TASK_PACKAGE && strv_has(&t->package.names, word)) ||
	       (t->kind == TASK_UNIT && str_eq(t->name, arena_printf(a, "%s.service", word)));
}

/* Leaves out directories, which almost every task needs. */
static void add_titles(struct arena *a, struct tree *map, const char *key,
		       const struct task *const *tasks, size_t n)
{
	struct tree *list = tree_seq(a);

	for (size_t i = 0; i < n; i++)
		if (tasks[i]->kind != TASK_DIR)
			(void)tree_add(a, list, tree_string(a, task_title(a, tasks[i])));
	tree_set_some(a, map, key, list);
}

/* Adds the sources of the task's object, in addition to the task's needs. */
static void add_inputs(struct arena *a, struct tree *map, const struct task *t)
{
	struct tree *list = tree_seq(a);
	const struct asset *as = t->kind == TASK_ASSET || t->kind == TASK_UNPACK ? t->asset.asset
				 : t->kind == TASK_IMAGE                         ? t->image.asset
				 : t->kind == TASK_INSTALL ? t->install.sources[0]
							   : NULL;
	char hex[DIGEST_TEXT_MAX];

	if (as) {
		tree_set_text(a, map, "digest",
			      arena_printf(a, "%s:%s", digest_algo_name(as->digest.algo),
					   digest_hex(&as->digest, hex)));
		for (size_t i = 0; i < as->urls.n; i++)
			(void)tree_add(a, list, tree_string(a, asset_url_public(a, as->urls.v[i])));
	}
	for (size_t i = 0; t->kind == TASK_UNIT && i < t->unit.inputs.n; i++)
		(void)tree_add(a, list, tree_string(a, t->unit.inputs.v[i]));
	tree_set_some(a, map, as ? "from" : "inputs", list);
}

/* Adds the units that use the object and would be restarted if it changed. */
static void add_restarts(struct arena *a, struct tree *map, const struct task *t)
{
	const char *path = task_path(t);
	struct tree *list = tree_seq(a);

	for (size_t i = 0; path && i < t->n_users; i++)
		if (t->users[i]->kind == TASK_UNIT && strv_has(&t->users[i]->unit.inputs, path))
			(void)tree_add(a, list, tree_string(a, t->users[i]->name));
	tree_set_some(a, map, "restarts", list);
}

/* Names the unit or the person that made a run. */
static const char *maker(struct arena *a, const struct tree *run)
{
	const char *unit = tree_says(run, "unit");

	return *unit ? unit : arena_printf(a, "a run %s", standing_by(a, run));
}

/* Adds the newest recorded run that changed the object, and its reason. */
static void add_change(struct arena *a, struct tree *map, const struct task *t,
		       const struct tree *runs)
{
	const char *title = task_title(a, t);

	for (size_t i = 0; i < runs->n; i++) {
		const struct tree *run = runs->items[i].value, *list = tree_get(run, "changed");

		for (size_t k = 0; list && list->kind == TREE_SEQ && k < list->n; k++) {
			const struct tree *change = list->items[k].value;
			const char *why = tree_text(change, "why");

			if (!str_eq(tree_text(change, "task"), title))
				continue;
			tree_set_text(a, map, "changed",
				      arena_printf(a, "%s by %s%s%s", health_date(a, run),
						   maker(a, run), why ? ": " : "", why ? why : ""));
			return;
		}
	}
	tree_set_text(a, map, "changed",
		      runs->n ? arena_printf(a, "by none of the %zu runs that are remembered",
					     runs->n)
			      : "no run is remembered");
}

/* Adds warnings that the run would give. */
static void add_warnings(struct arena *a, struct tree *map, const struct session *s,
			 const struct task *t)
{
	const char *path = task_path(t);
	struct tree *list = tree_seq(a);

	for (size_t i = 0; path && i < s->foreign.n; i++)
		if (str_has_prefix(s->foreign.v[i], arena_printf(a, "%s: ", path)))
			(void)tree_add(a, list, tree_string(a, s->foreign.v[i] + strlen(path) + 2));
	tree_set_some(a, map, "but", list);
}

static struct tree *explain(struct arena *a, const struct session *s, const struct run_outcome *o,
			    const struct tree *runs)
{
	const struct task *t = o->task;
	struct tree *map = tree_map(a);

	tree_set_text(a, map, "task", task_title(a, t));
	tree_set_text(a, map, "is", cmd_plan_found(a, o));
	add_warnings(a, map, s, t);
	tree_set_text(a, map, "asked by",
		      t->ops == &task_leftover_ops || t->ops == &task_superseded_ops
			      ? "no document any more"
		      : t->asked ? t->asked
				 : location_shown(a, s->boot.conf));
	tree_set_text(a, map, "builder", t->origin);
	tree_set_text(a, map, "documents", vintage_title(a, &s->boot.documents.vintage));
	add_inputs(a, map, t);
	add_change(a, map, t, runs);
	add_titles(a, map, "needs", t->needs, t->n_needs);
	add_titles(a, map, "needed by", t->users, t->n_users);
	add_restarts(a, map, t);
	if (o->state == RUN_CHANGED)
		tree_set_text(a, map, "do", "nodeup repair puts it right");
	else if (o->diff.removes)
		tree_set_text(a, map, "do", "nodeup repair --prune removes it");
	return map;
}

static void print_list(struct arena *a, const char *key, const struct tree *list)
{
	for (size_t i = 0; i < list->n && i < NAMES_MAX; i++)
		show_line(stdout, "  %-10s %s", i ? "" : key, list->items[i].value->scalar);
	if (list->n > NAMES_MAX)
		show_line(stdout, "  %-10s %s", "",
			  arena_printf(a, "and %zu more", list->n - NAMES_MAX));
}

static void print_map(struct arena *a, const struct tree *map)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct tree_item *item = &map->items[i];

		if (str_eq(item->key, "task"))
			show_line(stdout, "%s", item->value->scalar);
		else if (item->value->kind == TREE_SEQ)
			print_list(a, item->key, item->value);
		else
			show_line(stdout, "  %-10s %s", item->key, item->value->scalar);
	}
}

static int print_all(const struct cli *cli, struct arena *a, struct tree *list, struct err *e)
{
	struct tree *t = tree_map(a);

	for (size_t i = 0; !str_eq(cli->output, "json") && i < list->n; i++)
		print_map(a, list->items[i].value);
	if (!str_eq(cli->output, "json"))
		return 0;
	tree_set_int(a, t, "schema", 1);
	return show_json(tree_set(a, t, "tasks", list), e);
}

static int say_unknown(const struct cli *cli, const struct plan *p, const char *word, struct err *e)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < p->n; i++)
		strv_add(cli->arena, &names, p->tasks[i]->name);
	return err_fail(e, ERR_USAGE, 0, "'%s' is not a thing that nodeup keeps on this node; %s",
			word, cli_meant(cli->arena, word, &names, "see nodeup plan --all"));
}

/* Explains all tasks of that name. Returns 1 if a task differs, 0 if no task does, < 0 on an error. */
static int explain_all(const struct cli *cli, struct session *s, const char *word, struct err *e)
{
	struct tree *runs, *list = tree_seq(s->arena);
	struct run_report rep;
	bool differs = false;
	int r = history_list(s->arena, s->root_fd, &runs, e);

	if (r < 0)
		return r;
	session_look(s, s->ctx.verify, &rep);
	for (size_t i = 0; i < rep.n && list->n < MOST; i++) {
		const struct run_outcome *o = &rep.outcomes[i];

		if (!is_called(s->arena, o->task, word))
			continue;
		(void)tree_add(s->arena, list, explain(s->arena, s, o, runs));
		differs |= o->state != RUN_EQUAL;
	}
	if (!list->n)
		return say_unknown(cli, &s->plan, word, e);
	r = print_all(cli, s->arena, list, e);
	return r < 0 ? r : differs;
}

int cmd_why(struct cli *cli, struct err *e)
{
	const struct session_req req = { .cli = cli, .patience_ns = SESSION_LOOK_NS };
	struct session s = { 0 };
	int r = 0;

	if (cli->args.n != 1)
		r = err_fail(e, ERR_USAGE, 0,
			     "why wants one path, unit or asset: nodeup why /etc/hosts");
	if (r == 0)
		r = cmd_plan_may_look(cli, e);
	if (r == 0 && session_open(&s, &req, e) < 0)
		r = cmd_plan_say_root(e, e);
	if (r == 0)
		r = explain_all(cli, &s, cli->args.v[0], e);
	session_close(&s);
	return r > 0 ? PLAN_PENDING : r;
}
