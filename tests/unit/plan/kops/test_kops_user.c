#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/kops_worker.h"

#define SYSTEM "/etc/systemd/system/"
#define HASH "d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168"
#define DIGEST HASH "@https://a.example/"
#define FILES                                                                  \
	"Assets: {amd64: [9" DIGEST "runc.amd64, 8" DIGEST "kubelet, 7" DIGEST \
	"containerd-2.3.4.tgz, 6" DIGEST "ecr-credential-provider-linux-amd64]}\n"
#define ASSETS FILES "containerdConfig: {version: 2.3.4}\n"
#define CTR "/usr/bin/ctr --namespace k8s.io "
#define RUN                                                                      \
	CTR "run --rm --mount type=bind,src=/,dst=/rootfs,options=rbind:rslave " \
	    "--mount type=bind,src=/var/run/dbus,dst=/var/run/dbus,"             \
	    "options=rbind:rprivate --mount type=bind,src=/run/systemd,"         \
	    "dst=/run/systemd,options=rbind:rprivate --net-host --privileged "

static struct plan *plan_of(struct arena *a, struct kops_worker *w, const char *builder,
			    const char *text)
{
	struct plan *p = kops_try_plan(a, w, builder, arena_printf(a, ASSETS "%s", text));

	if (!p)
		fail_msg("%s", w->e.msg);
	return p;
}

static const char *unit_text(const struct plan *p, const char *name)
{
	const struct task_file *f;

	f = &plan_get(p, TASK_FILE, arena_printf(p->arena, SYSTEM "%s", name))->file;
	assert_true(f->secret);
	assert_int_equal(f->attr.mode, 0644);
	return f->content;
}

/* The hook of K/tests/golden/hooks-containerd-exec. */
static void a_container_is_run_by_ctr_as_of_kops(void **state)
{
	static const char text[] =
		"Hooks:\n- null\n- - execContainer:\n      command: [sh, -c, chroot /rootfs "
		"apt-get update && chroot /rootfs apt-get install -y ceph-common]\n"
		"      image: busybox\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = plan_of(a, &w, "hooks", text);
	const struct task *t = plan_get(p, TASK_UNIT, "kops-hook-0.service");

	(void)state;
	assert_string_equal(unit_text(p, "kops-hook-0.service"),
			    "[Unit]\n"
			    "Description=Kops Hook kops-hook-0\n"
			    "Requires=containerd.service\n"
			    "\n"
			    "[Service]\n"
			    "ExecStartPre=" CTR "image pull docker.io/library/busybox:latest\n"
			    "ExecStart=" RUN "docker.io/library/busybox:latest kops-hook-0 sh -c "
			    "\"chroot /rootfs apt-get update && chroot /rootfs apt-get install -y "
			    "ceph-common\"\n"
			    "Type=oneshot\n"
			    "\n"
			    "[Install]\n"
			    "WantedBy=multi-user.target\n");
	assert_true(t->unit.enable && t->unit.last && t->advisory);
	assert_true(strv_has(&t->unit.requires, "containerd.service"));
	assert_string_equal(t->asked, "n.yaml:7:5");
}

/* source: kops 1.37 pkg/systemd/escaping_test.go and its table of characters */
static void words_are_escaped_as_by_kops(void **state)
{
	static const char text[] =
		"Hooks:\n- - name: a\n    before: [kubelet.service]\n    requires: [x.mount]\n"
		"    execContainer:\n      image: r.example:5000/b/c\n"
		"      command: [\"a\\tb\", \"it's\", 'say \"x\"', 'C:\\d', '%n$A', '\xc3\xa9']\n"
		"      environment: {Z: 'a b', A: '1', V: \"x\\ny\"}\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = plan_of(a, &w, "hooks", text);
	const struct task *t = plan_get(p, TASK_UNIT, "a.service"), *env;

	(void)state;
	assert_string_equal(unit_text(p, "a.service"),
			    "[Unit]\n"
			    "Description=Kops Hook a\n"
			    "Requires=x.mount\n"
			    "Before=kubelet.service\n"
			    "Requires=containerd.service\n"
			    "\n"
			    "[Service]\n"
			    "ExecStartPre=" CTR "image pull r.example:5000/b/c:latest\n"
			    "ExecStart=" RUN "--env-file /etc/kubernetes/hooks/a.env "
			    "--env V=x\\x0ay r.example:5000/b/c:latest a "
			    "a\\x09b it\\'s \"say \\\"x\\\"\" C:\\\\d %n$A \\xc3\\xa9\n"
			    "Type=oneshot\n"
			    "\n"
			    "[Install]\n"
			    "WantedBy=multi-user.target\n");
	assert_true(strv_has(&t->unit.requires, "x.mount"));
	assert_true(strv_has(&t->unit.before, "kubelet.service"));
	env = plan_get(p, TASK_FILE, "/etc/kubernetes/hooks/a.env");
	assert_string_equal(env->file.content, "# Written by nodeup for a\nA=1\nZ=a b\n");
	assert_true(env->file.secret && env->file.attr.mode == 0600);
}

