#include "nodeup/cmd/redact.h"

#include <string.h>

/* Values of a directive that are shown; of any other value only the length is shown. */
enum form {
	WORDS,   /* words of the list below */
	UNITS,   /* names of units */
	NUMBER,  /* a number or a time */
	PROGRAM, /* a path, of which the arguments are hidden */
	LENGTH,  /* anything */
	SECRETS, /* variables */
};

static const struct {
	const char *key;
	enum form form;
} directives[] = {
	{ "After", UNITS },
	{ "Before", UNITS },
	{ "Wants", UNITS },
	{ "Requires", UNITS },
	{ "BindsTo", UNITS },
	{ "PartOf", UNITS },
	{ "Conflicts", UNITS },
	{ "WantedBy", UNITS },
	{ "RequiredBy", UNITS },
	{ "Type", WORDS },
	{ "Restart", WORDS },
	{ "KillMode", WORDS },
	{ "Delegate", WORDS },
	{ "DefaultDependencies", WORDS },
	{ "RemainAfterExit", WORDS },
	{ "NotifyAccess", WORDS },
	{ "CPUAccounting", WORDS },
	{ "MemoryAccounting", WORDS },
	{ "RestartSec", NUMBER },
	{ "TimeoutSec", NUMBER },
	{ "TimeoutStartSec", NUMBER },
	{ "TimeoutStopSec", NUMBER },
	{ "StartLimitInterval", NUMBER },
	{ "StartLimitIntervalSec", NUMBER },
	{ "StartLimitBurst", NUMBER },
	{ "LimitNOFILE", NUMBER },
	{ "LimitNPROC", NUMBER },
	{ "LimitCORE", NUMBER },
	{ "TasksMax", NUMBER },
	{ "OOMScoreAdjust", NUMBER },
	{ "OnBootSec", NUMBER },
	{ "OnUnitActiveSec", NUMBER },
	{ "ExecStart", PROGRAM },
	{ "ExecStartPre", PROGRAM },
	{ "ExecStartPost", PROGRAM },
	{ "ExecStop", PROGRAM },
	{ "ExecReload", PROGRAM },
	{ "Description", LENGTH },
	{ "Documentation", LENGTH },
	{ "EnvironmentFile", LENGTH },
	{ "Environment", SECRETS },
};

static const char *const words[] = { "yes",     "no",      "true",        "false",
				     "on",      "off",     "simple",      "exec",
				     "forking", "oneshot", "notify",      "idle",
				     "dbus",    "always",  "on-failure",  "on-success",
				     "process", "mixed",   "none",        "control-group",
				     "main",    "all",     "on-abnormal", NULL };

static bool is_unit(const char *s)
{
	static const char *const endings[] = { ".service", ".target", ".socket", ".mount",
					       ".timer",   ".slice",  ".device", ".path" };

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (str_has_suffix(s, endings[i]))
			return str_has_only(s, "-_.@\\:");
	return false;
}

static bool is_number(const char *s)
{
	enum { LONGEST = 12 };

	return str_eq(s, "infinity") ||
	       (strlen(s) <= LONGEST && str_has_only(s, "-%.: ") && strspn(s, "-0123456789") > 0);
}

static bool is_section(const char *line)
{
	static const char *const names[] = { "[Unit]",  "[Service]", "[Install]", "[Timer]",
					     "[Mount]", "[Socket]",  "[Path]",    NULL };

	return str_is_one_of(line, names);
}

static bool may_show(struct arena *a, enum form form, const char *value)
{
	const struct strv parts = strv_split(a, value, ' ');

	if (form == NUMBER)
		return is_number(value);
	for (size_t i = 0; i < parts.n; i++)
		if (form == UNITS ? *parts.v[i] && !is_unit(parts.v[i])
				  : !str_is_one_of(parts.v[i], words))
			return false;
	return form == WORDS || form == UNITS;
}

static void add_value(struct redact *r, struct arena *a, enum form form, const char *value,
		      struct buf *b)
{
	const char *program = value + strspn(value, "-@+!:");
	const size_t n = strcspn(program, " ");

	if (form == SECRETS)
		redact_learn(r, value);
	if (form == PROGRAM && str_is_path(arena_strn(a, program, n)) &&
	    redact_is_open(r, arena_strn(a, program, n))) {
		(void)buf_addf(b, "%.*s ", (int)n, program);
		value = program + n;
	}
	if (form == PROGRAM)
		redact_learn_document(r, tree_add(a, tree_seq(a), tree_string(a, value)));
	if (may_show(a, form, value) && redact_is_open(r, value))
		(void)buf_addf(b, "%s\n", value);
	else
		(void)buf_addf(b, "<%zu bytes>\n", strlen(value));
}

static void add_line(struct redact *r, struct arena *a, const char *line, struct buf *b)
{
	const size_t n = strcspn(line, "=");

	for (size_t i = 0; line[n] && i < ARRAY_LEN(directives); i++)
		if (strlen(directives[i].key) == n && strncmp(line, directives[i].key, n) == 0) {
			(void)buf_addf(b, "%s=", directives[i].key);
			add_value(r, a, directives[i].form, line + n + 1, b);
			return;
		}
	if (*line && !is_section(line))
		(void)buf_addf(b, "<not shown: %zu bytes>\n", strlen(line));
	else
		(void)buf_addf(b, "%s\n", line);
}

void redact_unit(struct redact *r, const char *text, struct buf *b)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv lines = strv_split(a, text, '\n');
	bool continues = false;

	for (size_t i = 0; i < lines.n; i++) {
		const char *line = lines.v[i];

		/* a value's next line has no directive of its own */
		if (continues)
			(void)buf_addf(b, "<not shown: %zu bytes>\n", strlen(line));
		else
			add_line(r, a, line, b);
		if (continues)
			redact_learn(r, line);
		continues = str_has_suffix(line, "\\");
	}
}
