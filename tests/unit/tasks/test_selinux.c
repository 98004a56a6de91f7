#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include "nodeup/tasks/selinux.h"
#include "tests/unit/lib/scratch.h"

#define POLICY "/etc/selinux/targeted/contexts/files/"
#define OF(type) "system_u:object_r:" type ":s0"

/* In the forms and the order of the policy of Red Hat's family. */
static const char contexts[] =
	"# of our own\n"
	"/.*\t" OF(
		"default_t") "\n"
			     "/usr/.*\t" OF(
				     "usr_t") "\n"
					      "/(usr/)?s?bin(/.*)?\t" OF(
						      "odd_t") "\n"
							       "/usr/(.*/)?s?bin(/.*)?\t\t" OF(
								       "bin_t") "\n"
										"/opt/(.*/)?bin(/.*)?\t" OF(
											"bin_t") "\n"
												 "/opt/cni/.*\t-d\t" OF(
													 "folder_t") "\n"
														     "/usr/local/bin/kubelets?\t--\t" OF(
															     "kubelet_exec_t") "\n"
																	       "/usr/bin/containerd-shim[^/]*\t--\t" OF(
																		       "runtime_t") "\n"
																				    "/usr/bin/containerd\t--\t" OF(
																					    "exact_t") "\n"
																						       "/usr/bin/containerd.*\t--\t" OF(
																							       "runtime_t") "\n"
																									    "/usr/bin/[unfinished\t--\t" OF(
																										    "wrong_t") "\n"
																											       "/opt/none/.*\t<<none>>\n";

struct world {
	struct scratch root;
	struct arena *a;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->a = arena_new_empty();
	scratch_new(&w->root);
	scratch_write(&w->root, "/etc/selinux/config",
		      "# a comment\nSELINUX=enforcing\nSELINUXTYPE=targeted \n");
	scratch_write(&w->root, POLICY "file_contexts", contexts);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	scratch_done(&w->root);
	arena_free(w->a);
	free(w);
	return 0;
}

static const char *label_of(const struct world *w, const char *path)
{
	return selinux_label(w->a, w->root.fd, path, S_IFREG);
}

static void the_last_line_that_matches_counts(void **state)
{
	static const char *const rows[][2] = {
		{ "/usr/local/bin/kubelet", OF("kubelet_exec_t") },
		{ "/usr/local/bin/kubelets", OF("kubelet_exec_t") },
		{ "/usr/local/bin/kubelet2", OF("bin_t") },
		{ "/usr/sbin/runc", OF("bin_t") },
		{ "/opt/cni/bin/bridge", OF("bin_t") },
		{ "/opt/kubernetes/kubelet", OF("default_t") },
		{ "/usr/bin/containerd-shim-runc-v2", OF("runtime_t") },
		/* a path to the letter is before all patterns */
		{ "/usr/bin/containerd", OF("exact_t") },
		{ "/opt/none/a", NULL },
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *label = label_of(w, rows[i][0]);

		if (!str_eq(label, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], label ? label : "none");
	}
}

static void a_line_may_be_for_directories_alone(void **state)
{
	struct world *w = *state;

	assert_string_equal(selinux_label(w->a, w->root.fd, "/opt/cni/bin", S_IFDIR),
			    OF("folder_t"));
	assert_string_equal(selinux_label(w->a, w->root.fd, "/opt/cni/bin", S_IFREG), OF("bin_t"));
	assert_string_equal(selinux_label(w->a, w->root.fd, "/usr/local/bin/kubelet", S_IFDIR),
			    OF("bin_t"));
}

/* The last of the policy's lines would give them to nobody. */
static void homes_have_lines_of_their_own(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, POLICY "file_contexts.homedirs",
		      "/home/[^/]+/.+\tunconfined_u:object_r:user_home_t:s0\n");
	assert_string_equal(label_of(w, "/home/rocky/.kube/config"),
			    "unconfined_u:object_r:user_home_t:s0");
	scratch_write(&w->root, POLICY "file_contexts.local", "/home/rocky/.*\t" OF("own_t") "\n");
	assert_string_equal(label_of(w, "/home/rocky/.kube/config"), OF("own_t"));
}

static void an_admin_has_the_last_word(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, POLICY "file_contexts.local",
		      "/usr/local/bin(/.*)?\t" OF("own_t") "\n");
	assert_string_equal(label_of(w, "/usr/local/bin/kubelet"), OF("own_t"));
	assert_string_equal(label_of(w, "/usr/sbin/runc"), OF("bin_t"));
}

static void a_path_may_be_as_another(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, POLICY "file_contexts.subs_dist",
		      "# alias\n/data/tools /usr/local/bin\n");
	assert_string_equal(label_of(w, "/data/tools/kubelet"), OF("kubelet_exec_t"));
	assert_string_equal(label_of(w, "/data/toolsmith"), OF("default_t"));
}

static void without_a_policy_there_is_none(void **state)
{
	static const char *const texts[] = { "SELINUX=disabled\nSELINUXTYPE=targeted\n",
					     "SELINUX=enforcing\n",
					     "SELINUX=enforcing\nSELINUXTYPE=other\n" };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		scratch_write(&w->root, "/etc/selinux/config", texts[i]);
		assert_null(label_of(w, "/usr/sbin/runc"));
	}
}

static void a_file_gets_it(void **state)
{
	struct world *w = *state;
	struct task_ctx ctx = { .root_fd = w->root.fd, .has_labels = true };
	const char *path = arena_printf(w->a, "%s/staged", w->root.path);
	char label[sizeof(OF("kubelet_exec_t"))] = "";
	autoclose int fd = -1;

	scratch_write(&w->root, "/staged", "");
	if (setxattr(path, "security.selinux", "x", 2, 0) < 0)
		skip();
	fd = open(path, O_RDWR | O_CLOEXEC);
	selinux_set(&ctx, "/usr/local/bin/kubelet", fd);
	assert_int_equal(getxattr(path, "security.selinux", label, sizeof(label)), sizeof(label));
	assert_string_equal(label, OF("kubelet_exec_t"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_last_line_that_matches_counts),
		T(a_line_may_be_for_directories_alone),
		T(homes_have_lines_of_their_own),
		T(an_admin_has_the_last_word),
		T(a_path_may_be_as_another),
		T(without_a_policy_there_is_none),
		T(a_file_gets_it),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
