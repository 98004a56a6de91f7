#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "assets/cache/cache.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/started.h"
#include "nodeup/tasks/state.h"
#include "nodeup/tasks/task.h"
#include "tests/unit/lib/scratch.h"
#include "tests/unit/lib/task_world.h"

static mode_t mode_of(const struct world *w, const char *path)
{
	struct stat st;

	assert_true(scratch_stat(&w->root, path, &st));
	return st.st_mode & 07777;
}

static void dir_four_ways(void **state)
{
	struct world *w = *state;
	const struct task t = {
		.kind = TASK_DIR,
		.ops = &task_dir_ops,
		.name = "/etc/cni/net.d",
		.dir = { 0750 },
	};

	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "absent");
	apply(w, &t);
	assert_int_equal(mode_of(w, "/etc/cni/net.d"), 0750);
	assert_int_equal(mode_of(w, "/etc/cni"), 0755);
	assert_int_equal(check(w, &t), TASK_EQUAL);

	assert_int_equal(fchmodat(w->root.fd, "etc/cni/net.d", 0700, 0), 0);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "mode 0700, want 0750");
	apply(w, &t);
	apply(w, &t);
	assert_int_equal(check(w, &t), TASK_EQUAL);
}

static void dir_is_no_file(void **state)
{
	struct world *w = *state;
	const struct task t = {
		.kind = TASK_DIR, .ops = &task_dir_ops, .name = "/etc/x", .dir = { 0755 }
	};

	scratch_write(&w->root, "/etc/x", "a file in the way");
	assert_int_equal(check(w, &t), -ENOTDIR);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
}

static struct task file_task(const char *path, const char *content, mode_t mode)
{
	return (struct task){
		.kind = TASK_FILE,
		.ops = &task_file_ops,
		.name = path,
		.origin = "test",
		.file = { .content = content, .len = strlen(content), .attr = { .mode = mode } },
	};
}

static void file_four_ways(void **state)
{
	struct world *w = *state;
	const struct task t = file_task("/etc/sysconfig/kubelet", "A=1\n", 0640);
	autofree char *text = NULL;

	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "absent");
	apply(w, &t);
	assert_int_equal(mode_of(w, "/etc/sysconfig/kubelet"), 0640);
	assert_int_equal(check(w, &t), TASK_EQUAL);

	scratch_write(&w->root, "/etc/sysconfig/kubelet", "B=2\n");
	assert_int_equal(fchmodat(w->root.fd, "etc/sysconfig/kubelet", 0640, 0), 0);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "content differs");
	apply(w, &t);
	apply(w, &t);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	text = scratch_read(&w->root, "/etc/sysconfig/kubelet");
	assert_string_equal(text, "A=1\n");
	/* nothing staged is left beside it */
	assert_int_equal(scratch_count(&w->root, "/etc/sysconfig"), 1);
}

static void digest_of_inputs(const struct task *t, struct digest *ret)
{
	autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);

	t->ops->inputs(t, c);
	digest_final(c, ret);
}

/* What is new in a file can come with its next change: until then nothing is written, and no unit started again. */
static void file_as_it_was_before_is_right(void **state)
{
	static const char path[] = "/etc/x";
	struct world *w = *state;
	const struct task was = file_task(path, "A=1\n", 0644);
	struct task t = file_task(path, "new\nA=1\n", 0644);
	autofree char *text = NULL;
	struct digest a, b;

	t.file.also = "A=1\n";
	t.file.elsewhere = "/etc/x.d";
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	apply(w, &was);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	w->ctx.verify = true;
	assert_int_equal(check(w, &t), TASK_EQUAL);
	digest_of_inputs(&was, &a);
	digest_of_inputs(&t, &b);
	assert_true(digest_eq(&a, &b));
	/* others wait for what is new */
	scratch_write(&w->root, "/etc/x.d/a.toml", "");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_int_equal(unlinkat(w->root.fd, "etc/x.d/a.toml", 0), 0);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	scratch_write(&w->root, path, "B=1\n");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "content differs; what others add belongs in /etc/x.d");
	apply(w, &t);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	text = scratch_read(&w->root, path);
	assert_string_equal(text, "new\nA=1\n");
}

