/* plan.c - shows what apply would do and why, and changes nothing */
#include "nodeup/cmd/plan.h"

#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "manifests/pod.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/proc.h"
#include "nodeup/base/show.h"
#include "nodeup/cmd/saved_plan.h"
#include "nodeup/documents/location.h"
#include "nodeup/host/disruption.h"
#include "nodeup/run/footer.h"
#include "nodeup/run/report.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/volume.h"

enum { DIFF_MAX = 4 << 20 };

#define INDENT "    " /* for lines that belong to the line above them */

static void print_signed(bool colours, const char *indent, char sign, const char *text)
{
	static const struct {
		char sign;
		const char *code;
	} codes[] = { { '+', "32" }, { '~', "33" }, { '-', "31" }, { '!', "1;31" } };
	const char *code = NULL;

	for (size_t i = 0; colours && i < ARRAY_LEN(codes); i++)
		if (codes[i].sign == sign)
			code = codes[i].code;
	show_signed(stdout, indent, code, sign, text);
}

/* Makes a file in memory that `diff` can read by its /proc name. */
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

static void print_masked(const char *text)
{
	autobuf struct buf b = BUF_INIT(2 * DIFF_MAX);

	cmd_plan_mask(&b, text);
	show_text(buf_str(&b), b.len);
}

/* Reads the present file, or the earlier documents' text for it; false: it cannot be read. */
static bool read_now(const struct session *s, const struct task *t, struct buf *now)
{
	const struct task *was = baseline_of(t, &s->ctx);
	struct err ignored;

	if (s->ctx.baseline)
		return was && buf_add(now, was->file.content, was->file.len) == 0;
	return io_read(s->root_fd, t->name, now, &ignored) >= 0;
}

static int show_diff(const struct session *s, const struct task *t, struct err *e)
{
	const struct task_file *f = &t->file;
	autobuf struct buf now = BUF_INIT(DIFF_MAX), out = BUF_INIT(DIFF_MAX);
	autofree char *now_path = NULL, *want_path = NULL, *label = NULL;
	autoclose int now_fd = -1, want_fd = -1;
	struct err ignored;
	int r;

	/* a file that cannot be read is shown as empty: it is missing, or replaced as a whole */
	if (!read_now(s, t, &now))
		buf_done(&now);
	r = memory_file(buf_str(&now), now.len, &now_path, &now_fd, e);
	if (r < 0)
		return r;
	r = memory_file(f->content, f->len, &want_path, &want_fd, e);
	if (r < 0)
		return r;
	label = xasprintf("--label=%s", t->name);
	const char *const argv[] = { "diff", "-u", label, label, now_path, want_path, NULL };
	const struct proc_req req = { .argv = argv, .stdin_fd = -1, .timeout_ns = 10 * DUR_SEC };

	/* diff's exit status 1 means that there are differences, as expected */
	if (proc_run(&req, &out, &ignored) < 0 && out.len == 0)
		return err_fail(e, ERR_SYSTEM, 0, "diff: %s", ignored.msg);
	print_masked(buf_str(&out));
	return 0;
}

/* Describes the disks of a volume and their contents. */
static struct strv disk_lines(struct arena *a, struct session *s, const struct task *t)
{
	struct strv lines = { 0 };

	if (t->kind == TASK_VOLUME && !s->ctx.baseline)
		volume_describe(t, &s->ctx, a, &lines);
	return lines;
}

static void print_disks(struct arena *a, struct session *s, const struct task *t)
{
	const struct strv lines = disk_lines(a, s, t);

	for (size_t i = 0; i < lines.n; i++)
		show_line(stdout, INDENT "%s", lines.v[i]);
}

/* Returns whether both texts may be shown. The present file may hold a secret that the wanted one lacks, such as a
 * login that is removed. */
static bool is_public(const struct session *s, const struct task *t)
{
	const struct task *was = baseline_of(t, &s->ctx);
	struct err ignored;
	struct stat st;

	if (s->ctx.baseline)
		return !was || (!was->file.secret && (was->file.attr.mode & S_IROTH));
	return io_stat(s->root_fd, t->name, &st, &ignored) < 0 ||
	       (S_ISREG(st.st_mode) && (st.st_mode & S_IROTH));
}

