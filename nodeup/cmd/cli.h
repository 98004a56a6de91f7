/* cli.h - the command line: commands[] and options[] drive parsing and --help
 * A new flag is one row in options[] (cli.c); a new command is a file <name>.c, its bit and prototype here, and
 * one row in commands[] (main.c). Flags have Go's forms: -x, --x, --x=v, --x v.
 * Bodies: apply.c, bake.c, check.c, collect_logs.c, completion.c, diff.c, example.c, guard.c, help.c, help_key.c,
 * plan.c, status.c, timeline.c, uninstall.c, userdata.c, validate.c, version.c, why.c.
 * Owner: strings point into argv; lists live in the arena. Errors: USAGE naming the flag.
 * Threads: one. Source: Go's flag package, kops cmd/nodeup/main.go.
 * Tests: test_rerun.py, test_interrupt.py, test_bake.py, test_cli.c, test_cli.py, test_collect_logs.py,
 * test_completion.py, test_diff.py, test_changes.py, test_drift.py, test_guard.py, test_validate.py, test_help.py,
 * test_status_command.py, test_status.py, test_timeline_command.py, test_uninstall.py, test_userdata.c,
 * test_userdata_script.py, test_why.py. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/str.h"

/* The commands that take a flag. */
enum cli_command_bit {
	CMD_APPLY = 1 << 0,
	CMD_PLAN = 1 << 1,
	CMD_VALIDATE = 1 << 2,
	CMD_USERDATA = 1 << 3,
	CMD_HELP = 1 << 4,
	CMD_VERSION = 1 << 5,
	CMD_BAKE = 1 << 6,
	CMD_REPAIR = 1 << 7,
	CMD_STATUS = 1 << 8,
	CMD_DIFF = 1 << 9,
	CMD_WHY = 1 << 10,
	CMD_CHECK = 1 << 11,
	CMD_EXAMPLE = 1 << 12,
	CMD_COMPLETION = 1 << 13,
	CMD_UNINSTALL = 1 << 14,
	CMD_TIMELINE = 1 << 15,
	CMD_GUARD = 1 << 16,
	CMD_COLLECT_LOGS = 1 << 17,
};

enum { CLI_WARNINGS_MAX = 20 }; /* warnings that are shown one by one */

struct cli {
	struct arena *arena;
	const char *program;     /* argv[0] */
	const char *const *argv; /* the whole command line, for our unit's ExecStart= */
	struct strv args;        /* words after the flags */

	const char *conf, *root, *cache, *facts, *target, *output, *nodeup_url, *rootfs, *plan_file,
		*output_file, *metrics;
	bool offline, no_metadata, strict, install_unit, dryrun, wait, diff, all, verify, prune,
		gzip, help, version;
	bool runs, full, units, list;
	bool shell_differs; /* the shell sets another way to the documents than our unit has */
	int64_t wait_ns, deadline_ns, hold_ns, retries, verbosity, cache_max;
	bool retries_set;
	struct strv rewrites, mime, ignore, confs; /* confs: for a command that takes several */
};

struct cli_command {
	const char *name;
	enum cli_command_bit bit;
	int (*run)(struct cli *cli, struct err *e); /* >= 0: exit status */
	const char *args, *help;
	size_t max_args;
	/* Lists the possible first arguments. NULL: the command's arguments, if it takes any, are paths. */
	void (*words)(struct arena *a, struct strv *ret);
	bool is_brief; /* the command prints and ends, so a signal needs no message */
};

/* A flag of a command. */
struct cli_flag {
	const char *name, *metavar, *help; /* metavar NULL: the flag takes no value */
	const char *values;                /* the possible values, separated by blanks; or NULL */
	bool is_list, is_optional;         /* the value is a list; the value may be left out */
};

extern const struct cli_command cli_commands[];
extern const size_t cli_n_commands;

/* Parses argv[1...] for a command, which decides the flags. */
int cli_parse(struct cli *cli, const struct cli_command *command, const char *const *argv,
	      struct err *e) must_check;
/* Returns "did you mean X?" for a word that is not among names; `otherwise` if none is similar. */
const char *cli_meant(struct arena *a, const char *word, const struct strv *names,
		      const char *otherwise);
/* Prints warnings about documents to stderr, no more lines than a person reads. */
void cli_warn(const struct cli *cli, const struct strv *warnings);
/* Gives the nth flag of a command that has an effect; false: there is none. */
bool cli_flag_nth(const struct cli_command *command, size_t n, struct cli_flag *ret);
/* Appends the flags of a command, one line each. */
void cli_help(const struct cli_command *command, struct buf *b);
/* "0.1.0". */
const char *cli_version(void);

/* The commands, a file each; a result >= 0 is the exit status. */
int cmd_apply(struct cli *cli, struct err *e);
/* Prints what apply would do and why. */
int cmd_plan(struct cli *cli, struct err *e);
/* Prints the purpose of one object on this node. */
int cmd_why(struct cli *cli, struct err *e);
/* Prints whether apply can run here. */
int cmd_check(struct cli *cli, struct err *e);
/* Prints the effect of a change of documents. */
int cmd_diff(struct cli *cli, struct err *e);
/* Checks documents by themselves. */
int cmd_validate(struct cli *cli, struct err *e);
/* Reports what is not as the last run left it, or holds the guard. */
int cmd_guard(struct cli *cli, struct err *e);
/* Does the same as apply, but trusts no record. */
int cmd_repair(struct cli *cli, struct err *e);
/* Fills the cache. */
int cmd_bake(struct cli *cli, struct err *e);
/* Renders the user-data script. */
int cmd_userdata(struct cli *cli, struct err *e);
/* Prints example documents. */
int cmd_example(struct cli *cli, struct err *e);
/* Prints a shell's completion script. */
int cmd_completion(struct cli *cli, struct err *e);
/* List the shells, the roles of documents, and the topics and commands with help. A completion script knows no runs. */
void completion_shells(struct arena *a, struct strv *ret);
void example_roles(struct arena *a, struct strv *ret);
void help_topics(struct arena *a, struct strv *ret);
void timeline_runs(struct arena *a, struct strv *ret);
/* Removes nodeup's units. */
int cmd_uninstall(struct cli *cli, struct err *e);
/* Prints usage from the tables. */
int cmd_help(struct cli *cli, struct err *e);
/* Prints the state of the node and its last run, or the runs that are remembered. */
int cmd_status(struct cli *cli, struct err *e);
/* Prints where the time of a run went. */
int cmd_timeline(struct cli *cli, struct err *e);
/* Writes an archive for a report. */
int cmd_collect_logs(struct cli *cli, struct err *e);
/* Prints the version, and the versions of its parts. */
int cmd_version(struct cli *cli, struct err *e);

/* Appends what each kind of document has under a key. The key is a name, or a path as in messages, in any case.
 * False: no kind has it. */
bool help_key(struct arena *a, const char *name, struct buf *b);