/* Who is started with it need not be started again for a mode; wrong content is said first. */
static void only_another_mode_keeps_the_content(void **state)
{
	struct world *w = *state;
	const struct task t = file_task("/etc/x", "A=1\n", 0640);

	apply(w, &t);
	assert_int_equal(fchmodat(w->root.fd, "etc/x", 0600, 0), 0);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "mode 0600, want 0640");
	assert_true(w->diff.kept);
	scratch_write(&w->root, "/etc/x", "B=2\n");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "content differs");
	assert_false(w->diff.kept);
	apply(w, &t);
	assert_int_equal(mode_of(w, "/etc/x"), 0640);
	assert_int_equal(check(w, &t), TASK_EQUAL);
}

static void what_is_a_persons_has_his_ids(void **state)
{
	struct world *w = *state;
	const struct task d = {
		.kind = TASK_DIR,
		.ops = &task_dir_ops,
		.name = "/home/admin/.kube",
		.dir = { 0700, "admin" },
	};
	struct task f = file_task("/home/admin/.kube/config", "text", 0400);
	struct stat st;

	f.file.owner = "admin";
	/* nobody of that name: nothing to do */
	scratch_write(&w->root, "/etc/passwd", "root:x:0:0::/root:/bin/sh\n");
	assert_int_equal(check(w, &d), TASK_EQUAL);
	assert_int_equal(check(w, &f), TASK_EQUAL);
	scratch_write(&w->root, "/etc/passwd", "admin:x:1000:1001::/home/admin:/bin/sh\n");
	assert_int_equal(check(w, &d), TASK_DIFFERS);
	apply(w, &d);
	assert_int_equal(check(w, &d), TASK_EQUAL);
	assert_int_equal(check(w, &f), TASK_DIFFERS);
	apply(w, &f);
	apply(w, &f);
	assert_int_equal(check(w, &f), TASK_EQUAL);
	assert_true(scratch_stat(&w->root, "/home/admin/.kube/config", &st));
	assert_int_equal(st.st_uid, 1000);
	assert_int_equal(st.st_gid, 1001);
	assert_int_equal(fchownat(w->root.fd, "home/admin/.kube", 0, 0, 0), 0);
	assert_int_equal(fchownat(w->root.fd, "home/admin/.kube/config", 0, 0, 0), 0);
	assert_int_equal(check(w, &d), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "owner 0:0, want 1000:1001");
	assert_int_equal(check(w, &f), TASK_DIFFERS);
	apply(w, &d);
	apply(w, &f);
	assert_int_equal(check(w, &d), TASK_EQUAL);
	assert_int_equal(check(w, &f), TASK_EQUAL);
}

/* Whoever may write to a directory must not decide what root changes elsewhere. */
static void a_persons_link_is_not_followed(void **state)
{
	struct world *w = *state;
	const struct task d = {
		.kind = TASK_DIR,
		.ops = &task_dir_ops,
		.name = "/home/admin/.kube",
		.dir = { 0700, "admin" },
	};
	struct task f = file_task("/home/admin/.kube/config", "text", 0400);
	struct task_run run = { 0 };
	struct err e = { 0 };
	struct stat st;

	f.file.owner = "admin";
	scratch_write(&w->root, "/etc/passwd", "admin:x:1000:1001::/home/admin:/bin/sh\n");
	scratch_write(&w->root, "/home/admin/.profile", "");
	assert_int_equal(symlinkat("/etc", w->root.fd, "home/admin/.kube"), 0);
	assert_int_equal(fchmodat(w->root.fd, "etc", 0755, 0), 0);
	assert_int_equal(check(w, &d), TASK_EQUAL);
	assert_int_equal(check(w, &f), TASK_EQUAL);
	/* put there after we looked */
	assert_int_equal(d.ops->apply(&d, &w->ctx, &run, &e), -ELOOP);
	assert_int_equal(f.ops->apply(&f, &w->ctx, &run, &e), -ELOOP);
	assert_true(scratch_stat(&w->root, "/etc", &st));
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_false(scratch_stat(&w->root, "/etc/config", &st));
	/* a link instead of the file goes, and nothing is written through it */
	assert_int_equal(unlinkat(w->root.fd, "home/admin/.kube", 0), 0);
	apply(w, &d);
	assert_int_equal(symlinkat("/etc/passwd", w->root.fd, "home/admin/.kube/config"), 0);
	assert_int_equal(check(w, &f), TASK_DIFFERS);
	apply(w, &f);
	assert_int_equal(check(w, &f), TASK_EQUAL);
	assert_true(scratch_stat(&w->root, "/etc/passwd", &st));
	assert_int_equal(st.st_uid, 0);
}

