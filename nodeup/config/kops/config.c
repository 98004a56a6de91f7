#include "nodeup/config/kops/kops.h"

#include <string.h>
#include <strings.h>
#include "assets/digest.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/field_value.h"
#include "nodeup/config/kops/changes.h"
#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/accepts_common.h"
#include "nodeup/config/pem.h"
#include "nodeup/config/values.h"

const char kops_title[] = "kops 1.29 to 1.37";
const struct version kops_oldest = { 1, 24, 0, NULL }, kops_newest = { 1, 37, 0, NULL };

/* kops 1.36 writes this key for every node. */
static const char gossip[] = "UsesLegacyGossip";

/* Lists keys that no node on AWS can have, each with a reason. source: kops pkg/apis/nodeup/config.go */
static const struct {
	const char *key, *why;
} refused[] = {
	{ "AzureAdminUser", "a key of Azure, and nodeup makes nodes on aws alone" },
	{ "AzureLocation", "a key of Azure, and nodeup makes nodes on aws alone" },
	{ "AzureResourceGroup", "a key of Azure, and nodeup makes nodes on aws alone" },
	{ "AzureRouteTableName", "a key of Azure, and nodeup makes nodes on aws alone" },
	{ "AzureSubscriptionID", "a key of Azure, and nodeup makes nodes on aws alone" },
	{ "AzureTenantID", "a key of Azure, and nodeup makes nodes on aws alone" },
	{ "Multizone", "a key of GCE, and nodeup makes nodes on aws alone" },
	{ "NodeTags", "a key of GCE, and nodeup makes nodes on aws alone" },
	{ "NodeInstancePrefix", "a key of GCE, and nodeup makes nodes on aws alone" },
	{ "Openstack", "a key of OpenStack, and nodeup makes nodes on aws alone" },
	{ "Networking.networkID", "a key of Azure, and nodeup makes nodes on aws alone" },
	{ "Networking.gcp", "a key of GCE, and nodeup makes nodes on aws alone" },
	{ "GossipConfig", "a key of kops 1.36 or older with gossip, which nodeup does not know" },
	{ gossip, "a key of kops 1.36 or older with gossip, which nodeup does not know" },
};

/* Notes an unknown key, as a field_unknown_fn with kops_unknowns as its arg. The error of a key listed above gives
 * its reason. */
static void note_unknown(void *arg, const struct field_unknown *u)
{
	struct kops_unknowns *k = arg;
	struct field_unknowns *all = &k->all;

	if (strcasecmp(u->path, gossip) == 0 && u->value && u->value->kind == TREE_SCALAR &&
	    str_eq(u->value->scalar, "false"))
		return;
	if (kops_accept(k, u))
		return;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (strcasecmp(u->path, refused[i].key) == 0) {
			field_add_unknown(all,
					  arena_printf(all->arena, "%s: '%s' is %s",
						       tree_where(all->arena, u->pos), u->path,
						       refused[i].why),
					  0);
			return;
		}
	field_note_unknown(all, u);
}

static const char *hash_of(struct arena *a, const char *text, size_t n)
{
	struct digest d;

	digest_of(DIGEST_SHA256, text, n, &d);
	return enc_base64(a, d.bytes, digest_size(d.algo));
}

const char *kops_config_hash_line(struct arena *a, const char *text, size_t n)
{
	return arena_printf(a, "NodeupConfigHash: %s\n", hash_of(a, text, n));
}

int kops_config_check_hash(struct arena *a, const struct kops_boot *boot, const char *from,
			   const char *text, size_t n, struct err *e)
{
	const char *got = hash_of(a, text, n);

	if (str_eq(got, boot->nodeup_config_hash))
		return 0;
	(void)err_fail(e, ERR_CONFIG, ESTALE,
		       "%s: this is not the NodeupConfig that BootConfig means", from);
	err_note(e, "want", "NodeupConfigHash: %s", boot->nodeup_config_hash);
	err_note(e, "got", "%s", got);
	err_note(e, "do",
		 "take both from one instance group, after the same `kops update cluster`");
	if (boot->config_server.servers.n && boot->instance_group_name)
		err_note(e, "do",
			 "see that this instance's EC2 tag kops.k8s.io/instancegroup, by which "
			 "kops-controller chooses, is the InstanceGroupName %s",
			 boot->instance_group_name);
	return err_code(e);
}

