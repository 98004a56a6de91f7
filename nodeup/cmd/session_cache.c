/* session_cache.c - which entries of the cache a run's documents name
 * A named entry is not evicted by this run. Other runs do not evict a named entry for an hour after this run began
 * to use the entry, or ended. */
#include "nodeup/cmd/session.h"
#include "nodeup/documents/location.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include "assets/cache/cache.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/pool.h"
#include "nodeup/base/walk.h"

/* limit of the cache without --cache-max */
#define CACHE_MAX (UINT64_C(8) << 30)

/* unit of st_blocks, on every file system */
enum { STAT_BLOCK = 512 };

struct named {
	struct digest *v;
	size_t n;
};

/* A thread that hashes. Until it is joined, no other thread uses the cache. */
struct read_ahead {
	pthread_t thread;
	atomic_bool stop;
	struct cache *cache;
	struct digest *v;
	size_t n;
};

const char *session_cache_dir(const struct cli *cli)
{
	if (cli->cache)
		return location_absolute(cli->arena, cli->cache);
	return cli->root ? arena_printf(cli->arena, "%s" OWN_CACHE, cli->root) : OWN_CACHE;
}

int session_open_cache(struct session *s, const struct session_req *req, struct err *e)
{
	struct task_ctx *ctx = &s->ctx;
	const bool may_change = policy_may_change(&s->policy);
	size_t n;
	int r;

	if (ctx->cache)
		return 0;
	ctx->cache_root_fd = req->cli->cache ? s->host_fd : s->root_fd;
	r = req->cli->cache
		    ? cache_new(s->host_fd, session_cache_dir(req->cli), may_change, &ctx->cache, e)
		    : cache_new_own(s->root_fd, OWN_CACHE, may_change, &ctx->cache, e);
	if (r < 0)
		return r;
	if (cache_remark(ctx->cache))
		log_warning("%s", cache_remark(ctx->cache));
	n = cache_adopt_kops(ctx->cache);
	if (n)
		log_notice("%zu files of kops' cache taken over", n);
	cache_adopt_older(ctx->cache, s->root_fd, req->cli->cache ? NULL : OWN_SPOOL);
	return 0;
}

static void *read_all(void *arg)
{
	struct read_ahead *ahead = arg;
	struct err ignored;

	for (size_t i = 0; i < ahead->n && !atomic_load(&ahead->stop); i++)
		(void)cache_inspect(ahead->cache, &ahead->v[i], CACHE_BY_NEED, &ignored);
	return NULL;
}

/* An error here comes again, and is reported, when the run opens or reads the cache. */
void session_read_ahead(struct session *s, const struct session_req *req)
{
	struct read_ahead *ahead;
	struct err ignored;

	if (s->ahead || session_open_cache(s, req, &ignored) < 0)
		return;
	ahead = arena_new(s->arena, struct read_ahead);
	ahead->cache = s->ctx.cache;
	ahead->n = cache_list(ahead->cache, s->arena, true, &ahead->v);
	if (ahead->n && pool_thread(&ahead->thread, read_all, ahead, &ignored) == 0)
		s->ahead = ahead;
}

void session_end_ahead(struct session *s)
{
	if (!s->ahead)
		return;
	atomic_store(&s->ahead->stop, true);
	(void)pthread_join(s->ahead->thread, NULL);
	s->ahead = NULL;
}

/* Counts one directory of unfinished downloads. */
static uint64_t kept_bytes_in(int dir)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv names = { 0 };
	uint64_t bytes = 0;

	if (dir < 0 || walk_names(a, dir, &names) < 0)
		return 0;
	for (size_t i = 0; i < names.n; i++) {
		struct stat st;

		/* these files have holes: unwritten bytes have no blocks */
		if (fstatat(dir, names.v[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && !str_has_suffix(names.v[i], ".from"))
			bytes += (uint64_t)st.st_blocks * STAT_BLOCK;
	}
	return bytes;
}

uint64_t session_kept_bytes(const struct cli *cli)
{
	autofree char *path = xasprintf("%s/partial", cli->cache ? cli->cache : OWN_CACHE);
	autoclose int root = -1, dir = -1;

	struct err ignored;

	if (io_open_root(cli->root ? cli->root : "/", &root, &ignored) < 0)
		return 0;
	/* --cache is a path of the host, as given */
	dir = cli->cache ? io_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)
			 : io_open_at(root, path + 1, O_RDONLY | O_DIRECTORY);
	return kept_bytes_in(dir);
}

/* Adds a digest once, even if several documents name it. */
static void name_one(struct arena *a, const struct digest *d, struct named *named)
{
	for (size_t i = 0; i < named->n; i++)
		if (digest_eq(&named->v[i], d))
			return;
	arena_push(a, named->v, named->n, *d);
}

static void name_image(struct arena *a, const struct node_image *image, struct named *named)
{
	struct err ignored;
	struct digest d;

	if (image->hash && digest_parse(image->hash, strlen(image->hash), &d, &ignored) == 0)
		name_one(a, &d, named);
}

/* Lists entries that the documents name, and entries that nodeup itself knows: packages, plugins. */
static struct named all_named(struct session *s)
{
	const struct node *node = &s->boot.node;
	struct named named = { 0 };

	for (size_t i = 0; i < s->plan.n_assets; i++)
		name_one(s->arena, &s->plan.assets[i]->digest, &named);
	for (size_t i = 0; i < s->plan.n; i++)
		if (s->plan.tasks[i]->kind == TASK_ASSET)
			name_one(s->arena, &s->plan.tasks[i]->asset.asset->digest, &named);
	for (size_t i = 0; i < node->images.n; i++)
		name_image(s->arena, &node->images.v[i], &named);
	name_image(s->arena, &node->protokube, &named);
	return named;
}

void session_note_use(struct session *s)
{
	const struct named named = all_named(s);

	cache_note_use(s->ctx.cache, named.v, named.n);
}

void session_trim_cache(struct session *s, int64_t max)
{
	const struct named named = all_named(s);
	size_t gone = max < 0 ? 0
			      : cache_trim(s->ctx.cache, named.v, named.n,
					   max ? (uint64_t)max : CACHE_MAX);

	if (gone)
		log_notice("%zu assets that the documents do not name left the cache", gone);
}