/* Absent, ours, somebody else's, applied twice. */
static void unwanted_file_four_ways(void **state)
{
	struct world *w = *state;
	struct task t = file_task("/etc/apt/x", "", 0);
	struct stat st;

	t.file.unwanted = "// ours";
	assert_int_equal(check(w, &t), TASK_EQUAL);
	apply(w, &t);
	scratch_write(&w->root, "/etc/apt/x", "// ours\nline\n");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "not wanted any more");
	apply(w, &t);
	assert_false(scratch_stat(&w->root, "/etc/apt/x", &st));
	apply(w, &t);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	scratch_write(&w->root, "/etc/apt/x", "# // ours\n");
	assert_int_equal(check(w, &t), TASK_EQUAL);
}

static void file_replaces_a_link(void **state)
{
	struct world *w = *state;
	const struct task t = file_task("/etc/b", "mine", 0600);
	autofree char *other = NULL;

	scratch_write(&w->root, "/etc/a", "someone else's");
	assert_int_equal(symlinkat("a", w->root.fd, "etc/b"), 0);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	apply(w, &t);
	other = scratch_read(&w->root, "/etc/a");
	assert_string_equal(other, "someone else's");
}

static void what_a_file_replaces_is_set_aside(void **state)
{
	static const char *const names[] = { "/etc/x.nodeup-old", "/etc/x.nodeup-old2" };
	struct world *w = *state;
	struct task t = file_task("/etc/x", "A=1\n", 0600);
	struct task_run run;

	t.file.set_aside = true;
	apply(w, &t);
	assert_int_equal(scratch_count(&w->root, "/etc"), 1);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		autofree char *text = NULL, *old = NULL;

		scratch_write(&w->root, "/etc/x", names[i]);
		run = (struct task_run){ 0 };
		assert_int_equal(t.ops->apply(&t, &w->ctx, &run, &w->e), TASK_DONE);
		assert_non_null(strstr(run.remark, str_basename(names[i])));
		text = scratch_read(&w->root, "/etc/x");
		assert_string_equal(text, "A=1\n");
		old = scratch_read(&w->root, names[i]);
		assert_string_equal(old, names[i]);
	}
}

static void file_if_absent_is_never_touched(void **state)
{
	struct world *w = *state;
	struct task t = file_task("/var/log/kube-proxy.log", "", 0400);

	t.file.if_absent = true;
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	apply(w, &t);
	scratch_write(&w->root, "/var/log/kube-proxy.log", "lines");
	assert_int_equal(check(w, &t), TASK_EQUAL);
}

/* Docker makes an empty directory of what it is to mount and does not find. */
static void a_directory_gives_way_to_a_file(void **state)
{
	static const char path[] = "/var/log/kube-proxy.log";
	struct world *w = *state;
	struct task t = file_task(path, "", 0400);

	t.file.if_absent = true;
	for (int i = 0; i < 3; i++) {
		/* the last one is empty */
		if (i)
			assert_int_equal(unlinkat(w->root.fd, &path[1], 0), 0);
		if (i < 2)
			scratch_write(&w->root, "/var/log/kube-proxy.log/x", i ? "more" : "data");
		else
			assert_int_equal(mkdirat(w->root.fd, &path[1], 0755), 0);
		assert_int_equal(check(w, &t), TASK_DIFFERS);
		apply(w, &t);
		assert_int_equal(mode_of(w, path), 0400);
		assert_int_equal(check(w, &t), TASK_EQUAL);
	}
	assert_int_equal(scratch_count(&w->root, "/var/log"), 3);
	for (int i = 0; i < 2; i++) {
		autofree char *text =
			scratch_read(&w->root, i ? "/var/log/kube-proxy.log.nodeup-old2/x"
						 : "/var/log/kube-proxy.log.nodeup-old/x");

		assert_string_equal(text, i ? "more" : "data");
	}
}

/* The way in of a volume may be at any path. */
static void a_mount_point_in_the_place_of_a_file_stays(void **state)
{
	static const char path[] = "/etc/x";
	struct world *w = *state;
	struct task t = file_task(path, "A=1\n", 0600);
	autofree char *at = xasprintf("%s%s", w->root.path, path);
	struct task_run run = { 0 };
	struct stat st;
	bool is_there;
	int r;

	scratch_write(&w->root, "/etc/x/below", "");
	assert_int_equal(mount("tmpfs", at, "tmpfs", 0, "size=64k"), 0);
	scratch_write(&w->root, "/etc/x/data", "data");
	r = t.ops->apply(&t, &w->ctx, &run, &w->e);
	is_there = scratch_stat(&w->root, "/etc/x/data", &st);
	assert_int_equal(umount2(at, MNT_DETACH), 0);
	assert_int_equal(r, -EBUSY);
	assert_true(is_there);
	assert_int_equal(scratch_count(&w->root, "/etc"), 1);
	assert_string_equal(w->e.msg, "'/etc/x' is in the way: a directory: set '/etc/x' aside: "
				      "Device or resource busy");
	assert_string_equal(err_todo(&w->e),
			    "umount /etc/x: it is a mount point, and no other file "
			    "can take its place");
}

