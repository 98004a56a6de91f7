#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/plan/tasklist.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/seed.h"

struct fixture {
	struct world w;
	struct plan_req req;
	struct plan p;
};

static struct fixture *fixture_new(struct arena *a, bool master)
{
	struct fixture *f = arena_new(a, struct fixture);

	f->w = seed_world(a, master);
	f->req = seed_request(&f->w);
	f->p = seed_plan(a, &f->req);
	return f;
}

static bool has(const struct task *const *v, size_t n, const struct task *t)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += v[i] == t;
	assert_true(found <= 1);
	return found;
}

static bool needs(const struct task *t, const struct task *need)
{
	bool forward = has(t->needs, t->n_needs, need);

	assert_int_equal(forward, has(need->users, need->n_users, t));
	return forward;
}

/* Also through others. */
static bool waits_for(const struct task *t, const struct task *need)
{
	if (needs(t, need))
		return true;
	for (size_t i = 0; i < t->n_needs; i++)
		if (waits_for(t->needs[i], need))
			return true;
	return false;
}

static const struct task *archive(const struct plan *p, enum task_kind kind, const char *part)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == kind && strstr(p->tasks[i]->name, part))
			return p->tasks[i];
	fail_msg("no %s of %s", task_kinds[kind].ops->kind, part);
	return NULL;
}

static void kubelet_waits_for_all_it_uses_and_no_more(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = &fixture_new(a, true)->p;
	const struct task *kubelet = plan_get(p, TASK_UNIT, "kubelet.service");

	(void)state;
	assert_true(needs(kubelet, plan_get(p, TASK_INSTALL, "/usr/local/bin/kubelet")));
	assert_true(needs(kubelet, plan_get(p, TASK_INSTALL, "/opt/cni/bin/bridge")));
	assert_true(needs(kubelet, plan_get(p, TASK_UNIT, "docker.service")));
	assert_true(needs(kubelet, plan_get(p, TASK_RELOAD, "systemd")));
	assert_true(needs(kubelet, plan_get(p, TASK_SYSCTL, "/etc/sysctl.d/99-k8s-general.conf")));
	assert_true(needs(kubelet, plan_get(p, TASK_DIR, "/etc/kubernetes/manifests")));
	for (size_t i = 0; i < p->n; i++) {
		const struct task *t = p->tasks[i];
		const bool is_of_others = str_has_prefix(t->name, "/etc/logrotate.d/") ||
					  str_has_prefix(t->name, "/etc/apt/") ||
					  str_has_prefix(t->name, "/etc/systemd/system/");

		if (t->kind == TASK_FILE)
			assert_int_equal(needs(kubelet, t),
					 strv_has(&kubelet->unit.inputs, t->name) ||
						 (!t->file.of_unit && !is_of_others));
	}
	assert_false(waits_for(kubelet, plan_get(p, TASK_INSTALL, "/usr/local/bin/kubectl")));
	assert_false(waits_for(kubelet, plan_get(p, TASK_IMAGE, "protokube:1.8.1")));
	assert_false(waits_for(kubelet, plan_get(p, TASK_UNIT, "protokube.service")));
}

/* One that cannot be written keeps the units from starting that are made from it, and nothing else. */
static void a_unit_needs_no_file_of_another_unit(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = &fixture_new(a, false)->p;
	const struct task *settings = plan_get(p, TASK_FILE, "/etc/sysconfig/kubelet");
	const struct task *text = plan_get(p, TASK_FILE, "/etc/systemd/system/kubelet.service");
	const struct task *timer = plan_get(p, TASK_UNIT, "logrotate.timer");
	const struct task *kubelet = plan_get(p, TASK_UNIT, "kubelet.service");

	(void)state;
	assert_true(needs(kubelet, settings));
	assert_true(needs(kubelet, text));
	assert_false(waits_for(timer, settings));
	assert_false(needs(timer, text));
	assert_false(needs(plan_get(p, TASK_UNIT, "docker.service"), settings));
	assert_false(needs(plan_get(p, TASK_FILE, "/etc/kubernetes/manifests/kube-proxy.manifest"),
			   settings));
	/* systemd reads the files that could be written */
	assert_true(plan_get(p, TASK_RELOAD, "systemd")->always);
	assert_true(needs(timer, plan_get(p, TASK_FILE, "/etc/systemd/system/logrotate.timer")));
	assert_true(needs(timer, plan_get(p, TASK_FILE, "/etc/logrotate.d/docker")));
}

