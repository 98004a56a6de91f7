#include "nodeup/config/facts.h"

#include <string.h>
#include "nodeup/config/distro.h"

static const struct {
	const char *machine, *arch;
} machines[] = {
	{ "x86_64", "amd64" },
	{ "aarch64", "arm64" },
};

const struct schema facts_schema = SCHEMA_OF_LIST(struct facts, "Facts", FACTS);

struct unknown {
	struct arena *arena;
	const char *first; /* "facts.yaml:3:1: unknown fact 'x'" */
};

static void note_unknown(void *arg, const struct field_unknown *key)
{
	struct unknown *u = arg;

	if (!u->first)
		u->first = field_unknown_text(u->arena, "fact", key);
}

int facts_parse(struct arena *a, const struct tree *t, struct facts *f, struct err *e)
{
	struct unknown unknown = { .arena = a };
	const struct field_opts opts = { .unknown = note_unknown, .arg = &unknown };
	struct facts read = *f;
	int r = field_parse(a, &facts_schema, t, &read, &opts, e);

	if (r < 0)
		return r;
	if (unknown.first)
		return err_config(e, "%s", unknown.first);
	*f = read;
	return 0;
}

/* Returns the value of KEY in shell assignments, without its quotes; NULL if there is none. */
static char *assignment(struct arena *a, const char *text, const char *key)
{
	const size_t n = strlen(key);
	char *out = NULL;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *v = line + n + 1;
		char *p;

		if (strncmp(line, key, n) != 0 || line[n] != '=')
			continue;
		out = p = arena_strn(a, v, strcspn(v, "\r\n"));
		for (const char *c = out; *c; c++)
			if (*c != '"' && *c != '\'' && *c != '\\')
				*p++ = *c;
		*p = '\0';
	}
	return out && *out ? out : NULL;
}

/* Reads the codename out of "8 (jessie)", for releases without VERSION_CODENAME. */
static const char *codename_in(struct arena *a, const char *version)
{
	const char *open = version ? strchr(version, '(') : NULL;

	return open ? arena_strn(a, open + 1, strcspn(open + 1, ")")) : NULL;
}

static const char *known_ids(struct arena *a)
{
	struct strv ids = { 0 };

	for (const struct distro *d = distros; d->name; d++)
		strv_add(a, &ids, d->os_id);
	return strv_join(a, &ids, ", ");
}

int facts_os_release(struct arena *a, const char *text, struct facts *f, struct err *e)
{
	const char *id = assignment(a, text, "ID");
	const char *distribution = f->distribution;

	if (!distribution && !id)
		return err_config(e, "os-release has no ID; the distribution is not known");
	for (const struct distro *d = distros; d->name && !distribution; d++)
		if (strcmp(d->os_id, id) == 0)
			distribution = d->name;
	if (!distribution)
		return err_config(e, "unknown distribution: os-release has ID '%s', known are %s",
				  id, known_ids(a));
	f->distribution = distribution;
	if (!f->version)
		f->version = assignment(a, text, "VERSION_ID");
	if (!f->codename)
		f->codename = assignment(a, text, "VERSION_CODENAME");
	if (!f->codename)
		f->codename = codename_in(a, assignment(a, text, "VERSION"));
	return 0;
}

struct tree *facts_host(struct arena *a, const struct facts *f)
{
	struct tree *t = tree_map(a);

	tree_set_text(a, t, "distribution", f->distribution);
	tree_set_text(a, t, "version", f->version);
	tree_set_text(a, t, "arch", f->arch);
	return t;
}

const char *facts_host_text(struct arena *a, const struct tree *host)
{
	const char *version = tree_text(host, "version"), *arch = tree_text(host, "arch");
	const char *distribution = tree_text(host, "distribution");

	return arena_printf(a, "%s%s%s%s%s", distribution ? distribution : "unknown",
			    version ? " " : "", version ? version : "", arch ? ", " : "",
			    arch ? arch : "");
}

int facts_note(struct err *e, const char *fact)
{
	err_note(e, "do", "give it in the file of --facts, where a command takes one: %s: VALUE",
		 fact);
	return err_code(e);
}

int facts_arch(const char *machine, struct facts *f, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		if (strcmp(machines[i].machine, machine) == 0) {
			f->arch = machines[i].arch;
			return 0;
		}
	return err_config(e, "unknown machine '%s': nodes are x86_64 or aarch64", machine);
}
