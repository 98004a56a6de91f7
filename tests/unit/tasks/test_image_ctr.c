#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/print.h"
#include "nodeup/base/proc.h"
#include "nodeup/tasks/images.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/scratch.h"
#include "tests/unit/lib/tar.h"

/* Stands for ctr: its images are lines of a file, and an archive holds the line of its image. */
static const char fake_ctr[] =
	"#!/bin/sh\n"
	"[ \"$1 $2 $3\" = '-n k8s.io images' ] || exit 9\n"
	"[ ! -e $SCRATCH/down ] || { echo x >>$SCRATCH/asked; echo 'ctr: failed to dial'; exit 1; }\n"
	"case $4 in\n"
	"ls) echo x >>$SCRATCH/asked; echo 'REF TYPE DIGEST SIZE PLATFORMS LABELS'\n"
	"  case $5 in name==*) grep \"^${5#name==} \" $SCRATCH/images ;;\n"
	"  *) cat $SCRATCH/images ;; esac ;;\n"
	"pull) [ $5 != --hosts-dir ] || { [ $6 = /hosts ] || exit 1; shift 2; }\n"
	"  echo $5 >>$SCRATCH/pulls; [ ! -e $SCRATCH/closed ] || exit 1\n"
	"  echo \"$5 x sha256:33 1 KiB - -\" >>$SCRATCH/images ;;\n"
	"import) echo x >>$SCRATCH/imports; cat >$SCRATCH/given\n"
	"  tar -xOf $SCRATCH/given line 2>/dev/null >>$SCRATCH/images ||\n"
	"  cat $SCRATCH/given >>$SCRATCH/images ;;\n"
	"esac\n"
	"exit 0\n";
static const char archive[] =
	"docker.io/library/a:1 application/vnd.oci.image  sha256:11 1 KiB linux/amd64 -\n";

struct world {
	struct arena *arena;
	struct scratch root;
	struct task_ctx ctx;
	struct asset asset;
	struct task task;
	struct task_diff diff;
	struct err e;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct cache_entry *en;

	w->arena = arena_new_empty();
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
	scratch_program(&w->root, "/bin/ctr", fake_ctr);
	scratch_write(&w->root, "/images", "");
	scratch_find_programs(&w->root, "/bin");
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	cache_free(w->ctx.cache);
	scratch_done(&w->root);
	arena_free(w->arena);
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

/* As often as that was written so far. */
static size_t times_asked(const struct world *w)
{
	autofree char *asked = io_is_there(w->root.fd, "/asked") ? scratch_read(&w->root, "/asked")
								 : NULL;

	return asked ? strlen(asked) / strlen("x\n") : 0;
}

static void *check_all(void *arg)
{
	struct task_ctx *ctx = arg;
	char id[IMAGE_ID_MAX];
	struct err e;

	for (int i = 0; i < 3; i++)
		if (images_id(ctx, "a:1", id, &e) < 0 && e.errnum == ENOENT)
			return arg;
	return NULL;
}

/* Each task of an image has a thread. */
static void the_runtime_is_asked_once_for_all(void **state)
{
	struct world *w = *state;
	pthread_t threads[4];
	char id[IMAGE_ID_MAX];

	w->ctx.images = images_new();
	scratch_write(&w->root, "/images", archive);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, check_all, &w->ctx), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		void *missed;

		assert_int_equal(pthread_join(threads[i], &missed), 0);
		assert_null(missed);
	}
	assert_int_equal(images_id(&w->ctx, "b:1", id, &w->e), -ENOENT);
	assert_int_equal(times_asked(w), 1);
	/* what was loaded is seen */
	scratch_write(&w->root, "/images", "");
	assert_string_equal(check(w), "in the runtime, but not loaded by us");
	apply(w);
	assert_string_equal(check(w), "");
	assert_int_equal(times_asked(w), 3);
	/* and who waited for an answer in vain does not wait again */
	images_changed(&w->ctx);
	scratch_write(&w->root, "/down", "");
	assert_string_equal(check(w), "the runtime does not answer");
	assert_string_equal(check(w), "the runtime does not answer");
	assert_int_equal(times_asked(w), 4);
	images_free(w->ctx.images);
}

