#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/config/kops/kops.h"
#include "nodeup/config/kops18/spec.h"
#include "nodeup/config/kops18/model.h"
#include "nodeup/documents/dialects.h"
#include "tests/unit/lib/ends.h"

/* The ranges of whole documents, but for those of programs: test_accepts_kubelet.c and test_accepts_apiserver.c have them. */
static const struct ends_sample cluster_of_kops_18[] = {
	{ "networking.weave.mtu", "0", 8, true },
	{ "networking.weave.mtu", "65535", 8, true },
	{ "networking.weave.mtu", "-1", 8, false },
	{ "networking.weave.mtu", "65536", 8, false },
	{ "networking.weave.connLimit", "0", 8, true },
	{ "networking.weave.connLimit", "2147483647", 8, true },
	{ "networking.weave.connLimit", "-1", 8, false },
	{ "networking.weave.connLimit", "2147483648", 8, false },
	{ "networking.canal.prometheusMetricsPort", "0", 8, true },
	{ "networking.canal.prometheusMetricsPort", "65535", 8, true },
	{ "networking.canal.prometheusMetricsPort", "-1", 8, false },
	{ "networking.canal.prometheusMetricsPort", "65536", 8, false },
	{ "egressProxy.httpProxy.port", "0", 8, true },
	{ "egressProxy.httpProxy.port", "65535", 8, true },
	{ "egressProxy.httpProxy.port", "-1", 8, false },
	{ "egressProxy.httpProxy.port", "65536", 8, false },
	{ "etcdClusters[].etcdMembers[].volumeSize", "0", 8, true },
	{ "etcdClusters[].etcdMembers[].volumeSize", "2147483647", 8, true },
	{ "etcdClusters[].etcdMembers[].volumeSize", "-1", 8, false },
	{ "etcdClusters[].etcdMembers[].volumeSize", "2147483648", 8, false },
};

static const struct ends_sample config_of_today[] = {
	{ "Networking.egressProxy.httpProxy.port", "0", 36, true },
	{ "Networking.egressProxy.httpProxy.port", "65535", 36, true },
	{ "Networking.egressProxy.httpProxy.port", "-1", 36, false },
	{ "Networking.egressProxy.httpProxy.port", "65536", 36, false },
};

static const struct table {
	const struct schema *schema;
	const struct ends_sample *samples;
	size_t n;
} tables[] = {
	{ &kops18_cluster_schema, cluster_of_kops_18, ARRAY_LEN(cluster_of_kops_18) },
	{ &kops_config_schema, config_of_today, ARRAY_LEN(config_of_today) },
};

/* Tables of both kinds of kops, and a key of kube-up. */
static const char *const elsewhere[] = {
	"KubeletConfigSpec",   "KubeProxyConfig",
	"KubeAPIServerConfig", "KubeControllerManagerConfig",
	"KubeSchedulerConfig", "DockerConfig",
	"KUBELET_PORT",        NULL,
};

/* A document that has this key alone. */
static struct tree *document(struct arena *a, const struct ends_sample *v)
{
	const struct strv keys = strv_split(a, v->key, '.');
	const char *text = v->value;
	struct tree *t;
	struct err e;

	for (size_t i = keys.n; i-- > 0;) {
		const char *key = arena_strn(a, keys.v[i], strcspn(keys.v[i], "["));

		text = str_has_suffix(keys.v[i], "[]") ? arena_printf(a, "{%s: [%s]}", key, text)
						       : arena_printf(a, "{%s: %s}", key, text);
	}
	if (yaml_parse(a, "f", text, strlen(text), &t, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
	return t;
}

/* What the reader refuses is not taken either. */
static bool is_taken(struct arena *a, const struct schema *s, const struct ends_sample *v)
{
	const struct accepts_opts o = { .minor = v->minor };
	struct accepts_findings found = { 0 };
	const struct tree *t = document(a, v), *value = t;

	accepts_check(a, s, t, &o, &found);
	while (value->n)
		value = value->items[0].value;
	return !value->is_wrong && !found.n;
}

static void each_end_is_taken_and_no_more(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t i = 0; i < tables[t].n; i++) {
			autoarena struct arena *a = arena_new_empty();
			const struct ends_sample *v = &tables[t].samples[i];

			if (is_taken(a, tables[t].schema, v) != v->taken)
				fail_msg("%s: %s", v->key, v->value);
		}
}

static void look_below(const struct schema *s)
{
	struct table t = { .schema = s };

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (tables[i].schema == s)
			t = tables[i];
	if (s)
		ends_are_tried(s, t.samples, t.n, elsewhere);
}

static void no_range_of_a_document_is_left_out(void **state)
{
	static const char *const nowhere[] = { NULL };

	(void)state;
	for (const struct dialect *const *d = dialects; *d; d++) {
		look_below((*d)->document);
		look_below((*d)->cluster);
		look_below((*d)->group);
	}
	/* they are called as today's are, which have ranges */
	ends_are_tried(&kube_proxy_schema, NULL, 0, nowhere);
	ends_are_tried(&kube_scheduler_schema, NULL, 0, nowhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_end_is_taken_and_no_more),
		cmocka_unit_test(no_range_of_a_document_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
