/* package_probe - tasks/package.c from a command line, so that tests can try it against real package managers
 *
 *   package_probe check deb|rpm FILE NAME...    equal, or why not; FILE is a package's own, or - for none
 *   package_probe apply deb|rpm FILE NAME...    to the end, each thing waited for said once
 *
 * A NAME module:X is no package: it is why the others are wanted, for the kernel that runs.
 *
 * Prints key=value lines; an error goes to stderr, with its exit status. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/tasks/kinds.h"

#define PAUSE_US 50000

static const char module[] = "module:";

enum { FILE_MAX = 16 << 20 };

/* The bytes of the file go into the cache, as a download would bring them there. */
static int add_source(struct task_ctx *ctx, const char *path, struct asset *as, struct err *e)
{
	autobuf struct buf data = BUF_INIT(FILE_MAX);
	struct cache_entry *en;
	int r = io_read(ctx->root_fd, path, &data, e);

	if (r < 0)
		return r;
	as->name = str_basename(path);
	digest_of(DIGEST_SHA256, buf_str(&data), data.len, &as->digest);
	r = cache_begin(ctx->cache, &as->digest, &en, e);
	if (r >= 0)
		r = cache_write(en, buf_str(&data), data.len, e);
	return r >= 0 ? cache_commit(en, e) : r;
}

static int check(const struct task *t, struct task_ctx *ctx, struct err *e)
{
	struct task_diff diff = { 0 };
	int r = t->ops->check(t, ctx, &diff, e);

	if (r >= 0)
		printf("%s=%s\n", r == TASK_EQUAL ? "equal" : "differs", diff.why);
	return r;
}

static int apply(const struct task *t, struct task_ctx *ctx, struct err *e)
{
	char said[ERR_NOTE_MAX] = "";
	struct task_run run = { 0 };
	int r;

	while ((r = t->ops->apply(t, ctx, &run, e)) == TASK_WAIT) {
		if (strcmp(said, run.waiting) != 0)
			printf("waiting=%s\n", run.waiting);
		(void)fflush(stdout);
		(void)snprintf(said, sizeof(said), "%s", run.waiting);
		(void)usleep(PAUSE_US);
	}
	if (r == TASK_DONE)
		printf("done=\n");
	return r;
}

static int probe(char **args, struct arena *a, struct err *e)
{
	struct asset source = { 0 };
	struct task t = { .kind = TASK_PACKAGE, .ops = &task_package_ops, .name = args[3] };
	struct task_ctx ctx = { 0 };
	int r = io_open_root("/", &ctx.root_fd, e);

	ctx.cache_root_fd = ctx.root_fd;
	if (r >= 0)
		r = cache_new(ctx.root_fd, "/run/probe-cache", true, &ctx.cache, e);
	if (r >= 0 && strcmp(args[2], "-") != 0)
		r = add_source(&ctx, args[2], &source, e);
	if (r < 0)
		return r;
	t.package.family = strcmp(args[1], "deb") == 0 ? PACKAGE_DEB : PACKAGE_RPM;
	t.package.source = source.name ? &source : NULL;
	for (char **name = args + 3; *name; name++)
		if (str_has_prefix(*name, module))
			strv_add(a, &t.package.modules, *name + strlen(module));
		else
			strv_add(a, &t.package.names, *name);
	r = strcmp(args[0], "check") == 0 ? check(&t, &ctx, e) : apply(&t, &ctx, e);
	cache_free(ctx.cache);
	return r;
}

int main(int argc, char **argv)
{
	autoarena struct arena *a = arena_new_empty();
	struct err e = { 0 };

	if (argc < 5) {
		fputs("usage: package_probe check|apply deb|rpm FILE NAME..., see package_probe.c\n",
		      stderr);
		return 64;
	}
	if (probe(argv + 1, a, &e) >= 0)
		return 0;
	fprintf(stderr, "error=%s\n", e.msg);
	for (size_t i = 0; i < e.nnotes; i++)
		fprintf(stderr, "%s=%s\n", e.notes[i].label, e.notes[i].text);
	return err_exit_status(&e);
}