static void a_manifest_is_a_section_or_all_of_it(void **state)
{
	static const char text[] =
		"Hooks:\n- - manifest: \"Type=oneshot\\nExecStart=/bin/true\"\n"
		"  - {name: x.timer, useRawManifest: true, requires: [y.service],\n"
		"     manifest: \"[Timer]\\nOnBootSec=5\\n[Install]\\nWantedBy=timers.target\"}\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = plan_of(a, &w, "hooks", text);

	(void)state;
	assert_string_equal(unit_text(p, "kops-hook-0-ig.service"),
			    "[Unit]\nDescription=Kops Hook kops-hook-0-ig\n\n[Service]\n"
			    "Type=oneshot\nExecStart=/bin/true");
	assert_false(plan_get(p, TASK_UNIT, "kops-hook-0-ig.service")->unit.enable);
	assert_string_equal(unit_text(p, "x.timer"),
			    "[Timer]\nOnBootSec=5\n[Install]\nWantedBy=timers.target");
	assert_true(plan_get(p, TASK_UNIT, "x.timer")->unit.enable);
	assert_null(plan_look(p, TASK_UNIT, "x.timer.service"));
}

static void the_hook_of_the_group_wins(void **state)
{
	static const char text[] = "Hooks:\n- - {name: a, manifest: mine}\n"
				   "  - {name: b.service, enabled: false}\n"
				   "- - {name: a, manifest: theirs}\n"
				   "  - {name: b.service, manifest: theirs}\n"
				   "  - {manifest: third}\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = plan_of(a, &w, "hooks", text);

	(void)state;
	assert_non_null(strstr(unit_text(p, "a.service"), "mine"));
	assert_ptr_equal(plan_get(p, TASK_UNIT, "b.service")->ops, &task_unit_off_ops);
	assert_null(plan_look(p, TASK_FILE, SYSTEM "b.service"));
	/* its index is that of its own list */
	assert_non_null(strstr(unit_text(p, "kops-hook-2.service"), "third"));
}

static void files_have_their_mode_and_their_bytes(void **state)
{
	/* "hello" and "a" with a NUL, without padding, and with it */
	static const char text[] =
		"FileAssets:\n- {name: first, content: \"one\\n\"}\n"
		"- {path: /etc/x, content: aGVsbG8, isBase64: true, mode: \"0600\"}\n"
		"- {path: /etc/y, content: YQA=, isBase64: true, mode: \"755\"}\n"
		"- {path: /etc/x, content: second}\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = plan_of(a, &w, "file-assets", text);
	const struct task *t = plan_get(p, TASK_FILE, "/srv/kubernetes/assets/first");

	(void)state;
	assert_string_equal(t->file.content, "one\n");
	assert_int_equal(t->file.attr.mode, 0440);
	t = plan_get(p, TASK_FILE, "/etc/x");
	assert_string_equal(t->file.content, "hello");
	assert_int_equal(t->file.attr.mode, 0600);
	assert_true(t->file.secret);
	assert_string_equal(t->asked, "n.yaml:7:3");
	t = plan_get(p, TASK_FILE, "/etc/y");
	assert_int_equal(t->file.len, 2);
	assert_int_equal(t->file.attr.mode, 0755);
}

static void volumes_are_those_of_our_disk_code(void **state)
{
	static const char text[] =
		"VolumeMounts:\n- {device: /dev/sdf, path: /data, filesystem: btfs,\n"
		"   formatOptions: [-L, x], mountOptions: ['discard,nodev']}\n"
		"- {device: /dev/xvdg, path: /var/lib/containerd}\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = plan_of(a, &w, "volumes", text);
	const struct node_volume *v = plan_get(p, TASK_VOLUME, "/data")->volume.want;
	const char *unit = plan_get(p, TASK_FILE, SYSTEM "data.mount")->file.content;

	(void)state;
	assert_string_equal(v->filesystem, "btrfs");
	assert_string_equal(strv_join(a, &v->format_options, " "), "-L x");
	assert_string_equal(v->devices.v[0], "/dev/sdf");
	/* what is not blank from head to tail is refused */
	assert_true(v->persist);
	assert_non_null(strstr(unit, "Type=btrfs\nOptions=discard,nodev,nofail\n"));
	v = plan_get(p, TASK_VOLUME, "/var/lib/containerd")->volume.want;
	assert_string_equal(v->filesystem, "ext4");
	/* containerd has files open there: it sees a folder of the disk */
	assert_string_equal(v->path, "/mnt/var-lib-containerd");
	assert_string_equal(v->binds.v[0].target, "/var/lib/containerd");
	(void)plan_get(p, TASK_MOVE, "/var/lib/containerd");
	assert_string_equal(plan_get(p, TASK_FILE,
				     SYSTEM "containerd.service.d/20-nodeup-volumes.conf")
				    ->file.content,
			    "[Unit]\nRequiresMountsFor=/var/lib/containerd\n");
}