/* The record saves reading; a file that changed behind its back is still noticed. */
static void record_trusts_only_an_untouched_file(void **state)
{
	struct world *w = *state;
	const struct task t = file_task("/etc/f", "one", 0644);
	struct timespec times[2];
	struct stat st;

	apply(w, &t);
	assert_true(scratch_stat(&w->root, "/etc/f", &st));
	scratch_write(&w->root, "/etc/f", "two");
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	assert_int_equal(utimensat(w->root.fd, "etc/f", times, 0), 0);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
}

static bool is_known(struct world *w, struct state *state, const struct digest *d)
{
	struct stat st;

	assert_true(scratch_stat(&w->root, "/etc/f", &st));
	return state_is(state, "/etc/f", &st, d);
}

static void state_survives_and_a_damaged_one_is_empty(void **state)
{
	struct world *w = *state;
	const struct task t = file_task("/etc/f", "one", 0644);
	struct digest d;
	struct state *again;
	autofree char *text = NULL;

	apply(w, &t);
	assert_int_equal(state_store(w->ctx.state, &w->e), 0);
	digest_of(DIGEST_SHA256, "one", 3, &d);
	assert_int_equal(state_open(w->root.fd, &again, &w->e), 0);
	assert_true(is_known(w, again, &d));
	state_close(again);

	text = scratch_read(&w->root, "/var/lib/nodeup/state");
	text[strlen(text) / 2] = '\0';
	scratch_write(&w->root, "/var/lib/nodeup/state", text);
	assert_int_equal(state_open(w->root.fd, &again, &w->e), 0);
	assert_false(is_known(w, again, &d));
	state_close(again);
}

/* What changes while it is compared is not recorded as right. */
static void what_was_seen_is_of_its_time(void **state)
{
	struct world *w = *state;
	struct digest d;
	struct stat st;

	scratch_write(&w->root, "/etc/f", "one");
	assert_true(scratch_stat(&w->root, "/etc/f", &st));
	digest_of(DIGEST_SHA256, "one", 3, &d);
	state_saw(w->ctx.state, "/etc/f", &d, "test", &st);
	assert_true(is_known(w, w->ctx.state, &d));
	scratch_write(&w->root, "/etc/f", "and more");
	state_saw(w->ctx.state, "/etc/f", &d, "test", &st);
	assert_false(is_known(w, w->ctx.state, &d));
}

static struct asset *cached_asset(struct world *w, struct arena *a, const char *name,
				  const char *bytes)
{
	struct asset *as = arena_new(a, struct asset);
	struct cache_entry *en;

	as->name = name;
	digest_of(DIGEST_SHA256, bytes, strlen(bytes), &as->digest);
	if (cache_begin(w->ctx.cache, &as->digest, &en, &w->e) < 0 ||
	    cache_write(en, bytes, strlen(bytes), &w->e) < 0 || cache_commit(en, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	return as;
}

static void install_four_ways(void **state)
{
	struct world *w = *state;
	autoarena struct arena *a = arena_new_empty();
	const struct asset *as = cached_asset(w, a, "kubelet", "#!ELF");
	const struct task t = {
		.kind = TASK_INSTALL,
		.ops = &task_install_ops,
		.name = "/usr/local/bin/kubelet",
		.origin = "test",
		.install = { .mode = 0755, .sources = &as, .n_sources = 1 },
	};
	autofree char *text = NULL;

	assert_int_equal(check(w, &t), TASK_DIFFERS);
	apply(w, &t);
	assert_int_equal(mode_of(w, "/usr/local/bin/kubelet"), 0755);
	assert_int_equal(check(w, &t), TASK_EQUAL);

	scratch_write(&w->root, "/usr/local/bin/kubelet", "rootkit");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_int_equal(fchmodat(w->root.fd, "usr/local/bin/kubelet", 0755, 0), 0);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "content differs");
	apply(w, &t);
	apply(w, &t);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	text = scratch_read(&w->root, "/usr/local/bin/kubelet");
	assert_string_equal(text, "#!ELF");
	assert_int_equal(scratch_count(&w->root, "/usr/local/bin"), 1);

	assert_int_equal(fchmodat(w->root.fd, "usr/local/bin/kubelet", 0644, 0), 0);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "mode 0644 owner 0:0, want 0755 0:0");
	assert_true(w->diff.kept);
	apply(w, &t);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	scratch_write(&w->root, "/usr/local/bin/kubelet", "rootkit");
	assert_int_equal(fchmodat(w->root.fd, "usr/local/bin/kubelet", 0644, 0), 0);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_false(w->diff.kept);
}

