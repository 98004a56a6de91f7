#include "nodeup/cmd/session.h"

#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/tasks/installed.h"
#include "nodeup/tasks/state.h"

/* Returns whether the cache has the task's asset. Without a record the bytes are hashed: a person may have put the
 * entry there. */
static enum cache_state find_object(const struct session *s, const struct task *t, struct err *e)
{
	const struct digest *d = &t->asset.asset->digest;
	const struct cache_answer known = cache_inspect(s->ctx.cache, d, CACHE_BY_RECORD, e);

	if (known.state == CACHE_UNREAD)
		log_info("asset %s: %llu bytes in the cache are hashed, nothing is noted of them",
			 t->name, (unsigned long long)known.bytes);
	return cache_inspect(s->ctx.cache, d, CACHE_BY_NEED, e).state;
}

/* Returns whether the run can take the bytes from an installed file. */
static bool is_installed(const struct session *s, const struct task *t)
{
	autoclose int fd = s->ctx.verify ? -1
					 : state_open_copy(s->ctx.state, &t->asset.asset->digest);

	return fd >= 0;
}

static void log_missing(const struct task *t, bool damaged, const struct err *why)
{
	const struct asset *as = t->asset.asset;
	autoarena struct arena *a = arena_new_empty();
	char hex[DIGEST_TEXT_MAX];
	struct strv urls = { 0 };

	for (size_t i = 0; i < as->urls.n; i++)
		strv_add(a, &urls, asset_url_public(a, as->urls.v[i]));

	/* the cache had the entry, but removed it because it was damaged */
	if (damaged)
		log_warning("%s", why->msg);
	log_line(t->optional ? LOG_WARNING : LOG_ERROR, NULL, 0, "missing %s: %s %s, of %s%s",
		 as->name, digest_algo_name(as->digest.algo), digest_hex(&as->digest, hex),
		 strv_join(a, &urls, ", "), t->optional ? " (perhaps not needed)" : "");
}

int offline_check(struct session *s, struct err *e)
{
	bool is_given = false;
	size_t n = 0;

	for (size_t i = 0; i < s->plan.n; i++) {
		const struct task *t = s->plan.tasks[i];
		enum cache_state state = CACHE_RIGHT;
		struct err why;

		if (t->kind == TASK_ASSET)
			state = find_object(s, t, &why);
		if (state == CACHE_FAILED) {
			*e = why;
			return err_wrap(e, "asset %s", t->name);
		}
		if (state == CACHE_RIGHT || task_is_unneeded(t, &s->ctx) || is_installed(s, t))
			continue;
		log_missing(t, state == CACHE_DAMAGED, &why);
		n += !t->optional;
		is_given = is_given || (t->n_users && installed_is_given(t->users[0], &s->ctx));
	}
	if (n == 0)
		return 0;
	(void)err_fail(e, ERR_CONFIG, ENOENT,
		       "offline, and %zu asset%s %s not in the cache; nothing was changed", n,
		       n == 1 ? "" : "s", n == 1 ? "is" : "are");
	if (is_given)
		err_note(e, "do",
			 "run it once with a network; keepAssets: true in " OWN_ETC
			 "/nodeup.d keeps a second copy of programs here");
	return err_code(e);
}

void offline_blame(struct err *e)
{
	if (e->kind == ERR_NET)
		e->kind = ERR_CONFIG;
}