static bool needs(const struct task *t, const struct task *need)
{
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i] == need)
			return true;
	return false;
}

static void kubelet_starts_after_its_images(void **state)
{
	static const char text[] = ASSETS
		"images: {amd64: [{hash: 5" HASH ", sources: [https://a.example/"
		"kube-proxy.tar, https://b.example/x]}, {name: 'r.example/b:1', hash: 4" HASH
		", sources: [https://a.example/b.tgz]}]}\n";
	static const char *const names[] = { "kube-proxy.tar", "r.example/b:1" };
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = kops_try_plan(a, &w, NULL, text);

	(void)state;
	assert_non_null(p);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct task *t = plan_get(p, TASK_IMAGE, names[i]);

		assert_true(t->image.in_containerd && t->image.is_unnamed == (i == 0));
		assert_true(needs(t, plan_get(p, TASK_UNIT, "containerd.service")));
		assert_true(needs(plan_get(p, TASK_UNIT, "kubelet.service"), t));
		assert_true(needs(t, plan_get(p, TASK_ASSET, t->image.asset->name)));
	}
	/* what it holds is asked of the archive itself */
	assert_null(plan_look(p, TASK_UNPACK, "kube-proxy.tar"));
	assert_null(plan_look(p, TASK_UNPACK, "b.tgz"));
}

/* source: kops 1.37 nodeup/pkg/model/tests/kubelet/warmpool */
static void an_instance_of_a_warm_pool_does_all_but_start_kubelet(void **state)
{
	static const char text[] = ASSETS "warmPoolImages: [r.example/a:1, b, r.example/a:1]\n";
	static const struct {
		const char *state;
		bool is_warming;
	} rows[] = {
		{ "Warmed:Stopped", true },
		{ "Warmed:Running", true },
		{ "InService", false },
		{ NULL, false },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kops_worker w = { .facts.target_lifecycle_state = rows[i].state };
		const struct plan *p = kops_try_plan(a, &w, NULL, text);
		const struct task *kubelet = plan_get(p, TASK_UNIT, "kubelet.service");
		const struct task *pull = plan_look(p, TASK_PULL, "r.example/a:1");

		(void)plan_get(p, TASK_FILE, SYSTEM "kubelet.service");
		assert_int_equal(kubelet->ops == &task_unit_off_ops, rows[i].is_warming);
		assert_int_equal(kubelet->unit.enable, !rows[i].is_warming);
		assert_int_equal(pull != NULL, rows[i].is_warming);
		assert_int_equal(plan_look(p, TASK_PULL, "b") != NULL, rows[i].is_warming);
		if (pull)
			assert_true(needs(pull, plan_get(p, TASK_UNIT, "containerd.service")));
		if (pull)
			assert_null(pull->pull.hosts);
	}
}

static void a_pull_goes_to_the_mirrors_of_the_documents(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { .facts.target_lifecycle_state = "Warmed:Stopped" };
	const struct plan *p = kops_try_plan(
		a, &w, NULL,
		FILES "warmPoolImages: [r.example/a:1]\ncontainerdConfig: {version: 2.1.4, "
		      "registryMirrors: {r.example: ['https://m']}}\n");
	const struct task *pull = plan_get(p, TASK_PULL, "r.example/a:1");

	(void)state;
	assert_string_equal(pull->pull.hosts, "/etc/containerd/certs.d");
	assert_true(needs(pull,
			  plan_get(p, TASK_FILE, "/etc/containerd/certs.d/r.example/hosts.toml")));
	assert_false(needs(pull, plan_get(p, TASK_FILE, SYSTEM "kubelet.service")));
}

/* kops tells the group of every instance that starts, and not only of those that go to the pool: what is not told is
 * terminated. */
