#include "nodeup/host/docker.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/walk.h"

enum { UNIT_MAX = 1 << 20 };

static const char variable[] = "DOCKER_OPTS";
static const char our_file[] = "/etc/sysconfig/docker";
static const char early_name[] = "10-kops.conf";
static const char late_name[] = "zz-kops.conf";

/* A file in one folder hides files of the same name in the folders after it. */
static const char *const folders[] = { "/etc/systemd/system", "/run/systemd/system",
				       "/usr/lib/systemd/system", "/lib/systemd/system" };

struct scan {
	struct arena *arena;
	int root_fd;
	const char *command; /* the value of the last ExecStart= that was read */
	bool reads_our_file; /* the unit itself reads our file of variables */
	bool late;           /* the file being read comes after our drop-in */
	bool is_late;
};

/* Returns whether an environment file sets the variable. */
static bool sets_variable(const struct scan *s, const char *path)
{
	const char *text = io_text(s->arena, s->root_fd, path + (*path == '-'), UNIT_MAX);
	const size_t n = strlen(variable);

	for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n') {
		text += strspn(text, " \t");
		if (strncmp(text, variable, n) == 0 && text[n] == '=')
			return true;
	}
	return false;
}

/* Environment= does not matter: environment files override it. */
static void take_setting(struct scan *s, const char *key, const char *value)
{
	if (strcmp(key, "ExecStart") == 0) {
		s->command = *value ? value : NULL;
		s->is_late |= s->late;
	} else if (strcmp(key, "EnvironmentFile") == 0) {
		s->reads_our_file |= strcmp(value + (*value == '-'), our_file) == 0;
		s->is_late |= s->late && sets_variable(s, value);
	}
}

/* Reads the section [Service] of a unit file. A backslash at a line's end joins the next line. False: there is no
 * such file. */
static bool take_file(struct scan *s, const char *path)
{
	const char *text = io_text(s->arena, s->root_fd, path, UNIT_MAX);
	const struct strv lines = strv_split(s->arena, text ? text : "", '\n');
	bool in_service = false;

	for (size_t i = 0; i < lines.n; i++) {
		const char *line = str_trim(s->arena, lines.v[i]), *eq;

		while (str_has_suffix(line, "\\") && i + 1 < lines.n)
			line = arena_printf(s->arena, "%.*s %s", (int)strlen(line) - 1, line,
					    str_trim(s->arena, lines.v[++i]));
		if (*line == '[')
			in_service = strcmp(line, "[Service]") == 0;
		eq = strchr(line, '=');
		if (!in_service || !eq || strchr("#;", *line))
			continue;
		take_setting(s, str_trim(s->arena, arena_strn(s->arena, line, (size_t)(eq - line))),
			     str_trim(s->arena, eq + 1));
	}
	return text != NULL;
}

static void take_unit(struct scan *s)
{
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (take_file(s, arena_printf(s->arena, "%s/docker.service", folders[i])))
			return;
}

static void list_dropins(struct scan *s, const char *folder, struct strmap *found)
{
	const char *path = arena_printf(s->arena, "%s/docker.service.d", folder);
	const struct strv names = walk_list(s->arena, s->root_fd, path, ".conf");

	for (size_t i = 0; i < names.n; i++)
		if (!strmap_get(found, names.v[i]))
			strmap_set(s->arena, found, names.v[i],
				   arena_printf(s->arena, "%s/%s", path, names.v[i]));
}

static void take_dropins(struct scan *s)
{
	struct strmap found = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		list_dropins(s, folders[i], &found);
	strmap_sort(&found);
	for (size_t i = 0; i < found.n; i++) {
		const char *name = found.v[i].key;

		if (strcmp(name, early_name) == 0 || strcmp(name, late_name) == 0)
			continue;
		s->late = strcmp(name, early_name) > 0;
		(void)take_file(s, found.v[i].value);
	}
}

/* Adds the variable to the command as $X, which systemd splits into words; it does not split ${X}. */
static const char *with_options(struct arena *a, const char *command)
{
	static const char braced[] = "${DOCKER_OPTS}";
	const char *at = strstr(command, braced);

	if (at)
		return arena_printf(a, "%.*s$%s%s", (int)(at - command), command, variable,
				    at + strlen(braced));
	return arena_printf(a, "%s $%s", command, variable);
}

static bool has_options(const char *command)
{
	const size_t n = strlen(variable);

	for (; (command = strchr(command, '$')); command++)
		if (strncmp(command + 1, variable, n) == 0 && strchr("\" ", command[n + 1]))
			return true;
	return false;
}

const char *probe_docker(struct arena *a, int root_fd, struct runtime *r)
{
	struct scan s = { .arena = a, .root_fd = root_fd };

	take_unit(&s);
	r->is_ours = s.reads_our_file && s.command && strstr(s.command, "\"$DOCKER_OPTS\"");
	take_dropins(&s);
	r->is_late = s.is_late;
	if (s.command && !has_options(s.command))
		r->exec_start = with_options(a, s.command);
	return s.command;
}