static int check_version(struct arena *a, const struct tree *t, struct kops_config *c,
			 const struct dialect_opts *o, struct err *e)
{
	const struct tree *at = tree_get(t, "KubernetesVersion");
	const char *where = tree_where(a, at ? &at->pos : &t->pos);
	const struct version *oldest = &kops_oldest, *newest = &kops_newest;
	struct version *v = &c->kubernetes;
	const bool is_version = version_parse(a, c->kubernetes_version_text, v);
	int r;

	if (is_version && v->major == newest->major && v->minor >= oldest->minor &&
	    v->minor <= newest->minor) {
		if (!vintage_has_kubernetes(&c->kops, v->minor))
			dialect_warn(
				a, o,
				"%s: KubernetesVersion: '%s': kops 1.%d never made such a node",
				where, c->kubernetes_version_text, c->kops.minor);
		return 0;
	}
	r = err_config(e, "%s: KubernetesVersion: '%s': of %s it is one of %d.%d to %d.%d", where,
		       c->kubernetes_version_text, kops_title, oldest->major, oldest->minor,
		       newest->major, newest->minor);
	return is_version ? errs_keep_apart(o->errors, r, e) : errs_keep_vital(o->errors, r, e);
}

/* kops reads `null` as no hook */
static int read_hooks(struct arena *a, const struct tree *list, const char *path,
		      const struct field_opts *opts, struct kops_hooks *ret, struct err *e)
{
	int r = 0;

	if (list->kind != TREE_SEQ && list->kind != TREE_NULL)
		return err_config(e, "%s: %s: expected a list", tree_where(a, &list->pos), path);
	for (size_t i = 0; list->kind == TREE_SEQ && i < list->n && r == 0; i++) {
		struct field_opts below = *opts;
		struct kops_hook hook = { 0 };

		below.path = arena_printf(a, "%s[%zu]", path, i);
		r = field_parse(a, &kops_hook_schema, list->items[i].value, &hook, &below, e);
		arena_push(a, ret->v, ret->n, hook);
	}
	return r;
}

static int read_both_hooks(struct arena *a, struct kops_config *c, const struct field_opts *opts,
			   struct err *e)
{
	struct kops_hooks *const both[] = { &c->hooks_of_group, &c->hooks_of_cluster };
	const struct tree *t = c->hooks_tree;
	int r = 0;

	if (t && t->n > ARRAY_LEN(both))
		return err_config(e, "%s: Hooks: expected two lists, found %zu",
				  tree_where(a, &t->pos), t->n);
	for (size_t i = 0; t && i < t->n && r == 0; i++)
		r = read_hooks(a, t->items[i].value, arena_printf(a, "Hooks[%zu]", i), opts,
			       both[i], e);
	return r;
}

static int missing(struct arena *a, const struct tree *t, const char *key, const char *role,
		   struct err *e)
{
	return err_config(e, "%s: '%s' is missing: the InstanceGroupRole is %s",
			  tree_where(a, &t->pos), key, role);
}

/* Checks every CA certificate, even after an error if errors are kept. */
static int check_cas(struct arena *a, const struct tree *t, const struct kops_config *c,
		     const struct dialect_opts *o, struct err *e)
{
	const struct tree *cas = tree_lookup(t, "CAs"), *api = tree_lookup(t, "APIServerConfig");
	const char *keys = c->apiserver.service_account_public_keys;
	int r = 0;

	for (size_t i = 0; i < c->cas.n && r == 0; i++) {
		const char *name = c->cas.v[i].key, *ca = c->cas.v[i].value;

		if (tree_get(cas, name)->is_wrong)
			continue;
		if (pem_check_certificate(ca, e) < 0)
			r = errs_keep(o->errors,
				      err_wrap(e, "%sCAs.%s", tree_place(a, cas, name), name), e);
	}
	if (r < 0 || !keys || pem_check_public_keys(keys, e) == 0)
		return r;
	r = err_wrap(e, "%sAPIServerConfig.ServiceAccountPublicKeys",
		     tree_place(a, api, "ServiceAccountPublicKeys"));
	return errs_keep(o->errors, r, e);
}

