/* plan.c - what apply would do and why, without doing any of it */
#include "nodeup/cmd/plan.h"

#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/json.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/proc.h"
#include "nodeup/base/show.h"
#include "nodeup/config/specs.h"
#include "nodeup/documents/location.h"
#include "nodeup/run/report.h"
#include "nodeup/tasks/volume.h"

/* documents that do not come within this time are replaced by the persisted ones */
#define PATIENCE_NS (5 * DUR_SEC)

/* The schema's number grows when a reader of the one before would misread it. */
enum { DIFF_MAX = 4 << 20, EXIT_PENDING = 2, PLAN_SCHEMA = 1 };

static const char *state_word(const struct run_outcome *o)
{
	return o->state == RUN_CHANGED  ? "change"
	       : o->state == RUN_UNSURE ? "compare"
					: run_state_name(o->state);
}

/* A file in memory that `diff` can read by its /proc name. */
static int memory_file(const char *data, size_t n, char **ret_path, int *ret_fd, struct err *e)
{
	autoclose int fd = memfd_create("nodeup-diff", 0);
	int r;

	if (fd < 0)
		return err_sys(e, "create a file in memory");
	r = io_write_fd(fd, "memory", data, n, e);
	if (r < 0)
		return r;
	*ret_path = xasprintf("/proc/%d/fd/%d", (int)getpid(), fd);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* How long a flag of docker is at text whose value may hold a password; 0: there is none. */
static size_t secret_flag(const char *text)
{
	for (size_t i = 0; i < docker_schema.n; i++) {
		const struct field *f = &docker_schema.fields[i];
		autofree char *flag = f->secret && f->flag ? xasprintf("--%s=", f->flag) : NULL;

		if (flag && str_has_prefix(text, flag))
			return strlen(flag);
	}
	return 0;
}

/* A value goes to the next flag or the end of its line: it may have spaces in it. */
static void print_masked(const char *text)
{
	autobuf struct buf b = BUF_INIT(2 * DIFF_MAX);

	while (*text) {
		const size_t n = *text == '-' ? secret_flag(text) : 0;

		if (n == 0) {
			(void)buf_addc(&b, *text++);
			continue;
		}
		(void)buf_addf(&b, "%.*s(not shown)", (int)n, text);
		for (text += n; *text && *text != '\n' && !str_has_prefix(text, " --");)
			text++;
	}
	show_text(buf_str(&b), b.len);
}

static int show_diff(const struct session *s, const struct task_file *f, struct err *e)
{
	autobuf struct buf now = BUF_INIT(DIFF_MAX), out = BUF_INIT(DIFF_MAX);
	autofree char *now_path = NULL, *want_path = NULL, *label = NULL;
	autoclose int now_fd = -1, want_fd = -1;
	struct err ignored;
	int r;

	/* what cannot be read is shown as empty: it is absent, or replaced as a whole */
	if (io_read(s->root_fd, f->path, &now, &ignored) < 0)
		buf_done(&now);
	r = memory_file(buf_str(&now), now.len, &now_path, &now_fd, e);
	if (r < 0)
		return r;
	r = memory_file(f->content, f->len, &want_path, &want_fd, e);
	if (r < 0)
		return r;
	label = xasprintf("--label=%s", f->path);
	const char *const argv[] = { "diff", "-u", label, label, now_path, want_path, NULL };
	const struct proc_req req = { .argv = argv, .stdin_fd = -1, .timeout_ns = 10 * DUR_SEC };

	/* diff's exit status 1 says that there are differences, which is why it was called */
	if (proc_run(&req, &out, &ignored) < 0 && out.len == 0)
		return err_fail(e, ERR_SYSTEM, 0, "diff: %s", ignored.msg);
	print_masked(buf_str(&out));
	return 0;
}

/* The disks of a volume, and what is on each. */
static struct strv disk_lines(struct arena *a, struct session *s, const struct task *t)
{
	struct strv lines = { 0 };

	if (t->kind == TASK_VOLUME)
		volume_describe(t, &s->ctx, a, &lines);
	return lines;
}

static void print_disks(struct arena *a, struct session *s, const struct task *t)
{
	const struct strv lines = disk_lines(a, s, t);

	for (size_t i = 0; i < lines.n; i++)
		show_line(stdout, "           %s", lines.v[i]);
}

/* What is there may hold a secret though what is wanted holds none: a login that goes. */
static bool is_public(const struct session *s, const char *path)
{
	struct err ignored;
	struct stat st;

	return io_stat(s->root_fd, path, &st, &ignored) < 0 ||
	       (S_ISREG(st.st_mode) && (st.st_mode & S_IROTH));
}

static int print_file(const struct session *s, const struct task_file *f, struct err *e)
{
	if (f->unwanted)
		show_line(stdout, "           would be removed; what it holds is not shown");
	else if (f->secret)
		show_line(stdout, "           not shown: it may hold a password");
	else if (is_public(s, f->path))
		return show_diff(s, f, e);
	else
		show_line(stdout,
			  "           not shown: what is there is not for everybody to read");
	return 0;
}

static size_t to_change(const struct run_report *rep)
{
	return rep->counts[RUN_CHANGED] + rep->counts[RUN_FAILED] + rep->counts[RUN_SKIPPED];
}

/* Whether t would be done for the sake of something that cannot be compared without it. */
static bool is_to_compare(const struct run_report *rep, const struct task *t)
{
	for (size_t i = 0; i < t->n_serves; i++)
		if (rep->outcomes[t->serves[i]->index].state == RUN_UNSURE)
			return true;
	return false;
}

/* Which archives it takes to compare the rest. */
static void tell_unsure(struct arena *a, const struct run_report *rep)
{
	const size_t n = rep->counts[RUN_UNSURE];
	const char *names = NULL;
	bool fetched = false;

	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];
		const struct task *t = o->task;

		if (o->state != RUN_CHANGED || t->kind != TASK_UNPACK || !is_to_compare(rep, t))
			continue;
		names = arena_printf(a, "%s%s%s", names ? names : "", names ? ", " : "", t->name);
		for (size_t k = 0; k < t->n_needs; k++)
			fetched |= t->needs[k]->kind == TASK_ASSET &&
				   rep->outcomes[t->needs[k]->index].state == RUN_CHANGED;
	}
	if (names)
		show_line(stderr,
			  "%zu installed file%s can be compared only when these are %s again: %s",
			  n, n == 1 ? "" : "s", fetched ? "fetched and unpacked" : "unpacked",
			  names);
}

