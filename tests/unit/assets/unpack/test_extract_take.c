/* Members into descriptors, by a child that has nothing else. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "assets/unpack/extract.h"
#include "nodeup/base/io.h"
#include "tests/unit/lib/tar.h"

static const struct extract_limits limits = { .entries = 100, .bytes = 1 << 20 };

struct taken {
	struct arena *a;
	struct buf tar;
	struct err e;
};

static int setup(void **state)
{
	struct taken *t = xcalloc(1, sizeof(*t));

	t->a = arena_new_empty();
	t->tar = TAR_BUF;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct taken *t = *state;

	buf_done(&t->tar);
	arena_free(t->a);
	free(t);
	return 0;
}

static void add(struct taken *t, const char *name, char type, const char *text)
{
	tar_add(&t->tar, &(struct tar_entry){ .name = name,
					      .type = type,
					      .link = type == '0' ? NULL : text,
					      .data = type == '0' ? text : NULL });
}

static int take(struct taken *t, struct extract_take *takes, size_t n)
{
	autoclose int fd = memfd_create("tar", MFD_CLOEXEC);

	tar_end(&t->tar);
	assert_int_equal(io_write_fd(fd, "tar", t->tar.data, t->tar.len, &t->e), 0);
	return extract_take(t->a, fd, "a.tar", &limits, takes, n, &t->e);
}

static void must_have(struct taken *t, const struct extract_take *one, const char *text)
{
	autobuf struct buf b = BUF_INIT(1024);
	struct digest d;

	assert_int_equal(io_read_fd(one->fd, "member", &b, &t->e), 0);
	assert_string_equal(buf_str(&b), text);
	digest_of(DIGEST_SHA256, text, strlen(text), &d);
	assert_true(digest_eq(&d, &one->digest));
}

static struct extract_take wanted(const char *member)
{
	return (struct extract_take){ .member = member, .fd = memfd_create("m", MFD_CLOEXEC) };
}

/* The shallowest counts, then the first by its directory, whatever comes first. */
static void the_better_one_is_taken(void **state)
{
	static const struct {
		const char *names[4], *best;
	} rows[] = {
		{ { "b/kubelet", "kubelet" }, "kubelet" },
		{ { "kubelet", "b/kubelet" }, "kubelet" },
		{ { "b/kubelet", "a/kubelet", "c/kubelet" }, "a/kubelet" },
		{ { "a-b/kubelet", "a/kubelet" }, "a/kubelet" },
		{ { "a/b/kubelet", "z/kubelet", "a/kubelets" }, "z/kubelet" },
		{ { "1/2/3/4/5/6/7/8/kubelet" }, NULL },
		{ { "1/2/3/4/5/6/7/kubelet" }, "1/2/3/4/5/6/7/kubelet" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct extract_take one = wanted("kubelet");
		struct taken *t;

		(void)setup(state);
		t = *state;
		for (size_t k = 0; rows[i].names[k]; k++)
			add(t, rows[i].names[k], '0', rows[i].names[k]);
		if (take(t, &one, 1) < 0)
			fail_msg("%s", t->e.msg);
		if (!rows[i].best) {
			assert_null(one.path);
		} else {
			assert_string_equal(one.path, rows[i].best);
			must_have(t, &one, rows[i].best);
		}
		(void)close(one.fd);
		(void)teardown(state);
	}
}

/* Nothing is left of a longer one that had the descriptor before, and a later entry of a name counts. */
static void the_last_of_a_name_is_taken_whole(void **state)
{
	struct taken *t = *state;
	struct extract_take two[] = { wanted("kubelet"), wanted("empty") };

	add(t, "a/kubelet", '0', "a long text");
	add(t, "a/kubelet", '0', "short");
	add(t, "a/empty", '0', "a text");
	add(t, "empty", '0', "");
	if (take(t, two, 2) < 0)
		fail_msg("%s", t->e.msg);
	must_have(t, &two[0], "short");
	must_have(t, &two[1], "");
}

static void a_hard_link_has_the_bytes_of_then(void **state)
{
	struct taken *t = *state;
	struct extract_take two[] = { wanted("kubelet"), wanted("other") };

	add(t, "hyperkube", '0', "right");
	add(t, "kubelet", '1', "hyperkube");
	add(t, "other", '1', "./kubelet");
	add(t, "hyperkube", '0', "later");
	if (take(t, two, 2) < 0)
		fail_msg("%s", t->e.msg);
	assert_string_equal(two[0].path, "kubelet");
	must_have(t, &two[0], "right");
	must_have(t, &two[1], "right");
}

static void a_link_is_named(void **state)
{
	struct taken *t = *state;
	struct extract_take two[] = { wanted("kubelet"), wanted("none") };

	add(t, "bin/kubelet", '2', "hyperkube");
	if (take(t, two, 2) < 0)
		fail_msg("%s", t->e.msg);
	assert_null(two[0].path);
	assert_string_equal(two[0].link, "bin/kubelet");
	assert_string_equal(two[0].target, "hyperkube");
	assert_null(two[1].path);
	assert_null(two[1].link);
}

/* A pipe takes an entry by its number, and a digest needs no descriptor. */
static void an_entry_goes_into_a_pipe(void **state)
{
	struct taken *t = *state;
	struct extract_take told = { .member = "image.tar", .fd = -1 }, piped = told;
	char got[16] = "";
	int fds[2];

	add(t, "a/image.tar", '0', "not this");
	add(t, "image.tar", '0', "image");
	assert_int_equal(take(t, &told, 1), 0);
	assert_int_equal(told.from, 2);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	piped.fd = fds[1];
	piped.entry = told.from;
	t->tar.len -= 1024;
	assert_int_equal(take(t, &piped, 1), 0);
	assert_int_equal(read(fds[0], got, sizeof(got)), 5);
	assert_string_equal(got, "image");
	assert_true(digest_eq(&told.digest, &piped.digest));
	(void)close(fds[0]);
	(void)close(fds[1]);
}

/* What is behind was judged by the pass that told the number. */
static void nothing_is_read_behind_the_last_entry(void **state)
{
	struct taken *t = *state;
	struct extract_take one = { .member = "image.tar", .fd = -1 }, by_number = one;

	add(t, "image.tar", '0', "image");
	add(t, "later", '0', "x");
	assert_int_equal(take(t, &one, 1), 0);
	by_number.entry = one.from;
	/* the header of what is behind */
	t->tar.data[1024] ^= 1;
	t->tar.len -= 1024;
	assert_int_equal(take(t, &by_number, 1), 0);
	assert_true(digest_eq(&one.digest, &by_number.digest));
	t->tar.len -= 1024;
	assert_true(take(t, &one, 1) < 0);
}

/* By the words of the archive alone: there is no tree that would say so. */
static void what_does_not_fit_is_refused(void **state)
{
	static const struct {
		struct tar_entry a, b;
		const char *why;
	} rows[] = {
		{ { .name = "d/", .type = '5' },
		  { .name = "d", .type = '0', .data = "x" },
		  "replace a directory" },
		{ { .name = "d/x", .type = '0', .data = "x" },
		  { .name = "d", .type = '2', .link = "x" },
		  "replace a directory" },
		{ { .name = "f", .type = '0', .data = "x" },
		  { .name = "f/", .type = '5' },
		  "in place of something else" },
		{ { .name = "f", .type = '0', .data = "x" },
		  { .name = "f/y", .type = '0', .data = "x" },
		  "link or a file" },
		{ { .name = "l", .type = '2', .link = "." },
		  { .name = "l/y", .type = '0', .data = "x" },
		  "link or a file" },
		{ { .name = "l", .type = '2', .link = "." },
		  { .name = "h", .type = '1', .link = "l" },
		  "no earlier file" },
		{ { .name = "f", .type = '0', .data = "x" },
		  { .name = "h", .type = '1', .link = "g" },
		  "no earlier file" },
		{ { .name = "f", .type = '0', .data = "x" },
		  { .name = "f", .type = '1', .link = "f" },
		  "link to itself" },
		{ { .name = "m", .type = '0', .data = "x" },
		  { .name = "m", .type = '2', .link = "f" },
		  "in place of a file that is wanted" },
		{ { .name = "x", .type = '0', .data = "x" },
		  { .name = "m", .type = '0', .data = "123456789" },
		  "more bytes than allowed" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct extract_take one = { .member = "m", .fd = -1, .max = 8 };
		struct taken *t;

		(void)setup(state);
		t = *state;
		tar_add(&t->tar, &rows[i].a);
		tar_add(&t->tar, &rows[i].b);
		assert_true(take(t, &one, 1) < 0);
		assert_int_equal(t->e.kind, ERR_INTEGRITY);
		if (!strstr(t->e.msg, rows[i].why))
			fail_msg("'%s' is not in '%s'", rows[i].why, t->e.msg);
		(void)teardown(state);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_better_one_is_taken),
		T(the_last_of_a_name_is_taken_whole),
		T(a_hard_link_has_the_bytes_of_then),
		T(a_link_is_named),
		T(an_entry_goes_into_a_pipe),
		T(nothing_is_read_behind_the_last_entry),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
