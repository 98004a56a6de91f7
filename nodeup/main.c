/* main.c - argv to commands[] to exit status by the error's kind; the only printer of fatal errors
 * Circle with cmd/completion.c, cmd/help.c: both are rows of the table of commands, and show that table.
 * Tests: test_cli.py. */
#include "nodeup/cmd/cli.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/unpack/child.h"
#include "nodeup/base/log.h"
#include "nodeup/cmd/boot.h"
#include "nodeup/cmd/ending.h"
#include "nodeup/cmd/session.h"
#include "nodeup/run/report.h"

enum { BUFFERS_LEAST = 192 * 1024 };

/* clang-format off */
const struct cli_command cli_commands[] = {
	{ "apply",    CMD_APPLY,    cmd_apply,    "",        "converge this machine; any flag without a command means it", 0 },
	{ "plan",     CMD_PLAN,     cmd_plan,     "",        "what apply would do and why; exit 2 when changes are pending", 0 },
	{ "why",      CMD_WHY,      cmd_why,      "PATH|UNIT|ASSET", "what asks for one thing on this node, who changed it last, and is it right; exit 2 when it is not", 1 },
	{ "diff",     CMD_DIFF,     cmd_diff,     "OLD NEW", "what documents NEW would change on a node of documents OLD, from both alone; exit 2 when they do", 2 },
	{ "check",    CMD_CHECK,    cmd_check,    "",        "whether apply can run here, all reasons at once: nothing is changed", 0 },
	{ "repair",   CMD_REPAIR,   cmd_repair,   "",        "apply, but trust nothing: hash every cached and installed byte again", 0 },
	{ "bake",     CMD_BAKE,     cmd_bake,     "",        "fill the cache with what documents name, for an image of the machine", 0 },
	{ "validate", CMD_VALIDATE, cmd_validate, "",        "check the documents alone", 0 },
	{ "example",  CMD_EXAMPLE,  cmd_example,  "ROLE [DOCUMENT]", "a document of a worker or control-plane to begin with: kube_env, cluster or instancegroup", 2, example_roles },
	{ "status",   CMD_STATUS,   cmd_status,   "",        "is this node ready; if not, why, and what to do", 0 },
	{ "timeline", CMD_TIMELINE, cmd_timeline, "[RUN]",   "where the time of a boot, or of an earlier run, went; and what took longer than before", 1, timeline_runs },
	{ "collect-logs", CMD_COLLECT_LOGS, cmd_collect_logs, "", "one archive for a report: status, runs, documents and journals, without secrets", 0 },
	{ "guard",    CMD_GUARD,    cmd_guard,    "",        "whether the node is as its last run left it, from kept documents and this machine alone; exit 2 when it is not", 0 },
	{ "userdata", CMD_USERDATA, cmd_userdata, "",        "render the user-data script of a node", 0 },
	{ "uninstall", CMD_UNINSTALL, cmd_uninstall, "",      "remove the units that nodeup wrote, so that others of their names count again", 0 },
	{ "completion", CMD_COMPLETION, cmd_completion, "SHELL", "what bash, zsh or fish completes on the command line, from the tables", 1, completion_shells, .is_brief = true },
	{ "help",     CMD_HELP,     cmd_help,     "[TOPIC]", "this text, a command's flags, or a topic, or one part of config", 2, help_topics, .is_brief = true },
	{ "version",  CMD_VERSION,  cmd_version,  "",        "the version, and of what it is made", 0, .is_brief = true },
};
/* clang-format on */
const size_t cli_n_commands = ARRAY_LEN(cli_commands);

static int unknown_command(const char *name, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv names = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cli_commands); i++)
		strv_add(a, &names, cli_commands[i].name);
	return err_fail(e, ERR_USAGE, 0, "unknown command '%s'; %s", name,
			cli_meant(a, name, &names, "see nodeup help"));
}

static const struct cli_command *find_command(const char *name)
{
	for (size_t i = 0; i < cli_n_commands; i++)
		if (strcmp(cli_commands[i].name, name) == 0)
			return &cli_commands[i];
	return NULL;
}

/* Takes every spelling of the host's own root ("//", "/.") as no --root: it means the running host, not an image. */
static void forget_host_root(struct cli *cli)
{
	struct stat root, host;

	if (cli->root && stat(cli->root, &root) == 0 && stat("/", &host) == 0 &&
	    root.st_dev == host.st_dev && root.st_ino == host.st_ino)
		cli->root = NULL;
}

/* Returns whether our own unit runs this program; older units say so in no other way. */
static bool is_our_unit(void)
{
	autoarena struct arena *a = arena_new_empty();

	return str_eq(session_own_unit(a), boot_unit);
}

/* Prints the help for a command line without words, which is a usage error. */
static int print_help(struct cli *cli, struct err *e)
{
	const struct err usage = { .kind = ERR_USAGE };
	int r = cmd_help(cli, e);

	return r < 0 ? r : err_exit_status(&usage);
}

