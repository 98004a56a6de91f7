#include "nodeup/cmd/cli.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/near.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/show.h"
#include "nodeup/documents/location.h"

#ifndef NODEUP_VERSION
#define NODEUP_VERSION "unknown"
#endif

enum value {
	VALUE_NONE,
	VALUE_STRING,
	VALUE_INT,
	VALUE_DURATION,
	VALUE_LIST,
	VALUE_MAYBE_DURATION
};

struct option {
	const char *name, *metavar, *help, *values;
	int commands;
	enum value value;
	size_t offset;      /* offset of the member; SIZE_MAX: accepted without effect */
	size_t flag_offset; /* offset of a bool to set as well; SIZE_MAX: none */
};

#define DOCS (RUNS | CMD_USERDATA)
#define RUNS (CMD_APPLY | CMD_REPAIR | CMD_PLAN | CMD_WHY | CMD_CHECK)
#define FETCHES (RUNS | CMD_BAKE)
#define ALL (~0)
#define OPTION(n, meta, val, off, flag, cmds, choices, text)                               \
	{                                                                                  \
		.name = (n), .metavar = (meta), .help = (text), .values = (choices),       \
		.commands = (cmds), .value = (val), .offset = (off), .flag_offset = (flag) \
	}
#define PLACE(member) offsetof(struct cli, member)
#define ROW(n, meta, val, member, cmds, text) \
	OPTION(n, meta, val, PLACE(member), SIZE_MAX, cmds, NULL, text)
#define MARKED(n, meta, val, member, flag, cmds, text) \
	OPTION(n, meta, val, PLACE(member), PLACE(flag), cmds, NULL, text)
#define CHOICE(n, meta, member, cmds, choices, text) \
	OPTION(n, meta, VALUE_STRING, PLACE(member), SIZE_MAX, cmds, choices, text)
#define IGNORED(n, val) \
	OPTION(n, "X", val, SIZE_MAX, SIZE_MAX, ALL, NULL, "accepted, without effect")

