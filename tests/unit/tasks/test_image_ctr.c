#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/proc.h"
#include "nodeup/tasks/image_ctr.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/scratch.h"

/* Stands for ctr: its images are lines of a file, and an archive holds the line of its image. */
static const char fake_ctr[] = "#!/bin/sh\n"
			       "[ \"$1 $2 $3\" = '-n k8s.io images' ] || exit 9\n"
			       "[ ! -e $SCRATCH/down ] || { echo 'ctr: failed to dial'; exit 1; }\n"
			       "case $4 in\n"
			       "ls) echo 'REF TYPE DIGEST SIZE PLATFORMS LABELS'\n"
			       "  grep \"^${5#name==} \" $SCRATCH/images ;;\n"
			       "import) echo x >>$SCRATCH/imports; cat >>$SCRATCH/images ;;\n"
			       "esac\n"
			       "exit 0\n";
static const char archive[] =
	"docker.io/library/a:1 application/vnd.oci.image  sha256:11 1 KiB linux/amd64 -\n";

struct world {
	struct scratch root;
	struct task_ctx ctx;
	struct asset asset;
	struct task task;
	struct task_diff diff;
	struct err e;
	char *path; /* PATH as it was */
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct cache_entry *en;
	char *path;

	scratch_new(&w->root);
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd, .cache_root_fd = w->root.fd };
	w->asset.name = "a.tar";
	digest_of(DIGEST_SHA256, archive, strlen(archive), &w->asset.digest);
	w->task = (struct task){
		.kind = TASK_IMAGE,
		.ops = &task_image_ops,
		.name = "a:1",
		.image = { .name = "a:1", .asset = &w->asset, .in_containerd = true }
	};
	if (cache_new(w->root.fd, "/cache", true, &w->ctx.cache, &w->e) < 0 ||
	    cache_begin(w->ctx.cache, &w->asset.digest, &en, &w->e) < 0 ||
	    cache_write(en, archive, strlen(archive), &w->e) < 0 || cache_commit(en, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	scratch_write(&w->root, "/bin/ctr", fake_ctr);
	assert_int_equal(fchmodat(w->root.fd, "bin/ctr", 0755, 0), 0);
	scratch_write(&w->root, "/images", "");
	w->path = strdup(getenv("PATH"));
	path = xasprintf("%s/bin:%s", w->root.path, w->path);
	setenv("PATH", path, 1);
	setenv("SCRATCH", w->root.path, 1);
	free(path);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	setenv("PATH", w->path, 1);
	cache_free(w->ctx.cache);
	scratch_done(&w->root);
	free(w->path);
	free(w);
	return 0;
}

static const char *check(struct world *w)
{
	w->diff.why[0] = '\0';
	if (w->task.ops->check(&w->task, &w->ctx, &w->diff, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	return w->diff.why;
}

static void apply(struct world *w)
{
	struct task_run run = { 0 };

	if (w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) != TASK_DONE)
		fail_msg("%s", w->e.msg);
}

static void image_four_ways(void **state)
{
	struct world *w = *state;
	autofree char *imports = NULL;

	assert_string_equal(check(w), "not in the runtime");
	apply(w);
	assert_string_equal(check(w), "");
	scratch_write(&w->root, "/images", "docker.io/library/a:1 x sha256:22 1 KiB - -\n");
	assert_string_equal(check(w), "the runtime has another image of this name");
	scratch_write(&w->root, "/images", "");
	apply(w);
	assert_string_equal(check(w), "");
	apply(w);
	assert_string_equal(check(w), "");
	imports = scratch_read(&w->root, "/imports");
	assert_string_equal(imports, "x\nx\nx\n");
}

static void an_archive_of_another_image_is_told(void **state)
{
	struct world *w = *state;
	struct task_run run = { 0 };

	w->task.image.name = "b:1";
	assert_true(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) < 0);
	assert_int_equal(w->e.kind, ERR_INTEGRITY);
	assert_non_null(strstr(w->e.msg, "holds no image 'b:1'"));
}

static void a_runtime_that_is_down_is_no_image_missing(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/down", "");
	assert_string_equal(check(w), "the runtime does not answer");
}

/* ctr itself takes none of these. */
static void packed_archives_are_unpacked_on_the_way(void **state)
{
	static const char *const programs[] = { "gzip", "xz", "bzip2" };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		autofree char *command = xasprintf("%s/pack", w->root.path), *text = NULL;
		const char *const argv[] = { command, NULL };
		const struct proc_req req = { .argv = argv, .stdin_fd = -1 };
		autofree char *script =
			xasprintf("#!/bin/sh\nprintf '%%s' '%.*s' | %s -c >$SCRATCH/packed\n",
				  (int)strlen(archive) - 1, archive, programs[i]);
		autoclose int fd = -1;

		scratch_write(&w->root, "/pack", script);
		assert_int_equal(fchmodat(w->root.fd, "pack", 0755, 0), 0);
		assert_int_equal(proc_run(&req, NULL, &w->e), 0);
		scratch_write(&w->root, "/images", "");
		fd = openat(w->root.fd, "packed", O_RDONLY | O_CLOEXEC);
		assert_int_equal(image_ctr_load(&w->ctx, fd, &w->e), 0);
		text = scratch_read(&w->root, "/images");
		assert_int_equal(strncmp(text, archive, strlen(archive) - 1), 0);
	}
}

static void names_are_those_of_containerd(void **state)
{
	static const char *const rows[][2] = {
		{ "busybox", "docker.io/library/busybox:latest" },
		{ "protokube:1.8.1", "docker.io/library/protokube:1.8.1" },
		{ "kope/dns:1", "docker.io/kope/dns:1" },
		{ "gcr.io/google_containers/pause-amd64:3.0",
		  "gcr.io/google_containers/pause-amd64:3.0" },
		{ "localhost/x", "localhost/x:latest" },
		{ "registry:5000/x@sha256:1", "registry:5000/x@sha256:1" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(image_ctr_name(a, rows[i][0]), rows[i][1]);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(image_four_ways),
		T(an_archive_of_another_image_is_told),
		T(a_runtime_that_is_down_is_no_image_missing),
		T(packed_archives_are_unpacked_on_the_way),
		T(names_are_those_of_containerd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
