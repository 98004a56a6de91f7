#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "nodeup/tasks/effect.h"
#include "nodeup/tasks/foreign.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/scratch.h"

#define ETC "/etc/systemd/system"
#define RUN "/run/systemd/system"
#define MANIFESTS "etc/kubernetes/manifests"
#define NETWORKS "/etc/cni/net.d"

static const char ours[] = ETC "/a-b.service.d/10-ours.conf";
static const char pod_path[] = "/etc/kubernetes/manifests/ours.manifest";

/* a-b.service with a drop-in of the plan, and a static pod of the plan. */
struct world {
	struct scratch root;
	struct task drop_in, pod, reload, unit;
	const struct task *files[2], *needs[1];
	struct task *tasks[4];
	struct arena *arena;
};

static void world_new(struct world *w)
{
	*w = (struct world){ .arena = arena_new_empty() };
	scratch_new(&w->root);
	w->drop_in = (struct task){ .kind = TASK_FILE, .ops = &task_file_ops, .name = ours };
	w->pod = (struct task){ .kind = TASK_FILE, .ops = &task_file_ops, .name = pod_path };
	w->files[0] = &w->drop_in;
	w->reload = (struct task){ .kind = TASK_RELOAD,
				   .ops = &task_reload_ops,
				   .name = "systemd",
				   .needs = w->files,
				   .n_needs = 1 };
	w->needs[0] = &w->reload;
	w->unit = (struct task){ .kind = TASK_UNIT,
				 .ops = &task_unit_ops,
				 .name = "a-b.service",
				 .needs = w->needs,
				 .n_needs = 1 };
	w->tasks[0] = &w->drop_in;
	w->tasks[1] = &w->pod;
	w->tasks[2] = &w->reload;
	w->tasks[3] = &w->unit;
}

static void world_done(struct world *w)
{
	scratch_done(&w->root);
	arena_free(w->arena);
}

static const char *lines(struct world *w)
{
	const struct strv v = foreign_lines(w->arena, w->root.fd, w->tasks, ARRAY_LEN(w->tasks));

	return strv_join(w->arena, &v, "\n");
}

static void what_the_plan_wants_is_not_foreign(void **state)
{
	struct world w;

	(void)state;
	world_new(&w);
	assert_string_equal(lines(&w), "");
	scratch_write(&w.root, ours, "[Unit]\n");
	scratch_write(&w.root, pod_path, "x");
	/* neither of systemd nor of kubelet */
	scratch_write(&w.root, ETC "/a-b.service.d/README", "x");
	scratch_write(&w.root, ETC "/a-b.service.d/.x.conf", "x");
	scratch_write(&w.root, ETC "/c.service.d/x.conf", "x");
	scratch_write(&w.root, "/usr/lib/systemd/system/a-b.service.d/x.conf", "x");
	scratch_write(&w.root, "/etc/kubernetes/manifests/.x", "x");
	assert_string_equal(lines(&w), "");
	world_done(&w);
}

static void what_others_put_there_is_named(void **state)
{
	static const char *const paths[] = {
		ETC "/a-b.service.d/x.conf",         RUN "/a-b.service.d/x.conf",
		ETC "/a-.service.d/x.conf",          ETC "/service.d/x.conf",
		ETC ".control/a-b.service.d/x.conf", RUN ".control/a-b.service.d/x.conf",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct err e = { 0 };
		struct world w;

		world_new(&w);
		scratch_write(&w.root, ours, "[Unit]\n");
		foreign_note(&w.unit, w.root.fd, &e);
		assert_int_equal(e.nnotes, 0);
		scratch_write(&w.root, paths[i], "[Unit]\n");
		assert_string_equal(
			lines(&w),
			arena_printf(w.arena,
				     "foreign drop-in %s: has a say in a-b.service; left alone",
				     paths[i]));
		foreign_note(&w.unit, w.root.fd, &e);
		assert_int_equal(e.nnotes, 1);
		assert_string_equal(e.notes[0].text,
				    arena_printf(w.arena, "not of nodeup: %s", paths[i]));
		world_done(&w);
	}
}

