/* check.c - whether apply could run on this machine: every reason why not, at once and by name
 * Each check is a row of a table. The rows of the documents and of the plan tell how far a session could be opened.
 * apply and plan open the same session, so a check cannot judge differently. Nothing is changed, and the lock is not
 * taken. */
#include "nodeup/cmd/check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/aws/imds.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/show.h"
#include "nodeup/cmd/plan.h"
#include "nodeup/documents/location.h"
#include "nodeup/run/causes.h"
#include "nodeup/run/lock.h"
#include "units/bus.h"

/* nodeup was written after this time, so a clock before it cannot be right */
#define EARLIEST_NS (INT64_C(1735689600) * DUR_SEC)

enum { PORTS_MAX = 1 << 20, LISTENS = 0x0a };

static int look_at_root(struct checking *c, struct err *e)
{
	if (geteuid() == 0)
		return CHECK_RIGHT;
	(void)err_fail(e, ERR_USAGE, EPERM, "not root");
	err_note(e, "got", "uid %u", (unsigned)geteuid());
	err_note(e, "do",
		 "run it as root; as another user, files that others may not read are not checked");
	(void)c;
	return err_code(e);
}

static int look_at_lock(struct checking *c, struct err *e)
{
	if (c->s->policy.image_mode)
		return check_say(c, CHECK_SKIPPED, "a run on an image takes none");
	/* apply would wait, or be refused until that run ends, so this is only a remark */
	return lock_look(c->s->root_fd, e) < 0 ? CHECK_ODD : CHECK_RIGHT;
}

int check_clock(int64_t now_ns, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	if (now_ns >= EARLIEST_NS)
		return 0;
	(void)err_fail(e, ERR_SYSTEM, ETIME, "the clock says %s UTC", dur_date(a, now_ns));
	err_note(e, "want", "%s or later", dur_date(a, EARLIEST_NS));
	err_note(e, "do", "timedatectl set-ntp true; no certificate is valid by this clock");
	return err_code(e);
}

static int look_at_clock(struct checking *c, struct err *e)
{
	const int64_t now = dur_wall();

	if (check_clock(now, e) < 0)
		return err_code(e);
	return check_say(c, CHECK_RIGHT, "%s UTC", dur_date(c->cli->arena, now));
}

static int look_at_systemd(struct checking *c, struct err *e)
{
	struct bus *bus;
	const char *version;
	int r;

	if (c->s->policy.image_mode)
		return check_say(c, CHECK_SKIPPED, "an image has none that runs");
	r = bus_open(&bus, e);
	if (r < 0)
		return r;
	r = bus_version(bus, c->cli->arena, &version, e);
	bus_close(bus);
	return r < 0 ? r : check_say(c, CHECK_RIGHT, "%s", version);
}

static int look_at_metadata(struct checking *c, struct err *e)
{
	const char *id = NULL;
	struct facts f = { 0 };
	struct err ignored;
	struct imds *m;
	int r;

	if (c->s->policy.image_mode || c->cli->no_metadata || !c->s->http)
		return check_say(c, CHECK_SKIPPED, "not asked");
	if (probe_host(c->cli->arena, c->s->root_fd, true, &f, &ignored) < 0 || !f.instance_id)
		return check_say(c, CHECK_SKIPPED,
				 "not asked: the firmware names no instance of EC2");
	m = imds_new(c->s->http);
	r = imds_get(m, c->cli->arena, "meta-data/instance-id", &id, e);
	imds_free(m);
	if (r < 0)
		return r;
	if (str_eq(id, f.instance_id))
		return check_say(c, CHECK_RIGHT, "%s", id);
	(void)err_fail(e, ERR_CONFIG, 0, "the metadata service is another instance's");
	err_note(e, "want", "%s, as the firmware says", f.instance_id);
	err_note(e, "got", "%s", id);
	return err_code(e);
}

/* Answers for two rows. An error of the network belongs to the row of the store, any other to the row of the
 * documents. */
static int look_at_reading(struct checking *c, bool of_store, struct err *e)
{
	const bool lost = c->why.kind == ERR_NET;

	if (c->s->stage < SESSION_DOCUMENTS)
		return check_say(c, CHECK_SKIPPED, "not looked at: the settings cannot be read");
	if (c->s->stage == SESSION_DOCUMENTS && c->opened < 0) {
		*e = c->why;
		return lost == of_store ? c->opened
		       : lost           ? check_say(c, CHECK_SKIPPED,
						    "not read: the state store does not answer")
					: check_say(c, CHECK_RIGHT, "it answers");
	}
	return CHECK_RIGHT;
}