static int print_text(const struct cli *cli, struct session *s, const struct run_report *rep,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];
		const char *why = o->state == RUN_FAILED ? o->error->msg : report_why(o);
		int r = 0;

		show_line(stdout, "%-8s %s%s%s", state_word(o), task_title(a, o->task),
			  *why ? ": " : "", why);
		print_disks(a, s, o->task);
		if (cli->diff && o->state == RUN_CHANGED && o->task->kind == TASK_FILE)
			r = print_file(s, &o->task->file, e);
		if (r < 0)
			return r;
	}
	show_line(stdout, "%zu tasks, %zu to change%s", rep->n, to_change(rep),
		  rep->counts[RUN_UNSURE]
			  ? arena_printf(a, ", %zu to compare", rep->counts[RUN_UNSURE])
			  : "");
	return 0;
}

static void add_strings(struct arena *a, struct tree *list, const struct strv *texts)
{
	for (size_t i = 0; i < texts->n; i++)
		(void)tree_add(a, list, tree_string(a, texts->v[i]));
}

static void add_disks(struct session *s, const struct task *t, struct tree *task)
{
	const struct strv lines = disk_lines(s->arena, s, t);

	tree_set_some(s->arena, task, "disks", tree_of_strv(s->arena, &lines));
}

static struct tree *count_tree(struct arena *a, const struct run_report *rep)
{
	struct tree *t = tree_map(a);

	tree_set_int(a, t, "tasks", (int64_t)rep->n);
	tree_set_int(a, t, "change", (int64_t)to_change(rep));
	tree_set_int(a, t, "compare", (int64_t)rep->counts[RUN_UNSURE]);
	return t;
}

/* What the settings, the documents, the plan and the machine give reason to say. */
static struct tree *warning_tree(struct session *s)
{
	struct tree *list = tree_seq(s->arena);

	add_strings(s->arena, list, &s->remarks);
	add_strings(s->arena, list, &s->boot.warnings);
	add_strings(s->arena, list, &s->plan.warnings);
	add_strings(s->arena, list, &s->foreign);
	return list;
}

