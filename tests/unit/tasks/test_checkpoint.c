#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/tasks/checkpoint.h"
#include "tests/unit/lib/scratch.h"

static const char path[] = "/var/lib/kubelet/cpu_manager_state";

/* On a machine with four CPUs, of which the third is off. */
static void judgements(void **state)
{
	static const struct task_checkpoint none = { path, "none", "cpu-manager-policy",
						     "cpuManagerPolicy" },
					    fixed = { path, "static", "cpu-manager-policy",
						      "cpuManagerPolicy" };
	static const struct {
		const struct task_checkpoint *wanted;
		const char *text, *says; /* "" it is right */
	} rows[] = {
		{ &none, NULL, "" },
		{ &none, "{\"policyName\":\"none\",\"defaultCpuSet\":\"\",\"checksum\":1353318690}",
		  "" },
		/* kubelet of that policy gives no CPUs, and does not compare them */
		{ &none, "{\"policyName\":\"none\",\"defaultCpuSet\":\"0-63\"}", "" },
		{ &none, "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-1,3\"}",
		  " is of policy static, and kubelet has none" },
		{ &fixed, "{\"policyName\":\"none\",\"defaultCpuSet\":\"\"}",
		  " is of policy none, and kubelet has static" },
		{ &fixed, "{\"policyName\":\"Static\",\"defaultCpuSet\":\"\"}",
		  " is of policy Static, and kubelet has static" },
		{ &fixed, "{\"defaultCpuSet\":\"\"}", " is of policy '', and kubelet has static" },
		{ &fixed, "{\"policyName\":\"static\",\"defaultCpuSet\":\"\"}", "" },
		{ &fixed, "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-1,3\"}", "" },
		{ &fixed, "{\"policyName\":\"static\",\"defaultCpuSet\":\"3,0,1\"}", "" },
		{ &fixed,
		  "{\"policyName\":\"static\",\"defaultCpuSet\":\"0\",\"entries\":{\"pod\":{\"a\":\"1\",\"b\":\"3\"}}}",
		  "" },
		/* as kubelet before 1.18 wrote it */
		{ &fixed,
		  "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-1\",\"entries\":{\"a\":\"3\"}}",
		  "" },
		{ &fixed, "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-3\"}",
		  " has other CPUs than this machine" },
		{ &fixed, "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-1\"}",
		  " has other CPUs than this machine" },
		{ &fixed,
		  "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-1,3\",\"entries\":{\"pod\":{\"a\":\"7\"}}}",
		  " has other CPUs than this machine" },
		/* of a form that is not known here */
		{ &fixed,
		  "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-1\",\"entries\":{\"a\":\"x\"}}",
		  "" },
		{ &fixed, "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-99999\"}", "" },
		{ &none, "", " cannot be read" },
		{ &none, "{\"policyName\":\"no", " cannot be read" },
		{ &none, "[]", " cannot be read" },
	};
	struct scratch root;
	struct stat st;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, "/sys/devices/system/cpu/online", "0-1,3\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char why[256] = "";

		if (rows[i].text)
			scratch_write(&root, path, rows[i].text);
		if ((checkpoint_judge(root.fd, "x.service", rows[i].wanted, why, sizeof(why)) ==
		     CHECKPOINT_WRONG) != (*rows[i].says != '\0') ||
		    (*rows[i].says && strcmp(why + strlen(path), rows[i].says) != 0))
			fail_msg("row %zu: '%s'", i, why);
	}
	/* an image has no CPUs */
	scratch_write(&root, path, "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-63\"}");
	assert_int_equal(unlinkat(root.fd, "sys/devices/system/cpu/online", 0), 0);
	assert_false(checkpoint_judge(root.fd, "x.service", &fixed, (char[256]){ 0 }, 256) ==
		     CHECKPOINT_WRONG);
	assert_true(scratch_stat(&root, path, &st));
	scratch_done(&root);
}

/* The last file of kubelet's drop-in directory that has the key counts, before its own configuration. */
static void policies_of_a_directory(void **state)
{
	static const struct task_checkpoint none = { path, "none", "cpu-manager-policy",
						     "cpuManagerPolicy" };
	static const char dropin[] = "/etc/systemd/system/x.service.d/a.conf";
	static const struct {
		const char *args, *first, *last, *checkpoint, *says; /* "" it is right */
	} rows[] = {
		{ "--config-dir=/k.d", "cpuManagerPolicy: static\n", NULL, "none",
		  " is of policy none, and kubelet has static by /k.d/a.conf" },
		{ "--config-dir=/k.d", "cpuManagerPolicy: static\n", NULL, "static", "" },
		{ "--x --config-dir /k.d\"", "{\"cpuManagerPolicy\": \"static\"}",
		  "cpuManagerPolicy: none", "static",
		  " is of policy static, and kubelet has none by /k.d/b.conf" },
		{ "--config-dir=/k.d", "maxPods: 3", "[", "none", "" },
		{ "--config-dir=/other", "cpuManagerPolicy: static", NULL, "none", "" },
		{ "--config-dir=/other --config-dir=/k.d", "cpuManagerPolicy: static", NULL,
		  "static", "" },
		{ "--config-dir=/k.d --config-dir=$DIR", "cpuManagerPolicy: static", NULL, "none",
		  "" },
		{ "--config-directory=/k.d", "cpuManagerPolicy: static", NULL, "none", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autofree char *unit = xasprintf("[Service]\nEnvironment=\"A=%s\"\n", rows[i].args);
		autofree char *text = xasprintf("{\"policyName\": \"%s\"}", rows[i].checkpoint);
		char why[256] = "";
		struct scratch root;

		scratch_new(&root);
		scratch_write(&root, dropin, unit);
		scratch_write(&root, "/k.d/a.conf", rows[i].first);
		scratch_write(&root, "/k.d/c.yaml", "cpuManagerPolicy: other");
		if (rows[i].last)
			scratch_write(&root, "/k.d/b.conf", rows[i].last);
		scratch_write(&root, path, text);
		if ((checkpoint_judge(root.fd, "x.service", &none, why, sizeof(why)) ==
		     CHECKPOINT_WRONG) != (*rows[i].says != '\0') ||
		    (*rows[i].says && strcmp(why + strlen(path), rows[i].says) != 0))
			fail_msg("row %zu: '%s'", i, why);
		scratch_done(&root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(judgements),
					    cmocka_unit_test(policies_of_a_directory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
