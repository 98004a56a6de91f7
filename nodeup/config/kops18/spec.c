#include "nodeup/config/kops18/spec.h"

#include "nodeup/config/accepts_labels.h"

#define FIELD_ROW_UNUSED(k, s, ...)                                                     \
	FIELD(SPEC, unused, .key = (k), .shape = TREE_##s, .doc = "not used by a node", \
	      __VA_ARGS__),

/* clang-format off */
#define SPEC struct kube_env
static const struct field env_fields[] = {
	KOPS18_ENV(FIELD_ROW)
#define F(m, ...) FIELD(SPEC, settings.m, __VA_ARGS__)
	F(url_rewrites, .key = "urlRewrites", .shape = TREE_SEQ, .secret = true,
	  .doc = "FROM=TO: where URLs that begin so are fetched instead; not of kops"),
	F(mirrors, .key = "mirrors", .shape = TREE_SEQ, .secret = true,
	  .doc = "FROM=TO: where assets whose URLs begin so are asked for first; not of kops"),
	F(accept, .key = "accept", .shape = TREE_SEQ,
	  .doc = "keys whose values go on with a warning where a program is said to refuse them; not of kops"),
	F(ca_bundle, .key = "caBundle",
	  .doc = "file of the CA certificates that servers are checked by; not of kops"),
	F(public_keys, .key = "publicKeys", .shape = TREE_SEQ,
	  .doc = "public keys of minisign, if the machine has none of its own; not of kops"),
	F(require_signatures, .key = "requireSignatures",
	  .doc = "refuse assets without a signature; not of kops"),
	F(keep_assets, .key = "keepAssets",
	  .doc = "keep a copy of each program in the cache; not of kops"),
	F(ignore_host_checks, .key = "ignoreHostChecks",
	  .doc = "try a Kubernetes that cannot run on this host; not of kops"),
	F(quiet_console, .key = "quietConsole",
	  .doc = "write nothing on the console of the machine; not of kops"),
	F(console_after, .key = "consoleAfter",
	  .doc = "age of a run at which the console is told what it waits for; not of kops"),
	F(status_url, .key = "statusURL",
	  .doc = "s3://BUCKET/PREFIX where the status of each run goes as well; not of kops"),
#undef F
	FIELD(SPEC, packages, .key = "packages", .doc = "packages of the distribution to install; not of kops"),
};
#undef SPEC

/* source: kops 1.8.1 pkg/apis/nodeup/config.go Image */
static const struct field image_fields[] = {
#define F(m, ...) FIELD(struct node_image, m, __VA_ARGS__)
	F(name, .key = "name", .doc = "image name for the runtime"),
	F(source, .key = "source", .doc = "URL of the archive"),
	F(hash, .key = "hash", .doc = "hash of the archive"),
	F(signature, .key = "signature", .doc = "of minisign, over the archive; not of kops"),
#undef F
};

#define SPEC struct kops18_object
const struct schema kops18_object_schema = SCHEMA_OF_LIST("Object", KOPS18_OBJECT);
#undef SPEC
#define SPEC struct kops18_load_balancer
static const struct schema load_balancer_schema = SCHEMA_OF_LIST("LoadBalancerAccessSpec", KOPS18_LOAD_BALANCER);
#undef SPEC
#define SPEC struct kops18_api
static const struct schema api_schema = SCHEMA_OF_LIST("AccessSpec", KOPS18_API);
#undef SPEC
#define SPEC struct kops18_networking
static const struct schema no_options_schema = { .name = "Networking", .size = sizeof(SPEC) };
static const struct schema weave_schema = SCHEMA_OF_LIST("WeaveNetworkingSpec", KOPS18_WEAVE);
static const struct schema flannel_schema = SCHEMA_OF_LIST("FlannelNetworkingSpec", KOPS18_FLANNEL);
static const struct schema calico_schema = SCHEMA_OF_LIST("CalicoNetworkingSpec", KOPS18_CALICO);
static const struct schema canal_schema = SCHEMA_OF_LIST("CanalNetworkingSpec", KOPS18_CANAL);
static const struct schema romana_schema = SCHEMA_OF_LIST("RomanaNetworkingSpec", KOPS18_ROMANA);
const struct schema kops18_networking_schema = SCHEMA_OF_LIST("NetworkingSpec", KOPS18_NETWORKING);
#undef SPEC
#define SPEC struct kops18_egress_proxy
static const struct schema http_proxy_schema = SCHEMA_OF_LIST("HTTPProxy", KOPS18_HTTP_PROXY);
static const struct schema egress_proxy_schema = SCHEMA_OF_LIST("EgressProxySpec", KOPS18_EGRESS_PROXY);
#undef SPEC
#define SPEC struct kops18_etcd_member
static const struct schema etcd_member_schema = SCHEMA_OF_LIST("EtcdMemberSpec", KOPS18_ETCD_MEMBER);
#undef SPEC
#define SPEC struct kops18_etcd_cluster
const struct schema kops18_etcd_cluster_schema = SCHEMA_OF_LIST("EtcdClusterSpec", KOPS18_ETCD_CLUSTER);
#undef SPEC
#define SPEC struct kops18_cloud_config
static const struct schema cloud_config_schema = SCHEMA_OF_LIST("CloudConfiguration", KOPS18_CLOUD_CONFIG);
#undef SPEC
#define SPEC struct kops18_cluster
static const struct schema authentication_schema = SCHEMA_OF_LIST("AuthenticationSpec", KOPS18_AUTHENTICATION);
static const struct schema authorization_schema = SCHEMA_OF_LIST("AuthorizationSpec", KOPS18_AUTHORIZATION);
static const struct schema assets_schema = SCHEMA_OF_LIST("Assets", KOPS18_ASSETS);
const struct schema kops18_cluster_schema = SCHEMA_OF_LIST("ClusterSpec", KOPS18_CLUSTER);
#undef SPEC
#define SPEC struct kops18_ig
const struct schema kops18_ig_schema = SCHEMA_OF_LIST("InstanceGroupSpec", KOPS18_IG);
#undef SPEC
/* clang-format on */

const struct schema kops18_env_schema = SCHEMA(struct kube_env, "kube_env.yaml", env_fields);
const struct schema kops18_image_schema = SCHEMA(struct node_image, "Image", image_fields);

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

	/* an item of a list is not checked further without what could not be read */
	if (r == 0 && *path && kept_count(o) > before) {
		*e = o->errors->v[o->errors->n - 1];
		r = err_code(e);
	}
	/* the key that it was meant to be is missing, and what is said of that leads nowhere */
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
	return errs_keep(b->opts->errors, r, b->err);
}

int kops18_at_most(struct arena *a, const struct tree *list, const char *key, size_t most,
		   struct err *e)
{
	if (!list || list->kind != TREE_SEQ || list->n <= most)
		return 0;
	return err_config(e, "%s: %s[%zu]: more than %zu",
			  tree_where(a, &list->items[most].value->pos), key, most, most);
}
