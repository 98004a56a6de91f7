#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "tests/unit/lib/kops_worker.h"

#define HASH_TAIL \
	"d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168@https://a.example/"
#define ASSETS                                                 \
	"Assets:\n  amd64:\n"                                  \
	"  - 9" HASH_TAIL "containerd-2.3.4-linux-amd64.tgz\n" \
	"  - 1" HASH_TAIL "runc.amd64\n"                       \
	"  - 4" HASH_TAIL "kubelet\n"                          \
	"  - 5" HASH_TAIL "ecr-credential-provider-linux-amd64\n"
#define NVIDIA                                                     \
	ASSETS "NvidiaGPU: {enabled: true, package: driver-570}\n" \
	       "containerdConfig: {version: 2.3.4, nvidiaGPU: {enabled: true}}\n"
#define GVISOR ASSETS "GVisor: {enabled: true}\ncontainerdConfig: {version: 2.3.4}\n"
#define KEYS "/etc/apt/keyrings/"
#define SOURCES "/etc/apt/sources.list.d/"

static struct plan *plan_on(struct arena *a, struct kops_worker *w, const char *distribution,
			    const char *text)
{
	struct plan *p;

	w->facts.distribution = distribution;
	if (str_eq(distribution, "ubuntu"))
		w->facts.version = "24.04";
	p = kops_try_plan(a, w, NULL, text);
	if (!p)
		fail_msg("%s", w->e.msg);
	return p;
}

static bool has_package(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == TASK_PACKAGE &&
		    strv_has(&p->tasks[i]->package.names, name))
			return true;
	return false;
}

static const struct task *package_task(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == TASK_PACKAGE)
			return p->tasks[i];
	fail();
	return NULL;
}

static bool needs(const struct task *t, const struct task *other)
{
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i] == other)
			return true;
	return false;
}

static const char *config_of(const struct plan *p)
{
	return plan_get(p, TASK_FILE, "/etc/containerd/config.toml")->file.content;
}

static void a_key_is_believed_for_its_own_source(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { .facts.gpus = { true, 1 } };
	const struct plan *p = plan_on(a, &w, "ubuntu", NVIDIA);
	const struct task *key = plan_get(p, TASK_KEYRING, KEYS "nvidia-container-toolkit.asc");
	const struct task *list = plan_get(p, TASK_FILE, SOURCES "nvidia-container-toolkit.list");

	(void)state;
	assert_string_equal(key->keyring.url,
			    "https://nvidia.github.io/libnvidia-container/gpgkey");
	assert_string_equal(list->file.content,
			    "deb [signed-by=" KEYS "nvidia-container-toolkit.asc] "
			    "https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /\n");
	assert_int_equal(list->file.attr.mode, 0644);
	assert_true(has_package(p, "nvidia-container-toolkit") && has_package(p, "driver-570"));
	assert_true(needs(package_task(p), key) && needs(package_task(p), list));
	assert_non_null(strstr(config_of(p), "/usr/bin/nvidia-container-runtime"));
}

static void gpus_decide_and_packages_are_ubuntus(void **state)
{
	static const struct {
		const char *distribution;
		struct opt_int gpus;
		bool has_runtime, has_packages;
	} rows[] = {
		{ "ubuntu", { true, 1 }, true, true },
		{ "ubuntu", { true, 0 }, false, false },
		{ "ubuntu", { 0 }, false, false },
		{ "debian", { true, 4 }, true, false },
		{ "amazonlinux", { true, 4 }, true, false },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kops_worker w = { .facts.gpus = rows[i].gpus };
		const struct plan *p = plan_on(a, &w, rows[i].distribution, NVIDIA);

		assert_int_equal(strstr(config_of(p), "nvidia") != NULL, rows[i].has_runtime);
		assert_int_equal(has_package(p, "nvidia-container-toolkit"), rows[i].has_packages);
		assert_int_equal(plan_look(p, TASK_FILE, SOURCES "nvidia-container-toolkit.list") !=
					 NULL,
				 rows[i].has_packages);
	}
}

/* On a machine of which EC2 must say it, silence is no answer. */
static void gpus_that_are_not_known_are_no_gpus_that_are_not_there(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	struct plan_req req;
	struct plan ignored;

	(void)state;
	(void)plan_on(a, &w, "ubuntu", NVIDIA);
	req = w.req;
	req.image_mode = req.no_keys = false;
	req.only = "runtimes";
	assert_int_equal(plan_build(a, &req, &ignored, &w.e), -ENODATA);
	assert_int_equal(w.e.kind, ERR_NET);
	w.facts.gpus = (struct opt_int){ true, 0 };
	assert_int_equal(plan_build(a, &req, &ignored, &w.e), 0);
}

static void gvisor_is_for_debians_kin(void **state)
{
	static const char *const distributions[] = { "debian", "ubuntu", "amazonlinux" };
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(distributions); i++) {
		const bool is_deb = !str_eq(distributions[i], "amazonlinux");
		struct kops_worker w = { 0 };
		const struct plan *p = plan_on(a, &w, distributions[i], GVISOR);
		const struct task *list = plan_look(p, TASK_FILE, SOURCES "gvisor.list");

		assert_int_equal(has_package(p, "runsc"), is_deb);
		assert_int_equal(plan_look(p, TASK_KEYRING, KEYS "gvisor.asc") != NULL, is_deb);
		assert_int_equal(list != NULL, is_deb);
		if (list)
			assert_string_equal(
				list->file.content,
				"deb [arch=$(ARCH) signed-by=" KEYS "gvisor.asc] "
				"https://storage.googleapis.com/gvisor/releases release main\n");
		assert_non_null(strstr(config_of(p), "io.containerd.runsc.v1"));
		assert_string_equal(
			plan_get(p, TASK_FILE, "/etc/containerd/runsc.toml")->file.content,
			"[runsc_config]\n  platform = \"systrap\"\n");
	}
}

static void a_key_of_the_documents_is_not_asked_for(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = plan_on(a, &w, "debian",
				       GVISOR "FileAssets: [{path: " KEYS
					      "gvisor.asc, content: key, mode: '0644'}]\n");

	(void)state;
	assert_null(plan_look(p, TASK_KEYRING, KEYS "gvisor.asc"));
	assert_true(needs(package_task(p), plan_get(p, TASK_FILE, KEYS "gvisor.asc")));
	assert_non_null(plan_look(p, TASK_FILE, SOURCES "gvisor.list"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_believed_for_its_own_source),
		cmocka_unit_test(gpus_decide_and_packages_are_ubuntus),
		cmocka_unit_test(gpus_that_are_not_known_are_no_gpus_that_are_not_there),
		cmocka_unit_test(gvisor_is_for_debians_kin),
		cmocka_unit_test(a_key_of_the_documents_is_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