static void the_group_is_told_after_all_else(void **state)
{
	static const char *const states[] = { "Warmed:Stopped", "InService", NULL };
	static const char text[] = ASSETS
		"warmPoolImages: [r.example/a:1]\nEnableLifecycleHook: true\n"
		"Hooks: [[{name: late, manifest: ExecStart=/bin/late}], null]\n";
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		struct kops_worker w = { .facts.target_lifecycle_state = states[i],
					 .facts.region = "us-test-1" };
		const struct plan *p = kops_try_plan(a, &w, NULL, text);
		const struct task *t = plan_get(p, TASK_LIFECYCLE, "kops-warmpool");

		assert_string_equal(t->lifecycle.group, "nodes.a.example");
		assert_string_equal(t->lifecycle.instance, "i-0123456789abcdef0");
		assert_string_equal(t->lifecycle.region, "us-test-1");
		assert_int_equal(t->n_needs, p->n - 1);
		assert_int_equal(t->n_users, 0);
	}
	struct kops_worker w = { 0 };

	assert_null(plan_look(kops_try_plan(a, &w, NULL, ASSETS "warmPoolImages: [b]\n"),
			      TASK_LIFECYCLE, "kops-warmpool"));
}

static void kubelet_waits_for_the_prefix_of_its_pods(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 }, v4 = { 0 };
	const struct plan *p =
		kops_try_plan(a, &w, NULL, ASSETS "Networking: {nonMasqueradeCIDR: '::/0'}\n");
	const struct task *prefix = plan_get(p, TASK_PREFIX, "of the first interface");

	(void)state;
	assert_true(needs(plan_get(p, TASK_UNIT, "kubelet.service"), prefix));
	assert_false(needs(plan_get(p, TASK_UNIT, "containerd.service"), prefix));
	p = kops_try_plan(a, &v4, NULL, ASSETS "Networking: {nonMasqueradeCIDR: 10.0.0.0/8}\n");
	assert_null(plan_look(p, TASK_PREFIX, "of the first interface"));
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "Hooks: [[{name: containerd, manifest: x}]]",
		  "n.yaml:5:10: hook containerd: the unit is containerd's" },
		{ "Hooks: [null, [{name: a/b, manifest: x}]]",
		  "Hooks[1][0].name: 'a/b' is not the name of a unit" },
		{ "Hooks: [[{name: a, manifest: x, before: [../b]}]]",
		  "Hooks[0][0].before: '../b' is not the name of a unit" },
		{ "Hooks: [[{name: a}]]", "Hooks[0][0]: neither execContainer nor manifest" },
		{ "Hooks: [[{name: a, useRawManifest: true, execContainer: {image: b}}]]",
		  "neither execContainer nor manifest" },
		{ "Hooks: [[{execContainer: {image: ' '}}]]",
		  "Hooks[0][0].execContainer: no image" },
		{ "Hooks: [[{name: a, manifest: x}, {name: a.service, manifest: y}]]",
		  "hook a.service: the unit is hooks's" },
		{ "FileAssets: [{path: /usr/sbin/runc, content: x}]",
		  "n.yaml:5:14: fileAssets: '/usr/sbin/runc': /usr/sbin/runc is containerd's" },
		{ "FileAssets: [{path: /etc/x, content: '!', isBase64: true}]",
		  "n.yaml:5:14: FileAssets[0].content: no base64" },
		{ "FileAssets: [{path: /etc/x, mode: '0888'}]",
		  "FileAssets[0].mode: '0888' is not a mode" },
		{ "FileAssets: [{path: /etc/x, mode: '010000'}]", "is not a mode" },
		{ "FileAssets: [{path: /etc/x, mode: '-1'}]", "is not a mode" },
		{ "FileAssets: [{path: etc/x}]", "'etc/x' is not an absolute path of a file" },
		{ "FileAssets: [{content: x}]", "FileAssets[0]: neither path nor name" },
		{ "images: {arm64: [{hash: 5" HASH ", sources: ['https://a.example/b.tar']}]}",
		  "n.yaml:5:9: images: expected a list for amd64" },
		{ "images: {amd64: [{hash: 5" HASH "}]}", "'images.amd64[0].sources' is missing" },
		{ "images: {amd64: [{hash: 5" HASH ", sources: ['https://a.example/b.tar']}, "
		  "{hash: 6" HASH ", sources: ['https://a.example/b.tar']}]}",
		  "n.yaml:5:130: a second, different image b.tar" },
		{ "VolumeMounts: [{device: xvdf, path: /data}]",
		  "n.yaml:5:25: VolumeMounts[0].device: 'xvdf' is not a device" },
		{ "VolumeMounts: [{path: /data}]", "VolumeMounts[0].device: an empty list" },
		{ "VolumeMounts: [{device: /dev/sdf}]", "VolumeMounts[0].path: missing" },
		{ "VolumeMounts: [{device: /dev/sdf, path: /etc/x}]",
		  "VolumeMounts[0].path: '/etc/x' is in use by the system" },
		{ "VolumeMounts: [{device: /dev/sdf, path: /x, filesystem: ntfs}]",
		  "VolumeMounts[0].filesystem: expected ext4, xfs or btfs, found 'ntfs'" },
		{ "VolumeMounts: [{device: /dev/sdf, path: /x, mountOptions: [x-systemd.y]}]",
		  "VolumeMounts[0].mountOptions: 'x-systemd.y' has no effect in a unit file" },
		{ "VolumeMounts: [{device: /dev/sdf, path: /x}, {device: /dev/xvdf, path: /y}]",
		  "/dev/xvdf is asked for twice, first for /x" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct kops_worker w = { 0 };

		assert_null(
			kops_try_plan(a, &w, NULL, arena_printf(a, ASSETS "%s\n", bad[i].text)));
		assert_int_equal(w.e.kind, ERR_CONFIG);
		if (!strstr(w.e.msg, bad[i].says))
			fail_msg("%s: %s", bad[i].text, w.e.msg);
	}
}