static int look_at_store(struct checking *c, struct err *e)
{
	int r = look_at_reading(c, true, e);

	if (r != CHECK_RIGHT || !c->s->boot.conf)
		return r;
	if (!c->s->boot.replayed || c->s->boot.set)
		return check_say(c, CHECK_RIGHT, "%s",
				 c->s->boot.set ? c->s->boot.set
						: location_shown(c->cli->arena, c->s->boot.conf));
	(void)err_fail(e, ERR_NET, 0, "it does not answer; documents are the kept ones, %s old",
		       dur_human(c->cli->arena, c->s->boot.replay_age_ns));
	return CHECK_ODD;
}

static int look_at_documents(struct checking *c, struct err *e)
{
	int r = look_at_reading(c, false, e);
	const size_t n = c->s->boot.warnings.n + c->s->boot.unknown.n;

	if (r != CHECK_RIGHT || !n)
		return r;
	return check_say(c, CHECK_RIGHT, "%zu warning%s: nodeup validate", n, n == 1 ? "" : "s");
}

/* Checks whether the session was opened beyond this stage. */
static int look_at_stage(struct checking *c, enum session_stage stage, struct err *e)
{
	if (c->opened >= 0 || c->s->stage > stage)
		return CHECK_RIGHT;
	if (c->s->stage < stage)
		return check_say(c, CHECK_SKIPPED, "not looked at: what goes before failed");
	*e = c->why;
	return c->opened;
}

static int look_at_host(struct checking *c, struct err *e)
{
	const struct runtime *runtime = &c->s->boot.runtime;
	int r = look_at_stage(c, SESSION_HOST, e);

	if (r != CHECK_RIGHT)
		return r;
	return check_say(c, CHECK_RIGHT, "%s%s%s",
			 runtime->unit ? runtime->unit : "no runtime installed yet",
			 runtime->version ? " " : "", runtime->version ? runtime->version : "");
}

static int look_at_volumes(struct checking *c, struct err *e)
{
	int r = look_at_stage(c, SESSION_VOLUMES, e);

	return r == CHECK_RIGHT && c->opened >= 0 ? session_preflight(c->s, e) : r;
}

/* Returns whether the task cannot be done for a cause that no other row reports. Other rows report systemd, volumes
 * and the network. */
static bool is_of_plan(const struct checking *c, const struct run_outcome *o)
{
	const struct task_ctx *ctx = &c->s->ctx;
	const bool has_manager = ctx->bus || ctx->image_mode;

	return o->state == RUN_FAILED && !causes_may_fail(o) && !o->task->ops->is_preflight &&
	       o->error->kind != ERR_NET && (has_manager || !o->task->ops->on_main);
}

static int look_at_plan(struct checking *c, struct err *e)
{
	int r = look_at_stage(c, SESSION_PLAN, e);

	if (r == CHECK_RIGHT)
		r = look_at_stage(c, SESSION_CACHE, e);
	if (r != CHECK_RIGHT || c->opened < 0)
		return r;
	for (size_t i = 0; i < c->rep.n; i++)
		if (is_of_plan(c, &c->rep.outcomes[i])) {
			struct run_report rep = c->rep;

			rep.first_failed = i;
			*e = *rep.outcomes[i].error;
			return causes_tell(&rep, e);
		}
	return check_say(c, CHECK_RIGHT, "%zu of %zu tasks are to be done",
			 c->rep.counts[RUN_CHANGED], c->rep.n);
}

/* Looks at kernel settings that other files override, or that the kernel lacks. */
static int look_at_kernel(struct checking *c, struct err *e)
{
	if (c->opened < 0)
		return check_say(c, CHECK_SKIPPED, "not looked at: what goes before failed");
	for (size_t i = 0; i < c->rep.n; i++) {
		const struct run_outcome *o = &c->rep.outcomes[i];

		if (o->task->kind != TASK_SYSCTL || !o->diff.left)
			continue;
		(void)err_fail(e, ERR_SYSTEM, 0, "%s", o->diff.why);
		return CHECK_ODD;
	}
	return CHECK_RIGHT;
}

