#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <strings.h>
#include "nodeup/config/facts.h"
#include "nodeup/config/kops18/spec.h"
#include "nodeup/config/kops/kops.h"
#include "nodeup/config/kubeup/kubeup.h"

static const struct schema *const schemas[] = {
	&docker_schema,
	&kubelet_schema,
	&kube_proxy_schema,
	&kube_apiserver_schema,
	&kube_controller_manager_schema,
	&kube_scheduler_schema,
	&leader_election_schema,
	&facts_schema,
	&kops18_env_schema,
	&kops18_cluster_schema,
	&kops18_ig_schema,
	&kops18_networking_schema,
	&kops18_object_schema,
	&kubeup_env_schema,
	&kops_boot_schema,
	&kops_config_server_schema,
	&kops_config_schema,
	&kops_hook_schema,
	&kops_file_asset_schema,
	&kops_volume_mount_schema,
	&kops_kubelet_schema,
	&kops_kubelet_flags_schema,
	&kops_kube_proxy_schema,
	&kops_kube_apiserver_schema,
	&kops_kcm_schema,
	&kops_scheduler_schema,
	&kops_leader_election_schema,
};

static void check_row(const struct schema *s, size_t i)
{
	const struct field *f = &s->fields[i];

	if (str_is_empty(f->key) || str_is_empty(f->doc))
		fail_msg("%s: row %zu lacks key or doc", s->name, i);
	if (f->offset >= s->size)
		fail_msg("%s: %s is outside the struct", s->name, f->key);
	if (f->flag && (f->flag[0] == '-' || strchr(f->flag, '=')))
		fail_msg("%s: flag '%s'", s->name, f->flag);
	for (size_t k = 0; k < i; k++) {
		/* keys match without regard to case: two must not differ by case alone */
		if (strcasecmp(s->fields[k].key, f->key) == 0)
			fail_msg("%s: key '%s' twice", s->name, f->key);
		if (f->flag && str_eq(s->fields[k].flag, f->flag))
			fail_msg("%s: flag '%s' twice", s->name, f->flag);
	}
}

static void rows_are_unique_and_documented(void **state)
{
	(void)state;
	for (size_t n = 0; n < ARRAY_LEN(schemas); n++)
		for (size_t i = 0; i < schemas[n]->n; i++)
			check_row(schemas[n], i);
}

/* What a program of a static pod is told of files, it is told by rows that say so. */
static void flags_of_files_are_marked(void **state)
{
	static const struct schema *const pods[] = {
		&kube_proxy_schema,     &kube_apiserver_schema,  &kube_controller_manager_schema,
		&kube_scheduler_schema, &kops_kube_proxy_schema, &kops_kube_apiserver_schema,
		&kops_kcm_schema,       &kops_scheduler_schema,
	};
	static const char *const endings[] = {
		"file",         "-config", "-provider-config",       "kubeconfig",
		"-certificate", "-key",    "-certificate-authority", "-log-path"
	};

	(void)state;
	for (size_t n = 0; n < ARRAY_LEN(pods); n++)
		for (size_t i = 0; i < pods[n]->n; i++)
			for (size_t k = 0; k < ARRAY_LEN(endings); k++) {
				const struct field *f = &pods[n]->fields[i];
				const bool is_text = f->kind == FIELD_STRING ||
						     f->kind == FIELD_STRV;

				if (is_text && f->flag && str_has_suffix(f->flag, endings[k]) &&
				    !f->file)
					fail_msg("%s: --%s is not marked", pods[n]->name, f->flag);
				if (f->file && !is_text)
					fail_msg("%s: --%s is no path", pods[n]->name, f->flag);
			}
}

/* A component's members are named after their keys: two rows never share one. */
static void members_have_one_row(void **state)
{
	(void)state;
	for (size_t n = 0; n < 7; n++)
		for (size_t i = 1; i < schemas[n]->n; i++)
			if (schemas[n]->fields[i].offset <= schemas[n]->fields[i - 1].offset)
				fail_msg("%s: %s", schemas[n]->name, schemas[n]->fields[i].key);
}

