#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "nodeup/tasks/task.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/scratch.h"

static const char link_path[] = "/etc/kubernetes/manifests/etcd.manifest";
static const char manifest[] = "/mnt/v/k8s.io/manifests/etcd.manifest";

struct fixture {
	struct scratch root;
	struct arena *arena;
	struct task_ctx ctx;
	struct task t;
	struct task_diff diff;
	struct task_run run;
	struct err e;
	char *mount_point;
};

static int setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	scratch_new(&fx->root);
	fx->arena = arena_new_empty();
	fx->ctx.root_fd = fx->root.fd;
	fx->mount_point = xasprintf("%s/mnt/v", fx->root.path);
	scratch_write(&fx->root, "/mnt/v/below", "the root disk");
	fx->t = (struct task){
		.kind = TASK_ETCD,
		.ops = &task_etcd_ops,
		.name = link_path,
		.etcd = { .mount_point = "/mnt/v",
			  .data = "/mnt/v/var/etcd/data",
			  .manifest = manifest,
			  .link = link_path,
			  .content = "kind: Pod\n" },
	};
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	(void)umount2(fx->mount_point, MNT_DETACH);
	free(fx->mount_point);
	scratch_done(&fx->root);
	arena_free(fx->arena);
	free(fx);
	return 0;
}

static void mount_it(struct fixture *fx)
{
	assert_int_equal(mount("none", fx->mount_point, "tmpfs", 0, "size=1m"), 0);
}

static int check(struct fixture *fx)
{
	fx->e = (struct err){ 0 };
	fx->diff.why[0] = '\0';
	return fx->t.ops->check(&fx->t, &fx->ctx, &fx->diff, &fx->e);
}

static int apply(struct fixture *fx)
{
	fx->e = (struct err){ 0 };
	return fx->t.ops->apply(&fx->t, &fx->ctx, &fx->run, &fx->e);
}

static void must_apply(struct fixture *fx)
{
	if (apply(fx) != TASK_DONE)
		fail_msg("%s", fx->e.msg);
	assert_int_equal(check(fx), TASK_EQUAL);
}

static void test_absent_then_equal_then_twice(void **state)
{
	struct fixture *fx = *state;
	struct stat before, after;
	autofree char *text = NULL;
	char to[256] = "";

	mount_it(fx);
	assert_int_equal(check(fx), TASK_DIFFERS);
	must_apply(fx);
	text = scratch_read(&fx->root, manifest);
	assert_string_equal(text, "kind: Pod\n");
	assert_true(readlinkat(fx->root.fd, link_path + 1, to, sizeof(to) - 1) > 0);
	assert_string_equal(to, manifest);
	assert_true(scratch_stat(&fx->root, "/mnt/v/var/etcd/data", &before));
	assert_int_equal(before.st_mode & 07777, 0700);
	assert_int_equal(scratch_count(&fx->root, "/etc/kubernetes/manifests"), 1);
	/* twice is once */
	must_apply(fx);
	assert_true(scratch_stat(&fx->root, "/mnt/v/var/etcd/data", &after));
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(scratch_count(&fx->root, "/etc/kubernetes/manifests"), 1);
}

