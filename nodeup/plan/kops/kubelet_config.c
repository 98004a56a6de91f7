#include "nodeup/plan/kops/kops.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/yaml.h"
#include "nodeup/config/kops/changes.h"

enum { TEXT_MAX = 1 << 20 };

const char kops_server_cert[] = "/srv/kubernetes/kubelet-server.crt";
const char kops_server_key[] = "/srv/kubernetes/kubelet-server.key";

/* A KubeletConfiguration in which nothing is set, as Go writes it. Go writes the fields whose types have no empty
 * value. Fields that a later library added are not here. Source: k8s.io/kubelet 0.29 to 0.36
 * config/v1beta1/types.go. */
static const char nothing_set[] = "apiVersion: kubelet.config.k8s.io/v1beta1\n"
				  "authentication:\n"
				  "  anonymous: {}\n"
				  "  webhook: {cacheTTL: 0s}\n"
				  "  x509: {}\n"
				  "authorization:\n"
				  "  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}\n"
				  "containerRuntimeEndpoint: ''\n"
				  "cpuManagerReconcilePeriod: 0s\n"
				  "%s"
				  "evictionPressureTransitionPeriod: 0s\n"
				  "fileCheckFrequency: 0s\n"
				  "httpCheckFrequency: 0s\n"
				  "imageMaximumGCAge: 0s\n"
				  "imageMinimumGCAge: 0s\n"
				  "kind: KubeletConfiguration\n"
				  "logging:\n"
				  "  flushFrequency: 0\n"
				  "  options:\n"
				  "    json: {infoBufferSize: '0'}\n"
				  "%s"
				  "  verbosity: 0\n"
				  "memorySwap: {}\n"
				  "nodeStatusReportFrequency: 0s\n"
				  "nodeStatusUpdateFrequency: 0s\n"
				  "runtimeRequestTimeout: 0s\n"
				  "shutdownGracePeriod: 0s\n"
				  "shutdownGracePeriodCriticalPods: 0s\n"
				  "streamingConnectionIdleTimeout: 0s\n"
				  "syncFrequency: 0s\n"
				  "volumeStatsAggPeriod: 0s\n";

/* Returns "memory.available<100Mi,nodefs.available<10%" as a map. Text that does not parse was refused when the
 * document was read. */
static struct tree *split_pairs(struct arena *a, const char *text, char between)
{
	const struct strv pairs = strv_split(a, text ? text : "", ',');
	struct tree *map = tree_map(a);

	for (size_t i = 0; i < pairs.n; i++) {
		const char *at = strchr(pairs.v[i], between);

		if (at)
			tree_set_text(
				a, map,
				str_trim(a, arena_strn(a, pairs.v[i], (size_t)(at - pairs.v[i]))),
				str_trim(a, at + 1));
	}
	return map;
}

static struct tree *make_thresholds(struct arena *a, const void *member)
{
	return split_pairs(a, *(const char *const *)member, '<');
}

static struct tree *make_amounts(struct arena *a, const void *member)
{
	return split_pairs(a, *(const char *const *)member, '=');
}

static struct tree *make_list(struct arena *a, const void *member)
{
	const char *text = *(const char *const *)member;
	struct strv words = strv_split(a, text ? text : "", ',');

	if (str_is_empty(text))
		words.n = 0;
	return tree_of_strv(a, &words);
}

static struct tree *make_gates(struct arena *a, const void *member)
{
	const struct strmap *gates = member;
	struct tree *map = tree_map(a);

	for (size_t i = 0; i < gates->n; i++) {
		const char *value = gates->v[i].value;
		const bool on = *value && strchr("1tT", *value);

		(void)tree_set(a, map, gates->v[i].key, tree_plain(a, on ? "true" : "false"));
	}
	return map;
}

/* Returns the taints "dedicated=db:NoSchedule", "dedicated:NoSchedule" and "dedicated" as a list of maps. */
static struct tree *make_taints(struct arena *a, const void *member)
{
	const struct strv *taints = member;
	struct tree *list = tree_seq(a);

	for (size_t i = 0; i < taints->n; i++) {
		const char *text = taints->v[i], *colon = strchr(text, ':');
		const char *pair = colon ? arena_strn(a, text, (size_t)(colon - text)) : text;
		const char *equals = colon ? strchr(pair, '=') : NULL;
		struct tree *t = tree_map(a);

		tree_set_text(a, t, "effect", colon ? colon + 1 : "");
		tree_set_text(a, t, "key",
			      equals ? arena_strn(a, pair, (size_t)(equals - pair)) : pair);
		tree_set_text(a, t, "value", equals && equals[1] ? equals + 1 : NULL);
		(void)tree_add(a, list, t);
	}
	return list;
}

/* Lists settings that have another form in kubelet.conf than in the documents. */
static const struct {
	const char *place;
	struct tree *(*make)(struct arena *a, const void *member);
} forms[] = {
	{ "enforceNodeAllocatable", make_list },     { "evictionHard", make_thresholds },
	{ "evictionMinimumReclaim", make_amounts },  { "evictionSoft", make_thresholds },
	{ "evictionSoftGracePeriod", make_amounts }, { "featureGates", make_gates },
	{ "registerWithTaints", make_taints },
};

