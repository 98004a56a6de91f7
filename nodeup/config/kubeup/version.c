#include "nodeup/config/kubeup/kubeup.h"

/* The roles whose documents need a key. */
enum role { BOTH, MASTER, NODE };

/* The versions in which kube-up began to write a key. No document names its version, but kube-up writes each key,
 * even without a value. So the newest key that a document has tells its version. source: cluster/common.sh
 * build-kube-env of every tag from v1.2.0 to v1.5.8 */
static const struct {
	const char *key;
	int minor, patch;
} signs[] = {
	{ "ENABLE_APISERVER_BASIC_AUDIT", 5, 4 },
	{ "SOFTLOCKUP_PANIC", 5, 0 },
	{ "ENABLE_DNS_HORIZONTAL_AUTOSCALER", 5, 0 },
	{ "NETWORK_POLICY_PROVIDER", 4, 0 },
	{ "ENABLE_RESCHEDULER", 4, 0 },
	{ "STORAGE_BACKEND", 4, 0 },
	{ "NODE_TAGS", 3, 3 },
	{ "KUBE_UID", 3, 0 },
	{ "DOCKER_REGISTRY_MIRROR_URL", 3, 0 },
	{ "PREPULL_E2E_IMAGES", 3, 0 },
	{ "ENABLE_NODE_PROBLEM_DETECTOR", 3, 0 },
};

/* A key that newer versions do not write, and the last minor version that writes it. */
static const char gone[] = "DNS_REPLICAS";
enum { GONE_AFTER = 4 };

/* The keys that the script needs and has no default for, and the version from which it needs them. source:
 * cluster/gce/configure-vm.sh, create-salt-pillar and what calls it */
static const struct need {
	const char *key;
	enum role role;
	int minor, patch;
	bool may_be_empty;
} needs[] = {
	{ "INSTANCE_PREFIX", BOTH, 2, 0, false },
	{ "SERVER_BINARY_TAR_URL", BOTH, 2, 0, false },
	{ "SERVER_BINARY_TAR_HASH", BOTH, 2, 0, false },
	{ "SALT_TAR_URL", BOTH, 2, 0, false },
	{ "SALT_TAR_HASH", BOTH, 2, 0, false },
	{ "CLUSTER_IP_RANGE", BOTH, 2, 0, false },
	{ "SERVICE_CLUSTER_IP_RANGE", BOTH, 2, 0, false },
	{ "KUBE_PROXY_TOKEN", BOTH, 2, 0, false },
	{ "CA_CERT", BOTH, 2, 0, false },
	{ "API_SERVERS", NODE, 2, 0, false },
	{ "KUBELET_CERT", NODE, 2, 0, false },
	{ "KUBELET_KEY", NODE, 2, 0, false },
	{ "MASTER_IP_RANGE", MASTER, 2, 0, false },
	{ "MASTER_CERT", MASTER, 2, 0, false },
	{ "MASTER_KEY", MASTER, 2, 0, false },
	{ "KUBE_USER", MASTER, 2, 0, false },
	{ "KUBE_PASSWORD", MASTER, 2, 0, false },
	{ "KUBE_BEARER_TOKEN", MASTER, 2, 0, false },
	{ "KUBELET_TOKEN", MASTER, 2, 0, false },
	{ "NODE_INSTANCE_PREFIX", BOTH, 2, 0, true },
	{ "ALLOCATE_NODE_CIDRS", BOTH, 2, 0, true },
	{ "NON_MASQUERADE_CIDR", BOTH, 2, 0, true },
	{ "ENABLE_CLUSTER_MONITORING", BOTH, 2, 0, true },
	{ "ENABLE_CLUSTER_LOGGING", BOTH, 2, 0, true },
	{ "ENABLE_CLUSTER_UI", BOTH, 2, 0, true },
	{ "ENABLE_CLUSTER_DNS", BOTH, 2, 0, true },
	{ "ENABLE_CLUSTER_REGISTRY", BOTH, 2, 0, true },
	{ "ENABLE_L7_LOADBALANCING", BOTH, 2, 0, true },
	{ "ENABLE_NODE_LOGGING", BOTH, 2, 0, true },
	{ "LOGGING_DESTINATION", BOTH, 2, 0, true },
	{ "ELASTICSEARCH_LOGGING_REPLICAS", BOTH, 2, 0, true },
	{ "DNS_SERVER_IP", BOTH, 2, 0, true },
	{ "DNS_DOMAIN", BOTH, 2, 0, true },
	{ "ADMISSION_CONTROL", BOTH, 2, 0, true },
	{ "NETWORK_PROVIDER", BOTH, 2, 0, true },
	{ "HAIRPIN_MODE", BOTH, 2, 0, true },
	{ "OPENCONTRAIL_TAG", BOTH, 2, 0, true },
	{ "OPENCONTRAIL_KUBERNETES_TAG", BOTH, 2, 0, true },
	{ "OPENCONTRAIL_PUBLIC_SUBNET", BOTH, 2, 0, true },
	{ "E2E_STORAGE_TEST_ENVIRONMENT", BOTH, 2, 0, true },
	{ "KUBE_UID", BOTH, 3, 0, true },
	{ "PREPULL_E2E_IMAGES", BOTH, 3, 0, true },
	{ "ENABLE_NODE_PROBLEM_DETECTOR", BOTH, 3, 0, true },
	{ "NODE_TAGS", BOTH, 3, 3, true },
	{ "NETWORK_POLICY_PROVIDER", BOTH, 4, 0, true },
	{ "ENABLE_RESCHEDULER", BOTH, 4, 0, true },
	{ "SOFTLOCKUP_PANIC", BOTH, 5, 0, true },
	{ "ENABLE_DNS_HORIZONTAL_AUTOSCALER", BOTH, 5, 0, true },
};

