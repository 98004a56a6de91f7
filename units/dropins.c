#include "units/dropins.h"

#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/walk.h"

enum { FILE_MAX = 1 << 20 };

static const char *const folders[] = {
	"/etc/systemd/system",
	"/run/systemd/system",
	"/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system",
};

struct strv unit_dropins(struct arena *a, int root_fd, const char *unit)
{
	struct strv paths = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		const char *folder = arena_printf(a, "%s/%s.d", folders[i], unit);
		struct strv names = { 0 };
		struct err ignored;

		if (walk_names_at(a, root_fd, folder, &names, &ignored) < 0)
			continue;
		for (size_t k = 0; k < names.n; k++)
			if (str_has_suffix(names.v[k], ".conf"))
				strv_addf(a, &paths, "%s/%s", folder, names.v[k]);
	}
	return paths;
}

static void add_text(struct arena *a, int root_fd, const char *path, struct strmap *ret)
{
	const char *text = io_text(a, root_fd, path, FILE_MAX);

	if (text)
		strmap_set(a, ret, path, text);
}

/* "EnvironmentFile=-/etc/default/kubelet" */
static void add_files(struct arena *a, int root_fd, const char *text, struct strmap *ret)
{
	static const char key[] = "EnvironmentFile=";
	const struct strv lines = strv_split(a, text, '\n');

	for (size_t i = 0; i < lines.n; i++) {
		const char *path = str_trim(a, lines.v[i]);

		if (!str_has_prefix(path, key))
			continue;
		path += strlen(key);
		path += *path == '-';
		if (*path == '/')
			add_text(a, root_fd, path, ret);
	}
}

struct strmap unit_dropin_texts(struct arena *a, int root_fd, const char *unit)
{
	const struct strv paths = unit_dropins(a, root_fd, unit);
	struct strmap texts = { 0 };

	for (size_t i = 0; i < paths.n; i++)
		add_text(a, root_fd, paths.v[i], &texts);
	/* the files that they name come behind them */
	for (size_t i = 0, n = texts.n; i < n; i++)
		add_files(a, root_fd, texts.v[i].value, &texts);
	return texts;
}