/* Refuses documents that lack a part which kops needs: kops would fail too, but only after half of its work. */
static int check_parts(struct arena *a, const struct tree *t, const struct kops_boot *boot,
		       struct kops_config *c, struct err *e)
{
	const char *role = boot->instance_group_role;
	const struct tree *ids = tree_lookup(t, "KeypairIDs");

	if (!str_eq(c->cluster_name, boot->cluster_name))
		return err_config(e, "%s: ClusterName: '%s', and '%s' in BootConfig",
				  tree_where(a, &t->pos), c->cluster_name, boot->cluster_name);
	if (!c->has_containerd)
		return missing(a, t, "containerdConfig", role, e);
	if (c->has_kube_proxy && str_is_empty(c->kube_proxy.cpu_request))
		return missing(a, t, "KubeProxy.cpuRequest", role, e);
	/* kops writes an empty map for a bastion, on which nodeup does not run */
	if (!boot->role->serves_api)
		return strmap_get(&c->keypair_ids, KOPS_CA) ||
				       (ids && ids->kind == TREE_MAP && !ids->n)
			       ? 0
			       : missing(a, ids ?: t, "KeypairIDs." KOPS_CA, role, e);
	if (!c->has_apiserver)
		return missing(a, t, "APIServerConfig", role, e);
	if (str_is_empty(c->keypair_store) || str_is_empty(c->secret_store))
		return missing(a, t, "configStore", role, e);
	if (boot->role->is_control_plane && !c->has_control_plane)
		return missing(a, t, "ControlPlaneConfig", role, e);
	if (!strmap_get(&c->cas, KOPS_CA))
		return missing(a, tree_lookup(t, "CAs") ?: t, "CAs." KOPS_CA, role, e);
	return 0;
}

/* Keeps the error, if errors are kept. Without the parts there is no model; but a part that could not be read only
 * seems to be missing. */
static int keep_parts(const struct dialect_opts *o, int r, const struct err *e)
{
	if (r < 0 && errs_any(o->errors)) {
		o->errors->is_vital = true;
		return 0;
	}
	return errs_keep_vital(o->errors, r, e);
}

/* Checks the assets of every architecture, because the machine is not known here. */
static int check_assets(struct arena *a, const struct kops_config *c, const struct dialect_opts *o,
			struct err *e)
{
	int r = 0;

	for (size_t i = 0; c->assets && i < c->assets->n && r == 0; i++) {
		struct node_texts ignored = { 0 };

		r = kops_assets(a, c, c->assets->items[i].key, o, &ignored, e);
	}
	for (size_t i = 0; c->images && i < c->images->n && r == 0; i++) {
		struct node_images ignored = { 0 };

		r = kops_images(a, c, c->images->items[i].key, o, &ignored, e);
	}
	return r;
}

/* Returns whether pods get addresses of the instance's own network interfaces. */
static bool has_eni_pods(const struct kops_config *c)
{
	const struct kops_networking *n = &c->networking;

	return n->amazonvpc || (n->cilium && str_eq(n->cilium_ipam, "eni"));
}

bool kops_wants_gpus(const struct kops_config *c)
{
	return c->nvidia_gpu.enabled.v && c->containerd.nvidia_gpu.enabled.v;
}

bool kops_wants_max_pods(const struct kops_config *c)
{
	return has_eni_pods(c) && !c->kubelet.max_pods.set;
}

bool kops_has_addresses(const struct kops_config *c)
{
	return has_eni_pods(c) || c->networking.cni_secondary_ip;
}

#define API "APIServerConfig."
#define KCM "ControlPlaneConfig.KubeControllerManager"
#define SCHEDULER "ControlPlaneConfig.KubeScheduler"