static bool is_at_least(const struct version *v, int minor, int patch)
{
	return v->minor != minor ? v->minor > minor : v->patch >= patch;
}

int kubeup_version(struct arena *a, const struct tree *t, struct version *ret, struct err *e)
{
	struct version v = { 1, 2, 0, NULL };
	const char *newest = NULL;

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (tree_get(t, signs[i].key) && !is_at_least(&v, signs[i].minor, signs[i].patch)) {
			v = (struct version){ 1, signs[i].minor, signs[i].patch, NULL };
			newest = signs[i].key;
		}
	if (newest && v.minor > GONE_AFTER && tree_get(t, gone))
		return err_config(e,
				  "%s'%s' is of kube-up 1.%d and older, and '%s' (line %u) of 1.%d "
				  "and later: which version this is cannot be said",
				  tree_place(a, t, gone), gone, GONE_AFTER, newest,
				  tree_get(t, newest)->pos.line, v.minor);
	*ret = v;
	return 0;
}

static bool is_of(const struct kubeup_env *env, const struct need *need)
{
	if (need->role != BOTH && (need->role == MASTER) != env->is_master)
		return false;
	return is_at_least(&env->kubernetes, need->minor, need->patch);
}

static bool is_lacking(const struct kubeup_env *env, const struct need *need)
{
	const struct tree *value = tree_get(env->tree, need->key);

	return is_of(env, need) && (!value || (!need->may_be_empty && str_is_empty(value->scalar)));
}

static const char **member_of(struct kubeup_env *env, const char *key)
{
	const struct schema *s = &kubeup_env_schema;

	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->fields[i].key, key))
			return (const char **)(void *)((char *)env + s->fields[i].offset);
	return NULL;
}

bool kubeup_go_without(struct kubeup_env *env)
{
	for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
		const char **value = member_of(env, needs[i].key);

		if (!is_of(env, &needs[i]))
			continue;
		if (!needs[i].may_be_empty && str_is_empty(*value))
			return false;
		if (!*value)
			*value = "";
	}
	return true;
}

/* The first missing key makes the error; each further missing key becomes a note. */
int kubeup_has_all(struct arena *a, const struct kubeup_env *env, struct err *e)
{
	const struct need *first = NULL;
	struct strv more = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
		if (!is_lacking(env, &needs[i]))
			continue;
		if (first)
			strv_add(a, &more, needs[i].key);
		else
			first = &needs[i];
	}
	if (!first && !tree_get(env->tree, gone) && env->kubernetes.minor <= GONE_AFTER)
		return err_config(e, "%s'%s' is missing, which kube-up 1.%d writes",
				  tree_place(a, env->tree, gone), gone, env->kubernetes.minor);
	if (!first)
		return 0;
	(void)err_config(e, "%s'%s' is %s, which %s of kube-up 1.%d cannot do without",
			 tree_place(a, env->tree, first->key), first->key,
			 tree_get(env->tree, first->key) ? "empty" : "missing",
			 env->is_master ? "a master" : "a node", env->kubernetes.minor);
	if (more.n)
		err_note(e, "also missing", "%s", strv_join(a, &more, ", "));
	return err_code(e);
}