static void test_not_mounted(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(check(fx), TASK_DIFFERS);
	assert_string_equal(fx->diff.why, "'/mnt/v' is not mounted");
	assert_true(apply(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_SYSTEM);
	assert_string_equal(fx->e.msg,
			    "'/mnt/v' is not mounted: etcd would write to the root disk");
	assert_int_equal(scratch_count(&fx->root, "/mnt/v"), 1);
	assert_int_equal(scratch_count(&fx->root, "/etc"), 0);
}

/* An image has the link and nothing below the mount point: its first boot mounts there. */
static void test_an_image(void **state)
{
	struct fixture *fx = *state;

	fx->ctx.image_mode = true;
	assert_int_equal(check(fx), TASK_DIFFERS);
	assert_string_equal(fx->diff.why, "no link to the volume");
	must_apply(fx);
	must_apply(fx);
	assert_int_equal(scratch_count(&fx->root, "/mnt/v"), 1);
	assert_int_equal(scratch_count(&fx->root, "/etc/kubernetes/manifests"), 1);
	/* with the volume mounted in it, all of it */
	mount_it(fx);
	assert_int_equal(check(fx), TASK_DIFFERS);
	must_apply(fx);
	assert_true(scratch_stat(&fx->root, manifest, &(struct stat){ 0 }));
	/* and the machine that boots */
	assert_int_equal(umount2(fx->mount_point, MNT_DETACH), 0);
	fx->ctx.image_mode = false;
	assert_int_equal(check(fx), TASK_DIFFERS);
	assert_string_equal(fx->diff.why, "'/mnt/v' is not mounted");
	mount_it(fx);
	must_apply(fx);
}

static void test_different(void **state)
{
	struct fixture *fx = *state;
	struct stat st;

	mount_it(fx);
	must_apply(fx);
	fx->t.etcd.content = "kind: Pod # another\n";
	assert_int_equal(check(fx), TASK_DIFFERS);
	assert_string_equal(fx->diff.why, "another manifest on the volume");
	must_apply(fx);
	/* what protokube or an admin has put in the link's place */
	assert_int_equal(unlinkat(fx->root.fd, link_path + 1, 0), 0);
	assert_int_equal(check(fx), TASK_DIFFERS);
	assert_string_equal(fx->diff.why, "no link to the volume");
	scratch_write(&fx->root, link_path, "a file");
	assert_int_equal(check(fx), TASK_DIFFERS);
	must_apply(fx);
	assert_true(scratch_stat(&fx->root, link_path, &st));
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(fchmodat(fx->root.fd, "mnt/v/var/etcd/data", 0755, 0), 0);
	assert_int_equal(check(fx), TASK_DIFFERS);
	must_apply(fx);
}

#define OURS "# etcd members, written by nodeup: lines of yours go elsewhere\n"
#define END "# end of etcd members\n"

static void make_hosts(struct fixture *fx)
{
	fx->t = (struct task){ .kind = TASK_HOSTS, .ops = &task_hosts_ops, .name = "/etc/hosts" };
	fx->t.hosts.block = &hosts_of_etcd;
	strv_add(fx->arena, &fx->t.hosts.lines, "10.0.0.1\tetcd-a.internal.x");
	strv_add(fx->arena, &fx->t.hosts.lines, "10.0.0.2\tetcd-b.internal.x");
}

static void test_hosts(void **state)
{
	static const struct {
		const char *before, *after;
	} cases[] = {
		{ NULL, OURS "10.0.0.1\tetcd-a.internal.x\n10.0.0.2\tetcd-b.internal.x\n" END },
		{ "127.0.0.1 localhost\n",
		  "127.0.0.1 localhost\n" OURS "10.0.0.1\tetcd-a.internal.x\n"
		  "10.0.0.2\tetcd-b.internal.x\n" END },
		{ "127.0.0.1 localhost",
		  "127.0.0.1 localhost\n" OURS "10.0.0.1\tetcd-a.internal.x\n"
		  "10.0.0.2\tetcd-b.internal.x\n" END },
		{ "a\n" OURS "10.9.9.9\tetcd-a.internal.x\n" END "b\n",
		  "a\nb\n" OURS "10.0.0.1\tetcd-a.internal.x\n10.0.0.2\tetcd-b.internal.x\n" END },
		/* somebody took our end away: what follows is not lost */
		{ "a\n" OURS "b\n",
		  "a\nb\n" OURS "10.0.0.1\tetcd-a.internal.x\n10.0.0.2\tetcd-b.internal.x\n" END },
	};
	struct fixture *fx = *state;

	make_hosts(fx);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autofree char *text = NULL;

		if (cases[i].before)
			scratch_write(&fx->root, "/etc/hosts", cases[i].before);
		assert_int_equal(check(fx), TASK_DIFFERS);
		must_apply(fx);
		text = scratch_read(&fx->root, "/etc/hosts");
		assert_string_equal(text, cases[i].after);
		must_apply(fx);
	}
}

/* A cut while it was written: no old address stays above ours, none of somebody's lines is lost. */
static void test_hosts_after_a_cut(void **state)
{
	static const char whole[] =
		"a\n" OURS "10.0.0.1\tetcd-a.internal.x\n10.0.0.2\tetcd-b.internal.x\n" END;
	static const char longer[] = "a\n" OURS "110.110.110.110\tetcd-a.internal.x\n"
				     "110.110.110.111\tetcd-b.internal.x\n" END;
	struct fixture *fx = *state;

	make_hosts(fx);
	for (size_t n = strlen("a\n" OURS); n < sizeof(longer) - 1; n++) {
		autofree char *before = xasprintf("%.*s", (int)n, longer), *text = NULL;

		scratch_write(&fx->root, "/etc/hosts", before);
		must_apply(fx);
		text = scratch_read(&fx->root, "/etc/hosts");
		assert_string_equal(text, whole);
	}
	/* all was written, but what is too long was not cut off */
	for (size_t n = sizeof(whole) - 1; n < sizeof(longer) - 1; n++) {
		autofree char *before = xasprintf("%s%s", whole, longer + n), *text = NULL;

		scratch_write(&fx->root, "/etc/hosts", before);
		must_apply(fx);
		text = scratch_read(&fx->root, "/etc/hosts");
		assert_string_equal(text, whole);
	}
	for (size_t i = 0; i < 2; i++) {
		autofree char *before = xasprintf("a\n" OURS "10.9.9.9\tetcd-a.internal.x\n%s"
						  "10.7.7.7\tmine.internal.x\n10.9.9.9 x\n",
						  i ? END : "");
		autofree char *text = NULL;

		scratch_write(&fx->root, "/etc/hosts", before);
		must_apply(fx);
		text = scratch_read(&fx->root, "/etc/hosts");
		assert_string_equal(text, "a\n10.7.7.7\tmine.internal.x\n10.9.9.9 x\n" OURS
					  "10.0.0.1\tetcd-a.internal.x\n"
					  "10.0.0.2\tetcd-b.internal.x\n" END);
	}
}