/* Prints the differing flags: in two long lines they are hard to find. */
static void print_flags(struct arena *a, const struct session *s, const struct task *t,
			bool colours)
{
	autobuf struct buf now = BUF_INIT(DIFF_MAX);
	const struct task_file *f = &t->file;
	struct strv lines;

	if (f->unwanted || f->secret || f->unmade || !is_public(s, t) || !read_now(s, t, &now))
		return;
	lines = cmd_plan_flags(a, buf_str(&now), arena_strn(a, f->content, f->len));
	for (size_t i = 0; i < lines.n; i++)
		print_signed(colours, INDENT, *lines.v[i], lines.v[i] + 1);
}

static int print_file(const struct session *s, const struct task *t, struct err *e)
{
	if (t->file.unwanted)
		show_line(stdout, INDENT "would be removed; what it holds is not shown");
	else if (t->file.secret)
		show_line(stdout, INDENT "not shown: it may hold a password");
	else if (t->file.unmade)
		show_line(stdout, INDENT "not shown: it is not made yet");
	else if (is_public(s, t))
		return show_diff(s, t, e);
	else
		show_line(stdout, INDENT "not shown: what is there is not for everybody to read");
	return 0;
}

static size_t to_change(const struct run_report *rep)
{
	return rep->counts[RUN_CHANGED] + rep->counts[RUN_FAILED] + rep->counts[RUN_SKIPPED];
}

/* Returns whether t would be done only so that another object can be compared. */
static bool is_to_compare(const struct run_report *rep, const struct task *t)
{
	for (size_t i = 0; i < t->n_serves; i++)
		if (rep->outcomes[t->serves[i]->index].state == RUN_UNSURE)
			return true;
	return false;
}

/* Names the archives that are needed to compare the remaining tasks. */
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

/* Returns the sign for how a task's object would change. */
static char sign_of(const struct run_outcome *o)
{
	const struct task *t = o->task;

	if (o->state == RUN_FAILED || o->state == RUN_SKIPPED)
		return '!';
	if (o->diff.removes)
		return '-';
	if (o->diff.left && o->state != RUN_CHANGED)
		return '!';
	if (o->state == RUN_UNSURE)
		return '?';
	if (o->state != RUN_CHANGED)
		return '=';
	if ((t->kind == TASK_FILE && t->file.unwanted) || t->ops == &task_unit_off_ops)
		return '-';
	return o->diff.missing ? '+' : '~';
}

static const char *reason_of(const struct run_outcome *o)
{
	return o->state == RUN_FAILED ? o->error->msg : report_why(o);
}

const char *cmd_plan_found(struct arena *a, const struct run_outcome *o)
{
	static const char *const words[RUN_STATE_MAX] = {
		[RUN_EQUAL] = "right",
		[RUN_CHANGED] = "differs",
		[RUN_UNSURE] = "not compared",
		[RUN_FAILED] = "cannot be looked at",
		[RUN_SKIPPED] = "not looked at: what it needs cannot be",
	};
	const char *why = reason_of(o);

	return arena_printf(a, "%s%s%s", words[o->state], *why ? ": " : "", why);
}

static char *line_of(struct arena *a, const struct run_outcome *o)
{
	const char *why = reason_of(o), *title = task_title(a, o->task);

	if (o->state == RUN_SKIPPED)
		return arena_printf(a, " %s: skipped: %s cannot be done", title,
				    o->because ? task_title(a, o->because) : "what it needs");
	return arena_printf(a, " %s%s%s", title, *why ? ": " : "", why);
}

static int print_task(const struct cli *cli, struct arena *a, struct session *s,
		      const struct run_outcome *o, bool colours, struct err *e)
{
	const bool is_file = o->state == RUN_CHANGED && o->task->kind == TASK_FILE;

	print_signed(colours, "", sign_of(o), line_of(a, o));
	print_disks(a, s, o->task);
	if (is_file)
		print_flags(a, s, o->task, colours);
	return is_file && cli->diff ? print_file(s, o->task, e) : 0;
}

/* Lists running units that would be restarted, and the clients that end with them. */
static struct strv restarts(struct arena *a, const struct run_report *rep)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];

		if (o->state == RUN_CHANGED && o->diff.restarts)
			strv_add(a, &names, o->task->name);
	}
	for (size_t i = 0; i < rep->n; i++) {
		const struct task *t = rep->outcomes[i].task;

		if (t->kind == TASK_UNIT && t->unit.client_of &&
		    rep->outcomes[i].state == RUN_EQUAL && strv_has(&names, t->unit.client_of))
			strv_add(a, &names, t->name);
	}
	return names;
}

/* Returns what a unit's restart does to pods. If documents are compared without a machine, returns the usual effect. */
static struct disruption disruption_by(struct arena *a, const struct session *s, const char *unit)
{
	struct bus_unit u = { 0 };
	struct err ignored;