/* clang-format off */
static const struct option options[] = {
	ROW("conf", "PATH", VALUE_STRING, conf, RUNS, "kube_env.yaml: a path, or an " LOCATION_SCHEMES " URL, or " LOCATION_KEPT "N: the documents of run N"),
	ROW("conf", "PATH", VALUE_STRING, conf, CMD_USERDATA, "kube_env.yaml: a path, or an " LOCATION_SCHEMES " URL"),
	ROW("conf", "PATH", VALUE_LIST, confs, CMD_BAKE | CMD_VALIDATE, "kube_env.yaml, as for apply; repeatable"),
	ROW("root", "DIR", VALUE_STRING, root, FETCHES | CMD_VALIDATE | CMD_DIFF | CMD_UNINSTALL, "all effects below DIR: image mode"),
	ROW("cache", "DIR", VALUE_STRING, cache, FETCHES, "asset cache (default " OWN_CACHE ")"),
	ROW("cache-max", "BYTES", VALUE_INT, cache_max, CMD_APPLY | CMD_REPAIR, "what documents do not name leaves a larger cache (default 8 GiB; -1: never)"),
	ROW("facts", "FILE", VALUE_STRING, facts, DOCS | CMD_BAKE | CMD_VALIDATE | CMD_DIFF, "host facts from YAML instead of probing"),
	ROW("offline", NULL, VALUE_NONE, offline, RUNS | CMD_BAKE | CMD_VALIDATE | CMD_DIFF, "ask no server of documents or assets: the cache and persisted documents only"),
	ROW("offline", NULL, VALUE_NONE, offline, CMD_TIMELINE, "do not ask the API server when the node was registered and Ready"),
	ROW("no-metadata", NULL, VALUE_NONE, no_metadata, RUNS, "do not ask the instance's metadata service either"),
	ROW("rewrite", "FROM=TO", VALUE_LIST, rewrites, FETCHES | CMD_VALIDATE | CMD_DIFF, "replace a URL prefix of assets and documents; repeatable"),
	MARKED("retries", "N", VALUE_INT, retries, retries_set, CMD_APPLY | CMD_REPAIR, "whole runs after a failed one, 30 s apart, then twice as long, up to 10 min; -1: for ever (default 0, in our own unit -1)"),
	ROW("deadline", "DUR", VALUE_DURATION, deadline_ns, CMD_APPLY | CMD_REPAIR, "give up after this time"),
	ROW("metrics", "DIR", VALUE_STRING, metrics, CMD_APPLY | CMD_REPAIR, "write nodeup.prom there for node_exporter, as the setting metricsDir"),
	ROW("strict", NULL, VALUE_NONE, strict, DOCS | CMD_BAKE | CMD_VALIDATE | CMD_DIFF, "unknown keys and names are errors"),
	ROW("install-systemd-unit", NULL, VALUE_NONE, install_unit, CMD_APPLY, "write, enable and start kops-configuration.service, and return"),
	MARKED("wait", "DUR", VALUE_MAYBE_DURATION, wait_ns, wait, CMD_APPLY, "with --install-systemd-unit: block until its first run has ended"),
	MARKED("wait", "DUR", VALUE_MAYBE_DURATION, wait_ns, wait, CMD_STATUS, "until the node is ready, or no retry can mend what failed"),
	ROW("hold", "DUR", VALUE_DURATION, hold_ns, CMD_GUARD, "report nothing for this time from now on; 1s ends it"),
	ROW("long", NULL, VALUE_NONE, full, CMD_STATUS, "every task as well"),
	ROW("runs", NULL, VALUE_NONE, runs, CMD_STATUS, "the 100 runs that are remembered, those before reboots too"),
	CHOICE("target", "NAME", target, CMD_APPLY, "direct dryrun", "direct, or dryrun (as --dryrun)"),
	ROW("dryrun", NULL, VALUE_NONE, dryrun, CMD_APPLY, "as plan, but exit 0"),
	ROW("units", NULL, VALUE_NONE, units, CMD_UNINSTALL, "remove the units that nodeup wrote; what runs goes on"),
	ROW("dryrun", NULL, VALUE_NONE, dryrun, CMD_UNINSTALL, "say what would be removed, and remove nothing"),
	ROW("plan", "FILE", VALUE_STRING, plan_file, CMD_APPLY, "only if what plan -o json wrote there is what would be done now"),
	ROW("diff", NULL, VALUE_NONE, diff, CMD_PLAN | CMD_DIFF, "show what changes inside files (never secrets)"),
	ROW("all", NULL, VALUE_NONE, all, CMD_PLAN | CMD_DIFF, "list what is right, too"),
	ROW("ignore", "NAME,...", VALUE_LIST, ignore, CMD_APPLY | CMD_REPAIR | CMD_CHECK, "checks whose failure does not count; repeatable"),
	ROW("verify", NULL, VALUE_NONE, verify, CMD_PLAN, "trust no record: read and hash again"),
	ROW("prune", NULL, VALUE_NONE, prune, CMD_APPLY | CMD_PLAN | CMD_REPAIR, "remove files and units that nodeup wrote and the documents no longer name"),
	CHOICE("o", "FORMAT", output, CMD_PLAN | CMD_DIFF | CMD_WHY | CMD_STATUS | CMD_CHECK | CMD_VERSION, "text json", "text or json"),
	CHOICE("o", "FORMAT", output, CMD_TIMELINE, "text json svg", "text, json, or svg: a picture"),
	CHOICE("o", "FORMAT", output, CMD_HELP, "text json", "text, or json: a JSON Schema of a document, for editors"),
	CHOICE("o", "FORMAT", output, CMD_VALIDATE, "text json github", "text, json, or github: annotations of a workflow"),
	ROW("output", "FILE", VALUE_STRING, output_file, CMD_COLLECT_LOGS, "the archive (default nodeup-HOST-DATE.tar.zst in this folder); never replaced"),
	ROW("list", NULL, VALUE_NONE, list, CMD_COLLECT_LOGS, "say what would be in it, and write nothing"),
	ROW("gzip", NULL, VALUE_NONE, gzip, CMD_USERDATA, "compress the script"),
	ROW("mime", "TYPE:FILE", VALUE_LIST, mime, CMD_USERDATA, "add a part: the result is MIME multipart; repeatable"),
	ROW("nodeup-url", "HASH@URL,...", VALUE_STRING, nodeup_url, CMD_USERDATA, "where an instance gets nodeup"),
	ROW("v", "N", VALUE_INT, verbosity, ALL, "verbosity; 10 and more print every task"),
	ROW("help", NULL, VALUE_NONE, help, ALL, "this text; also -h"),
	ROW("version", NULL, VALUE_NONE, version, CMD_APPLY, "as the command version; also -V"),
	ROW("rootfs", "DIR", VALUE_STRING, rootfs, CMD_APPLY, "only / is accepted; for an image use --root"),
	IGNORED("vmodule", VALUE_STRING),
	IGNORED("stderrthreshold", VALUE_STRING),
	IGNORED("log_dir", VALUE_STRING),
	IGNORED("log_backtrace_at", VALUE_STRING),
	IGNORED("logtostderr", VALUE_NONE),
	IGNORED("alsologtostderr", VALUE_NONE),
};
/* clang-format on */