static int print_json(struct session *s, const struct run_report *rep, struct err *e)
{
	autobuf struct buf out = BUF_INIT(DIFF_MAX);
	struct tree *t = tree_map(s->arena), *tasks = report_tree(s->arena, rep);
	int r;

	for (size_t i = 0; i < rep->n; i++) {
		struct tree *task = tasks->items[i].value;

		(void)tree_set(s->arena, task, "state",
			       tree_string(s->arena, state_word(&rep->outcomes[i])));
		add_disks(s, rep->outcomes[i].task, task);
	}
	tree_set_int(s->arena, t, "schema", PLAN_SCHEMA);
	(void)tree_set(s->arena, t, "conf",
		       tree_string(s->arena, location_shown(s->arena, s->boot.conf)));
	(void)tree_set(s->arena, t, "counts", count_tree(s->arena, rep));
	(void)tree_set(s->arena, t, "warnings", warning_tree(s));
	(void)tree_set(s->arena, t, "causes", report_causes(s->arena, rep));
	(void)tree_set(s->arena, t, "tasks", tasks);
	r = json_render(t, true, &out, e);
	if (r < 0)
		return r;
	(void)buf_addc(&out, '\n');
	show_text(buf_str(&out), out.len);
	return 0;
}

static bool is_denied(const struct err *e)
{
	return e->kind == ERR_SYSTEM && (e->errnum == EACCES || e->errnum == EPERM);
}

/* An ordinary user is told in one line what cannot be read, why, and what to do. */
static int say_root(const struct err *why, struct err *e)
{
	const struct err cause = *why; /* may be *e */

	if (geteuid() == 0 || !is_denied(&cause))
		return err_code(e);
	return err_fail(e, ERR_USAGE, cause.errnum, "%s; run as root", cause.msg);
}

/* What we keep for ourselves is root's alone. Without it the plan of a node that is right would be wrong. */
static int may_look(const struct cli *cli, struct err *e)
{
	static const char *const own[] = { OWN_CONF, OWN_STATE, OWN_DOCUMENTS, OWN_BOOT };
	autoclose int root = -1;
	int r = geteuid() == 0 ? 0 : io_open_root(cli->root ? cli->root : "/", &root, e);

	for (size_t i = 0; root >= 0 && i < ARRAY_LEN(own); i++) {
		autoclose int fd = -1;
		struct err why;

		if (io_open_file(root, own[i], &fd, &why) < 0 && is_denied(&why))
			return say_root(&why, e);
	}
	return r;
}

/* Tasks that could not be compared are not a plan either, and one of them is enough to name. */
static int check_denied(const struct run_report *rep, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct run_outcome *first = NULL;
	size_t n = 0;

	for (size_t i = 0; geteuid() != 0 && i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];

		if (o->state != RUN_FAILED || !is_denied(o->error))
			continue;
		first = first ? first : o;
		n++;
	}
	if (!first)
		return 0;
	return err_fail(e, ERR_USAGE, first->error->errnum,
			"%zu of %zu tasks cannot be compared, first %s: %s; run as root", n, rep->n,
			task_title(a, first->task), first->error->msg);
}

static int show_plan(struct cli *cli, struct session *s, size_t *ret_pending, struct err *e)
{
	const struct session_req req = { .cli = cli, .patience_ns = PATIENCE_NS };
	struct run_report rep;
	struct run_req run;
	int r = may_look(cli, e);

	if (r == 0)
		r = session_open(s, &req, e);
	if (r < 0)
		return say_root(e, e);
	if (s->boot.replayed)
		show_line(stderr, "documents are the persisted ones, %s old",
			  dur_human(s->arena, s->boot.replay_age_ns));
	if (!s->starts_at_boot && !s->image_mode)
		show_line(stderr, "nothing starts nodeup at boot here; "
				  "nodeup apply --install-systemd-unit would see to that");
	run = session_run(s);
	run_plan(s->arena, &run, &rep);
	r = check_denied(&rep, e);
	if (r < 0)
		return r;
	*ret_pending = to_change(&rep) + rep.counts[RUN_UNSURE];
	tell_unsure(s->arena, &rep);
	return str_eq(cli->output, "json") ? print_json(s, &rep, e) : print_text(cli, s, &rep, e);
}

int plan_show(struct cli *cli, size_t *ret_pending, struct err *e)
{
	struct session s = { 0 };
	int r;

	if (cli->output && !str_eq(cli->output, "text") && !str_eq(cli->output, "json"))
		return err_fail(e, ERR_USAGE, 0, "-o: '%s' is neither text nor json", cli->output);
	r = show_plan(cli, &s, ret_pending, e);
	session_close(&s);
	return r;
}

int cmd_plan(struct cli *cli, struct err *e)
{
	size_t pending;
	int r = plan_show(cli, &pending, e);

	if (r < 0)
		return r;
	return pending ? EXIT_PENDING : 0;
}