/* Returns whether a process listens on the port, by a table of /proc/net; *ret_uid is its user. */
static bool is_listening(const char *table, unsigned int port, unsigned int *ret_uid)
{
	unsigned int at, state;

	for (const char *line = strchr(table, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
		if (sscanf(line + 1, " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %u",
			   &at, &state, ret_uid) == 3 &&
		    state == LISTENS && at == port)
			return true;
	return false;
}

static int refuse_port(unsigned int port, unsigned int uid, struct err *e)
{
	(void)err_fail(
		e, ERR_BUSY, EADDRINUSE,
		"port %u, which kubelet listens on, is taken, and kubelet.service does not run",
		port);
	err_note(e, "got", "a process of uid %u", uid);
	err_note(e, "do", "ss -ltnp 'sport = :%u' names it; stop it", port);
	return err_code(e);
}

/* Returns whether kubelet runs or is about to run. A kubelet that runs may itself listen on the ports. */
static bool has_kubelet(struct session *s)
{
	struct bus_unit u;
	struct err ignored;

	return s->ctx.bus && bus_get(s->ctx.bus, s->arena, "kubelet.service", &u, &ignored) == 0 &&
	       bus_unit_is_at_work(&u);
}

static int look_at_ports(struct checking *c, struct err *e)
{
	static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	/* kubelet's ports, not those of its pods: pods run without kubelet too */
	static const unsigned int ports[] = { 10250, 10255, 10248 };

	if (c->s->policy.image_mode || c->opened < 0)
		return check_say(c, CHECK_SKIPPED, "not looked at");
	if (has_kubelet(c->s))
		return CHECK_RIGHT;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
		const char *table = io_text(c->s->arena, c->s->root_fd, tables[t], PORTS_MAX);
		unsigned int uid;

		/* if the kernel does not show its table, no port is refused */
		for (size_t i = 0; table && i < ARRAY_LEN(ports); i++)
			if (is_listening(table, ports[i], &uid))
				return refuse_port(ports[i], uid, e);
	}
	return CHECK_RIGHT;
}

/* The use that apply makes of a check before a change. A check of faults that may pass by themselves only warns. */
enum in_apply { NOT_MADE, WARNS, REFUSES };

static const struct check {
	const char *name;
	int (*look)(struct checking *c, struct err *e);
	enum in_apply in_apply;
} checks[] = {
	{ "root", look_at_root, REFUSES },        { "files", check_writable, REFUSES },
	{ "lock", look_at_lock, NOT_MADE },       { "clock", look_at_clock, WARNS },
	{ "systemd", look_at_systemd, NOT_MADE }, { "metadata", look_at_metadata, NOT_MADE },
	{ "store", look_at_store, NOT_MADE },     { "documents", look_at_documents, NOT_MADE },
	{ "host", look_at_host, NOT_MADE },       { "volumes", look_at_volumes, NOT_MADE },
	{ "plan", look_at_plan, NOT_MADE },       { "kernel", look_at_kernel, NOT_MADE },
	{ "names", check_names, NOT_MADE },       { "assets", check_mirrors, NOT_MADE },
	{ "room", check_space, REFUSES },         { "ports", look_at_ports, WARNS },
};

int check_ignored(const struct cli *cli, bool all, struct strv *ret, struct err *e)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (all || checks[i].in_apply != NOT_MADE)
			strv_add(cli->arena, &names, checks[i].name);
	for (size_t i = 0; i < cli->ignore.n; i++) {
		const struct strv words = strv_split(cli->arena, cli->ignore.v[i], ',');

		for (size_t k = 0; k < words.n; k++) {
			if (!strv_has(&names, words.v[k]))
				return err_fail(e, ERR_USAGE, 0, "--ignore: %s '%s'; %s",
						all ? "there is no check" : "apply makes no check",
						words.v[k],
						cli_meant(cli->arena, words.v[k], &names,
							  strv_join(cli->arena, &names, ", ")));
			strv_add(cli->arena, ret, words.v[k]);
		}
	}
	return 0;
}

/* Adds this run's own findings: with --verify a run finds more than a plan. */
static void add_found(struct run_report *rep, const struct run_report *found)
{
	for (size_t i = 0; i < rep->n; i++)
		if (found->outcomes[i].state == RUN_READY && found->outcomes[i].diff.why[0])
			rep->outcomes[i].state = RUN_CHANGED;
}

int check_before_change(const struct cli *cli, struct session *s, const struct run_report *rep,
			struct err *e)
{
	/* an arena for this walk alone: its findings are as large as a run's report, and useless afterwards */
	autoarena struct arena *a = arena_new_empty();
	struct session look = *s;
	struct checking c = { .cli = cli, .s = &look, .before_change = true };
	struct strv ignored = { 0 };
	int r = check_ignored(cli, false, &ignored, e);