static struct task *unit_task(struct plan *p, const char *name)
{
	return plan_new_task(p, TASK_UNIT, name);
}

/* A package may start docker; none brings kubelet. */
static void packages_need_no_file_of_kubelet(void **state)
{
	static const struct {
		const char *path, *unit;
		bool is_needed;
	} rows[] = {
		{ "/etc/mine.conf", NULL, true },
		{ "/etc/sysconfig/docker", "docker.service", true },
		{ "/etc/sysconfig/kubelet", "kubelet.service", false },
		{ "/var/lib/kops/kubeconfig", "protokube.service", false },
	};
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .builder = "test" };
	const struct task *package = plan_new_task(&p, TASK_PACKAGE, "docker.io");
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		(void)plan_file(&p, rows[i].path, 0644, "");
		if (rows[i].unit)
			strv_add(a, &unit_task(&p, rows[i].unit)->unit.inputs, rows[i].path);
	}
	assert_int_equal(deps_link(&p, &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(needs(package, plan_at(&p, rows[i].path)), rows[i].is_needed);
}

/* A mount has no inputs that would restart it. */
static void a_unit_without_inputs_needs_its_own_text(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .builder = "test" };
	struct err e;
	struct task *own = plan_file(&p, "/etc/systemd/system/mnt-a.mount", 0644, "");
	struct task *dropin = plan_file(&p, "/etc/systemd/system/mnt-a.mount.d/x.conf", 0644, "");
	struct task *other = plan_file(&p, "/etc/systemd/system/mnt-a.mountain", 0644, "");
	struct task *mount = unit_task(&p, "mnt-a.mount");

	(void)state;
	mount->unit.at_boot = true;
	assert_int_equal(deps_link(&p, &e), 0);
	assert_true(needs(mount, own));
	assert_true(needs(mount, dropin));
	assert_false(needs(mount, other));
}

static void nothing_waits_for_protokube(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = &fixture_new(a, true)->p;
	const struct task *protokube = plan_get(p, TASK_UNIT, "protokube.service");
	const struct task *image = plan_get(p, TASK_IMAGE, "protokube:1.8.1");
	const struct task *docker = plan_get(p, TASK_UNIT, "docker.service");

	(void)state;
	assert_int_equal(protokube->n_users, 0);
	assert_true(needs(protokube, image));
	assert_true(needs(protokube, docker));
	assert_true(needs(image, docker));
	assert_true(needs(image, plan_get(p, TASK_ASSET, "protokube.tar.gz")));
	assert_int_equal(image->n_users, 1);
}

static void docker_starts_early(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = &fixture_new(a, true)->p;
	const struct task *docker = plan_get(p, TASK_UNIT, "docker.service");

	(void)state;
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == TASK_ASSET || p->tasks[i]->kind == TASK_INSTALL)
			assert_false(waits_for(docker, p->tasks[i]));
}

static void assets_serve_what_is_made_of_them(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = &fixture_new(a, true)->p;
	const struct task *kubelet = plan_get(p, TASK_ASSET, "kubelet");
	const struct task *install = plan_get(p, TASK_INSTALL, "/usr/local/bin/kubelet");
	const struct task *bridge = plan_get(p, TASK_INSTALL, "/opt/cni/bin/bridge");
	const struct task *cni = archive(p, TASK_ASSET, "cni-");
	const struct task *unpack = archive(p, TASK_UNPACK, "cni-");
	const struct task *utils = archive(p, TASK_UNPACK, "utils");

	(void)state;
	assert_true(needs(install, kubelet));
	assert_int_equal(kubelet->n_serves, 1);
	assert_ptr_equal(kubelet->serves[0], install);
	assert_true(needs(unpack, cni));
	assert_false(needs(utils, cni));
	assert_int_equal(cni->n_serves, 1);
	assert_ptr_equal(cni->serves[0], unpack);
	/* which archive has a plugin is known only when one is unpacked */
	assert_false(needs(bridge, unpack));
	assert_int_equal(unpack->n_serves, 3);
	assert_int_equal(utils->n_serves, 3);
	assert_true(has(utils->serves, utils->n_serves, bridge));
	assert_ptr_equal(plan_get(p, TASK_ASSET, "protokube.tar.gz")->serves[0],
			 plan_get(p, TASK_IMAGE, "protokube:1.8.1"));
}

