/* bus_probe - units/ from a command line, so that tests can try it against a real systemd
 *
 *   bus_probe version | reload | get UNIT | enable UNIT | disable UNIT | reset UNIT
 *   bus_probe start|restart|stop UNIT     follow the job to its end, print each state once
 *   bus_probe tail UNIT N                 the journal's last lines
 *   bus_probe write MESSAGE               one journal entry with a field TEST=MESSAGE
 *   bus_probe quote ARG                   as an argument of ExecStart=
 *   bus_probe env KEY VALUE               as a line of an EnvironmentFile=
 *
 * Prints key=value lines; an error goes to stderr, with its exit status. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeup/base/mem.h"
#include "units/bus.h"
#include "units/journal.h"
#include "units/unit.h"

struct probe {
	struct bus *bus;
	struct arena *arena;
	char **args;
};

static int do_version(struct probe *p, struct err *e)
{
	const char *version;
	int r = bus_version(p->bus, p->arena, &version, e);

	if (r >= 0)
		printf("version=%s\n", version);
	return r;
}

static int do_reload(struct probe *p, struct err *e)
{
	return bus_reload(p->bus, e);
}

static int do_get(struct probe *p, struct err *e)
{
	struct bus_unit u;
	int r = bus_get_with_links(p->bus, p->arena, p->args[1], &u, e);

	if (r < 0)
		return r;
	printf("load=%s\nactive=%s\nsub=%s\nfile=%s\nresult=%s\ntype=%s\nfragment=%s\n",
	       u.load_state, u.active_state, u.sub_state, u.file_state, u.result, u.type,
	       u.fragment_path);
	printf("need_reload=%d\nexec_status=%d\nexec_code=%d\nmain_pid=%u\nn_restarts=%u\n",
	       u.need_reload, u.exec_status, u.exec_code, u.main_pid, u.n_restarts);
	printf("start_us=%llu\nactive_enter_us=%llu\n", (unsigned long long)u.start_us,
	       (unsigned long long)u.active_enter_us);
	for (size_t i = 0; u.after[i]; i++)
		printf("after=%s\n", u.after[i]);
	return 0;
}

/* Enable or disable, and what the manager says of it without a reload in between. */
static int do_enable(struct probe *p, struct err *e)
{
	bool on = strcmp(p->args[0], "enable") == 0, changed;
	struct bus_unit u;
	int r = bus_enable(p->bus, p->args[1], on, &changed, e);

	if (r >= 0)
		r = bus_get_with_links(p->bus, p->arena, p->args[1], &u, e);
	if (r >= 0)
		printf("changed=%d\nfile=%s\n", changed, u.file_state);
	return r;
}

static int do_reset(struct probe *p, struct err *e)
{
	return bus_reset_failed(p->bus, p->args[1], e);
}

static int do_job(struct probe *p, struct err *e)
{
	static const char *const names[] = { [BUS_JOB_RUNNING] = "running",
					     [BUS_JOB_WAITING] = "waiting",
					     [BUS_JOB_DONE] = "done",
					     [BUS_JOB_FAILED] = "failed" };
	enum bus_job_state state, last = BUS_JOB_FAILED;
	const char *result = "";
	uint32_t job;
	int polled = 0;
	int r = bus_job(p->bus, p->args[0], p->args[1], &job, e);

	while (r >= 0) {
		struct pollfd fd;

		state = bus_job_state(p->bus, job, &result);
		if (state != last || state == BUS_JOB_FAILED)
			printf("job=%s\n", names[state]);
		(void)fflush(stdout);
		last = state;
		if (state == BUS_JOB_DONE || state == BUS_JOB_FAILED)
			break;
		fd = (struct pollfd){ .fd = bus_fd(p->bus), .events = (short)bus_events(p->bus) };
		polled = poll(&fd, 1, 5000) == 0;
		r = bus_process(p->bus, e);
	}
	if (r >= 0)
		printf("polled=%d\nresult=%s\n", polled, result);
	return r;
}

static int do_tail(struct probe *p, struct err *e)
{
	struct strv lines;
	int r = journal_tail(p->arena, p->args[1], (size_t)strtoul(p->args[2], NULL, 10), 0, &lines,
			     e);

	for (size_t i = 0; r >= 0 && i < lines.n; i++)
		printf("line=%s\n", lines.v[i]);
	return r;
}

static int do_write(struct probe *p, struct err *e)
{
	const struct log_field field = { "TEST", p->args[1] };
	int r = journal_write(LOG_NOTICE, p->args[1], &field, 1);

	return r < 0 ? err_fail(e, ERR_SYSTEM, -r, "write to the journal") : 0;
}

static int do_quote(struct probe *p, struct err *e)
{
	(void)e;
	printf("%s\n", unit_quote(p->arena, p->args[1]));
	return 0;
}

static int do_env(struct probe *p, struct err *e)
{
	(void)e;
	fputs(unit_env_line(p->arena, p->args[1], p->args[2]), stdout);
	return 0;
}

static const struct command {
	const char *name;
	int nargs;
	bool bus;
	int (*run)(struct probe *p, struct err *e);
} commands[] = {
	{ "version", 0, true, do_version }, { "reload", 0, true, do_reload },
	{ "get", 1, true, do_get },         { "enable", 1, true, do_enable },
	{ "disable", 1, true, do_enable },  { "reset", 1, true, do_reset },
	{ "start", 1, true, do_job },       { "restart", 1, true, do_job },
	{ "stop", 1, true, do_job },        { "tail", 2, false, do_tail },
	{ "write", 1, false, do_write },    { "quote", 1, false, do_quote },
	{ "env", 2, false, do_env },
};

static int run(const struct command *c, struct probe *p, struct err *e)
{
	int r = c->bus ? bus_open(&p->bus, e) : 0;

	if (r >= 0)
		r = c->run(p, e);
	bus_close(p->bus);
	return r;
}

int main(int argc, char **argv)
{
	autoarena struct arena *a = arena_new_empty();
	struct probe p = { .arena = a, .args = argv + 1 };
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const struct command *c = &commands[i];

		if (argc != c->nargs + 2 || strcmp(argv[1], c->name) != 0)
			continue;
		if (run(c, &p, &e) >= 0)
			return 0;
		fprintf(stderr, "errno=%d\nerror=%s\n", e.errnum, e.msg);
		for (size_t n = 0; n < e.nnotes; n++)
			fprintf(stderr, "%s=%s\n", e.notes[n].label, e.notes[n].text);
		return err_exit_status(&e);
	}
	fputs("usage: bus_probe COMMAND [ARG...], see bus_probe.c\n", stderr);
	return 64;
}
