#include "nodeup/cmd/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include "assets/cache/cache.h"
#include "assets/http/http.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/pool.h"
#include "nodeup/cmd/offline.h"

#define ASK_NS (10 * DUR_SEC)

/* An archive takes its own room, and that of what is in it: about so many times as much. */
enum { UNPACKED = 3, ASKERS = 8, FILE_SYSTEMS_MAX = 8, ROOM_SPARE = 64 << 20 };

static void ask_mirrors(void *arg)
{
	struct check_asset *one = arg;

	for (size_t i = 0; i < one->asset->urls.n; i++) {
		const struct http_req req = {
			.url = one->asset->urls.v[i],
			.timeout_ns = ASK_NS,
			.has_mirrors = one->asset->urls.n > 1,
		};

		one->r = http_length(one->http, &req, &one->length, &one->why);
		if (one->r >= 0)
			return;
		one->no_name |= one->why.errnum == HTTP_NO_NAME;
	}
}

/* Assets that a run would fetch, as the plan says. */
static void list_assets(struct checking *c)
{
	for (size_t i = 0; i < c->rep.n; i++) {
		const struct task *t = c->rep.outcomes[i].task;

		if (t->kind == TASK_ASSET && c->rep.outcomes[i].state == RUN_CHANGED)
			arena_push(c->cli->arena, c->assets, c->n_assets,
				   ((struct check_asset){ .asset = t->asset.asset,
							  .http = c->s.http,
							  .length = -1 }));
	}
}

void check_ask(struct checking *c)
{
	struct pool *askers;
	struct err e;

	list_assets(c);
	if (c->cli->offline || !c->n_assets)
		return;
	if (pool_new(ASKERS, ASKERS, &askers, &e) < 0) {
		c->assets[0].r = err_code(&e);
		c->assets[0].why = e;
		return;
	}
	for (size_t i = 0; i < c->n_assets; i++)
		pool_send(askers, ask_mirrors, &c->assets[i]);
	pool_free(askers);
}

static int skip(struct checking *c, const char *why)
{
	(void)snprintf(c->said, sizeof(c->said), "%s", why);
	return CHECK_SKIPPED;
}

int check_names(struct checking *c, struct err *e)
{
	if (c->opened < 0 && c->why.errnum == HTTP_NO_NAME) {
		*e = c->why;
		return c->opened;
	}
	if (c->cli->offline || c->opened < 0)
		return skip(c, "not asked");
	for (size_t i = 0; i < c->n_assets; i++)
		if (c->assets[i].no_name) {
			*e = c->assets[i].why;
			/* another mirror may have it */
			return c->assets[i].r < 0 ? c->assets[i].r : CHECK_ODD;
		}
	return CHECK_RIGHT;
}

int check_assets(struct checking *c, struct err *e)
{
	char size[STR_SIZE_MAX];
	uint64_t sum = 0;

	if (c->opened < 0)
		return skip(c, "not asked: the documents name them");
	if (c->cli->offline)
		return offline_check(&c->s, e);
	for (size_t i = 0; i < c->n_assets; i++) {
		const struct check_asset *one = &c->assets[i];

		if (one->r < 0) {
			*e = one->why;
			return err_wrap(e, "%s", one->asset->name);
		}
		sum += one->length > 0 ? (uint64_t)one->length : 0;
	}
	(void)snprintf(c->said, sizeof(c->said), "%zu to fetch, %s", c->n_assets,
		       str_size(size, sum));
	return CHECK_RIGHT;
}

struct room {
	uint64_t device, wanted, free;
	const char *path;
};

/* The file system that this path is on, or is to be on. */
static struct room *room_of(struct checking *c, int root_fd, const char *path, struct room *v,
			    size_t *n)
{
	char *at = arena_str(c->cli->arena, path);
	autoclose int fd = -1;
	struct err ignored;
	struct statvfs fs;
	struct stat st;

	while (io_open(root_fd, at, O_PATH | O_DIRECTORY, &fd, &ignored) < 0) {
		char *slash = strrchr(at, '/');

		if (!slash || !at[1])
			return NULL;
		slash[slash == at] = '\0';
	}
	if (fstat(fd, &st) < 0 || fstatvfs(fd, &fs) < 0)
		return NULL;
	for (size_t i = 0; i < *n; i++)
		if (v[i].device == st.st_dev)
			return &v[i];
	if (*n == FILE_SYSTEMS_MAX)
		return NULL;
	v[*n] = (struct room){ st.st_dev, 0, (uint64_t)fs.f_bavail * fs.f_frsize, at };
	return &v[(*n)++];
}

static uint64_t length_of(const struct checking *c, const struct asset *as)
{
	for (size_t i = 0; i < c->n_assets; i++)
		if (c->assets[i].asset == as && c->assets[i].length > 0)
			return (uint64_t)c->assets[i].length;
	return 0;
}

static void add_wanted(struct checking *c, struct room *v, size_t *n)
{
	const char *cache = c->cli->cache ? session_cache_dir(c->cli) : OWN_CACHE;

	for (size_t i = 0; i < c->rep.n; i++) {
		const struct run_outcome *o = &c->rep.outcomes[i];
		const struct task *t = o->task;
		struct room *at = NULL;
		uint64_t bytes = 0;

		if (o->state != RUN_CHANGED && o->state != RUN_UNSURE)
			continue;
		if (t->kind == TASK_ASSET || t->kind == TASK_UNPACK) {
			at = room_of(c, c->s.ctx.cache_root_fd, cache, v, n);
			bytes = length_of(c, t->asset.asset) *
				(t->kind == TASK_UNPACK ? UNPACKED : 1);
		} else if (t->kind == TASK_INSTALL && !t->install.member && t->install.n_sources) {
			at = room_of(c, c->s.root_fd, t->install.path, v, n);
			bytes = length_of(c, t->install.sources[0]);
		}
		if (at)
			at->wanted += bytes;
	}
}

int check_room(struct checking *c, struct err *e)
{
	char wanted[STR_SIZE_MAX], room[STR_SIZE_MAX];
	struct room v[FILE_SYSTEMS_MAX];
	size_t n = 0;

	if (c->opened < 0)
		return skip(c, "not looked at: the documents say what comes");
	add_wanted(c, v, &n);
	for (size_t i = 0; i < n; i++)
		if (v[i].wanted + ROOM_SPARE > v[i].free) {
			(void)err_fail(e, ERR_SYSTEM, ENOSPC,
				       "too little room on the file system of '%s'", v[i].path);
			err_note(e, "want", "%s and a little more", str_size(wanted, v[i].wanted));
			err_note(e, "got", "%s", str_size(room, v[i].free));
			err_note(e, "do", "a larger disk, or nodeup's --cache on another one");
			return err_code(e);
		}
	if (n)
		(void)snprintf(c->said, sizeof(c->said),
			       "%s to come, %s free on the file system of '%s'",
			       str_size(wanted, v[0].wanted), str_size(room, v[0].free), v[0].path);
	return CHECK_RIGHT;
}
