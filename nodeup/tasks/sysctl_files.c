#include "nodeup/tasks/sysctl_files.h"

#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/walk.h"

enum { FILE_MAX = 1 << 20 };

static const char *const folders[] = {
	"/etc/sysctl.d",     "/run/sysctl.d", "/usr/local/lib/sysctl.d",
	"/usr/lib/sysctl.d", "/lib/sysctl.d",
};

/* The kernel keeps one value under both names. source: Linux Documentation/networking/ip-sysctl.rst */
static const char forward[] = "/proc/sys/net/ipv4/ip_forward";
static const char forward_of_all[] = "/proc/sys/net/ipv4/conf/all/forwarding";

static const char last[] = "/etc/sysctl.conf";

/* In a key whose first separator is a dot, a slash stands for a dot in a name (net.ipv4.conf.eth0/100). A key whose first
 * separator is a slash is a path. source: sysctl.d(5) */
char *sysctl_path(struct arena *a, const char *key)
{
	static const char root[] = "/proc/sys/";
	char *path = arena_printf(a, "%s%s", root, key);
	const bool has_dots = key[strcspn(key, "./")] == '.';

	for (char *p = path + strlen(root); *p && has_dots; p++)
		if (*p == '.' || *p == '/')
			*p = *p == '.' ? '/' : '.';
	return strcmp(path, forward_of_all) == 0 ? arena_str(a, forward) : path;
}

static void read_line(struct arena *a, const char *file, size_t number, const char *text,
		      struct map *found)
{
	const char *eq = strchr(text, '='), *key;
	struct sysctl_line *line;

	if (!eq || strchr("#;", *text))
		return;
	key = str_trim(a, arena_strn(a, text, (size_t)(eq - text)));
	/* that it may fail */
	key += *key == '-';
	if (!*key || strpbrk(key, "*?["))
		return;
	line = arena_new(a, struct sysctl_line);
	*line = (struct sysctl_line){ file, number, str_trim(a, eq + 1) };
	(void)map_put(a, found, sysctl_path(a, key), line);
}

static void read_file(struct arena *a, int root_fd, const char *file, struct map *found)
{
	const char *text = io_text(a, root_fd, file, FILE_MAX);
	const struct strv lines = strv_split(a, text ? text : "", '\n');

	for (size_t i = lines.n; i > 0; i--)
		read_line(a, file, i, str_trim(a, lines.v[i - 1]), found);
}

struct map sysctl_behind(struct arena *a, int root_fd, const char *file)
{
	struct strmap paths = { 0 };
	struct map found = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		struct strv names = { 0 };
		struct err ignored;

		if (walk_names_at(a, root_fd, folders[i], &names, &ignored) < 0)
			continue;
		for (size_t k = 0; k < names.n; k++)
			if (str_has_suffix(names.v[k], ".conf") && !strmap_get(&paths, names.v[k]))
				strmap_set(a, &paths, names.v[k],
					   arena_printf(a, "%s/%s", folders[i], names.v[k]));
	}
	strmap_sort(&paths);
	/* from the end, as what is found first counts */
	read_file(a, root_fd, last, &found);
	for (size_t i = paths.n; i > 0; i--)
		if (strcmp(paths.v[i - 1].key, str_basename(file)) > 0)
			read_file(a, root_fd, paths.v[i - 1].value, &found);
	return found;
}