	if (s->ctx.baseline)
		return (struct disruption){ .stop = str_eq(unit, "docker.service") };
	if (s->ctx.bus && bus_get(s->ctx.bus, a, unit, &u, &ignored) < 0)
		u.main_pid = 0;
	return disruption_of(a, s->root_fd, unit, u.main_pid);
}

/* Words what happens to the pods during the restarts. */
static const char *text_of_disruption(struct arena *a, const struct session *s,
				      const struct run_report *rep, const struct strv *names)
{
	for (size_t i = 0; i < names->n; i++) {
		const struct disruption f = disruption_by(a, s, names->v[i]);

		if (f.stop)
			return disruption_text(a, &f);
	}
	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];

		if (o->state != RUN_CHANGED)
			continue;
		if (o->task->kind == TASK_STOP)
			return "pods stop while content is moved";
		if (o->task->kind == TASK_FILE && str_has_prefix(o->task->name, POD_MANIFESTS "/"))
			return "pods stay, but those whose manifests change";
	}
	return "pods stay";
}

static void print_end(struct arena *a, const struct session *s, const struct run_report *rep)
{
	const size_t n = to_change(rep), unsure = rep->counts[RUN_UNSURE];
	const struct strv names = restarts(a, rep);

	if (n + unsure == 0)
		show_line(stdout, "No changes. %zu tasks, 0 to change", rep->n);
	else
		show_line(stdout, "%zu tasks, %zu to change%s, %zu right", rep->n, n,
			  unsure ? arena_printf(a, ", %zu to compare", unsure) : "",
			  rep->n - n - unsure);
	if (names.n)
		show_line(stdout, "restarts: %s; %s", strv_join(a, &names, ", "),
			  text_of_disruption(a, s, rep, &names));
}

static int print_text(const struct cli *cli, struct session *s, const struct run_report *rep,
		      const struct plan_before *before, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const bool colours = footer_has_colours(STDOUT_FILENO);
	int r = 0;

	for (enum task_group g = 0; g < TASK_GROUP_MAX; g++) {
		bool named = false;

		for (size_t i = 0; r == 0 && i < rep->n; i++) {
			const struct run_outcome *o = &rep->outcomes[i];

			if (task_kinds[o->task->kind].group != g ||
			    (sign_of(o) == '=' && !cli->all))
				continue;
			if (!named)
				show_line(stdout, "%s:", task_group_names[g]);
			named = true;
			r = print_task(cli, a, s, o, colours, e);
		}
	}
	if (r == 0 && before && before->left.n)
		show_line(stdout, "left as they are, though the documents no longer name them:");
	for (size_t i = 0; r == 0 && before && i < before->left.n; i++)
		print_signed(colours, "", '=', arena_printf(a, " %s", before->left.v[i]));
	if (r == 0)
		print_end(a, s, rep);
	return r;
}

static struct tree *count_tree(struct arena *a, const struct run_report *rep)
{
	struct tree *t = tree_map(a);

	tree_set_int(a, t, "tasks", (int64_t)rep->n);
	tree_set_int(a, t, "change", (int64_t)to_change(rep));
	tree_set_int(a, t, "compare", (int64_t)rep->counts[RUN_UNSURE]);
	return t;
}

/* Returns warnings of the settings, the documents, the plan and the machine. */
static struct tree *warning_tree(struct session *s)
{
	const struct strv boot = bootstrap_warnings(s->arena, &s->boot);
	struct strv all = { 0 };

	strv_add_all(s->arena, &all, &s->remarks);
	strv_add_all(s->arena, &all, &boot);
	strv_add_all(s->arena, &all, &s->plan.warnings);
	strv_add_all(s->arena, &all, &s->foreign);
	return tree_of_strv(s->arena, &all);
}

