#include "nodeup/cmd/saved_plan.h"

#include <string.h>
#include "nodeup/base/json.h"
#include "nodeup/run/report.h"

enum { PLAN_MAX = 4 << 20, NAMED_MAX = 6 };

/* Returns a plan's word for the state of a task: what would be done. */
static const char *word_of(enum run_state state)
{
	return state == RUN_CHANGED  ? "change"
	       : state == RUN_UNSURE ? "compare"
				     : run_state_name(state);
}

struct tree *saved_plan_tasks(struct arena *a, const struct run_report *rep)
{
	struct tree *tasks = report_tree(a, rep);

	for (size_t i = 0; i < rep->n; i++)
		tree_set_text(a, tasks->items[i].value, "state", word_of(rep->outcomes[i].state));
	return tasks;
}

int saved_plan_read(struct arena *a, const char *path, int64_t wait_ns, struct saved_plan *ret,
		    struct err *e)
{
	autobuf struct buf b = BUF_INIT(PLAN_MAX);
	const char *schema;
	struct tree *t;
	int r = io_read_given(path, wait_ns, &b, e);

	if (r == 0)
		r = json_parse_few(a, arena_str(a, path), buf_str(&b), b.len, &t, e);
	if (r < 0)
		return err_wrap(e, "--plan");
	schema = tree_text(t, "schema");
	*ret = (struct saved_plan){ .path = path,
				    .digest = tree_text(t, "digest"),
				    .verify = str_eq(tree_text(t, "verify"), "true"),
				    .prune = str_eq(tree_text(t, "prune"), "true"),
				    .tasks = tree_get(t, "tasks") };
	if (!str_eq(schema, SAVED_PLAN_SCHEMA) || !ret->digest || !ret->tasks ||
	    ret->tasks->kind != TREE_SEQ)
		return err_config(e,
				  "--plan: %s: this is not a plan of schema %s, as nodeup plan -o "
				  "json writes it",
				  path, SAVED_PLAN_SCHEMA);
	return 0;
}

static void add_text(struct digest_ctx *c, const char *text)
{
	/* with the NUL at its end, so that two texts never look like one */
	digest_update(c, text ? text : "", (text ? strlen(text) : 0) + 1);
}

const char *saved_plan_digest(struct arena *a, const struct session *s)
{
	autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);
	char hex[DIGEST_TEXT_MAX];
	struct digest d;

	add_text(c, cli_version());
	store_digest(s->boot.store, c);
	for (size_t i = 0; i < s->plan.n; i++) {
		const struct task *t = s->plan.tasks[i];

		add_text(c, t->ops->kind);
		add_text(c, t->name);
		if (t->ops->inputs && !(t->kind == TASK_FILE && t->file.issued))
			t->ops->inputs(t, c);
	}
	digest_final(c, &d);
	return arena_str(a, digest_hex(&d, hex));
}

/* Lists "file /etc/x: change: absent" for each task that is not right. */
static struct strv lines_of(struct arena *a, const struct tree *tasks)
{
	struct strv lines = { 0 };

	for (size_t i = 0; i < tasks->n; i++) {
		const struct tree *t = tasks->items[i].value;
		const char *state = tree_text(t, "state"), *kind = tree_text(t, "kind"),
			   *name = tree_text(t, "name"), *error = tree_text(t, "error"),
			   *why = tree_text(t, "why");

		if (state && kind && name && !str_eq(state, run_state_name(RUN_EQUAL)))
			strv_addf(a, &lines, "%s %s: %s: %s", kind, name, state,
				  error ? error
				  : why ? why
					: "");
	}
	return lines;
}

/* Notes the lines that only the first list has; returns their number. */
static size_t note_others(const struct strv *from, const struct strv *other, const char *label,
			  size_t named, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < from->n; i++) {
		if (strv_has(other, from->v[i]))
			continue;
		if (named + n++ < NAMED_MAX)
			err_note(e, label, "%s", from->v[i]);
	}
	return n;
}

static int check_machine(const struct saved_plan *p, struct session *s, struct err *e)
{
	struct run_report rep;
	struct strv now, then = lines_of(s->arena, p->tasks);
	int r = err_fail(e, ERR_REFUSED, 0,
			 "the machine is not as it was when %s was made: nothing was changed; make "
			 "the plan again",
			 p->path);
	size_t n;

	session_look(s, s->ctx.verify, &rep);
	now = lines_of(s->arena, saved_plan_tasks(s->arena, &rep));
	strv_sort(&now);
	strv_sort(&then);
	n = note_others(&then, &now, "planned", 0, e);
	n += note_others(&now, &then, "now", n, e);
	if (n > NAMED_MAX)
		err_note(e, "and", "%zu more", n - NAMED_MAX);
	return n ? r : 0;
}

int saved_plan_check(const struct saved_plan *p, struct session *s, bool asks_machine,
		     struct err *e)
{
	if (!str_eq(saved_plan_digest(s->arena, s), p->digest))
		return err_fail(e, ERR_REFUSED, 0,
				"the documents, the settings or nodeup are not those that %s was "
				"made of: nothing was changed; make the plan again",
				p->path);
	return asks_machine ? check_machine(p, s, e) : 0;
}
