#include "nodeup/offline.h"

#include <unistd.h>
#include "nodeup/base/log.h"

/* Without a record the bytes are hashed: what somebody put there by hand counts. */
static bool is_missing(struct session *s, const struct task *t)
{
	autoclose int fd = -1;
	struct err ignored;

	/* whether anybody needs it takes longer to say: for repair, what is installed is hashed */
	return t->kind == TASK_ASSET &&
	       cache_open(s->ctx.cache, &t->asset.asset->digest, &fd, &ignored) < 0 &&
	       !task_is_unneeded(t, &s->ctx);
}

static void say(const struct task *t)
{
	const struct asset *as = t->asset.asset;
	autoarena struct arena *a = arena_new_empty();
	char hex[DIGEST_TEXT_MAX];

	log_line(t->optional ? LOG_WARNING : LOG_ERROR, NULL, 0, "missing %s: %s %s, of %s%s",
		 as->name, digest_algo_name(as->digest.algo), digest_hex(&as->digest, hex),
		 asset_url_public(a, as->urls.v[0]), t->optional ? " (perhaps not needed)" : "");
}

int offline_check(struct session *s, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < s->plan.n; i++) {
		const struct task *t = s->plan.tasks[i];

		if (!is_missing(s, t))
			continue;
		say(t);
		n += !t->optional;
	}
	if (n == 0)
		return 0;
	return err_fail(e, ERR_NET, ENOENT,
			"offline, and %zu asset%s %s not in the cache; nothing was changed", n,
			n == 1 ? "" : "s", n == 1 ? "is" : "are");
}