/* Short forms of words that people type first. */
static const struct {
	const char *letter, *name;
} short_forms[] = { { "h", "help" }, { "V", "version" } };

/* A command's own row of a flag comes before a general one. */
static const struct option *find_option(const char *name, size_t n, int command)
{
	const struct option *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(short_forms); i++)
		if (n == 1 && *name == *short_forms[i].letter) {
			name = short_forms[i].name;
			n = strlen(name);
		}

	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const struct option *o = &options[i];

		if (strlen(o->name) == n && strncmp(o->name, name, n) == 0 &&
		    (!found || (o->commands & command)))
			found = o;
	}
	return found;
}

static void *place_in(struct cli *cli, size_t offset)
{
	return (char *)cli + offset;
}

static int parse_int(const struct option *o, const char *value, int64_t *ret, struct err *e)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(value, &end, 10);
	if (errno || end == value || *end)
		return err_fail(e, ERR_USAGE, 0, "--%s: '%s' is not a number", o->name, value);
	*ret = v;
	return 0;
}

/* a hundred years */
#define LONGEST_WAIT_NS (INT64_C(876000) * 3600 * DUR_SEC)

static int parse_duration(const struct option *o, const char *value, int64_t *ret, struct err *e)
{
	int64_t ns;
	int r = dur_parse(value, &ns, e);

	if (r < 0) {
		e->kind = ERR_USAGE;
		return err_wrap(e, "--%s", o->name);
	}
	/* the wait is added to the clock's value */
	if (ns <= 0 || ns > LONGEST_WAIT_NS)
		return err_fail(e, ERR_USAGE, 0, "--%s: '%s' is not a time to wait", o->name,
				value);
	*ret = ns;
	return 0;
}

/* Reads Go's booleans: a bare flag, or --x=true and --x=false. */
static int parse_bool(const struct option *o, const char *value, bool *ret, struct err *e)
{
	if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0 &&
	    strcmp(value, "1") != 0 && strcmp(value, "0") != 0)
		return err_fail(e, ERR_USAGE, 0, "--%s: '%s' is neither true nor false", o->name,
				value);
	*ret = !value || *value == 't' || *value == '1';
	return 0;
}

static int set_option(struct cli *cli, const struct option *o, const char *value, struct err *e)
{
	bool ignored;

	if (o->flag_offset != SIZE_MAX)
		*(bool *)place_in(cli, o->flag_offset) = true;
	if (o->value == VALUE_NONE)
		return parse_bool(o, value,
				  o->offset == SIZE_MAX ? &ignored : place_in(cli, o->offset), e);
	if (o->offset == SIZE_MAX)
		return 0;
	switch (o->value) {
	case VALUE_STRING:
		/* otherwise one of the two values would be ignored silently */
		if (o->offset == offsetof(struct cli, conf) && cli->conf &&
		    !str_eq(cli->conf, value))
			return err_fail(e, ERR_USAGE, 0, "--conf names both '%s' and '%s'",
					cli->conf, value);
		*(const char **)place_in(cli, o->offset) = value;
		return 0;
	case VALUE_LIST:
		strv_add(cli->arena, place_in(cli, o->offset), value);
		return 0;
	case VALUE_INT:
		return parse_int(o, value, place_in(cli, o->offset), e);
	case VALUE_MAYBE_DURATION:
		if (!value)
			return 0;
		__attribute__((fallthrough));
	default:
		return parse_duration(o, value, place_in(cli, o->offset), e);
	}
}

const char *cli_meant(struct arena *a, const char *word, const struct strv *names,
		      const char *otherwise)
{
	const char *nearest = near_name(word, names->v, names->n);

	/* or a name that begins with the word */
	for (size_t i = 0; !nearest && *word && i < names->n; i++)
		if (str_has_prefix(names->v[i], word))
			nearest = names->v[i];
	return nearest ? arena_printf(a, "did you mean %s?", nearest) : otherwise;
}

static const char *dashes(const char *name)
{
	return name[1] ? "--" : "-";
}

static int unknown_flag(struct cli *cli, const struct cli_command *command, const char *arg,
			struct err *e)
{
	const char *word = arena_strn(cli->arena, arg, strcspn(arg, "="));
	struct strv names = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if ((options[i].commands & command->bit) && options[i].offset != SIZE_MAX)
			strv_addf(cli->arena, &names, "%s%s", dashes(options[i].name),
				  options[i].name);
	if (word[0] == '-' && word[1] != '-')
		word = arena_printf(cli->arena, "-%s", word);
	return err_fail(e, ERR_USAGE, 0, "unknown flag '%s'; %s", arg,
			cli_meant(cli->arena, word, &names,
				  arena_printf(cli->arena, "see nodeup help %s", command->name)));
}