	look.arena = a;
	session_look(&look, false, &c.rep);
	if (rep)
		add_found(&c.rep, rep);
	for (size_t i = 0; r >= 0 && i < ARRAY_LEN(checks); i++) {
		struct err why = { 0 };

		if (checks[i].in_apply == NOT_MADE || (!rep && checks[i].in_apply == WARNS) ||
		    strv_has(&ignored, checks[i].name) || checks[i].look(&c, &why) >= 0)
			continue;
		if (checks[i].in_apply == WARNS) {
			/* the last note of an error is the advice */
			log_warning("%s; %s", why.msg,
				    why.nnotes ? why.notes[why.nnotes - 1].text : "nodeup check");
			continue;
		}
		err_note(&why, "or", "--ignore=%s", checks[i].name);
		*e = why;
		r = err_code(e);
	}
	return r < 0 ? r : 0;
}

static const char *const result_names[] = {
	[CHECK_RIGHT] = "ok",
	[CHECK_ODD] = "odd",
	[CHECK_SKIPPED] = "skipped",
	[CHECK_FAILED] = "failed",
};

/* Returns one answer as a tree, for JSON and text. */
static struct tree *tree_of(struct arena *a, const char *name, enum check_result result,
			    bool ignored, const char *said, const struct err *e)
{
	struct tree *t = tree_map(a), *notes = tree_map(a);

	tree_set_text(a, t, "name", name);
	tree_set_text(a, t, "result", result_names[result]);
	tree_set_true(a, t, "ignored", ignored);
	if (result != CHECK_FAILED && result != CHECK_ODD) {
		tree_set_text(a, t, "text", *said ? said : NULL);
		return t;
	}
	tree_set_text(a, t, "text", e->msg);
	for (size_t i = 0; i < e->nnotes; i++)
		tree_set_text(a, notes, e->notes[i].label, e->notes[i].text);
	tree_set_some(a, t, "notes", notes);
	return t;
}

static void print_check(const struct tree *t)
{
	const char *text = tree_text(t, "text"),
		   *ignored = tree_get(t, "ignored") ? "(ignored) " : "";
	const struct tree *notes = tree_get(t, "notes");

	if (text)
		show_line(stdout, "%-8s %-10s %s%s", tree_text(t, "result"), tree_text(t, "name"),
			  ignored, text);
	else
		show_line(stdout, "%-8s %s", tree_text(t, "result"), tree_text(t, "name"));
	for (size_t i = 0; notes && i < notes->n; i++)
		show_line(stdout, "%20s%-9s %s", "", notes->items[i].key,
			  notes->items[i].value->scalar);
}

static int print_all(const struct cli *cli, struct tree *list, size_t failed, struct err *e)
{
	struct tree *t = tree_map(cli->arena);

	if (str_eq(cli->output, "json")) {
		tree_set_int(cli->arena, t, "schema", 1);
		tree_set_int(cli->arena, t, "failed", (int64_t)failed);
		return show_json(tree_set(cli->arena, t, "checks", list), e);
	}
	for (size_t i = 0; i < list->n; i++)
		print_check(list->items[i].value);
	if (failed)
		show_line(stdout, "%zu of %zu checks failed: apply would not succeed now", failed,
			  list->n);
	else
		show_line(stdout, "nothing speaks against apply");
	return 0;
}

static void open_all(struct checking *c)
{
	const struct session_req req = { .cli = c->cli,
					 .mode = MODE_CHECK,
					 .patience_ns = SESSION_LOOK_NS };

	c->opened = session_open(c->s, &req, &c->why);
	if (c->opened < 0)
		return;
	session_look(c->s, c->s->ctx.verify, &c->rep);
	check_ask(c);
}

int cmd_check(struct cli *cli, struct err *e)
{
	struct session s = { 0 };
	struct checking c = { .cli = cli, .s = &s };
	struct tree *list = tree_seq(cli->arena);
	struct strv ignored = { 0 };
	struct err first = { 0 };
	size_t failed = 0;
	int r = check_ignored(cli, true, &ignored, e);

	if (r < 0)
		return r;
	open_all(&c);
	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		const bool counts = !strv_has(&ignored, checks[i].name);
		struct err why = { 0 };

		c.said[0] = '\0';
		r = checks[i].look(&c, &why);
		if (r < 0 && counts && failed++ == 0)
			first = why;
		(void)tree_add(cli->arena, list,
			       tree_of(cli->arena, checks[i].name,
				       r < 0 ? CHECK_FAILED : (enum check_result)r,
				       r < 0 && !counts, c.said, &why));
	}
	session_close(&s);
	r = print_all(cli, list, failed, e);
	return r < 0 ? r : failed ? err_exit_status(&first) : 0;
}
