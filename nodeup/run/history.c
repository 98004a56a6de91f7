#include "nodeup/run/history.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/walk.h"
#include "nodeup/run/health.h"

enum { RECORD_MAX = 1 << 20, CHANGED_MAX = 500, RECORD_MODE = 0644 };

static const char suffix[] = ".json";

/* Returns NULL if there is no readable record. */
static struct tree *read_record(struct arena *a, int root_fd, const char *path)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct tree *t;
	struct err ignored;

	if (io_read(root_fd, path, &text, &ignored) < 0 ||
	    json_parse(a, path, buf_str(&text), text.len, &t, &ignored) < 0 || t->kind != TREE_MAP)
		return NULL;
	return t;
}

static bool has_task(const struct tree *list, const char *task)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(tree_text(list->items[i].value, "task"), task))
			return true;
	return false;
}

static void add_task(struct arena *a, struct tree *list, const char *task, const char *why)
{
	struct tree *t;

	if (!task || list->n >= CHANGED_MAX || has_task(list, task))
		return;
	t = tree_map(a);
	tree_set_text(a, t, "task", task);
	tree_set_text(a, t, "why", why);
	(void)tree_add(a, list, t);
}

static void add_tasks(struct arena *a, struct tree *list, const struct tree *tasks,
		      const char *state, const char *why)
{
	for (size_t i = 0; tasks && i < tasks->n; i++) {
		const struct tree *t = tasks->items[i].value;

		if (str_eq(tree_text(t, "state"), state))
			add_task(a, list,
				 arena_printf(a, "%s %s", tree_text(t, "kind"),
					      tree_text(t, "name")),
				 tree_text(t, why));
	}
}

static struct tree *record_of(struct arena *a, const struct tree *status, const struct tree *before,
			      const struct tree *times)
{
	static const char *const kept[] = { "state",       "signal",        "version", "conf",
					    "kops",        "kopsKnownBy",   "unit",    "user",
					    "pid",         "pidStartTicks", "bootId",  "attempt",
					    "startedUnix", "elapsedMs",     "counts",  "error",
					    "number",      "host" };
	const struct tree *tasks = tree_get(status, "tasks"),
			  *earlier = tree_get(before, "changed");
	struct tree *t = tree_map(a), *changed = tree_seq(a), *failed = tree_seq(a);

	tree_set_int(a, t, "schema", 1);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct tree *value = tree_get(status, kept[i]);

		if (value)
			(void)tree_set(a, t, kept[i], value);
	}
	for (size_t i = 0; earlier && i < earlier->n; i++)
		add_task(a, changed, tree_text(earlier->items[i].value, "task"),
			 tree_text(earlier->items[i].value, "why"));
	add_tasks(a, changed, tasks, "changed", "why");
	add_tasks(a, failed, tasks, "failed", "error");
	tree_set_some(a, t, "changed", changed);
	tree_set_some(a, t, "failed", failed);
	for (size_t i = 0; times && i < times->n; i++)
		(void)tree_set(a, t, times->items[i].key, times->items[i].value);
	return t;
}

/* Returns whether the recorded run changed something, or did not go well. */
static bool is_news(const char *record)
{
	return strstr(record, "\"changed\":[") || !strstr(record, "\"state\":\"ready\"");
}

static int put(int root_fd, const char *path, const struct tree *t, struct err *e)
{
	const struct io_attr attr = { .mode = RECORD_MODE };
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	autostage struct io_stage stage = IO_STAGE_INIT;
	int r = json_render(t, false, &text, e);

	if (r >= 0)
		r = io_mkdirs(root_fd, OWN_RUNS_DIR, 0755, e);
	if (r >= 0)
		r = io_stage_open(root_fd, path, &stage, e);
	if (r >= 0)
		r = io_write_fd(stage.fd, path, buf_str(&text), text.len, e);
	if (r < 0)
		return r;
	return is_news(buf_str(&text)) ? io_stage_commit(&stage, path, &attr, e)
				       : io_stage_publish(&stage, path, &attr, e);
}

/* Lists the names of the records, the oldest first. */
static int list_names(struct arena *a, int root_fd, struct strv *ret, struct err *e)
{
	struct strv all = { 0 };
	int r = walk_names_at(a, root_fd, OWN_RUNS_DIR, &all, e);

	for (size_t i = 0; i < all.n; i++)
		if (all.v[i][0] != '.' && str_has_suffix(all.v[i], suffix))
			strv_add(a, ret, all.v[i]);
	return r == -ENOENT ? 0 : r;
}

/* Returns a record as text: parsing it would take a run that changes nothing too long. */
static const char *text_of(struct arena *a, int root_fd, const char *name)
{
	const char *path = arena_printf(a, OWN_RUNS_DIR "/%s", name);
	const char *text = io_text(a, root_fd, path, RECORD_MAX);

	return text ? text : "";
}