static void only_what_is_needed_must_be_had(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct fixture *f = fixture_new(a, true);

	(void)state;
	assert_true(archive(&f->p, TASK_ASSET, "cni-")->optional);
	assert_true(archive(&f->p, TASK_UNPACK, "utils")->optional);
	assert_false(plan_get(&f->p, TASK_ASSET, "kubelet")->optional);
	assert_false(plan_get(&f->p, TASK_ASSET, "protokube.tar.gz")->optional);
	f->w.node.assets.n = 3;
	f->p = seed_plan(a, &f->req);
	assert_false(archive(&f->p, TASK_ASSET, "cni-")->optional);
	assert_false(archive(&f->p, TASK_UNPACK, "cni-")->optional);
}

static void files_wait_for_their_folders(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = &fixture_new(a, false)->p;
	const struct task *outer = plan_get(p, TASK_DIR, "/etc/kubernetes");
	const struct task *inner = plan_get(p, TASK_DIR, "/etc/kubernetes/manifests");
	const struct task *file =
		plan_get(p, TASK_FILE, "/etc/kubernetes/manifests/kube-proxy.manifest");

	(void)state;
	assert_true(needs(inner, outer));
	assert_false(needs(outer, inner));
	assert_true(needs(file, inner));
	assert_false(needs(file, plan_get(p, TASK_DIR, "/srv/kubernetes")));
	assert_true(needs(plan_get(p, TASK_INSTALL, "/opt/cni/bin/bridge"),
			  plan_get(p, TASK_DIR, "/opt/cni/bin")));
}

/* A running kubelet would have docker make a directory where the pod's log file is to be. */
static void a_manifest_comes_after_what_it_mounts(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = &fixture_new(a, true)->p;
	const struct task *file =
		plan_get(p, TASK_FILE, "/etc/kubernetes/manifests/kube-apiserver.manifest");

	(void)state;
	assert_true(needs(file, plan_get(p, TASK_FILE, "/var/log/kube-apiserver.log")));
	assert_true(needs(file, plan_get(p, TASK_FILE, "/srv/kubernetes/server.key")));
	assert_false(needs(file, plan_get(p, TASK_FILE,
					  "/etc/kubernetes/manifests/kube-proxy.manifest")));
}

static void a_manifest_comes_before_kubelet_alone(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = &fixture_new(a, true)->p;
	const struct task *file =
		plan_get(p, TASK_FILE, "/etc/kubernetes/manifests/kube-apiserver.manifest");

	(void)state;
	assert_true(needs(plan_get(p, TASK_UNIT, "kubelet.service"), file));
	assert_false(needs(plan_get(p, TASK_UNIT, "docker.service"), file));
}

static void reload_follows_unit_files_alone(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = &fixture_new(a, true)->p;
	const struct task *reload = plan_get(p, TASK_RELOAD, "systemd");

	(void)state;
	/* and the manager's own settings */
	assert_int_equal(reload->n_needs, 11);
	for (size_t i = 0; i < reload->n_needs; i++)
		assert_true(str_has_prefix(reload->needs[i]->name, "/etc/systemd/system/") ||
			    str_has_prefix(reload->needs[i]->name, "/etc/systemd/system.conf.d/"));
}

static struct task *dir(struct plan *p, const char *path)
{
	return plan_dir(p, path, 0755);
}

static void neighbours_are_not_parents(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .builder = "test" };
	struct task *etc = dir(&p, "/etc"), *etcd = dir(&p, "/etcd"), *x = dir(&p, "/etc/x");
	struct err e;

	(void)state;
	assert_int_equal(deps_link(&p, &e), 0);
	assert_false(needs(etcd, etc));
	assert_true(needs(x, etc));
	assert_int_equal(etc->n_needs, 0);
}

