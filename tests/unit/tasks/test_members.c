/* Members of archives, from an archive in the cache to where they are installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/unpack.h"
#include "nodeup/tasks/image_archive.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/members.h"
#include "nodeup/tasks/started.h"
#include "nodeup/tasks/state.h"
#include "tests/unit/lib/scratch.h"
#include "tests/unit/lib/tar.h"

enum { ARCHIVES = 2, MANY = 60 };

struct world {
	struct scratch root;
	struct arena *a;
	struct task_ctx ctx;
	struct task_diff diff;
	struct buf tars[ARCHIVES];
	struct asset assets[ARCHIVES];
	const struct asset *sources[ARCHIVES];
	struct task unpacks[ARCHIVES], installs[MANY];
	const struct task *tasks[ARCHIVES], *served[MANY];
	size_t n;
	struct err e;
};

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	scratch_new(&w->root);
	w->a = arena_new_empty();
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd, .cache_root_fd = w->root.fd };
	if (state_open(w->root.fd, &w->ctx.state, &w->e) < 0 ||
	    cache_new(w->root.fd, "/cache", true, &w->ctx.cache, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	for (size_t i = 0; i < ARCHIVES; i++)
		w->tars[i] = TAR_BUF;
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	members_free(w->ctx.members);
	cache_free(w->ctx.cache);
	state_close(w->ctx.state);
	scratch_done(&w->root);
	for (size_t i = 0; i < ARCHIVES; i++)
		buf_done(&w->tars[i]);
	arena_free(w->a);
	free(w);
	return 0;
}

static void add(struct world *w, size_t at, const char *name, char type, const char *text)
{
	tar_add(&w->tars[at], &(struct tar_entry){ .name = name,
						   .type = type,
						   .link = type == '0' ? NULL : text,
						   .data = type == '0' ? text : NULL });
}

static const struct task *want(struct world *w, const char *member)
{
	struct task *t = &w->installs[w->n];

	*t = (struct task){
		.kind = TASK_INSTALL,
		.ops = &task_install_ops,
		.name = arena_printf(w->a, "/opt/bin/%s", member),
		.origin = "test",
		.install = { .mode = 0755, .member = member, .sources = w->sources },
	};
	w->served[w->n++] = t;
	return t;
}

/* The archives are whole; what they are called is told to those that want members of them. */
static void begin(struct world *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct asset *as = &w->assets[i];

		tar_end(&w->tars[i]);
		*as = (struct asset){ .name = i ? "utils.tar.gz" : "cni.tar.gz",
				      .form = ASSET_TAR_GZ };
		digest_of(DIGEST_SHA256, w->tars[i].data, w->tars[i].len, &as->digest);
		w->sources[i] = as;
		w->unpacks[i] = (struct task){ .kind = TASK_UNPACK,
					       .ops = &task_unpack_ops,
					       .name = as->name,
					       .serves = w->served,
					       .n_serves = w->n };
		w->unpacks[i].unpack.asset = as;
		w->tasks[i] = &w->unpacks[i];
	}
	for (size_t i = 0; i < w->n; i++)
		w->installs[i].install.n_sources = n;
	w->ctx.members = members_new(&w->ctx, w->tasks, n);
}

static void put(struct world *w, size_t at)
{
	struct cache_entry *en;

	if (cache_begin(w->ctx.cache, &w->assets[at].digest, &en, &w->e) < 0 ||
	    cache_write(en, w->tars[at].data, w->tars[at].len, &w->e) < 0 ||
	    cache_commit(en, &w->e) < 0)
		fail_msg("%s", w->e.msg);
}

static void read_archive(struct world *w, size_t at)
{
	struct task_run run = { 0 };

	if (task_unpack_ops.apply(w->tasks[at], &w->ctx, &run, &w->e) != TASK_DONE)
		fail_msg("%s", w->e.msg);
}

static int check(struct world *w, const struct task *t)
{
	return t->ops->check(t, &w->ctx, &w->diff, &w->e);
}