static void two_archives_are_loaded_at_a_time(void **state)
{
	struct world *w = *state;
	struct task_run run = { 0 };

	w->ctx.images = images_new();
	assert_true(images_take_turn(&w->ctx));
	assert_true(images_take_turn(&w->ctx));
	assert_int_equal(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e), TASK_WAIT);
	assert_string_equal(run.waiting, "two others are being loaded");
	assert_true(run.next_ns > dur_now());
	assert_false(io_is_there(w->root.fd, "/imports"));
	images_end_turn(&w->ctx);
	apply(w);
	apply(w);
	assert_true(images_take_turn(&w->ctx));
	assert_false(images_take_turn(&w->ctx));
	images_free(w->ctx.images);
}

static void a_runtime_that_is_down_is_no_image_missing(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/down", "");
	assert_string_equal(check(w), "the runtime does not answer");
}

/* The kernel takes connections for it. Neither the plan nor a load waits for such a one. */
static void a_runtime_that_hangs_is_given_nothing_to_do(void **state)
{
	struct world *w = *state;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct task_run run = { 0 };
	int64_t begun = dur_now();
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(mkdirat(w->root.fd, "run", 0755), 0);
	assert_int_equal(mkdirat(w->root.fd, "run/containerd", 0755), 0);
	(void)print_to(at.sun_path, sizeof(at.sun_path),
		       "/proc/self/fd/%d/run/containerd/containerd.sock", w->root.fd);
	assert_int_equal(bind(fd, (const struct sockaddr *)(const void *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_string_equal(check(w), "the runtime does not answer");
	assert_true(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) < 0);
	assert_non_null(strstr(w->e.msg, "containerd.service: it does not answer"));
	assert_true(dur_now() - begun < 10 * DUR_SEC);
	assert_false(io_is_there(w->root.fd, "/imports"));
	/* a plan of many images asks once */
	w->ctx.only_looks = true;
	begun = dur_now();
	for (int i = 0; i < 8; i++)
		assert_string_equal(check(w), "the runtime does not answer");
	assert_true(dur_now() - begun < 4 * DUR_SEC);
}

/* ctr of old takes none of these. */
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

		scratch_program(&w->root, "/pack", script);
		assert_int_equal(proc_run(&req, NULL, &w->e), 0);
		scratch_write(&w->root, "/images", "");
		fd = openat(w->root.fd, "packed", O_RDONLY | O_CLOEXEC);
		assert_int_equal(image_ctr_load(&w->ctx, fd, &w->e), 0);
		text = scratch_read(&w->root, "/images");
		assert_int_equal(strncmp(text, archive, strlen(archive) - 1), 0);
	}
}

/* Every host has bash and ctr; what else is there differs. */
static void without_its_program_ctr_gets_a_packed_archive(void **state)
{
	static const char *const tools[] = { "bash", "sh", "cat", "tar" };
	static const char packed[] = "\x28\xb5\x2f\xfd and more";
	struct world *w = *state;
	autofree char *path = xasprintf("%s/bin", w->root.path), *text = NULL;
	autoclose int fd = -1;

	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		autofree char *link = xasprintf("bin/%s", tools[i]);
		autofree char *tool = xasprintf("/bin/%s", tools[i]);

		assert_int_equal(symlinkat(tool, w->root.fd, link), 0);
	}
	scratch_write(&w->root, "/packed", packed);
	fd = openat(w->root.fd, "packed", O_RDONLY | O_CLOEXEC);
	setenv("PATH", path, 1);
	assert_int_equal(image_ctr_load(&w->ctx, fd, &w->e), 0);
	text = scratch_read(&w->root, "/images");
	assert_string_equal(text, packed);
	scratch_write(&w->root, "/down", "");
	assert_true(image_ctr_load(&w->ctx, fd, &w->e) < 0);
	assert_non_null(strstr(w->e.msg, "this host has no zstd"));
}

/* Put an archive into the cache. */
static void keep(struct world *w, const struct buf *b)
{
	struct cache_entry *en;

	digest_of(DIGEST_SHA256, buf_str(b), b->len, &w->asset.digest);
	if (cache_begin(w->ctx.cache, &w->asset.digest, &en, &w->e) < 0 ||
	    cache_write(en, buf_str(b), b->len, &w->e) < 0 || cache_commit(en, &w->e) < 0)
		fail_msg("%s", w->e.msg);
}