static struct tree *make_number(struct arena *a, int64_t n)
{
	return tree_plain(a, arena_printf(a, "%lld", (long long)n));
}

static struct tree *value_of_optional(struct arena *a, const struct field *f, const void *member)
{
	const struct opt_bool *b = member;
	const struct opt_int *n = member;
	const struct opt_dur *d = member;

	if (f->kind == FIELD_OPT_BOOL && b->set)
		return tree_plain(a, b->v ? "true" : "false");
	if (f->kind == FIELD_OPT_INT && n->set)
		return make_number(a, n->v);
	if (f->kind == FIELD_OPT_DUR && d->set)
		return tree_string(a, dur_render(a, d->ns));
	return NULL;
}

static struct tree *value_of_member(struct arena *a, const struct field *f, const void *member)
{
	const char *text;

	switch (f->kind) {
	case FIELD_STRING:
		text = *(const char *const *)member;
		return text && (*text || f->pointer) ? tree_string(a, text) : NULL;
	case FIELD_INT:
		return make_number(a, *(const int64_t *)member);
	case FIELD_STRV:
		return tree_of_strv(a, member);
	case FIELD_STRMAP:
		return tree_of_strmap(a, member);
	default:
		return value_of_optional(a, f, member);
	}
}

static struct tree *value_of(struct arena *a, const struct field *f, const void *member)
{
	struct tree *value = NULL;

	for (size_t i = 0; i < ARRAY_LEN(forms) && !value; i++)
		if (strcmp(forms[i].place, f->config) == 0)
			value = forms[i].make(a, member);
	if (!value)
		value = value_of_member(a, f, member);
	if (!value || (value->kind != TREE_SCALAR && value->n == 0))
		return NULL;
	/* Go leaves out an empty value */
	if (f->flag_empty && str_eq(value->scalar, f->flag_empty))
		return NULL;
	return value;
}

static void set_value(struct arena *a, struct tree *map, const char *place, struct tree *value)
{
	const char *dot;

	for (; (dot = strchr(place, '.')); place = dot + 1)
		map = tree_get(map, arena_strn(a, place, (size_t)(dot - place)));
	(void)tree_set(a, map, place, value);
}

/* Sets each value at its place. If two settings have one place, the first wins. */
static void set_values(struct arena *a, struct tree *doc, const struct schema *s,
		       const struct kops_kubelet *spec)
{
	for (size_t i = s->n; i-- > 0;) {
		const struct field *f = &s->fields[i];
		struct tree *value = f->config ? value_of(a, f, (const char *)spec + f->offset)
					       : NULL;

		if (value)
			set_value(a, doc, f->config, value);
	}
}

const char *kops_runtime_endpoint(const struct plan *p)
{
	const char *address = kops_of(p)->config->containerd.address;

	return address ? arena_printf(p->arena, "unix://%s", address)
		       : "unix:///run/containerd/containerd.sock";
}

/* Sets the values that kops adds itself; an older kops gives kubelet flags for them. */
static void set_own(struct plan *p, struct tree *doc, const struct kops_kubelet *spec)
{
	struct arena *a = p->arena;
	struct tree *dns = tree_add(a, tree_seq(a),
				    tree_string(a, spec->cluster_dns ? spec->cluster_dns : ""));

	(void)tree_set(a, doc, "clusterDNS", dns);
	tree_set_text(a, doc, "containerRuntimeEndpoint", kops_runtime_endpoint(p));
	tree_set_text(a, doc, "tlsCertFile", kops_server_cert);
	tree_set_text(a, doc, "tlsPrivateKeyFile", kops_server_key);
}

const char *kops_kubelet_config(struct plan *p, const struct kops_kubelet *spec)
{
	const struct kops_config *c = kops_of(p)->config;
	const struct facts *f = p->req->facts;
	struct arena *a = p->arena;
	const char *text = arena_printf(
		a, nothing_set,
		kops_does(c, KOPS_EMPTY_CRASH_LOOP_BACK_OFF) ? "crashLoopBackOff: {}\n" : "",
		kops_does(c, KOPS_EMPTY_TEXT_LOGGING) ? "    text: {infoBufferSize: '0'}\n" : "");
	struct tree *doc;
	struct err e;

	if (yaml_parse(a, "kubelet.conf", text, strlen(text), &doc, &e) < 0) {
		plan_fail(p, &e);
		return "";
	}
	set_values(a, doc, kops_kubelet_schema_of(c), spec);
	if (kops_does(c, KOPS_KUBELET_FILE))
		set_own(p, doc, spec);
	if (f->availability_zone && f->instance_id)
		tree_set_text(a, doc, "providerID",
			      arena_printf(a, "aws:///%s/%s", f->availability_zone,
					   f->instance_id));
	tree_sort(doc);
	return plan_yaml(p, "kubelet.conf", doc, TEXT_MAX);
}
