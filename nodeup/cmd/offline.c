#include "nodeup/cmd/offline.h"

#include "nodeup/base/log.h"

/* 0, -ENOENT for what is missing and needed, or an error. Without a record the bytes are hashed: an
 * entry that a person put there counts. */
static int look(struct session *s, const struct task *t, bool *ret_damaged, struct err *e)
{
	const struct digest *d;
	uint64_t bytes;
	int r;

	if (t->kind != TASK_ASSET)
		return 0;
	d = &t->asset.asset->digest;
	if (cache_must_hash(s->ctx.cache, d, &bytes))
		log_info("asset %s: %llu bytes in the cache are hashed, nothing is noted of them",
			 t->name, (unsigned long long)bytes);
	r = cache_look(s->ctx.cache, d, ret_damaged, e);
	if (r >= 0 || (e->errnum == ENOENT && task_is_unneeded(t, &s->ctx)))
		return 0;
	return r;
}

static void say(const struct task *t, bool damaged, const struct err *why)
{
	const struct asset *as = t->asset.asset;
	autoarena struct arena *a = arena_new_empty();
	char hex[DIGEST_TEXT_MAX];

	/* it was there, and is gone */
	if (damaged)
		log_warning("%s", why->msg);
	log_line(t->optional ? LOG_WARNING : LOG_ERROR, NULL, 0, "missing %s: %s %s, of %s%s",
		 as->name, digest_algo_name(as->digest.algo), digest_hex(&as->digest, hex),
		 asset_url_public(a, as->urls.v[0]), t->optional ? " (perhaps not needed)" : "");
}

int offline_check(struct session *s, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < s->plan.n; i++) {
		const struct task *t = s->plan.tasks[i];
		struct err why = { .kind = ERR_NONE };
		bool damaged = false;
		int r = look(s, t, &damaged, &why);

		if (r == 0)
			continue;
		if (why.errnum != ENOENT) {
			*e = why;
			return err_wrap(e, "asset %s", t->name);
		}
		say(t, damaged, &why);
		n += !t->optional;
	}
	if (n == 0)
		return 0;
	return err_fail(e, ERR_CONFIG, ENOENT,
			"offline, and %zu asset%s %s not in the cache; nothing was changed", n,
			n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

void offline_blame(struct err *e)
{
	if (e->kind == ERR_NET)
		e->kind = ERR_CONFIG;
}
