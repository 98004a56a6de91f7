#include "nodeup/tasks/package_db.h"

#include <fcntl.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/proc.h"
#include "nodeup/base/walk.h"

static const char dpkg_status[] = "/var/lib/dpkg/status";
static const char dpkg_updates[] = "/var/lib/dpkg/updates";

#define ASK_NS (60 * DUR_SEC)

enum { STATUS_MAX = 64 << 20, ANSWER_MAX = 256 << 10 };

/* The value of a field when the line is one, else NULL. */
static const char *field_value(const char *line, const char *name)
{
	const size_t n = strlen(name);

	if (strncmp(line, name, n) != 0 || line[n] != ':')
		return NULL;
	return line + n + 1 + strspn(line + n + 1, " \t");
}

static bool is_word(const char *text, const char *word)
{
	const size_t n = strcspn(text, " \t\n");

	return strlen(word) == n && strncmp(text, word, n) == 0;
}

/* "install ok installed": what is wanted, whether something is wrong, and how far it came. */
static const char *third_word(const char *status)
{
	for (int i = 0; i < 2; i++) {
		status += strcspn(status, " \t\n");
		status += strspn(status, " \t");
	}
	return status;
}

static void strike(struct strv *missing, const char *package)
{
	const size_t n = strcspn(package, " \t\n,(:");
	size_t kept = 0;

	for (size_t i = 0; i < missing->n; i++)
		if (strlen(missing->v[i]) != n || strncmp(package, missing->v[i], n) != 0)
			missing->v[kept++] = missing->v[i];
	missing->n = kept;
}

/* "mail-transport-agent, libssl3 (= 3.0.13-1)" */
static void strike_provided(struct strv *missing, const char *names)
{
	while (*names && *names != '\n') {
		names += strspn(names, ", \t");
		strike(missing, names);
		names += strcspn(names, ",\n");
	}
}

/* Remove from `missing` what the database calls installed, by its own name or, where any package that
 * serves is good enough, by one that it provides. Provides stands behind Status. */
static void strike_installed(const char *text, bool provided, struct package_state *s)
{
	static const char *const half[] = { "unpacked", "half-configured", "half-installed" };
	const char *package = "";
	bool installed = false;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *value = field_value(line, "Package"), *state;

		if (value) {
			package = value;
			installed = false;
		}
		value = field_value(line, "Provides");
		if (value && installed && provided)
			strike_provided(&s->missing, value);
		value = field_value(line, "Status");
		if (!value)
			continue;
		state = third_word(value);
		for (size_t i = 0; i < ARRAY_LEN(half); i++)
			s->interrupted |= is_word(state, half[i]);
		installed = is_word(state, "installed");
		if (installed)
			strike(&s->missing, package);
	}
}

static bool has_entries(int root_fd, const char *path)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv names;
	struct err ignored;

	if (walk_names_at(a, root_fd, path, &names, &ignored) < 0)
		return false;
	for (size_t i = 0; i < names.n; i++)
		if (names.v[i][0] != '.' && strcmp(names.v[i], "tmp.i") != 0)
			return true;
	return false;
}

static int look_dpkg(struct task_ctx *ctx, bool provided, struct package_state *s, struct err *e)
{
	autobuf struct buf text = BUF_INIT(STATUS_MAX);
	int r = io_read(ctx->root_fd, dpkg_status, &text, e);

	if (r < 0)
		return err_wrap(e, "dpkg's database");
	strike_installed(buf_str(&text), provided, s);
	s->interrupted |= has_entries(ctx->root_fd, dpkg_updates);
	return 0;
}

/* rpm is not asked about an image: it would change its root, and make a database where there is none. It
 * says a line for each name, and ends with the number of those it does not have. */
static int ask_rpm(struct task_ctx *ctx, struct arena *a, const char *question, const char *refusal,
		   struct strv *names, struct err *e)
{
	static const char *const english[] = { "LC_ALL=C", NULL };
	autobuf struct buf out = BUF_INIT(ANSWER_MAX);
	struct strv argv = { 0 }, lines, missing = { 0 };
	int r;

	strv_add(a, &argv, "rpm");
	strv_add(a, &argv, "-q");
	if (question)
		strv_add(a, &argv, question);
	strv_add_all(a, &argv, names);
	strv_add(a, &argv, NULL);
	const struct proc_req req = {
		.argv = argv.v,
		.extra_env = english,
		.stdin_fd = -1,
		.timeout_ns = task_time_left(ctx, ASK_NS),
	};
	r = proc_run(&req, &out, e);
	lines = strv_split(a, buf_str(&out), '\n');
	for (size_t i = 0; i < names->n; i++)
		if (strv_has(&lines, arena_printf(a, "%s%s%s", refusal, names->v[i],
						  question ? "" : " is not installed")))
			strv_add(a, &missing, names->v[i]);
	/* it failed for another reason than that something is missing */
	if (r < 0 && missing.n == 0)
		return err_wrap(e, "rpm's database");
	*names = missing;
	return 0;
}

static int look_rpm(struct task_ctx *ctx, struct arena *a, bool provided, struct package_state *s,
		    struct err *e)
{
	int r = ask_rpm(ctx, a, NULL, "package ", &s->missing, e);

	if (r == 0 && provided && s->missing.n)
		r = ask_rpm(ctx, a, "--whatprovides", "no package provides ", &s->missing, e);
	return r;
}

int package_db_look(const struct task_package *p, struct task_ctx *ctx, struct arena *a,
		    struct package_state *ret, struct err *e)
{
	/* a file is of one release, and nothing else will do */
	const bool provided = !p->source;
	struct package_state s = { 0 };
	int r;

	strv_add_all(a, &s.missing, &p->names);
	r = p->family == PACKAGE_DEB ? look_dpkg(ctx, provided, &s, e)
				     : look_rpm(ctx, a, provided, &s, e);
	if (r == 0)
		*ret = s;
	return r;
}