#define KOPS_LINES                                              \
	"# Begin host entries managed by kops - do not edit\n"  \
	"10.0.0.1\tapi.internal.x kops-controller.internal.x\n" \
	"10.0.0.2\tapi.internal.x kops-controller.internal.x\n" \
	"# End host entries managed by kops\n"

/* What kops' own nodeup wrote is taken for ours, and stays as it is. */
static void test_hosts_of_kops(void **state)
{
	static const struct {
		const char *before, *after;
	} cases[] = {
		{ "", "\n" KOPS_LINES },
		{ "127.0.0.1 localhost\n\n\n", "127.0.0.1 localhost\n\n" KOPS_LINES },
		{ "a\n\n# Begin host entries managed by kops - do not edit\n10.9.9.9\tapi.internal.x\n"
		  "# End host entries managed by kops\nb\n",
		  "a\n\nb\n\n" KOPS_LINES },
		/* a cut between two names of one line */
		{ "a\n\n# Begin host entries managed by kops - do not edit\n10.0.0.1\tapi.internal.x kops-",
		  "a\n\n" KOPS_LINES },
		{ "a\n\n" KOPS_LINES, NULL },
	};
	struct fixture *fx = *state;

	make_hosts(fx);
	fx->t.hosts = (struct task_hosts){ .block = &hosts_of_kops };
	strv_add(fx->arena, &fx->t.hosts.lines,
		 "10.0.0.1\tapi.internal.x kops-controller.internal.x");
	strv_add(fx->arena, &fx->t.hosts.lines,
		 "10.0.0.2\tapi.internal.x kops-controller.internal.x");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autofree char *text = NULL;

		scratch_write(&fx->root, "/etc/hosts", cases[i].before);
		assert_int_equal(check(fx), cases[i].after ? TASK_DIFFERS : TASK_EQUAL);
		if (cases[i].after)
			must_apply(fx);
		text = scratch_read(&fx->root, "/etc/hosts");
		assert_string_equal(text, cases[i].after ? cases[i].after : cases[i].before);
	}
}

/* A container has the file itself mounted: it sees what is written, longer or shorter, and the mode
 * and all else of the file stay. */
static void test_hosts_is_the_same_file(void **state)
{
	struct fixture *fx = *state;
	autofree char *seen_by = xasprintf("%s/container", fx->root.path);
	autofree char *hosts = xasprintf("%s/etc/hosts", fx->root.path);
	struct stat before, after;

	make_hosts(fx);
	scratch_write(&fx->root, "/etc/hosts", "127.0.0.1 localhost\n");
	scratch_write(&fx->root, "/container", "");
	assert_int_equal(fchmodat(fx->root.fd, "etc/hosts", 0640, 0), 0);
	assert_true(scratch_stat(&fx->root, "/etc/hosts", &before));
	assert_int_equal(mount(hosts, seen_by, NULL, MS_BIND, NULL), 0);
	for (int i = 0; i < 2; i++) {
		autofree char *text = NULL, *seen = NULL;

		must_apply(fx);
		text = scratch_read(&fx->root, "/etc/hosts");
		seen = scratch_read(&fx->root, "/container");
		assert_string_equal(text, seen);
		assert_string_equal(
			text, i ? "127.0.0.1 localhost\n" OURS "10.0.0.1\tetcd-a.internal.x\n" END
				: "127.0.0.1 localhost\n" OURS "10.0.0.1\tetcd-a.internal.x\n"
				  "10.0.0.2\tetcd-b.internal.x\n" END);
		fx->t.hosts.lines.n = 1;
	}
	assert_int_equal(umount2(seen_by, MNT_DETACH), 0);
	assert_true(scratch_stat(&fx->root, "/etc/hosts", &after));
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(after.st_mode & 07777, 0640);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_absent_then_equal_then_twice),
		T(test_not_mounted),
		T(test_an_image),
		T(test_different),
		T(test_hosts),
		T(test_hosts_after_a_cut),
		T(test_hosts_of_kops),
		T(test_hosts_is_the_same_file),
	};

	/* what is mounted here is nobody else's */
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		abort();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