static int run(struct cli *cli, const char *const *argv, struct err *e)
{
	const struct cli_command *command = &cli_commands[0];
	const bool named = argv[0] && argv[0][0] != '-';
	int r;

	if (!argv[0] && !is_our_unit())
		return print_help(cli, e);
	if (named) {
		command = find_command(argv[0]);
		if (!command)
			return unknown_command(argv[0], e);
		argv++;
	}
	r = cli_parse(cli, command, argv, e);
	if (r < 0 && !named && cli->args.n && find_command(cli->args.v[0]))
		return err_fail(e, ERR_USAGE, 0, "'%s' is a command: it goes before all flags",
				cli->args.v[0]);
	if (r < 0)
		return r;
	if (cli->help || cli->version) {
		cli->args = (struct strv){ 0 };
		if (named && cli->help)
			strv_add(cli->arena, &cli->args, command->name);
		command = find_command(cli->help ? "help" : "version");
	}
	forget_host_root(cli);
	log_set_level(cli->verbosity >= 10 ? LOG_DEBUG : LOG_INFO);
	if ((command->bit & (CMD_APPLY | CMD_PLAN | CMD_REPAIR | CMD_CHECK | CMD_WHY)) &&
	    !is_our_unit())
		boot_take_environment(cli);
	if (!command->is_brief)
		ending_begin(cmd_ending_looked, cli);
	r = command->run(cli, e);
	if (r < 0 && cli->offline)
		offline_blame(e);
	return r;
}

/* Notes that a path in the message lies below --root, since messages use the paths that the node itself will see. */
static void note_root(const struct cli *cli, struct err *e)
{
	const bool names_paths = e->kind == ERR_SYSTEM || e->kind == ERR_REFUSED;

	if (cli->root && names_paths && !strstr(e->msg, cli->root))
		err_note(e, "root", "%s: the node's paths are below it", cli->root);
}

/* Opens closed standard descriptors: otherwise a file that we open would get such a number, and would receive our
 * messages. */
static void keep_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0 &&
		    open("/", O_RDONLY | O_DIRECTORY) < 0)
			return;
}

/* Returns whether the reader of stdout has gone away. */
static bool is_unread(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* Fails a command that has succeeded if its output was lost; dies of SIGPIPE instead if SIGPIPE was not ignored.
 * When our own unit runs nodeup, only the state of the node counts. */
static int write_out(int r, bool pipe_ends_us, struct err *e)
{
	bool lost;
	int why;

	errno = 0;
	lost = fflush(stdout) != 0 || ferror(stdout);
	why = errno;
	if (!lost || r < 0 || is_our_unit())
		return r;
	if (pipe_ends_us && is_unread()) {
		(void)signal(SIGPIPE, SIG_DFL);
		(void)raise(SIGPIPE);
	}
	/* the errno of an earlier failure is lost */
	return err_fail(e, ERR_SYSTEM, why, "write to stdout: %s",
			why ? strerror(why) : "not all of it got out");
}

/* Forbids core dumps, and forbids other processes of the same user to look into this one: its memory may hold
 * secrets. */
static void close_to_others(void)
{
	struct rlimit core;

	(void)prctl(PR_SET_DUMPABLE, 0);
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		core.rlim_cur = 0;
		(void)setrlimit(RLIMIT_CORE, &core);
	}
}

int main(int argc, char **argv)
{
	autoarena struct arena *a = arena_new_empty();
	struct cli cli = { .arena = a, .program = argv[0], .argv = (const char *const *)argv };
	struct err e = { 0 };
	bool pipe_ends_us;
	int r;

	(void)argc;
	extract_child(argv);
	close_to_others();
	keep_standard_fds();
	/* returns the buffers of transfers to the system when they are freed; by default malloc keeps them from the
	 * second on */
	(void)mallopt(M_MMAP_THRESHOLD, BUFFERS_LEAST);
	/* one arena for all threads: arenas of their own would grow page by page, with a system call each time, and
	 * threads that hash and move bytes rarely ask for memory */
	(void)mallopt(M_ARENA_MAX, 1);
	/* our files must not depend on the caller's umask; secret ones set their own mode */
	(void)umask(022);
	/* a reader that went away must fail only the write, not end the program in the midst of its work */
	pipe_ends_us = signal(SIGPIPE, SIG_IGN) != SIG_IGN;
	r = run(&cli, cli.argv + (argv[0] != NULL), &e);
	/* from here on only the last messages are printed */
	ending_tell(cmd_ending_over, NULL);
	r = write_out(r, pipe_ends_us, &e);
	if (r >= 0)
		return r;
	note_root(&cli, &e);
	report_error(&e);
	return err_exit_status(&e);
}