/* One with these lists, of which ctr loads a:1. */
static void keep_archive(struct world *w, const char *docker, const char *oci)
{
	autobuf struct buf b = TAR_BUF;

	tar_add(&b, &(struct tar_entry){ .name = "line", .type = '0', .data = archive });
	if (docker)
		tar_add(&b, &(struct tar_entry){
				    .name = "manifest.json", .type = '0', .data = docker });
	if (oci)
		tar_add(&b, &(struct tar_entry){ .name = "index.json", .type = '0', .data = oci });
	tar_end(&b);
	keep(w, &b);
	w->task.name = w->task.image.name = "a.tar";
	w->task.image.is_unnamed = true;
}

static const char docker_list[] = "[{\"Config\": \"c\", \"RepoTags\": [\"a:1\", \"other:2\"]}]";

/* Documents of today's kops do not say what an archive's images are called. */
static void an_archive_says_its_names_itself(void **state)
{
	static const char oci[] =
		"{\"manifests\": [{\"annotations\": {\"io.containerd.image.name\": "
		"\"docker.io/library/a:1\", \"org.opencontainers.image.ref.name\": \"1\"}}]}";
	static const struct {
		const char *docker, *oci;
	} forms[] = { { docker_list, NULL }, { NULL, oci }, { docker_list, oci } };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		autofree char *imports = NULL;

		scratch_write(&w->root, "/imports", "");
		scratch_write(&w->root, "/images", "");
		keep_archive(w, forms[i].docker, forms[i].oci);
		assert_string_equal(check(w), "not loaded by us");
		apply(w);
		assert_string_equal(check(w), "");
		scratch_write(&w->root, "/images", "docker.io/library/a:1 x sha256:22 1 KiB - -\n");
		assert_non_null(strstr(check(w), "the runtime has another image "));
		scratch_write(&w->root, "/images", "");
		assert_non_null(strstr(check(w), "a:1 is not in the runtime"));
		apply(w);
		assert_string_equal(check(w), "");
		scratch_write(&w->root, "/down", "");
		assert_string_equal(check(w), "the runtime does not answer");
		assert_int_equal(unlinkat(w->root.fd, "down", 0), 0);
		imports = scratch_read(&w->root, "/imports");
		assert_string_equal(imports, "x\nx\n");
	}
}

/* The same name, other bytes. */
static void an_archive_that_changed_is_loaded_again(void **state)
{
	struct world *w = *state;

	keep_archive(w, docker_list, NULL);
	apply(w);
	assert_string_equal(check(w), "");
	keep_archive(w, "[{\"RepoTags\": [\"a:1\"]}]", NULL);
	assert_string_equal(check(w), "not loaded by us");
	apply(w);
	assert_string_equal(check(w), "");
}

static void an_archive_of_which_nothing_came_is_told(void **state)
{
	struct world *w = *state;
	struct task_run run = { 0 };

	keep_archive(w, "[{\"RepoTags\": [\"b:1\"]}]", NULL);
	assert_true(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) < 0);
	assert_int_equal(w->e.kind, ERR_INTEGRITY);
	assert_non_null(strstr(w->e.msg, "containerd has no image 'b:1'"));
}

/* Nothing is loaded of an archive that is refused, nor of lists that take too much memory. */
static void a_bad_archive_is_not_loaded(void **state)
{
	struct world *w = *state;
	autofree char *large = xcalloc(1, (5 << 20) + 1);
	struct task_run run = { 0 };

	memset(large, ' ', 5 << 20);
	keep_archive(w, large, NULL);
	assert_true(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) < 0);
	assert_non_null(strstr(w->e.msg, "more bytes than allowed"));
	for (int i = 0; i < 2; i++) {
		autobuf struct buf b = TAR_BUF;

		tar_add(&b, &(struct tar_entry){
				    .name = "manifest.json", .type = '0', .data = docker_list });
		tar_add(&b,
			&(struct tar_entry){ .name = i ? "../up" : "dev", .type = i ? '0' : '3' });
		tar_end(&b);
		keep(w, &b);
		assert_true(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) < 0);
		assert_int_equal(w->e.kind, ERR_INTEGRITY);
	}
	assert_int_equal(faccessat(w->root.fd, "imports", F_OK, 0), -1);
}