static void install_says_when_no_source_has_it(void **state)
{
	struct world *w = *state;
	autoarena struct arena *a = arena_new_empty();
	const struct asset *as = cached_asset(w, a, "cni.tar.gz", "1");
	const struct task t = {
		.kind = TASK_INSTALL,
		.ops = &task_install_ops,
		.name = "/opt/cni/bin/loopback",
		.install = { .member = "loopback", .sources = &as, .n_sources = 1 },
	};
	struct task_run run = { .last_call = true };

	assert_int_equal(t.ops->apply(&t, &w->ctx, &run, &w->e), -ENOENT);
	assert_int_equal(w->e.kind, ERR_CONFIG);
	assert_non_null(strstr(w->e.msg, "loopback"));
	assert_true(run.final);
}

static void started_records(void **state)
{
	static const char *const damaged[] = { "done zz 1\n", "", "done\n", "d " };
	struct world *w = *state;
	struct started s = { .state = STARTED_PENDING, .us = 42 }, got;

	digest_of(DIGEST_SHA256, "x", 1, &s.inputs);
	assert_int_equal(started_get(w->root.fd, "a.service").state, STARTED_UNKNOWN);
	assert_int_equal(started_set(w->root.fd, "a.service", &s, &w->e), 0);
	got = started_get(w->root.fd, "a.service");
	assert_int_equal(got.state, STARTED_PENDING);
	assert_int_equal(got.us, 42);
	assert_true(digest_eq(&s.inputs, &got.inputs));
	s.state = STARTED_DONE;
	assert_int_equal(started_set(w->root.fd, "a.service", &s, &w->e), 0);
	assert_int_equal(started_get(w->root.fd, "a.service").state, STARTED_DONE);
	s.state = STARTED_DOUBT;
	assert_int_equal(started_set(w->root.fd, "a.service", &s, &w->e), 0);
	assert_int_equal(started_get(w->root.fd, "a.service").state, STARTED_DOUBT);
	for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
		scratch_write(&w->root, "/run/nodeup/started/a.service", damaged[i]);
		assert_int_equal(started_get(w->root.fd, "a.service").state, STARTED_UNKNOWN);
	}
}

/* Half a secret would hide from those that look for the whole. */
static void a_long_reason_ends_behind_a_word(void **state)
{
	struct task_diff diff = { 0 };
	struct task_run run = { 0 };
	char word[ERR_NOTE_MAX] = "";

	(void)state;
	memset(word, 's', sizeof(word) - 16);
	(void)task_differs(&diff, "unlike %s before it was so", word);
	assert_string_equal(diff.why + strlen(diff.why) - 5, "s ...");
	(void)task_wait(&run, 0, "for an answer with %s", word);
	assert_string_equal(run.waiting, "for an answer with ...");
	(void)task_missing(&diff, "of %s", word + 16);
	assert_int_equal(strlen(diff.why), strlen(word + 16) + 3);
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(dir_four_ways),
		WORLD_TEST(dir_is_no_file),
		WORLD_TEST(file_four_ways),
		WORLD_TEST(file_as_it_was_before_is_right),
		WORLD_TEST(only_another_mode_keeps_the_content),
		WORLD_TEST(what_is_a_persons_has_his_ids),
		WORLD_TEST(a_persons_link_is_not_followed),
		WORLD_TEST(unwanted_file_four_ways),
		WORLD_TEST(file_replaces_a_link),
		WORLD_TEST(what_a_file_replaces_is_set_aside),
		WORLD_TEST(file_if_absent_is_never_touched),
		WORLD_TEST(a_directory_gives_way_to_a_file),
		WORLD_TEST(a_mount_point_in_the_place_of_a_file_stays),
		WORLD_TEST(record_trusts_only_an_untouched_file),
		WORLD_TEST(state_survives_and_a_damaged_one_is_empty),
		WORLD_TEST(what_was_seen_is_of_its_time),
		WORLD_TEST(install_four_ways),
		WORLD_TEST(install_says_when_no_source_has_it),
		WORLD_TEST(started_records),
		cmocka_unit_test(a_long_reason_ends_behind_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