/* Returns the number of a run; 0: it has none. Only records of an older nodeup have it not in their name. */
static int64_t number_of(struct arena *a, int root_fd, const char *name)
{
	static const char key[] = "\"number\":";
	const char *pid = strchr(name, '-'), *number = pid ? strchr(pid + 1, '-') : NULL, *at;

	if (number)
		return strtoll(number + 1, NULL, 10);
	at = strstr(text_of(a, root_fd, name), key);
	return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

/* Returns whether the documents of the recorded run are kept under its number. */
static bool is_named(struct arena *a, int root_fd, const char *name)
{
	return io_is_there(root_fd,
			   arena_printf(a, OWN_KEPT_SET, (long long)number_of(a, root_fd, name)));
}

/* Finds the record that is forgotten next, never the newest one. A record whose documents are kept goes only if the
 * documents of all other records are kept too. */
static size_t find_first_to_go(struct arena *a, int root_fd, const struct strv *names,
			       const char *newest)
{
	size_t oldest = names->n;

	for (size_t i = 0; i < names->n; i++) {
		const char *record = text_of(a, root_fd, names->v[i]);

		if (str_eq(names->v[i], newest) || (oldest < names->n && is_news(record)) ||
		    is_named(a, root_fd, names->v[i]))
			continue;
		if (!is_news(record))
			return i;
		oldest = i;
	}
	return oldest < names->n ? oldest : str_eq(names->v[0], newest);
}

/* newest: the record that is never forgotten. */
static int forget(struct arena *a, int root_fd, size_t most, const char *newest, struct err *e)
{
	struct strv names = { 0 };
	autoclose int dir = -1;
	int r = list_names(a, root_fd, &names, e);

	if (r < 0 || names.n <= most)
		return r;
	r = io_open_own_dir(root_fd, OWN_RUNS_DIR, &dir, e);
	if (r < 0)
		return r;
	while (names.n > most) {
		const size_t i = most ? find_first_to_go(a, root_fd, &names, newest) : 0;

		if (walk_remove(dir, names.v[i]) < 0)
			return err_sys(e, "remove '%s/%s'", OWN_RUNS_DIR, names.v[i]);
		names.n--;
		memmove((void *)&names.v[i], &names.v[i + 1], (names.n - i) * sizeof(*names.v));
	}
	return 0;
}

/* Writes a record anew without its times; a record without any stays as it is. */
static int forget_times(int root_fd, const char *path, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct tree *record = read_record(a, root_fd, path),
			  *times = tree_get(record, "times");
	struct tree *rest = tree_map(a);

	if (!times)
		return 0;
	for (size_t i = 0; i < record->n; i++)
		if (record->items[i].value != times)
			(void)tree_set(a, rest, record->items[i].key, record->items[i].value);
	tree_set_int(a, rest, "timesLeftOut",
		     health_number(record, "timesLeftOut", 0) + (int64_t)times->n);
	return put(root_fd, path, rest, e);
}

/* Keeps all records within HISTORY_BYTES; the newest keep their times. This run's is never shrunk: its name is not the
 * last one if the clock was set back. */
static int shrink(int root_fd, const char *newest, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv names = { 0 };
	struct err ignored;
	struct stat st;
	uint64_t bytes =
		io_stat(root_fd, arena_printf(a, OWN_RUNS_DIR "/%s", newest), &st, &ignored) < 0
			? 0
			: (uint64_t)st.st_size;
	int r = list_names(a, root_fd, &names, e);

	for (size_t i = names.n; i-- > 0 && r >= 0;) {
		const char *path = arena_printf(a, OWN_RUNS_DIR "/%s", names.v[i]);

		if (str_eq(names.v[i], newest) || io_stat(root_fd, path, &st, &ignored) < 0)
			continue;
		bytes += (uint64_t)st.st_size;
		if (bytes > HISTORY_BYTES)
			r = forget_times(root_fd, path, e);
	}
	return r;
}

int history_keep(int root_fd, const struct tree *times, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct health told;
	const char *path, *number;
	int r = health_read(a, root_fd, &told, e);

	if (r < 0)
		return r;
	/* another process wrote the status, and records it itself */
	if (!told.status || health_number(told.status, "pid", 0) != getpid())
		return 0;
	number = tree_says(told.status, "number");
	path = arena_printf(a, OWN_RUNS_DIR "/%012lld-%d%s%s%s",
			    (long long)health_number(told.status, "startedUnix", 0), (int)getpid(),
			    *number ? "-" : "", number, suffix);
	r = put(root_fd, path, record_of(a, told.status, read_record(a, root_fd, path), times), e);
	if (r >= 0)
		r = forget(a, root_fd, HISTORY_MAX, str_basename(path), e);
	return r < 0 ? r : shrink(root_fd, str_basename(path), e);
}

int64_t history_last(int root_fd)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv names = { 0 };
	int64_t last = 0;
	struct err ignored;

	/* without a list there are no known runs */
	(void)!list_names(a, root_fd, &names, &ignored);
	for (size_t i = 0; i < names.n; i++) {
		const int64_t number = number_of(a, root_fd, names.v[i]);

		last = number > last ? number : last;
	}
	return last;
}

int history_forget(int root_fd, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	return forget(a, root_fd, 0, NULL, e);
}

int history_list(struct arena *a, int root_fd, struct tree **ret, struct err *e)
{
	struct strv names = { 0 };
	int r = list_names(a, root_fd, &names, e);

	*ret = tree_seq(a);
	for (size_t i = names.n; i > 0; i--) {
		struct tree *t = read_record(a, root_fd,
					     arena_printf(a, OWN_RUNS_DIR "/%s", names.v[i - 1]));

		if (t)
			(void)tree_add(a, *ret, t);
	}
	return r;
}
