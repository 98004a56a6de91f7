/* Tests: test_keyring.c. */
#include "nodeup/tasks/kinds.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/target.h"

#define ASK_NS (30 * DUR_SEC)

enum { KEY_MAX = 64 << 10, KEY_MODE = 0644 };

/* Returns whether the text is a public key, and not a proxy's login page. */
static bool is_public_key(const struct buf *b)
{
	const char *from = strstr(buf_str(b), "-----BEGIN PGP PUBLIC KEY BLOCK-----");

	return strlen(buf_str(b)) == b->len && from &&
	       strstr(from, "-----END PGP PUBLIC KEY BLOCK-----");
}

/* An existing key is not fetched again: whoever put it there may have checked it. */
static int keyring_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			 struct err *e)
{
	autobuf struct buf b = BUF_INIT(KEY_MAX);
	struct stat st;
	int r;

	/* below a root no package is installed either */
	if (ctx->image_mode)
		return TASK_EQUAL;
	r = io_stat(ctx->root_fd, t->name, &st, e);
	if (r == -ENOENT || r == -ENOTDIR)
		return task_missing(diff, "absent");
	if (r >= 0 && !S_ISREG(st.st_mode))
		return task_differs(diff, "a %s, not a regular file", io_kind(st.st_mode));
	if (r >= 0)
		r = io_read(ctx->root_fd, t->name, &b, e);
	if (r < 0 && r != -EFBIG)
		return r;
	if (r == -EFBIG || !is_public_key(&b))
		return task_differs(diff, "not a public key");
	/* apt reads the key as a user of its own */
	if ((st.st_mode & 07777) != KEY_MODE || st.st_uid != 0)
		return task_differs(diff, "mode %04o of user %u, want %04o of root",
				    st.st_mode & 07777, st.st_uid, KEY_MODE);
	return TASK_EQUAL;
}

static int fetch(const struct task *t, struct task_ctx *ctx, struct buf *b, struct err *e)
{
	const struct http_req req = {
		.url = t->keyring.url,
		.max_bytes = KEY_MAX,
		.timeout_ns = task_time_left(ctx, ASK_NS),
	};
	int r;

	if (ctx->is_offline)
		return err_fail(e, ERR_NET, ENETDOWN, "%s is not asked: we are offline",
				t->keyring.url);
	r = http_get(ctx->http, &req, b, NULL, e);
	if (r >= 0 && !is_public_key(b))
		r = err_fail(e, ERR_NET, EPROTO, "%s: the answer is not a public key",
			     t->keyring.url);
	return r;
}

static int keyring_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			 struct err *e)
{
	static const struct io_attr attr = { .mode = KEY_MODE };
	autostage struct io_stage stage = IO_STAGE_INIT;
	autobuf struct buf b = BUF_INIT(KEY_MAX);
	struct digest content;
	int r;

	if (task_is_committed(run, &r, e))
		return r;
	r = fetch(t, ctx, &b, e);
	if (r >= 0)
		r = target_stage(ctx, t->name, &stage, e);
	if (r >= 0)
		r = io_write_fd(stage.fd, t->name, buf_str(&b), b.len, e);
	if (r < 0)
		return r;
	digest_of(DIGEST_SHA256, buf_str(&b), b.len, &content);
	return task_commit(t, ctx, run, &stage, &attr, &content, e);
}

const struct task_ops task_keyring_ops = {
	.kind = "keyring",
	.stays = true,
	.check = keyring_check,
	.apply = keyring_apply,
	.compare = baseline_once,
};
