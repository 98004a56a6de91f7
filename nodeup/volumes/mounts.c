#include "nodeup/volumes/mounts.h"

#include <string.h>
#include "nodeup/base/io.h"

enum { TABLE_MAX = 16 << 20 };

/* In the kernel's tables, blanks, tabs, newlines and backslashes are three octal digits. */
char *mounts_unescape(struct arena *a, const char *s)
{
	char *text = arena_str(a, s), *to = text;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + s[3] - '0');
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
	return text;
}

/* "36 35 98:0 /root /point rw,noatime shared:1 - ext4 /dev/sdb rw": optional fields end with "-" */
static bool read_line(struct arena *a, const char *line, struct mount *ret)
{
	const struct strv words = strv_split(a, line, ' ');
	const char *peers = "", *master = "";
	size_t dash = 6;

	for (; dash < words.n && strcmp(words.v[dash], "-") != 0; dash++) {
		if (str_has_prefix(words.v[dash], "shared:"))
			peers = words.v[dash] + strlen("shared:");
		if (str_has_prefix(words.v[dash], "master:"))
			master = words.v[dash] + strlen("master:");
	}
	if (dash + 2 >= words.n)
		return false;
	*ret = (struct mount){
		.id = words.v[0],
		.peers = peers,
		.master = master,
		.dev = words.v[2],
		.root = mounts_unescape(a, words.v[3]),
		.point = mounts_unescape(a, words.v[4]),
		.source = mounts_unescape(a, words.v[dash + 2]),
		.options = dash + 3 < words.n ? words.v[dash + 3] : "",
	};
	return true;
}

int mounts_read(int root_fd, struct arena *a, const char *process, struct mounts *ret,
		struct err *e)
{
	autobuf struct buf text = BUF_INIT(TABLE_MAX);
	struct mounts found = { 0 };
	struct strv lines;
	int r = io_read(root_fd, arena_printf(a, "/proc/%s/mountinfo", process), &text, e);

	if (r < 0)
		return r;
	lines = strv_split(a, buf_str(&text), '\n');
	for (size_t i = 0; i < lines.n; i++) {
		struct mount m;

		if (read_line(a, lines.v[i], &m))
			arena_push(a, found.v, found.n, m);
	}
	*ret = found;
	return 0;
}

/* "/swap\040file file 1024 0 -2" */
struct strv mounts_swaps(int root_fd, struct arena *a)
{
	const char *text = io_text(a, root_fd, "/proc/swaps", TABLE_MAX);
	const struct strv lines = strv_split(a, text ? text : "", '\n');
	struct strv swaps = { 0 };

	for (size_t i = 0; i < lines.n; i++)
		strv_add(a, &swaps,
			 mounts_unescape(a, arena_strn(a, lines.v[i], strcspn(lines.v[i], " \t"))));
	return swaps;
}

const struct mount *mounts_at(const struct mounts *m, const char *path)
{
	const struct mount *top = NULL;

	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->v[i].point, path) == 0)
			top = &m->v[i];
	return top;
}

const struct mount *mounts_under(const struct mounts *m, const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < m->n; i++)
		if (str_is_within(path, m->v[i].point) &&
		    (!best || strlen(m->v[i].point) >= strlen(best->point)))
			best = &m->v[i];
	return best;
}

char *mounts_inner(struct arena *a, const struct mount *m, const char *path)
{
	const char *rest = path + (strcmp(m->point, "/") == 0 ? 0 : strlen(m->point));
	const char *root = strcmp(m->root, "/") == 0 ? "" : m->root;

	if (strcmp(rest, "/") == 0)
		rest = "";
	if (!*root && !*rest)
		return arena_str(a, "/");
	return arena_printf(a, "%s%s", root, rest);
}
