#include "nodeup/tasks/selinux.h"

#include <regex.h>
#include <string.h>
#include <sys/xattr.h>
#include "nodeup/base/io.h"

enum { CONFIG_MAX = 64 << 10, POLICY_MAX = 16 << 20, WORDS_MAX = 3 };

static const char config[] = SELINUX_CONFIG;
/* Labels of the policy, those of its users' homes, and labels that an admin added: if two lines match, the later one
 * counts. */
static const char *const contexts[] = { "file_contexts", "file_contexts.homedirs",
					"file_contexts.local" };
/* Pairs of paths: a path below the first is labelled like the same path below the second. */
static const char *const aliases[] = { "file_contexts.subs", "file_contexts.subs_dist" };

/* Returns how many words a line has, at most three of which are kept; a comment has none. */
static size_t split(struct arena *a, const char *line, const char *words[static WORDS_MAX])
{
	size_t n = 0;

	for (line += strspn(line, " \t"); *line && *line != '#'; line += strspn(line, " \t")) {
		const size_t len = strcspn(line, " \t");

		if (n < WORDS_MAX)
			words[n] = arena_strn(a, line, len);
		line += len;
		n++;
	}
	return n;
}

static struct strv lines_of(struct arena *a, int root_fd, const char *path)
{
	const char *text = io_text(a, root_fd, path, POLICY_MAX);

	return strv_split(a, text ? text : "", '\n');
}

/* The folder of the policy's files; NULL: SELinux is not used here. */
static const char *find_policy(struct arena *a, int root_fd)
{
	const char *text = io_text(a, root_fd, config, CONFIG_MAX), *type = NULL;
	const struct strv lines = strv_split(a, text ? text : "", '\n');

	for (size_t i = 0; i < lines.n; i++) {
		if (str_has_prefix(lines.v[i], "SELINUX=disabled"))
			return NULL;
		if (str_has_prefix(lines.v[i], "SELINUXTYPE="))
			type = str_trim(a, strchr(lines.v[i], '=') + 1);
	}
	return str_is_empty(type) ? NULL : arena_printf(a, "/etc/selinux/%s/contexts/files", type);
}

/* Returns the path for which the policy has labels, with aliases resolved. */
static const char *resolve(struct arena *a, int root_fd, const char *policy, const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
		const struct strv lines =
			lines_of(a, root_fd, arena_printf(a, "%s/%s", policy, aliases[i]));

		/* the last line that matches counts, and the next file goes on with its result */
		for (size_t k = lines.n; k-- > 0;) {
			const char *words[WORDS_MAX];

			if (split(a, lines.v[k], words) != 2 || !str_is_within(path, words[0]))
				continue;
			path = arena_printf(a, "%s%s", words[1], path + strlen(words[0]));
			break;
		}
	}
	return path;
}

/* Returns whether the path begins with the pattern's part before its first special character. */
static bool may_match(const char *pattern, const char *path)
{
	size_t n = strcspn(pattern, ".^$?*+|[({\\");

	/* the special character may be about the character before it */
	if (pattern[n] && n && strchr("?*{", pattern[n]))
		n--;
	return strncmp(pattern, path, n) == 0;
}

static bool matches(struct arena *a, const char *pattern, const char *path)
{
	regex_t expression;
	bool is_match;

	if (!may_match(pattern, path) ||
	    regcomp(&expression, arena_printf(a, "^(%s)$", pattern), REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	is_match = regexec(&expression, path, 0, NULL, 0) == 0;
	regfree(&expression);
	return is_match;
}

/* Returns the label of the last line whose pattern is the path (`exactly`) or matches it; NULL: there is none. A line
 * may be for one kind of objects. */
static const char *search(struct arena *a, const struct strv *lines, const char *path,
			  const char *kind, bool exactly)
{
	for (size_t i = lines->n; i-- > 0;) {
		const char *words[WORDS_MAX];
		const size_t n = split(a, lines->v[i], words);

		if (n != 2 && (n != WORDS_MAX || strcmp(words[1], kind) != 0))
			continue;
		if (exactly ? str_eq(words[0], path) : matches(a, words[0], path))
			return words[n - 1];
	}
	return NULL;
}

const char *selinux_label(struct arena *a, int root_fd, const char *path, mode_t mode)
{
	const char *policy = find_policy(a, root_fd), *label, *kind = S_ISDIR(mode) ? "-d" : "--";
	struct strv lines = { 0 };

	if (!policy)
		return NULL;
	path = resolve(a, root_fd, policy, path);
	for (size_t i = 0; i < ARRAY_LEN(contexts); i++) {
		const struct strv more =
			lines_of(a, root_fd, arena_printf(a, "%s/%s", policy, contexts[i]));

		strv_add_all(a, &lines, &more);
	}
	label = search(a, &lines, path, kind, true);
	if (!label)
		label = search(a, &lines, path, kind, false);
	return str_eq(label, "<<none>>") ? NULL : label;
}

void selinux_set(struct task_ctx *ctx, const char *path, int fd)
{
	autoarena struct arena *a = arena_new_empty();
	const char *label;
	struct stat st;

	if (!ctx->has_labels || fstat(fd, &st) < 0)
		return;
	label = selinux_label(a, ctx->root_fd, path, st.st_mode);
	if (label)
		(void)!fsetxattr(fd, "security.selinux", label, strlen(label) + 1, 0);
}