static void apply(struct world *w, const struct task *t)
{
	struct task_run run = { 0 };

	if (t->ops->apply(t, &w->ctx, &run, &w->e) != TASK_DONE)
		fail_msg("%s", w->e.msg);
}

static void must_be(struct world *w, const struct task *t, const char *text)
{
	autofree char *is = scratch_read(&w->root, t->name);

	assert_string_equal(is, text);
	assert_int_equal(check(w, t), TASK_EQUAL);
}

/* Document order decides, and an archive that is still under way may yet have it. */
static void the_first_archive_that_has_it(void **state)
{
	struct world *w = *state;
	const struct task *t = want(w, "bridge"), *other = want(w, "socat");
	struct task_run run = { 0 };

	add(w, 0, "bin/bridge", '0', "first");
	add(w, 1, "bin/bridge", '0', "second");
	add(w, 1, "socat", '0', "socat");
	begin(w, 2);
	put(w, 1);
	read_archive(w, 1);
	assert_int_equal(check(w, t), TASK_DIFFERS);
	assert_int_equal(t->ops->apply(t, &w->ctx, &run, &w->e), TASK_WAIT);
	assert_true(run.on_tasks);
	put(w, 0);
	/* not before somebody has looked at it */
	assert_int_equal(t->ops->apply(t, &w->ctx, &run, &w->e), TASK_WAIT);
	read_archive(w, 0);
	apply(w, t);
	must_be(w, t, "first");
	apply(w, other);
	must_be(w, other, "socat");
	/* what was staged of the other archive is gone */
	assert_int_equal(scratch_count(&w->root, "/opt/bin"), 2);
}

/* In further passes, as each one takes as many as the child may have open. */
static void more_members_than_descriptors(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < MANY; i++) {
		const char *name = arena_printf(w->a, "tool-%zu", i);

		add(w, 0, arena_printf(w->a, "bin/%s", name), '0', name);
		(void)want(w, name);
	}
	begin(w, 1);
	put(w, 0);
	read_archive(w, 0);
	for (size_t i = 0; i < MANY; i++) {
		apply(w, &w->installs[i]);
		must_be(w, &w->installs[i], w->installs[i].install.member);
	}
	assert_int_equal(scratch_count(&w->root, "/opt/bin"), MANY);
}

/* Its bytes are those of a file that nobody wants. */
static void a_member_is_a_hard_link(void **state)
{
	struct world *w = *state;
	const struct task *t = want(w, "bridge");

	add(w, 0, "multi", '0', "bytes");
	add(w, 0, "bin/bridge", '1', "multi");
	begin(w, 1);
	put(w, 0);
	read_archive(w, 0);
	apply(w, t);
	must_be(w, t, "bytes");
}

/* An archive that is refused leaves nothing staged, and no name. */
static void a_refused_archive(void **state)
{
	struct world *w = *state;
	const struct task *t = want(w, "bridge");
	struct task_run run = { 0 }, last = { .last_call = true };

	add(w, 0, "bridge", '0', "bytes");
	add(w, 0, "../evil", '0', "x");
	begin(w, 1);
	put(w, 0);
	assert_true(task_unpack_ops.apply(w->tasks[0], &w->ctx, &run, &w->e) < 0);
	assert_int_equal(w->e.kind, ERR_INTEGRITY);
	assert_int_equal(scratch_count(&w->root, "/opt/bin"), 0);
	assert_int_equal(t->ops->apply(t, &w->ctx, &last, &w->e), -ENOENT);
	assert_int_equal(scratch_count(&w->root, "/opt/bin"), 0);
}

/* The state is lost: the record says what the archive has, which is not read again. */
static void the_record_is_enough(void **state)
{
	struct world *w = *state;
	const struct task *t = want(w, "bridge");
	char name[CACHE_NAME_MAX];

	add(w, 0, "bridge", '0', "bytes");
	begin(w, 1);
	put(w, 0);
	read_archive(w, 0);
	apply(w, t);
	members_free(w->ctx.members);
	w->ctx.members = members_new(&w->ctx, w->tasks, 1);
	state_forget(w->ctx.state, t->name);
	scratch_write(&w->root,
		      arena_printf(w->a, "/cache/%s", cache_entry_name(&w->assets[0].digest, name)),
		      "no archive");
	assert_int_equal(check(w, t), TASK_EQUAL);
}