static void what_systemd_reads_of_a_word_is_told(void **state)
{
	static const struct {
		const char *word, *says; /* NULL: nothing */
	} rows[] = {
		{ "date +%Y-%m-%d", "'%Y', unless it stands there as '%%Y'" },
		{ "echo ${N}", "'${', unless it stands there as '$${'" },
		{ "$N", "'$N', unless it stands there as '$$N'" },
		{ "$$$${N} %%%m", "'%m'" },
		{ "date +%%Y", NULL },
		{ "echo $${N} $N; echo $(date) $?", NULL },
		{ "$$N", NULL },
		{ "100% of %1 and %x%", NULL },
		{ "$", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w = { 0 };
		const struct plan *p = plan_of(
			a, &w, "hooks",
			arena_printf(a,
				     "Hooks: [null, [{name: mine, execContainer: {image: b, "
				     "command: [sh, '%s'], environment: {A: 'b%%Hc'}}}]]\n",
				     rows[i].word));
		const char *said = strv_join(a, &p->warnings, "\n");
		const char *mine = strstr(said, "hook mine: execContainer.command[1]: ");

		assert_int_equal(!mine, !rows[i].says);
		assert_true(!mine || strstr(mine, rows[i].says));
		assert_non_null(strstr(said, ": hook mine: execContainer.environment.A: systemd "
					     "puts something else for '%', unless"));
		assert_string_equal(tree_where(a, &w.node.hooks.v[0].pos),
				    arena_strn(a, said, strcspn(said, " ") - 1));
		/* a value may be a password */
		assert_null(strstr(said, "H"));
	}
}

static void a_drop_in_of_the_users_is_an_input_of_its_unit(void **state)
{
	static const char path[] = SYSTEM "kubelet.service.d/50-mine.conf";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = kops_try_plan(
		a, &w, NULL,
		arena_printf(a, ASSETS "FileAssets: [{path: %s, content: x}]\n", path));
	const struct task *t;

	(void)state;
	assert_non_null(p);
	t = plan_get(p, TASK_UNIT, "kubelet.service");
	assert_true(strv_has(&t->unit.inputs, path));
	assert_false(strv_has(&plan_get(p, TASK_UNIT, "containerd.service")->unit.inputs, path));
	for (size_t i = 0; i < t->n_needs; i++)
		if (str_eq(t->needs[i]->name, path))
			return;
	fail_msg("kubelet does not wait for %s", path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container_is_run_by_ctr_as_of_kops),
		cmocka_unit_test(words_are_escaped_as_by_kops),
		cmocka_unit_test(a_manifest_is_a_section_or_all_of_it),
		cmocka_unit_test(the_hook_of_the_group_wins),
		cmocka_unit_test(files_have_their_mode_and_their_bytes),
		cmocka_unit_test(volumes_are_those_of_our_disk_code),
		cmocka_unit_test(kubelet_starts_after_its_images),
		cmocka_unit_test(an_instance_of_a_warm_pool_does_all_but_start_kubelet),
		cmocka_unit_test(a_pull_goes_to_the_mirrors_of_the_documents),
		cmocka_unit_test(the_group_is_told_after_all_else),
		cmocka_unit_test(kubelet_waits_for_the_prefix_of_its_pods),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(what_systemd_reads_of_a_word_is_told),
		cmocka_unit_test(a_drop_in_of_the_users_is_an_input_of_its_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