/* Fails for an extra word, which may be documents without their flag. */
static int unexpected(const struct cli_command *command, const char *word, struct err *e)
{
	const struct option *conf = find_option("conf", strlen("conf"), command->bit);

	return err_fail(e, ERR_USAGE, 0, "nodeup %s: unexpected '%s'%s", command->name, word,
			conf->commands & command->bit ? "; documents are named by --conf=PATH"
						      : "");
}

static int check_choice(const struct cli *cli, const struct cli_command *command,
			const struct option *o, const char *value, struct err *e)
{
	const struct strv choices = strv_split(cli->arena, o->values, ' ');

	if (strv_has(&choices, value))
		return 0;
	return err_fail(e, ERR_USAGE, 0, "%s%s: '%s' is none of %s; %s", dashes(o->name), o->name,
			value, strv_join(cli->arena, &choices, ", "),
			cli_meant(cli->arena, value, &choices,
				  arena_printf(cli->arena, "see nodeup help %s", command->name)));
}

/* Parses one flag at argv[*i]; moves *i past a separate value. */
static int parse_flag(struct cli *cli, const struct cli_command *command, const char *const *argv,
		      size_t *i, struct err *e)
{
	const char *name = argv[*i] + (argv[*i][1] == '-' ? 2 : 1);
	const char *equals = strchr(name, '=');
	const char *value = equals ? equals + 1 : NULL;
	const struct option *o;

	o = find_option(name, equals ? (size_t)(equals - name) : strlen(name), command->bit);
	if (!o)
		return unknown_flag(cli, command, argv[*i], e);
	if (!(o->commands & command->bit))
		return err_fail(e, ERR_USAGE, 0, "nodeup %s takes no %s%s", command->name,
				dashes(o->name), o->name);
	if (!value && o->value != VALUE_NONE && o->value != VALUE_MAYBE_DURATION) {
		value = argv[*i + 1];
		if (!value)
			return err_fail(e, ERR_USAGE, 0, "--%s needs a value: %s", o->name,
					o->metavar);
		(*i)++;
	}
	if (o->values && check_choice(cli, command, o, value, e) < 0)
		return err_code(e);
	return set_option(cli, o, value, e);
}

int cli_parse(struct cli *cli, const struct cli_command *command, const char *const *argv,
	      struct err *e)
{
	for (size_t i = 0; argv[i]; i++) {
		int r;

		if (strcmp(argv[i], "--") == 0) {
			while (argv[++i])
				strv_add(cli->arena, &cli->args, argv[i]);
			break;
		}
		if (argv[i][0] != '-' || argv[i][1] == '\0') {
			strv_add(cli->arena, &cli->args, argv[i]);
			continue;
		}
		r = parse_flag(cli, command, argv, &i, e);
		if (r < 0)
			return r;
	}
	if (cli->args.n > command->max_args)
		return unexpected(command, cli->args.v[command->max_args], e);
	return 0;
}

void cli_warn(const struct cli *cli, const struct strv *warnings)
{
	const struct strv shown = strv_abridge(cli->arena, warnings, CLI_WARNINGS_MAX);

	for (size_t i = 0; i < shown.n; i++)
		show_line(stderr, "warning: %s", shown.v[i]);
}

bool cli_flag_nth(const struct cli_command *command, size_t n, struct cli_flag *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const struct option *o = &options[i];

		if (!(o->commands & command->bit) || o->offset == SIZE_MAX || n-- > 0)
			continue;
		*ret = (struct cli_flag){
			.name = o->name,
			.metavar = o->metavar,
			.help = o->help,
			.values = o->values,
			.is_list = o->value == VALUE_LIST,
			.is_optional = o->value == VALUE_MAYBE_DURATION,
		};
		return true;
	}
	return false;
}

void cli_help(const struct cli_command *command, struct buf *b)
{
	struct cli_flag f;

	for (size_t i = 0; cli_flag_nth(command, i, &f); i++) {
		autofree char *left = NULL;

		left = xasprintf("%s%s%s%s", dashes(f.name), f.name,
				 f.metavar ? (f.name[1] ? "=" : " ") : "",
				 f.metavar ? f.metavar : "");
		(void)buf_addf(b, "  %-26s %s\n", left, f.help);
	}
}

const char *cli_version(void)
{
	return NODEUP_VERSION;
}
