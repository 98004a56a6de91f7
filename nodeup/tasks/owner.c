#include "nodeup/tasks/owner.h"

#include <stdlib.h>
#include <string.h>

enum { PASSWD_MAX = 16 << 20, FIELDS = 7 };

int owner_find(struct task_ctx *ctx, const char *name, uid_t *ret_uid, gid_t *ret_gid,
	       struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf text = BUF_INIT(PASSWD_MAX);
	struct strv lines;
	int r;

	*ret_uid = *ret_gid = 0;
	if (!name)
		return 0;
	r = io_read(ctx->root_fd, "/etc/passwd", &text, e);
	if (r < 0)
		return r;
	lines = strv_split(a, buf_str(&text), '\n');
	for (size_t i = 0; i < lines.n; i++) {
		const struct strv fields = strv_split(a, lines.v[i], ':');

		if (fields.n != FIELDS || strcmp(fields.v[0], name) != 0)
			continue;
		*ret_uid = (uid_t)strtoul(fields.v[2], NULL, 10);
		*ret_gid = (gid_t)strtoul(fields.v[3], NULL, 10);
		return 0;
	}
	return err_fail(e, ERR_SYSTEM, ENOENT, "there is no user '%s'", name);
}