static int print_json(struct session *s, const struct run_report *rep,
		      const struct plan_before *before, struct err *e)
{
	struct tree *t = tree_map(s->arena), *tasks = saved_plan_tasks(s->arena, rep);
	const struct strv units = restarts(s->arena, rep);

	for (size_t i = 0; i < rep->n; i++) {
		const struct strv disks = disk_lines(s->arena, s, rep->outcomes[i].task);

		tree_set_some(s->arena, tasks->items[i].value, "disks",
			      tree_of_strv(s->arena, &disks));
	}
	(void)tree_set(s->arena, t, "schema", tree_plain(s->arena, SAVED_PLAN_SCHEMA));
	tree_set_text(s->arena, t, "conf", location_shown(s->arena, s->boot.conf));
	(void)tree_set(s->arena, t, "host", facts_host(s->arena, &s->boot.facts));
	vintage_note(s->arena, &s->boot.documents.vintage, t);
	/* a comparison of documents alone cannot be applied */
	if (!before)
		tree_set_text(s->arena, t, "digest", saved_plan_digest(s->arena, s));
	tree_set_true(s->arena, t, "verify", s->ctx.verify);
	tree_set_true(s->arena, t, "prune", s->ctx.prune);
	(void)tree_set(s->arena, t, "counts", count_tree(s->arena, rep));
	(void)tree_set(s->arena, t, "warnings", warning_tree(s));
	tree_set_some(s->arena, t, "remarks", tree_of_strv(s->arena, &s->plan.remarks));
	(void)tree_set(s->arena, t, "causes", report_causes(s->arena, rep));
	tree_set_some(s->arena, t, "restarts", tree_of_strv(s->arena, &units));
	if (before) {
		tree_set_text(s->arena, t, "before", before->conf);
		tree_set_some(s->arena, t, "left", tree_of_strv(s->arena, &before->left));
	}
	(void)tree_set(s->arena, t, "tasks", tasks);
	return show_json(t, e);
}

static bool is_denied(const struct err *e)
{
	return e->kind == ERR_SYSTEM && (e->errnum == EACCES || e->errnum == EPERM);
}

/* Tells an ordinary user in one line what cannot be read, why, and what to do. */
int cmd_plan_say_root(const struct err *why, struct err *e)
{
	const struct err cause = *why; /* `why` may point to *e itself */

	if (geteuid() == 0 || !is_denied(&cause))
		return err_code(e);
	return err_fail(e, ERR_USAGE, cause.errnum, "%s; run as root", cause.msg);
}

/* Only root can read our records, and without them a right node would seem wrong. */
int cmd_plan_may_look(const struct cli *cli, struct err *e)
{
	static const char *const own[] = { OWN_CONF, OWN_STATE, OWN_DOCUMENTS, OWN_BOOT };
	autoclose int root = -1;
	int r = geteuid() == 0 ? 0 : io_open_root(cli->root ? cli->root : "/", &root, e);

	for (size_t i = 0; root >= 0 && i < ARRAY_LEN(own); i++) {
		autoclose int fd = -1;
		struct err why;

		if (io_open_file(root, own[i], &fd, &why) < 0 && is_denied(&why))
			return cmd_plan_say_root(&why, e);
	}
	return r;
}

/* A plan with tasks that could not be compared is no plan; naming one of them is enough. */
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

int cmd_plan_walk(struct cli *cli, struct session *s, const struct plan_before *before,
		  struct err *e)
{
	const struct vintage *vintage = &s->boot.documents.vintage;
	struct run_report rep;
	int r;

	session_look(s, s->ctx.verify, &rep);
	r = check_denied(&rep, e);
	if (r < 0)
		return r;
	if (!before)
		show_line(stderr, "the host is %s",
			  facts_host_text(s->arena, facts_host(s->arena, &s->boot.facts)));
	if (!before && vintage->newest)
		show_line(stderr, "documents are of %s", vintage_title(s->arena, vintage));
	for (size_t i = 0; !before && i < s->plan.remarks.n; i++)
		show_line(stderr, "%s", s->plan.remarks.v[i]);
	tell_unsure(s->arena, &rep);
	r = str_eq(cli->output, "json") ? print_json(s, &rep, before, e)
					: print_text(cli, s, &rep, before, e);
	if (r < 0)
		return r;
	return to_change(&rep) + rep.counts[RUN_UNSURE] ? PLAN_PENDING : 0;
}

static int show_plan(struct cli *cli, struct session *s, struct err *e)
{
	const struct session_req req = { .cli = cli, .patience_ns = SESSION_LOOK_NS };
	int r = cmd_plan_may_look(cli, e);

	if (r == 0)
		r = session_open(s, &req, e);
	if (r < 0)
		return cmd_plan_say_root(e, e);
	if (s->boot.replayed && !s->boot.set)
		show_line(stderr, "documents are the persisted ones, %s old",
			  dur_human(s->arena, s->boot.replay_age_ns));
	if (!s->starts_at_boot && !s->policy.image_mode)
		show_line(stderr, "nothing starts nodeup at boot here; "
				  "nodeup apply --install-systemd-unit would see to that");
	return cmd_plan_walk(cli, s, NULL, e);
}

int cmd_plan(struct cli *cli, struct err *e)
{
	struct session s = { 0 };
	int r = show_plan(cli, &s, e);

	session_close(&s);
	return r;
}
