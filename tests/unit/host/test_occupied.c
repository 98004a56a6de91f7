#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/host/occupied.h"
#include "tests/unit/lib/scratch.h"

static const char socket_path[] = "/run/containerd/containerd.sock";

/* Expects this part in what shows pods; NULL: nothing shows any. */
static void expect(const struct scratch *s, const char *docker_root, const char *part)
{
	autoarena struct arena *a = arena_new_empty();
	const char *found = occupied_by(a, s->fd, docker_root);

	if (!part) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	if (!strstr(found, part))
		fail_msg("'%s' lacks '%s'", found, part);
}

static void a_new_host_has_none(void **state)
{
	struct scratch s;

	(void)state;
	scratch_new(&s);
	expect(&s, NULL, NULL);
	/* what a runtime and kubelet have before their first pod */
	for (size_t i = 0; i < 2; i++) {
		static const char *const empty[] = { "/var/lib/kubelet/pods/x",
						     "/var/lib/docker/containers/x" };

		scratch_write(&s, empty[i], "");
		assert_int_equal(unlinkat(s.fd, empty[i] + 1, 0), 0);
	}
	scratch_write(&s, "/var/lib/kubelet/config.yaml", "");
	expect(&s, NULL, NULL);
	scratch_done(&s);
}

static void each_place_tells(void **state)
{
	static const struct {
		const char *docker_root, *file, *part;
	} rows[] = {
		{ NULL, "/var/lib/kubelet/pods/6f1/x",
		  "there are pods: /var/lib/kubelet/pods has 6f1" },
		{ NULL, "/var/lib/docker/containers/c0f/x", "/var/lib/docker/containers has c0f" },
		{ "/data/docker", "/data/docker/containers/c0f/x",
		  "/data/docker/containers has c0f" },
		{ NULL, "/run/containerd/io.containerd.runtime.v2.task/k8s.io/ab/x",
		  "k8s.io has ab" },
		{ NULL, "/run/containerd/io.containerd.runtime.v1.linux/k8s.io/ab/x",
		  "k8s.io has ab" },
		{ NULL, "/run/containerd/io.containerd.runtime.v2.task/moby/ab/x", "moby has ab" },
		{ NULL, "/run/containerd/io.containerd.runtime.v1.linux/moby/ab/x", "moby has ab" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scratch s;

		scratch_new(&s);
		scratch_write(&s, rows[i].file, "");
		expect(&s, rows[i].docker_root, rows[i].part);
		scratch_done(&s);
	}
}

static void what_cannot_be_asked_counts(void **state)
{
	struct scratch s;

	(void)state;
	scratch_new(&s);
	/* something in the place of the directory */
	scratch_write(&s, "/var/lib/kubelet/pods", "");
	expect(&s, NULL, "cannot be asked: ");
	scratch_done(&s);
	scratch_new(&s);
	scratch_program(&s, "/bin/ctr", "#!/bin/sh\necho 'ctr: failed to dial'; exit 1\n");
	scratch_find_programs(&s, "/bin");
	expect(&s, NULL, NULL);
	scratch_write(&s, socket_path, "");
	expect(&s, NULL, "cannot be asked: ");
	scratch_done(&s);
}

static void containerd_knows_those_that_ended(void **state)
{
	struct scratch s;

	(void)state;
	scratch_new(&s);
	scratch_write(&s, socket_path, "");
	scratch_program(&s, "/bin/ctr",
			"#!/bin/sh\n[ \"$*\" = '-n k8s.io containers ls -q' ] || exit 9\n"
			"cat $SCRATCH/ids\n");
	scratch_find_programs(&s, "/bin");
	scratch_write(&s, "/ids", "");
	expect(&s, NULL, NULL);
	scratch_write(&s, "/ids", "e1\ne2\n");
	expect(&s, NULL, "there are pods: containerd has container e1");
	scratch_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_host_has_none),
		cmocka_unit_test(each_place_tells),
		cmocka_unit_test(what_cannot_be_asked_counts),
		cmocka_unit_test(containerd_knows_those_that_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