/* The rules cannot make a cycle of a sound plan, so one is put in by hand. */
static void a_cycle_is_named(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .builder = "test" };
	struct task *outer = dir(&p, "/a"), *inner = dir(&p, "/a/b");
	struct err e;

	(void)state;
	(void)dir(&p, "/c");
	arena_push(a, outer->needs, outer->n_needs, inner);
	assert_int_equal(deps_link(&p, &e), -EINVAL);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.msg, "these tasks wait for each other: dir /a, dir /a/b, dir /a");
}

static struct task *move_task(struct plan *p, enum task_kind kind, const char *source)
{
	struct task *t = plan_new_task(p, kind, source);

	t->move = (struct task_move){
		.source = source,
		.target = "/mnt/disks/x",
		.mount_point = "/mnt/disks",
	};
	strv_add(p->arena, &t->move.units, "docker.service");
	return t;
}

static void disks_come_before_who_uses_them(void **state)
{
	static const struct node_volume data = { .name = "/mnt/disks", .path = "/mnt/disks" };
	static const struct node_volume swap = { .name = "swap" };
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .builder = "test" };
	struct task *volume = plan_new_task(&p, TASK_VOLUME, "/mnt/disks");
	struct task *space = plan_new_task(&p, TASK_VOLUME, "swap");
	struct task *mount = unit_task(&p, "mnt-disks.mount");
	struct task *on = unit_task(&p, "dev-disk-by\\x2duuid-0b.swap");
	struct task *stop = move_task(&p, TASK_STOP, "/var/lib/docker");
	struct task *move = move_task(&p, TASK_MOVE, "/var/lib/docker");
	struct task *resume = move_task(&p, TASK_RESUME, "/var/lib/docker");
	struct task *other = move_task(&p, TASK_MOVE, "/var/lib/containerd");
	struct task *bind = unit_task(&p, "var-lib-docker.mount");
	struct task *docker = unit_task(&p, "docker.service");
	struct task *ntp = unit_task(&p, "chrony.service");
	struct err e;

	(void)state;
	volume->volume = (struct task_volume){ .want = &data, .uuid = "0a" };
	space->volume = (struct task_volume){ .want = &swap, .uuid = "0b" };
	mount->unit.where = mount->unit.volume = "/mnt/disks";
	on->unit.volume = "swap";
	bind->unit.where = "/var/lib/docker";
	assert_int_equal(deps_link(&p, &e), 0);
	assert_true(needs(mount, volume));
	assert_false(needs(mount, space));
	assert_true(needs(on, space));
	assert_true(needs(stop, mount));
	assert_true(needs(move, stop));
	assert_false(needs(other, stop));
	assert_true(needs(bind, move));
	assert_false(needs(bind, other));
	assert_true(needs(resume, bind));
	assert_true(needs(resume, other));
	assert_true(needs(docker, resume));
	assert_true(needs(docker, move));
	assert_false(waits_for(ntp, volume));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kubelet_waits_for_all_it_uses_and_no_more),
		cmocka_unit_test(a_unit_needs_no_file_of_another_unit),
		cmocka_unit_test(packages_need_no_file_of_kubelet),
		cmocka_unit_test(a_unit_without_inputs_needs_its_own_text),
		cmocka_unit_test(nothing_waits_for_protokube),
		cmocka_unit_test(docker_starts_early),
		cmocka_unit_test(assets_serve_what_is_made_of_them),
		cmocka_unit_test(only_what_is_needed_must_be_had),
		cmocka_unit_test(files_wait_for_their_folders),
		cmocka_unit_test(a_manifest_comes_after_what_it_mounts),
		cmocka_unit_test(a_manifest_comes_before_kubelet_alone),
		cmocka_unit_test(reload_follows_unit_files_alone),
		cmocka_unit_test(neighbours_are_not_parents),
		cmocka_unit_test(disks_come_before_who_uses_them),
		cmocka_unit_test(a_cycle_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