/* The image is a member of an archive with more; its bytes go to the runtime alone. */
static void an_image_in_an_archive_is_piped(void **state)
{
	static const char docker[] =
		"#!/bin/sh\n"
		"case $1 in\n"
		"load) cat >$SCRATCH/given; cat $SCRATCH/given >>$SCRATCH/images ;;\n"
		"tag) echo $2 $3 >$SCRATCH/tags ;;\n"
		"esac\n";
	struct world *w = *state;
	autofree char *given = NULL, *tags = NULL;
	autobuf struct buf b = TAR_BUF;

	scratch_program(&w->root, "/bin/docker", docker);
	tar_add(&b, &(struct tar_entry){ .name = "x/image.tar", .type = '0', .data = "other" });
	tar_add(&b, &(struct tar_entry){ .name = "image.tag", .type = '0', .data = "v1\n" });
	tar_add(&b, &(struct tar_entry){ .name = "image.tar", .type = '0', .data = archive });
	tar_end(&b);
	keep(w, &b);
	w->task.image.member = "image.tar";
	w->task.image.tag = "image.tag";
	w->task.image.loaded_as = "a";
	apply(w);
	assert_string_equal(check(w), "");
	given = scratch_read(&w->root, "/given");
	assert_string_equal(given, archive);
	tags = scratch_read(&w->root, "/tags");
	assert_string_equal(tags, "a:v1 a:1\n");
}

/* As it is after a kill of the loader. */
static void a_loader_that_fails_is_told(void **state)
{
	struct world *w = *state;
	struct task_run run = { 0 };
	autobuf struct buf b = TAR_BUF;

	scratch_program(&w->root, "/bin/docker", "#!/bin/sh\necho no room\nexit 1\n");
	tar_add(&b, &(struct tar_entry){ .name = "image.tar", .type = '0', .data = archive });
	tar_end(&b);
	keep(w, &b);
	w->task.image.member = "image.tar";
	assert_true(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) < 0);
	assert_non_null(strstr(w->e.msg, "no room"));
	w->task.image.member = "none.tar";
	assert_true(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) < 0);
	assert_non_null(strstr(w->e.msg, "holds no file 'none.tar'"));
}

static void pull_four_ways(void **state)
{
	struct world *w = *state;
	struct task_run run = { 0 };
	autofree char *pulls = NULL;

	w->task = (struct task){ .kind = TASK_PULL, .ops = &task_pull_ops, .name = "busybox" };
	assert_string_equal(check(w), "not in the runtime");
	scratch_write(&w->root, "/closed", "");
	assert_true(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) < 0);
	/* a later try may succeed */
	assert_int_equal(w->e.kind, ERR_NET);
	assert_int_equal(unlinkat(w->root.fd, "closed", 0), 0);
	apply(w);
	assert_string_equal(check(w), "");
	pulls = scratch_read(&w->root, "/pulls");
	assert_string_equal(pulls, "docker.io/library/busybox:latest\n"
				   "docker.io/library/busybox:latest\n");
	w->task.name = "mirrored:1";
	w->task.pull.hosts = "/hosts";
	apply(w);
	assert_string_equal(check(w), "");
	w->task.name = "mirrored:2";
	w->task.pull.hosts = "/others";
	assert_true(w->task.ops->apply(&w->task, &w->ctx, &run, &w->e) < 0);
	scratch_write(&w->root, "/down", "");
	assert_string_equal(check(w), "the runtime does not answer");
	w->ctx.image_mode = true;
	assert_string_equal(check(w), "");
}

/* For the guard: a runtime that is down would be told. */
static void a_runtime_that_is_spared_is_not_asked(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/down", "");
	w->ctx.spares_runtime = true;
	assert_string_equal(check(w), "");
	w->task = (struct task){ .kind = TASK_PULL, .ops = &task_pull_ops, .name = "busybox" };
	assert_string_equal(check(w), "");
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
		T(the_runtime_is_asked_once_for_all),
		T(two_archives_are_loaded_at_a_time),
		T(a_runtime_that_is_down_is_no_image_missing),
		T(a_runtime_that_hangs_is_given_nothing_to_do),
		T(packed_archives_are_unpacked_on_the_way),
		T(without_its_program_ctr_gets_a_packed_archive),
		T(an_archive_says_its_names_itself),
		T(an_archive_that_changed_is_loaded_again),
		T(an_archive_of_which_nothing_came_is_told),
		T(a_bad_archive_is_not_loaded),
		T(an_image_in_an_archive_is_piped),
		T(a_loader_that_fails_is_told),
		T(pull_four_ways),
		T(a_runtime_that_is_spared_is_not_asked),
		T(names_are_those_of_containerd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
