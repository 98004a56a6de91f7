#include "nodeup/config/kops18/spec.h"

#include "nodeup/config/accepts_common.h"

#define FIELD_ROW_UNUSED(k, s, ...)                                                                \
	FIELD(FIELD_SPEC, spec.unused, .key = (k), .shape = TREE_##s, .doc = "not used by a node", \
	      __VA_ARGS__),

/* clang-format off */
#define ENV(X) KOPS18_ENV(X) KOPS18_SETTINGS(X)
const struct schema kops18_env_schema = SCHEMA_OF_LIST(struct kube_env, "kube_env.yaml", ENV);
const struct schema kops18_image_schema = SCHEMA_OF_LIST(struct node_image, "Image", KOPS18_IMAGE);
const struct schema kops18_object_schema = SCHEMA_OF_LIST(struct kops18_object, "Object", KOPS18_OBJECT);
static const struct schema load_balancer_schema = SCHEMA_OF_LIST(struct kops18_load_balancer, "LoadBalancerAccessSpec", KOPS18_LOAD_BALANCER);
static const struct schema api_schema = SCHEMA_OF_LIST(struct kops18_api, "AccessSpec", KOPS18_API);
static const struct schema no_options_schema = { .name = "Networking", .size = sizeof(struct kops18_networking) };
static const struct schema weave_schema = SCHEMA_OF_LIST(struct kops18_networking, "WeaveNetworkingSpec", KOPS18_WEAVE);
static const struct schema flannel_schema = SCHEMA_OF_LIST(struct kops18_networking, "FlannelNetworkingSpec", KOPS18_FLANNEL);
static const struct schema calico_schema = SCHEMA_OF_LIST(struct kops18_networking, "CalicoNetworkingSpec", KOPS18_CALICO);
static const struct schema canal_schema = SCHEMA_OF_LIST(struct kops18_networking, "CanalNetworkingSpec", KOPS18_CANAL);
static const struct schema romana_schema = SCHEMA_OF_LIST(struct kops18_networking, "RomanaNetworkingSpec", KOPS18_ROMANA);
const struct schema kops18_networking_schema = SCHEMA_OF_LIST(struct kops18_networking, "NetworkingSpec", KOPS18_NETWORKING);
static const struct schema http_proxy_schema = SCHEMA_OF_LIST(struct kops18_egress_proxy, "HTTPProxy", KOPS18_HTTP_PROXY);
static const struct schema egress_proxy_schema = SCHEMA_OF_LIST(struct kops18_egress_proxy, "EgressProxySpec", KOPS18_EGRESS_PROXY);
static const struct schema etcd_member_schema = SCHEMA_OF_LIST(struct kops18_etcd_member, "EtcdMemberSpec", KOPS18_ETCD_MEMBER);
const struct schema kops18_etcd_cluster_schema = SCHEMA_OF_LIST(struct kops18_etcd_cluster, "EtcdClusterSpec", KOPS18_ETCD_CLUSTER);
static const struct schema cloud_config_schema = SCHEMA_OF_LIST(struct kops18_cloud_config, "CloudConfiguration", KOPS18_CLOUD_CONFIG);
static const struct schema authentication_schema = SCHEMA_OF_LIST(struct kops18_cluster, "AuthenticationSpec", KOPS18_AUTHENTICATION);
static const struct schema authorization_schema = SCHEMA_OF_LIST(struct kops18_cluster, "AuthorizationSpec", KOPS18_AUTHORIZATION);
static const struct schema assets_schema = SCHEMA_OF_LIST(struct kops18_cluster, "Assets", KOPS18_ASSETS);
const struct schema kops18_cluster_schema = SCHEMA_OF_LIST(struct kops18_cluster, "ClusterSpec", KOPS18_CLUSTER);
const struct schema kops18_ig_schema = SCHEMA_OF_LIST(struct kops18_ig, "InstanceGroupSpec", KOPS18_IG);
/* clang-format on */

static size_t kept_count(const struct dialect_opts *o)
{
	return o->errors ? o->errors->n : 0;
}

int kops18_read(struct arena *a, const struct schema *s, const struct tree *t, const char *path,
		const struct dialect_opts *o, void *obj, struct err *e)
{
	struct field_unknowns unknown = { .arena = a, .slips_apart = s == &kops18_env_schema };
	const struct field_opts opts = { .unknown = field_note_unknown,
					 .arg = &unknown,
					 .path = path,
					 .errors = o->errors,
					 .refuses_slips = unknown.slips_apart };
	const size_t before = kept_count(o);
	int r = field_parse(a, s, t, obj, &opts, e);

	/* an item that could not be read is not checked further */
	if (r == 0 && *path && kept_count(o) > before) {
		*e = o->errors->v[o->errors->n - 1];
		r = err_code(e);
	}
	/* a key is missing because it is misspelled, and the message about the missing key would mislead */
	for (size_t i = 0; i < unknown.slips.n; i++) {
		r = errs_keep(o->errors, err_config(e, "%s", unknown.slips.v[i]), e);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	if (o->strict)
		return dialect_refuse_unknown(o, &unknown, e);
	dialect_warn_unknown(o, &unknown);
	return 0;
}

int kops18_go_on(struct kops18_build *b, int r)
{
	return errs_keep(b->in->opts->errors, r, b->in->err);
}

int kops18_at_most(struct arena *a, const struct tree *list, const char *key, size_t most,
		   struct err *e)
{
	if (!list || list->kind != TREE_SEQ || list->n <= most)
		return 0;
	return err_config(e, "%s: %s[%zu]: more than %zu",
			  tree_where(a, &list->items[most].value->pos), key, most, most);
}
