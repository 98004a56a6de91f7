#include "nodeup/tasks/effect.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/proc.h"
#include "nodeup/volumes/mounts.h"

/* how long to wait for the lock of another iptables */
#define PATIENCE_NS (5 * DUR_SEC)

enum { TEXT_MAX = 4 << 20 };

static bool has_line(const char *text, const char *line)
{
	const size_t n = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at += n)
		if ((at == text || at[-1] == '\n') && (at[n] == '\n' || at[n] == '\0'))
			return true;
	return false;
}

/* Checks that the unit's rules of iptables are present. A chain that accepts everything needs no rule. */
static int check_rules(const struct task_unit *u, struct task_diff *diff)
{
	static const char *const argv[] = { "iptables", "-w", "-S", NULL };
	const struct proc_req req = { .argv = argv, .stdin_fd = -1, .timeout_ns = PATIENCE_NS };
	autobuf struct buf rules = BUF_INIT(TEXT_MAX);
	autoarena struct arena *a = arena_new_empty();
	struct err ignored;

	if (u->accepts.n == 0 || proc_run(&req, &rules, &ignored) < 0)
		return TASK_EQUAL;
	for (size_t i = 0; i < u->accepts.n; i++) {
		const char *rule = u->accepts.v[i];
		const char *chain = arena_strn(a, rule, strcspn(rule, " "));

		if (has_line(buf_str(&rules), arena_printf(a, "-P %s DROP", chain)) &&
		    !has_line(buf_str(&rules), arena_printf(a, "-A %s", rule)))
			return task_differs(diff, "chain %s drops, and its rule '%s' is gone",
					    chain, rule);
	}
	return TASK_EQUAL;
}

static int check_mounts(const struct task_unit *u, const struct task_ctx *ctx,
			struct task_diff *diff)
{
	autoarena struct arena *a = arena_new_empty();
	struct mounts all;
	struct err ignored;

	if (u->mounted.n == 0 || mounts_read(ctx->root_fd, a, "self", &all, &ignored) < 0)
		return TASK_EQUAL;
	for (size_t i = 0; i < u->mounted.n; i++)
		if (!mounts_at(&all, u->mounted.v[i]))
			return task_differs(diff, "nothing is mounted at %s any more",
					    u->mounted.v[i]);
	return TASK_EQUAL;
}

int effect_check(const struct task *unit, const struct task_ctx *ctx, struct task_diff *diff)
{
	const int r = check_mounts(&unit->unit, ctx, diff);

	return r == TASK_EQUAL ? check_rules(&unit->unit, diff) : r;
}
