#include "nodeup/host/names.h"

#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"

enum { NAME_MAX_BYTES = 256, HOSTS_MAX = 1 << 20 };

/* Returns "" if the name cannot be read, or there is none. */
static const char *read_name(struct arena *a, int root_fd, const char *path)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
	const char *text = io_text(a, root_fd, path, NAME_MAX_BYTES);
	const char *name = text ? str_trim(a, text) : "";

	return strspn(name, letters) == strlen(name) ? name : "";
}

static const char *name_now(struct arena *a, int root_fd)
{
	return read_name(a, root_fd, "/proc/sys/kernel/hostname");
}

int names_note(int root_fd, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *now = name_now(a, root_fd);

	/* the kernel has such a name before any is set */
	if (!*now || str_eq(now, "localhost") || str_has_prefix(now, "localhost.") ||
	    *read_name(a, root_fd, OWN_HOST_NAME))
		return 0;
	return record_write(root_fd, OWN_HOST_NAME, 0644, now, e);
}

/* Returns whether a word after the address is this name: "127.0.0.1 localhost # a comment". */
static bool has_word(const char *line, const char *word)
{
	const char *end = line + strcspn(line, "#");
	bool is_address = true;

	while (line < end) {
		size_t n = strcspn(line, " \t\r#");

		if (!is_address && n == strlen(word) && strncmp(line, word, n) == 0)
			return true;
		is_address = is_address && n == 0;
		line += n;
		line += strspn(line, " \t\r");
	}
	return false;
}

static bool has_localhost(struct arena *a, int root_fd)
{
	const char *text = io_text(a, root_fd, "/etc/hosts", HOSTS_MAX);
	const struct strv lines = strv_split(a, text ? text : "", '\n');

	for (size_t i = 0; i < lines.n; i++)
		if (has_word(lines.v[i], "localhost"))
			return true;
	return false;
}

struct strv names_lines(struct arena *a, int root_fd)
{
	const char *now = name_now(a, root_fd), *was = read_name(a, root_fd, OWN_HOST_NAME);
	struct strv lines = { 0 };

	if (*now && *was && !str_eq(now, was))
		strv_addf(
			a, &lines,
			"host name %s: it was %s at the first run of this boot, and what was started "
			"then has that; left alone: hostnamectl set-hostname %s, or reboot if it is "
			"meant",
			now, was, was);
	if (!has_localhost(a, root_fd))
		strv_add(a, &lines,
			 "/etc/hosts: it is gone, or has no localhost; left alone: add the line "
			 "127.0.0.1 localhost");
	return lines;
}