/* Counted in kops 1.8.1's own structs; of later ones are volumeMounts, failSwapOn and
 * dockerDisableSharedPID. */
static void nothing_is_left_out(void **state)
{
	(void)state;
	assert_int_equal(docker_schema.n, 15);
	assert_int_equal(kubelet_schema.n, 56);
	assert_int_equal(kube_proxy_schema.n, 8);
	assert_int_equal(kube_apiserver_schema.n, 50);
	assert_int_equal(kube_controller_manager_schema.n, 19);
	assert_int_equal(kube_scheduler_schema.n, 6);
	assert_int_equal(kops18_cluster_schema.n, 49);
	assert_int_equal(kops18_ig_schema.n, 23);
	/* and in kops 1.37's, without those that no document has: dockerDisableSharedPID and seven oidc-* */
	assert_int_equal(kops_kubelet_schema.n, 99);
	assert_int_equal(kops_kube_proxy_schema.n, 20);
	assert_int_equal(kops_kube_apiserver_schema.n, 107);
	assert_int_equal(kops_kcm_schema.n, 63);
	assert_int_equal(kops_scheduler_schema.n, 23);
}

static char *flags_of(struct arena *a, const struct schema *s, const void *obj)
{
	struct strv out = { 0 };

	field_flags(a, s, obj, &out);
	return strv_join(a, &out, " ");
}

/* What Go's plain integers give when nothing is said. */
static void empty_specs(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(flags_of(a, &docker_schema, &(struct docker_spec){ 0 }), "");
	assert_string_equal(flags_of(a, &kubelet_schema, &(struct kubelet_spec){ 0 }), "");
	assert_string_equal(flags_of(a, &kube_proxy_schema, &(struct kube_proxy_spec){ 0 }),
			    "--v=0");
	assert_string_equal(flags_of(a, &kube_apiserver_schema, &(struct kube_apiserver_spec){ 0 }),
			    "--insecure-port=0 --secure-port=0");
	assert_string_equal(flags_of(a, &kube_controller_manager_schema,
				     &(struct kube_controller_manager_spec){ 0 }),
			    "");
	assert_string_equal(flags_of(a, &kube_scheduler_schema, &(struct kube_scheduler_spec){ 0 }),
			    "--v=0");
}

static void irregular_flags(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct kubelet_spec kubelet = {
		.resolv_conf = "",
		.seccomp_profile_root = "",
		.log_level = { true, 0 },
		.read_only_port = { true, 0 },
		.eviction_pressure_transition_period = { true, 0 },
		.volume_stats_agg_period = { true, 0 },
	};
	const struct docker_spec docker = { .log_opt = { (const char *[]){ "b", "a" }, 2 },
					    .storage = "overlay",
					    .bridge = "",
					    .version = "1.13.1" };
	const struct kube_scheduler_spec scheduler = { .log_level = 2,
						       .leader_election.leader_elect = { true,
											 true },
						       .use_policy_config_map = { true, true } };

	(void)state;
	assert_string_equal(flags_of(a, &kubelet_schema, &kubelet),
			    "--read-only-port=0 --resolv-conf= --volume-stats-agg-period=0s");
	assert_string_equal(flags_of(a, &docker_schema, &docker),
			    "--log-opt=a --log-opt=b --storage-driver=overlay");
	assert_string_equal(flags_of(a, &kube_scheduler_schema, &scheduler),
			    "--leader-elect=true --v=2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_unique_and_documented),
		cmocka_unit_test(flags_of_files_are_marked),
		cmocka_unit_test(members_have_one_row),
		cmocka_unit_test(nothing_is_left_out),
		cmocka_unit_test(empty_specs),
		cmocka_unit_test(irregular_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