/* Lists rules that compare several keys, with the sections that they apply to. */
static const struct {
	const char *places;
	const struct field_rules *rules;
} programs[] = {
	{ API "KubeAPIServer", &rules_apiserver },
	{ API "KubeAPIServer|" API "Authentication.oidc", &rules_oidc },
	{ KCM, &rules_kcm },
	{ KCM ".leaderElection", &rules_leader },
	{ SCHEDULER, &rules_scheduler },
	{ SCHEDULER ".leaderElection", &rules_leader },
	{ "KubeProxy", &rules_pod },
	{ "containerdConfig", &rules_containerd },
};

/* Returns a copy whose rows can be changed. */
static const struct schema *copy_of(struct arena *a, const struct schema *s,
				    struct field **ret_rows)
{
	struct schema *copy = arena_new(a, struct schema);

	*ret_rows = arena_alloc(a, s->n * sizeof(**ret_rows));
	memcpy(*ret_rows, s->fields, s->n * sizeof(**ret_rows));
	*copy = *s;
	copy->fields = *ret_rows;
	return copy;
}

static const struct schema *kubelet_schema_of(struct arena *a, const struct kops_config *c)
{
	const struct schema *s = kops_kubelet_schema_of(c);
	struct field *rows;

	if (!kops_does(c, KOPS_IMAGE_AGES_ARE_FLAGS))
		return s;
	s = copy_of(a, s, &rows);
	rows[field_row(s, "imageMaximumGCAge")].accepts = &kubelet_no_flag;
	rows[field_row(s, "imageMinimumGCAge")].accepts = &kubelet_no_flag;
	return s;
}

/* Returns the rows of all keys, with kubelet's rows as this kops writes them. */
static const struct schema *schema_of(struct arena *a, const struct kops_config *c)
{
	struct field *rows;
	const struct schema *s = copy_of(a, &kops_config_schema, &rows);

	rows[field_row(s, "KubeletConfig")].schema = kubelet_schema_of(a, c);
	return s;
}

/* Refuses values that the programs of that version would refuse. */
static int check_values(struct arena *a, const struct tree *t, const struct kops_boot *boot,
			const struct kops_config *c, const struct dialect_opts *o, struct err *e)
{
	struct values v = {
		.arena = a, .opts = o, .minor = c->kubernetes.minor, .accept = boot->settings.accept
	};
	const struct rule_section kubelet = { "KubeletConfig", tree_lookup(t, "KubeletConfig") };
	const struct rule_section proxy = { "KubeProxy", tree_lookup(t, "KubeProxy") };

	values_find(&v, schema_of(a, c), t);
	values_find_across(&v, &kubelet_rules, &kubelet, 1);
	values_find_across(&v, &taint_rules, &kubelet, 1);
	values_find_across(&v, &kube_proxy_rules, &proxy, 1);
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		values_find_below(&v, programs[i].rules, t, programs[i].places);
	return values_judge(&v, e);
}

int kops_config(struct arena *a, const struct tree *t, const struct kops_boot *boot,
		const struct vintage *vintage, const struct dialect_opts *o,
		struct kops_config *ret, struct err *e)
{
	struct kops_config c = { .tree = t, .kops = vintage_version(a, vintage) };
	struct kops_unknowns unknown = { .all.arena = a,
					 .opts = o,
					 .accept = boot->settings.accept_keys };
	const struct field_opts opts = {
		.unknown = note_unknown, .arg = &unknown, .path = "", .errors = o->errors
	};
	int r = field_parse(a, &kops_config_schema, t, &c, &opts, e);

	if (r == 0)
		r = errs_keep(o->errors, read_both_hooks(a, &c, &opts, e), e);
	if (r == 0)
		r = check_cas(a, t, &c, o, e);
	if (r == 0)
		r = kops_refuse_unknown(&unknown, e);
	if (r == 0 && c.kubernetes_version_text)
		r = check_version(a, t, &c, o, e);
	if (r == 0 && c.kubernetes.minor)
		r = check_values(a, t, boot, &c, o, e);
	if (r == 0)
		r = check_assets(a, &c, o, e);
	if (r == 0)
		r = keep_parts(o, check_parts(a, t, boot, &c, e), e);
	if (r == 0)
		*ret = c;
	return r;
}