static void pods_of_protokube_are_its_own(void **state)
{
	struct world w;

	(void)state;
	world_new(&w);
	scratch_write(&w.root, "/etc/kubernetes/manifests/etcd-events.manifest", "x");
	assert_string_equal(lines(&w),
			    "foreign static pod /etc/kubernetes/manifests/etcd-events.manifest: "
			    "kubelet runs it; left alone");
	w.unit.name = "protokube.service";
	assert_string_equal(lines(&w), "");
	scratch_write(&w.root, "/etc/kubernetes/manifests/other.manifest", "x");
	assert_non_null(strstr(lines(&w), "other.manifest"));
	world_done(&w);
}

/* What nodeup set aside is such a folder. */
static void a_folder_is_no_file(void **state)
{
	struct world w;

	(void)state;
	world_new(&w);
	scratch_write(&w.root, "/" MANIFESTS "/ours.manifest.nodeup-old/a.manifest", "x");
	scratch_write(&w.root, ETC "/a-b.service.d/x.conf/y.conf", "[Unit]\n");
	assert_int_equal(symlinkat("ours.manifest.nodeup-old", w.root.fd, MANIFESTS "/folder"), 0);
	assert_int_equal(symlinkat("nowhere", w.root.fd, MANIFESTS "/gone"), 0);
	assert_string_equal(lines(&w), "");
	assert_int_equal(symlinkat("folder/a.manifest", w.root.fd, MANIFESTS "/link"), 0);
	assert_string_equal(lines(&w),
			    "foreign static pod /" MANIFESTS "/link: kubelet runs it; left alone");
	world_done(&w);
}

/* A runtime takes the first by name. Which is the cluster's own cannot be known; two of them is what is odd. */
static void a_network_before_another_is_named(void **state)
{
	static const char *const calm[] = { "10-calico.conflist", "00-x.conflist.bak", ".00-x.conf",
					    "calico-kubeconfig" };
	static const char *const first[] = { "00-x.conf", "00-x.conflist", "00-x.json" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(first); i++) {
		struct world w;
		const char *path;

		world_new(&w);
		path = arena_printf(w.arena, NETWORKS "/%s", first[i]);
		for (size_t k = 0; k < ARRAY_LEN(calm); k++)
			scratch_write(&w.root, arena_printf(w.arena, NETWORKS "/%s", calm[k]),
				      "{}");
		assert_string_equal(lines(&w), "");
		scratch_write(&w.root, path, "{}");
		assert_string_equal(
			lines(&w),
			arena_printf(w.arena,
				     "CNI configuration %s: comes before 10-calico.conflist, so "
				     "pods get their network by it; left alone: see that it is "
				     "the cluster's, or remove it",
				     path));
		/* one that the plan writes is what is wanted */
		w.pod.name = path;
		assert_string_equal(lines(&w), "");
		world_done(&w);
	}
}

static void a_mount_that_is_gone_is_seen(void **state)
{
	static const char *const wanted[] = { "/a", "/b" };
	struct task_ctx ctx = { 0 };
	struct task_diff diff;
	struct world w;

	(void)state;
	world_new(&w);
	ctx.root_fd = w.root.fd;
	w.unit.unit.mounted = (struct strv){ (const char **)(uintptr_t)wanted, 2 };
	scratch_write(&w.root, "/proc/self/mountinfo",
		      "1 0 8:1 / / rw - ext4 x rw\n2 1 8:1 /b /a rw - ext4 x rw\n"
		      "3 1 8:1 /c /b/c rw - ext4 x rw\n");
	assert_int_equal(effect_check(&w.unit, &ctx, &diff), TASK_DIFFERS);
	assert_string_equal(diff.why, "nothing is mounted at /b any more");
	scratch_write(&w.root, "/proc/self/mountinfo",
		      "2 1 8:1 / /a rw - ext4 x rw\n3 1 8:1 / /b rw - ext4 x rw\n");
	assert_int_equal(effect_check(&w.unit, &ctx, &diff), TASK_EQUAL);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_plan_wants_is_not_foreign),
		cmocka_unit_test(what_others_put_there_is_named),
		cmocka_unit_test(pods_of_protokube_are_its_own),
		cmocka_unit_test(a_folder_is_no_file),
		cmocka_unit_test(a_network_before_another_is_named),
		cmocka_unit_test(a_mount_that_is_gone_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
