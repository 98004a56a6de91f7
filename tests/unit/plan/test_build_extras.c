#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "tests/unit/lib/seed.h"
#include "nodeup/tasks/kinds.h"

#define SYSTEM "/etc/systemd/system/"

struct host {
	struct world w;
	struct plan_req req;
};

static struct host *host(struct arena *a)
{
	struct host *h = arena_new(a, struct host);

	h->w = seed_world(a, false);
	h->req = seed_request(&h->w);
	return h;
}

static void add_hook(struct arena *a, struct host *h, struct node_hook hook)
{
	arena_push(a, h->w.node.hooks.v, h->w.node.hooks.n, hook);
}

static void add_file(struct arena *a, struct host *h, const char *path)
{
	const struct node_file f = { .path = path, .content = "a\0b", .len = 3, .mode = 0440 };

	arena_push(a, h->w.node.files.v, h->w.node.files.n, f);
}

static bool needs(const struct task *t, const struct task *need)
{
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i] == need)
			return true;
	return false;
}

static void a_container_hook_is_that_of_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a);
	struct node_hook hook = { .name = "kops-hook-0", .image = "busybox" };
	const struct task *t;
	struct plan p;

	(void)state;
	strv_add(a, &hook.before, "kubelet.service");
	strv_add(a, &hook.command, "sh");
	strv_add(a, &hook.command, "a b");
	/* docker would end a line of its file at the first break, and take no such name */
	strmap_set(a, &hook.environment, "#", "v");
	strmap_set(a, &hook.environment, "K", "v \"w\" $x");
	strmap_set(a, &hook.environment, "L", "v\nw");
	add_hook(a, h, hook);
	p = seed_plan(a, &h->req);
	assert_string_equal(
		plan_get(&p, TASK_FILE, SYSTEM "kops-hook-0.service")->file.content,
		"[Unit]\nDescription=Kops Hook kops-hook-0\nBefore=kubelet.service\n"
		"Requires=docker.service\nAfter=docker.service\n\n[Service]\n"
		"ExecStartPre=/usr/bin/docker pull busybox\n"
		"ExecStart=/usr/bin/docker run -v /:/rootfs/ -v /var/run/dbus:/var/run/dbus "
		"-v /run/systemd:/run/systemd --net=host --privileged "
		"--env-file /etc/kubernetes/hooks/kops-hook-0.env -e #=v -e L=v\\x0aw busybox sh "
		"\"a b\"\nType=oneshot\n\n[Install]\nWantedBy=multi-user.target\n");
	t = plan_get(&p, TASK_FILE, "/etc/kubernetes/hooks/kops-hook-0.env");
	assert_string_equal(t->file.content, "# Written by nodeup for kops-hook-0\nK=v \"w\" $x\n");
	assert_int_equal(t->file.attr.mode, 0600);
	assert_true(t->file.secret);
	t = plan_get(&p, TASK_UNIT, "kops-hook-0.service");
	assert_string_equal(t->unit.inputs.v[1], "/etc/kubernetes/hooks/kops-hook-0.env");
	assert_true(t->unit.enable);
	/* it fails the run in the end, and keeps nobody from starting */
	assert_true(t->unit.last);
	assert_true(t->advisory);
	assert_true(needs(t, plan_get(&p, TASK_UNIT, "docker.service")));
	assert_true(needs(plan_get(&p, TASK_UNIT, "kubelet.service"), t));
	assert_string_equal(t->unit.inputs.v[0], SYSTEM "kops-hook-0.service");
}

static void a_manifest_is_the_service_section(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a);
	struct plan p;

	(void)state;
	add_hook(a, h,
		 (struct node_hook){ .name = "disk",
				     .manifest = "Type=oneshot\nExecStart=/bin/true" });
	add_hook(a, h,
		 (struct node_hook){ .name = "x.timer",
				     .manifest = "A=1\n[Install]\nWantedBy=timers.target\n" });
	p = seed_plan(a, &h->req);
	/* it may have been a container with a password once */
	assert_string_equal(
		plan_get(&p, TASK_FILE, "/etc/kubernetes/hooks/disk.env")->file.unwanted,
		"# Written by nodeup for disk\n");
	assert_string_equal(plan_get(&p, TASK_FILE, SYSTEM "disk.service")->file.content,
			    "[Unit]\nDescription=Kops Hook disk\n\n[Service]\nType=oneshot\n"
			    "ExecStart=/bin/true\n");
	assert_false(plan_get(&p, TASK_UNIT, "disk.service")->unit.enable);
	assert_true(plan_get(&p, TASK_UNIT, "x.timer")->unit.enable);
}

static void a_disabled_one_is_turned_off(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a);
	struct plan p;

	(void)state;
	add_hook(a, h, (struct node_hook){ .name = "x", .disabled = true });
	p = seed_plan(a, &h->req);
	assert_ptr_equal(plan_get(&p, TASK_UNIT, "x.service")->ops, &task_unit_off_ops);
	assert_null(plan_look(&p, TASK_FILE, SYSTEM "x.service"));
}

static void a_hook_is_none_of_our_units(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a);
	struct plan p;
	struct err e;

	(void)state;
	add_hook(a, h, (struct node_hook){ .name = "docker", .disabled = true });
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "hook docker: the unit is docker's"));
}

/* It cannot run before docker and in it. */
static void a_hook_that_waits_for_itself_is_told(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a);
	struct node_hook hook = { .name = "x", .image = "busybox" };
	struct plan p;
	struct err e;

	(void)state;
	strv_add(a, &hook.before, "docker.service");
	add_hook(a, h, hook);
	assert_true(plan_build(a, &h->req, &p, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "wait for each other"));
	assert_non_null(strstr(e.msg, "unit x.service"));
}

static void files_keep_their_bytes_to_themselves(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct host *h = host(a);
	const struct task_file *f;
	struct plan p;

	(void)state;
	add_file(a, h, "/etc/kubernetes/manifests/mine.manifest");
	p = seed_plan(a, &h->req);
	f = &plan_get(&p, TASK_FILE, "/etc/kubernetes/manifests/mine.manifest")->file;
	assert_int_equal(f->attr.mode, 0440);
	assert_int_equal(f->len, 3);
	assert_memory_equal(f->content, "a\0b", 3);
	assert_true(f->secret);
}

static void files_take_no_place_of_ours(void **state)
{
	static const char *const paths[] = {
		"/usr/local/bin/kubelet",   /* one of ours */
		"/usr/local/bin/kubelet/x", /* below a file */
		"/etc/kubernetes",          /* a directory */
		"/etc/systemd/system",      /* above a file */
		"/etc/systemd/system/docker.service.d/10-kops.conf",
	};
	autoarena struct arena *a = arena_new_empty();
	struct plan p;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct host *h = host(a);

		add_file(a, h, paths[i]);
		assert_true(plan_build(a, &h->req, &p, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_non_null(strstr(e.msg, arena_printf(a, "fileAssets: '%s': ", paths[i])));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container_hook_is_that_of_kops),
		cmocka_unit_test(a_manifest_is_the_service_section),
		cmocka_unit_test(a_disabled_one_is_turned_off),
		cmocka_unit_test(a_hook_is_none_of_our_units),
		cmocka_unit_test(a_hook_that_waits_for_itself_is_told),
		cmocka_unit_test(files_keep_their_bytes_to_themselves),
		cmocka_unit_test(files_take_no_place_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
