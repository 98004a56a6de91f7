#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/plan/reserved.h"

/* The first rows are instance types: their processors, memory, a disk, and the pods of their network interfaces. */
static void machines(void **state)
{
	static const struct {
		const char *formula;
		struct reserved_size size;
		const char *wanted;
	} rows[] = {
		/* t3.micro, m5.large, c5.4xlarge */
		{ "eks", { 2, 949, 8, 4, false }, "cpu=70m,memory=299Mi,ephemeral-storage=1024Mi" },
		{ "eks",
		  { 2, 7680, 20, 29, false },
		  "cpu=70m,memory=574Mi,ephemeral-storage=1024Mi" },
		{ "eks",
		  { 16, 31000, 20, 234, false },
		  "cpu=110m,memory=2829Mi,ephemeral-storage=1024Mi" },
		{ "gke", { 2, 949, 8, 4, false }, "cpu=70m,memory=255Mi,ephemeral-storage=4096Mi" },
		{ "gke",
		  { 2, 8192, 20, 29, false },
		  "cpu=70m,memory=1843Mi,ephemeral-storage=10240Mi" },
		{ "gke",
		  { 16, 32768, 100, 234, false },
		  "cpu=110m,memory=3645Mi,ephemeral-storage=41984Mi" },
		/* where a share ends, and the next begins */
		{ "gke", { 1, 1023, 0, 1, true }, "cpu=60m,memory=255Mi" },
		{ "gke", { 2, 1024, 0, 1, true }, "cpu=70m,memory=256Mi" },
		{ "gke", { 3, 4096, 0, 1, true }, "cpu=75m,memory=1024Mi" },
		{ "gke", { 4, 4106, 0, 1, true }, "cpu=80m,memory=1026Mi" },
		{ "gke", { 5, 8192, 0, 1, true }, "cpu=82m,memory=1843Mi" },
		{ "gke", { 8, 16384, 0, 1, true }, "cpu=90m,memory=2662Mi" },
		{ "gke", { 192, 131072, 0, 1, true }, "cpu=550m,memory=9543Mi" },
		{ "gke", { 448, 132096, 0, 1, true }, "cpu=1190m,memory=9564Mi" },
		{ "gke", { 1, 0, 40, 1, false }, "cpu=60m,memory=255Mi,ephemeral-storage=20480Mi" },
		{ "gke", { 1, 0, 41, 1, false }, "cpu=60m,memory=255Mi,ephemeral-storage=20838Mi" },
		{ "gke",
		  { 1, 0, 268, 1, false },
		  "cpu=60m,memory=255Mi,ephemeral-storage=102195Mi" },
		{ "gke",
		  { 1, 0, 269, 1, false },
		  "cpu=60m,memory=255Mi,ephemeral-storage=102400Mi" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct strmap all = reserved_of(a, rows[i].formula, &rows[i].size);

		assert_string_equal(reserved_text(a, &all), rows[i].wanted);
	}
}

#define SIZED .processors = { true, 2 }, .memory_mib = { true, 8192 }, .boot_disk_gib = { true, 20 }
#define BY_GKE "cpu=70m,memory=1843Mi,ephemeral-storage=10240Mi"

static const struct {
	const char *formula;
	struct facts facts;
	int minor, pods;
	bool no_machine, no_keys, system_is_named;
	const char *named, *wanted, *says;
} asked[] = {
	{ NULL, { SIZED }, 35, .wanted = "", .says = NULL },
	{ "gke",
	  { SIZED },
	  35,
	  .wanted = BY_GKE,
	  .says = "kube-reserved is " BY_GKE ", by the formula of gke from 2 processors, "
		  "8192 MiB of memory, a disk of 20 GiB" },
	{ "eks",
	  { .processors = { true, 2 } },
	  7,
	  29,
	  .wanted = "cpu=70m,memory=574Mi",
	  .says = "kube-reserved is cpu=70m,memory=574Mi, by the formula of eks from 2 "
		  "processors, 29 pods" },
	{ "eks",
	  { .processors = { true, 2 } },
	  8,
	  .wanted = "cpu=70m,memory=1465Mi,ephemeral-storage=1024Mi",
	  .says = "kube-reserved is cpu=70m,memory=1465Mi,ephemeral-storage=1024Mi, by the "
		  "formula of eks from 2 processors, 110 pods" },
	/* documents win */
	{ "gke",
	  { SIZED },
	  35,
	  .named = "1",
	  .wanted = "cpu=1",
	  .says = "reserved: gke is not used: the documents name kubeReserved" },
	{ "gke",
	  { SIZED },
	  35,
	  .system_is_named = true,
	  .wanted = "",
	  .says = "reserved: gke is not used: the documents name systemReserved" },
	/* what is not known */
	{ "eks",
	  { .memory_mib = { true, 8192 } },
	  35,
	  .says = "reserved: eks needs the fact processors, which is not known" },
	{ "gke",
	  { .processors = { true, 2 }, .boot_disk_gib = { true, 20 } },
	  35,
	  .says = "reserved: gke needs the fact memoryMiB, which is not known" },
	{ "gke",
	  { .processors = { true, 2 }, .memory_mib = { true, 8192 } },
	  35,
	  .says = "reserved: gke needs the fact bootDiskGiB, which is not known" },
	{ "gke", { 0 }, 35, .no_machine = true, .wanted = "" },
	{ "gke", { 0 }, 35, .no_keys = true, .wanted = "" },
};

static void when_the_setting_asks_for_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		const struct settings settings = { .reserved = asked[i].formula };
		const struct node node = { .kubernetes = { 1, asked[i].minor, 0, NULL } };
		const struct plan_req req = { .node = &node,
					      .facts = &asked[i].facts,
					      .settings = &settings,
					      .no_machine = asked[i].no_machine,
					      .no_keys = asked[i].no_keys };
		autoarena struct arena *a = arena_new_empty();
		struct plan p = { .arena = a, .req = &req };
		struct strmap kube = { 0 };

		if (asked[i].named)
			strmap_set(a, &kube, "cpu", asked[i].named);
		plan_reserve(&p, &kube, asked[i].system_is_named,
			     (struct opt_int){ asked[i].pods > 0, asked[i].pods });
		assert_int_equal(p.n_wrong, asked[i].wanted ? 0 : 1);
		if (asked[i].wanted)
			assert_string_equal(reserved_text(a, &kube), asked[i].wanted);
		assert_int_equal(p.remarks.n, asked[i].wanted && asked[i].says ? 1 : 0);
		if (asked[i].says)
			assert_string_equal(p.n_wrong ? p.wrong[0]->msg : p.remarks.v[0],
					    asked[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines),
		cmocka_unit_test(when_the_setting_asks_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
