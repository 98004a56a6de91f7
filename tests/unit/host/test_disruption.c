#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/host/disruption.h"
#include "tests/unit/lib/scratch.h"

static const char *told(struct arena *a, const struct scratch *root, const char *unit)
{
	const struct disruption f = disruption_of(a, root->fd, unit, 7);

	return disruption_text(a, &f);
}

/* docker does not answer here: it has no socket. */
static void pods_that_stop_are_named_by_what_kubelet_left(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;

	(void)state;
	scratch_new(&root);
	assert_string_equal(told(a, &root, "kubelet.service"), "pods stay");
	assert_string_equal(told(a, &root, "containerd.service"), "pods stay");
	assert_string_equal(told(a, &root, "docker.service"),
			    "docker stops the containers of all pods");
	scratch_write(&root, "/etc/kubernetes/manifests/b.manifest",
		      "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"kube-proxy\"}}");
	scratch_write(&root, "/etc/kubernetes/manifests/a.yaml", "metadata: {name: own}\n");
	scratch_write(&root, "/etc/kubernetes/manifests/.a.swp", "metadata: {name: hidden}\n");
	scratch_write(&root, "/etc/kubernetes/manifests/odd", "[");
	scratch_write(&root, "/var/log/containers/web-1_default_a-0f.log", "");
	scratch_write(&root, "/var/log/containers/web-1_default_b-0f.log", "");
	scratch_write(&root, "/var/log/containers/kube-proxy-ip-10-0-0-1_kube-system_p-0f.log", "");
	assert_string_equal(
		told(a, &root, "docker.service"),
		"docker stops the containers of all pods: kube-proxy-ip-10-0-0-1, own, web-1");
	assert_string_equal(told(a, &root, "containerd.service"), "pods stay");
	scratch_done(&root);
}

static void pods_stay_with_live_restore_alone(void **state)
{
	static const struct {
		const char *words, *file;
		bool stop;
	} rows[] = {
		{ "dockerd\0--live-restore\0--bridge=", "{}", false },
		{ "dockerd\0--live-restore=true", "{}", false },
		{ "dockerd\0--live-restore=false", "{\"live-restore\": true}", true },
		{ "dockerd\0--log-level=warn  ", "{\"live-restore\": true}", false },
		{ "dockerd\0--log-level=warn  ", "{\"live-restore\": false}", true },
		{ "dockerd\0--log-level=warn  ", "[", true },
	};
	static const struct io_attr attr = { .mode = 0644 };
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *second = rows[i].words + strlen(rows[i].words) + 1;

		scratch_write(&root, "/etc/docker/daemon.json", rows[i].file);
		scratch_write(&root, "/proc/7/cmdline", "");
		assert_int_equal(io_replace(root.fd, "/proc/7/cmdline", rows[i].words,
					    strlen(rows[i].words) + strlen(second) + 2, &attr, &e),
				 0);
		assert_int_equal(disruption_of(a, root.fd, "docker.service", 7).stop, rows[i].stop);
	}
	scratch_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_that_stop_are_named_by_what_kubelet_left),
		cmocka_unit_test(pods_stay_with_live_restore_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