/* Where it is was told on the way: the archive is not read for that. */
static void an_image_is_found_without_a_pass(void **state)
{
	static const char *const names[] = { "kube-proxy.tar", "kube-proxy.docker_tag" };
	struct strv members = { (const char **)(uintptr_t)names, ARRAY_LEN(names) };
	struct world *w = *state;
	const struct task_image im = { .asset = &w->assets[0],
				       .member = names[0],
				       .tag = names[1] };
	char name[CACHE_NAME_MAX];

	add(w, 0, "bin/kubelet", '0', "kubelet");
	add(w, 0, "bin/kube-proxy.tar", '0', "image");
	add(w, 0, "bin/kube-proxy.docker_tag", '0', "tag");
	begin(w, 1);
	w->assets[0].members = &members;
	put(w, 0);
	for (int known = 0; known < 2; known++) {
		struct image_entries entries;

		if (image_archive_find(&im, &w->ctx, w->a, &entries, &w->e) < 0)
			fail_msg("%s", w->e.msg);
		assert_int_equal(entries.n, 2);
		assert_int_equal(entries.v[0].entry, 2);
		assert_int_equal(entries.v[1].entry, 3);
		(void)close(entries.v[1].fd);
		read_archive(w, 0);
		scratch_write(&w->root,
			      arena_printf(w->a, "/cache/%s",
					   cache_entry_name(&w->assets[0].digest, name)),
			      "no archive");
	}
}

/* Its archive comes again before it is compared: its units are in doubt only when it differs. */
static void compared_before_a_unit_is_doubted(void **state)
{
	static const char *const paths[] = { "/opt/bin/bridge" };
	struct world *w = *state;
	const struct task unit = { .kind = TASK_UNIT,
				   .ops = &task_unit_ops,
				   .name = "x.service",
				   .unit = { .inputs = { (const char **)(uintptr_t)paths, 1 } } };
	const struct task *users[] = { &unit };
	const struct task *t = want(w, "bridge");
	struct started started = { .state = STARTED_DONE, .us = 1 };

	w->installs[0].users = users;
	w->installs[0].n_users = 1;
	w->ctx.verify = true;
	add(w, 0, "bridge", '0', "bridge");
	begin(w, 1);
	digest_of(DIGEST_SHA256, "x", 1, &started.inputs);
	assert_int_equal(started_set(w->root.fd, "x.service", &started, &w->e), 0);
	for (int wrong = 0; wrong < 2; wrong++) {
		struct task_run run = { .unsure = true };

		scratch_write(&w->root, paths[0], wrong ? "rootkit" : "bridge");
		assert_int_equal(fchmodat(w->root.fd, paths[0] + 1, 0755, 0), 0);
		if (!wrong) {
			assert_int_equal(check(w, t), TASK_DIFFERS);
			assert_true(w->diff.unsure);
			put(w, 0);
		}
		read_archive(w, 0);
		assert_int_equal(t->ops->apply(t, &w->ctx, &run, &w->e), TASK_DONE);
		assert_int_equal(run.equal, !wrong);
		assert_int_equal(started_get(w->root.fd, "x.service").state,
				 wrong ? STARTED_DOUBT : STARTED_DONE);
		must_be(w, t, "bridge");
	}
	/* what is known to be wrong is not in doubt, whatever its archive says */
	assert_int_equal(unlinkat(w->root.fd, paths[0] + 1, 0), 0);
	assert_int_equal(check(w, t), TASK_DIFFERS);
	assert_false(w->diff.unsure);
}

#define T(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_first_archive_that_has_it),
		T(more_members_than_descriptors),
		T(a_member_is_a_hard_link),
		T(a_refused_archive),
		T(the_record_is_enough),
		T(compared_before_a_unit_is_doubted),
		T(an_image_is_found_without_a_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
