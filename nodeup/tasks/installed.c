#include "nodeup/tasks/installed.h"

#include <string.h>
#include "nodeup/tasks/state.h"

void installed_digest_at(const struct task_install *in, size_t at, struct digest *ret)
{
	autodigest struct digest_ctx *c = NULL;

	if (!in->member) {
		*ret = in->sources[at]->digest;
		return;
	}
	c = digest_new(DIGEST_SHA256);
	for (size_t i = 0; i <= at; i++)
		digest_update(c, in->sources[i]->digest.bytes,
			      digest_size(in->sources[i]->digest.algo));
	digest_update(c, in->member, strlen(in->member));
	digest_final(c, ret);
}

bool installed_is_given(const struct task *t, const struct task_ctx *ctx)
{
	if (!ctx->gives_away || t->kind != TASK_INSTALL || t->install.member)
		return false;
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i]->kind == TASK_ASSET)
			return t->needs[i]->n_users == 1;
	return false;
}

bool installed_has_attributes(const struct task *t, const struct stat *st)
{
	return (st->st_mode & 07777) == t->install.mode && st->st_uid == 0 && st->st_gid == 0;
}

bool installed_is_known(const struct task *t, struct task_ctx *ctx, const struct stat *st)
{
	for (size_t i = 0; i < t->install.n_sources && !ctx->verify; i++) {
		struct digest d;

		installed_digest_at(&t->install, i, &d);
		if (state_is(ctx->state, t->name, st, &d))
			return true;
	}
	return false;
}

bool installed_is_right(const struct task *t, struct task_ctx *ctx)
{
	struct err ignored;
	struct stat st;

	return io_stat(ctx->root_fd, t->name, &st, &ignored) >= 0 && S_ISREG(st.st_mode) &&
	       installed_is_known(t, ctx, &st) && installed_has_attributes(t, &st) &&
	       !state_is_lost(ctx->state, t->name, &st);
}
