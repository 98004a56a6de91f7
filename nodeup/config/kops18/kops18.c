#include "nodeup/config/kops18/spec.h"

#include <string.h>
#include <strings.h>
#include "nodeup/base/near.h"
#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/accepts_common.h"
#include "nodeup/config/parsed_files.h"
#include "nodeup/config/values.h"

/* What the documents may leave out, as kops' CLI would have filled it in:
 *   masterInternalName  api.internal.<ClusterName>      networking        from networkPluginName
 *   masterPublicName    api.<ClusterName>                api               dns
 *   kubernetesVersion   image tags, kubelet's URL        etcdClusters      main, events at 2.2.1
 *   keyStore            <ConfigBase>/pki                 secretStore       <ConfigBase>/secrets
 *   cloudProvider       kubelet.cloudProvider, else aws  clusterDNSDomain  cluster.local
 *   nonMasqueradeCIDR   100.64.0.0/10                    serviceClusterIPRange  100.64.0.0/13
 *   role                the tag _kubernetes_master       dnsZone           none: not derivable
 * and whole sections: see defaults.c. */

enum { IMAGES_MAX = 100, PACKAGES_MAX = 500 };

static const char master_tag[] = "_kubernetes_master";
static const char update_tag[] = "_automatic_upgrades";
/* in kops 1.8 this tag only decides whether the node keeps the time */
static const char aws_tag[] = "_aws";

/* Names become parts of paths and URLs. */
static bool is_name(const char *s, const char *extra)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";

	if (str_is_empty(s) || *s == '.')
		return false;
	for (; *s; s++)
		if (!strchr(safe, *s) && !strchr(extra, *s))
			return false;
	return true;
}

static int check_name(struct arena *a, const struct tree *t, const char *key, const char *value,
		      const char *extra, struct err *e)
{
	if (is_name(value, extra))
		return 0;
	return err_config(e, "%s: %s: '%s' is not a name", tree_where(a, &t->pos), key, value);
}

/* Packages become arguments of a package manager. */
static int check_packages(struct arena *a, const struct tree *list, const struct dialect_opts *o,
			  const struct strv *names, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < names->n && r == 0; i++) {
		const struct tree *item = list->items[i].value;

		if (*names->v[i] == '-')
			r = err_config(e, "%s: packages: '%s' is not a name",
				       tree_where(a, &item->pos), names->v[i]);
		else
			r = check_name(a, item, "packages", names->v[i],
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ_+", e);
		r = errs_keep(o->errors, r, e);
	}
	return r;
}

const char *kops18_folder(struct arena *a, const char *location)
{
	size_t n = strlen(location);

	while (n > 1 && location[n - 1] == '/')
		n--;
	return arena_strn(a, location, n);
}

/* Returns ConfigBase, else the folder of ClusterLocation, else NULL. */
static const char *config_base(struct arena *a, const struct kube_env *env)
{
	const char *slash;

	if (!str_is_empty(env->config_base))
		return kops18_folder(a, env->config_base);
	if (str_is_empty(env->cluster_location))
		return NULL;
	slash = strrchr(env->cluster_location, '/');
	if (!slash)
		return ".";
	return arena_strn(a, env->cluster_location, (size_t)(slash - env->cluster_location));
}

/* Warns of a tag that may be a typo. kops also writes tags that nodeup ignores, so the warning is only for tags that
 * are one edit away from a tag in this list. */
static void warn_tags(struct arena *a, const struct kube_env *env, const struct dialect_opts *o)
{
	static const char *const tags[] = { master_tag, update_tag, aws_tag };
	const struct tree *list = tree_lookup(env->tree, "Tags");

	for (size_t i = 0; i < env->tags.n; i++)
		for (size_t k = 0; k < ARRAY_LEN(tags); k++)
			if (!str_eq(env->tags.v[i], tags[k]) &&
			    near_edits(env->tags.v[i], tags[k]) == 1)
				dialect_warn(a, o,
					     "%s: Tags: '%s' has no effect; did you mean '%s'?",
					     tree_where(a, &list->items[i].value->pos),
					     env->tags.v[i], tags[k]);
}

/* Checks the cluster's name and the group. The name is part of a path, so a wrong name ends the reading. */
static int check_group(struct arena *a, const struct tree *t, struct kube_env *env,
		       const struct dialect_opts *o, struct err *e)
{
	static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	const char *name = env->instance_group_name;
	int r = 0;

	if (str_is_empty(name))
		env->instance_group_name = NULL;
	else
		r = check_name(a, t, "InstanceGroupName", name, upper, e);
	if (r < 0)
		env->instance_group_name = NULL;
	/* this key may be one that could not be read: then it only seems to be missing */
	else if (config_base(a, env) && !env->instance_group_name && !errs_any(o->errors))
		r = err_config(e,
			       "%s: InstanceGroupName is missing: it names the document in "
			       "ConfigBase that says what this node is",
			       tree_where(a, &t->pos));
	return errs_keep(o->errors, r, e);
}

int kops18_env(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	       struct kube_env *ret, struct err *e)
{
	struct kube_env env = { 0 };
	int r = kops18_read(a, &kops18_env_schema, t, "", o, &env, e);

	if (r < 0)
		return r;
	env.tree = t;
	warn_tags(a, &env, o);
	if (env.cluster_name)
		r = check_name(a, t, "ClusterName", env.cluster_name, "", e);
	/* an invalid name is not compared with the cluster's */
	if (r < 0)
		env.cluster_name = NULL;
	r = errs_keep(o->errors, r, e);
	if (r == 0)
		r = check_group(a, t, &env, o, e);
	if (r == 0)
		r = errs_keep(o->errors, kops18_assets(a, &env, o, &(struct node_texts){ 0 }, e),
			      e);
	if (r == 0)
		r = errs_keep(o->errors,
			      kops18_at_most(a, tree_lookup(t, "packages"), "packages",
					     PACKAGES_MAX, e),
			      e);
	if (r == 0)
		r = check_packages(a, tree_lookup(t, "packages"), o, &env.packages, e);
	if (r == 0)
		*ret = env;
	return r;
}

bool kops18_locations(struct arena *a, const struct kube_env *env, const char **ret_cluster,
		      const char **ret_ig)
{
	const char *base = config_base(a, env);

	if (!base)
		return false;
	*ret_cluster = str_is_empty(env->cluster_location)
			       ? arena_printf(a, "%s/cluster.spec", base)
			       : env->cluster_location;
	*ret_ig = env->instance_group_name
			  ? arena_printf(a, "%s/instancegroup/%s", base, env->instance_group_name)
			  : NULL;
	return true;
}

/* Only an object has spec, kind or metadata; bare sections have none of them. */
static bool is_object(const struct tree *t)
{
	return tree_lookup(t, "spec") || tree_lookup(t, "kind") || tree_lookup(t, "metadata");
}

/* A document of another cluster or group would make a working but wrong node. */
static int check_identity(struct kops18_build *b, const struct kops18_object *o, const char *kind,
			  const char *name)
{
	const struct tree *own = o->metadata ? tree_lookup(o->metadata, "name") : NULL;

	if (!name || !own || own->kind != TREE_SCALAR || strcmp(own->scalar, name) == 0)
		return 0;
	return err_config(b->in->err, "%s: this is %s '%s', but kube_env.yaml names '%s'",
			  tree_where(b->in->arena, &own->pos), kind, own->scalar, name);
}

static int unwrap(struct kops18_build *b, const struct tree *t, const char *kind, const char *name,
		  const struct tree **ret_spec)
{
	struct kops18_object o = { 0 };
	int r;

	if (!is_object(t)) {
		*ret_spec = t;
		return 0;
	}
	r = kops18_read(b->in->arena, &kops18_object_schema, t, "", b->in->opts, &o, b->in->err);
	if (r < 0)
		return r;
	if (o.kind && strcmp(o.kind, kind) != 0)
		return err_config(b->in->err, "%sexpected an object of kind %s, found %s",
				  tree_place(b->in->arena, t, "kind"), kind, o.kind);
	*ret_spec = o.spec ? o.spec : tree_null(b->in->arena);
	return check_identity(b, &o, kind, name);
}

/* Opens a document. A document with a wrong object counts as empty. */
static int open_document(struct kops18_build *b, const struct tree *t, const char *kind,
			 const char *name, const struct tree **ret_spec)
{
	*ret_spec = tree_null(b->in->arena);
	return errs_keep_vital(b->in->opts->errors, unwrap(b, t, kind, name, ret_spec), b->in->err);
}

static int read_documents(struct kops18_build *b, const struct tree *cluster, const struct tree *ig)
{
	int r = open_document(b, cluster, "Cluster", b->env->cluster_name, &b->cluster_spec);

	if (r == 0)
		r = open_document(b, ig, "InstanceGroup", b->env->instance_group_name, &b->ig_spec);
	if (r == 0)
		r = kops18_go_on(b, kops18_known_networks(b));
	if (r == 0)
		r = kops18_go_on(b,
				 kops18_read(b->in->arena, &kops18_cluster_schema, b->cluster_spec,
					     "", b->in->opts, &b->cluster, b->in->err));
	if (r == 0)
		r = kops18_go_on(b, kops18_read(b->in->arena, &kops18_ig_schema, b->ig_spec, "",
						b->in->opts, &b->ig, b->in->err));
	return r;
}

static int set_role(struct kops18_build *b)
{
	const bool tagged = strv_has(&b->env->tags, master_tag);
	const char *where = tree_place(b->in->arena, b->ig_spec, "role");
	const char *role = b->ig.role;

	b->in->node->is_master = tagged;
	/* tags that could not be read do not count as missing */
	if (str_is_empty(role) || (!tagged && errs_any(b->in->opts->errors)))
		return 0;
	if (strcmp(role, "Bastion") == 0)
		return err_config(b->in->err,
				  "%srole is Bastion: a bastion is not a Kubernetes node", where);
	if (tagged == (strcmp(role, "Master") == 0))
		return 0;
	if (tagged || b->is_known)
		return err_config(b->in->err, "%srole is %s, but kube_env.yaml %s the tag %s",
				  where, role, tagged ? "has" : "lacks", master_tag);
	return err_config(b->in->err,
			  "%srole is %s, but kube_env.yaml lacks the tag %s, as of kops 1.11 and "
			  "newer; nodeup reads %s",
			  where, role, master_tag, vintage_spoken(b->in->arena));
}

/* The default of a member of the cluster. */
#define USUAL(m) field_usual(&kops18_cluster_schema, offsetof(struct kops18_cluster, m))

static const char *either(const char *first, const char *second, const char *fallback)
{
	if (!str_is_empty(first))
		return first;
	return str_is_empty(second) ? fallback : second;
}

/* kops also has other clouds; nodeup cannot write their settings. */
static int set_cloud(struct kops18_build *b)
{
	const char *cluster = b->cluster.cloud_provider,
		   *kubelet = b->cluster.kubelet.cloud_provider;
	const char *where = tree_place(b->in->arena, b->cluster_spec, "cloudProvider");
	const char *name = cluster;

	if (str_is_empty(name)) {
		where = tree_place(b->in->arena, b->cluster_spec, "kubelet");
		/* "external" does not name the cloud, so kubelet's value does not count */
		name = str_eq(kubelet, "external") ? NULL : kubelet;
	}
	b->in->node->cloud_provider = either(name, NULL, USUAL(cloud_provider));
	if (strcmp(b->in->node->cloud_provider, "aws") != 0)
		return err_config(b->in->err, "%scloudProvider '%s' is not supported; aws is",
				  where, b->in->node->cloud_provider);
	return 0;
}

static void set_names(struct kops18_build *b)
{
	const struct kops18_cluster *c = &b->cluster;
	const struct kubelet_spec *kubelet = &b->cluster.kubelet;
	const char *cluster_name = either(b->env->cluster_name, NULL, "");
	struct node *n = b->in->node;

	n->cluster_name = cluster_name;
	n->instance_group = b->env->instance_group_name;
	n->config_base = config_base(b->in->arena, b->env);
	b->own->channels = b->env->channels;
	n->packages = b->env->packages;
	n->auto_upgrades = strv_has(&b->env->tags, update_tag);
	n->keeps_time = strv_has(&b->env->tags, aws_tag);
	n->master_internal_name =
		either(c->master_internal_name, NULL,
		       arena_printf(b->in->arena, "api.internal.%s", cluster_name));
	b->own->master_public_name = either(c->master_public_name, NULL,
					    arena_printf(b->in->arena, "api.%s", cluster_name));
	b->own->dns_zone = either(c->dns_zone, NULL, NULL);
	n->non_masquerade_cidr = either(c->non_masquerade_cidr, kubelet->non_masquerade_cidr,
					USUAL(non_masquerade_cidr));
	n->service_cluster_ip_range = either(c->service_cluster_ip_range,
					     c->kube_apiserver.service_cluster_ip_range,
					     USUAL(service_cluster_ip_range));
	n->cluster_dns_domain =
		either(c->cluster_dns_domain, kubelet->cluster_domain, USUAL(cluster_dns_domain));
	b->own->api_dns = c->has_api ? c->api.dns != NULL : true;
	b->own->encryption_config = c->encryption_config.set && c->encryption_config.v;
	b->own->isolate_masters = c->isolate_masters.set && c->isolate_masters.v;
	b->own->kopeio_authentication = c->kopeio != NULL;
}

static void set_cloud_config(struct kops18_build *b)
{
	const struct kops18_cloud_config *c = &b->cluster.cloud_config;
	struct strmap *lines = &b->own->cloud_config;

	b->own->has_cloud_config = b->cluster.has_cloud_config;
	if (c->disable_security_group_ingress.set)
		strmap_set(b->in->arena, lines, "DisableSecurityGroupIngress",
			   c->disable_security_group_ingress.v ? "true" : "false");
	if (c->elb_security_group)
		strmap_set(b->in->arena, lines, "ElbSecurityGroup", c->elb_security_group);
}

static void add_etcd_cluster(struct kops18_build *b, const char *name,
			     const struct kops18_etcd_cluster *c, struct strv members)
{
	const char *version = either(c->version, NULL,
				     field_usual(&kops18_etcd_cluster_schema,
						 offsetof(struct kops18_etcd_cluster, version)));
	const struct kops18_etcd cluster = {
		.name = name,
		.version = version,
		.image = either(c->image, NULL, kops18_image(b, "etcd", version)),
		.members = members,
		.leader_election_timeout = c->leader_election_timeout,
		.heartbeat_interval = c->heartbeat_interval,
	};

	arena_push(b->in->arena, b->own->etcd_clusters.v, b->own->etcd_clusters.n, cluster);
}

static void set_etcd_clusters(struct kops18_build *b)
{
	const struct kops18_etcd_cluster none = { 0 };
	struct strv one = { 0 };

	for (size_t i = 0; i < b->cluster.etcd_clusters.n; i++) {
		const struct kops18_etcd_cluster *c = &b->cluster.etcd_clusters.v[i];
		struct strv members = { 0 };

		for (size_t k = 0; k < c->members.n; k++)
			strv_add(b->in->arena, &members, either(c->members.v[k].name, NULL, "a"));
		add_etcd_cluster(b, either(c->name, NULL, "main"), c, members);
		if (c->enable_etcd_tls.set && c->enable_etcd_tls.v)
			b->own->etcd_tls = true;
	}
	if (b->cluster.etcd_clusters.n)
		return;
	strv_add(b->in->arena, &one, "a");
	add_etcd_cluster(b, "main", &none, one);
	add_etcd_cluster(b, "events", &none, one);
}

static int read_image(struct kops18_build *b, const struct tree *t, const char *path,
		      struct node_image *ret)
{
	int r = kops18_read(b->in->arena, &kops18_image_schema, t, path, b->in->opts, ret,
			    b->in->err);

	if (r < 0)
		return r;
	ret->pos = t->pos;
	if (str_is_empty(ret->name))
		return err_config(b->in->err, "%s: %s: an image without a name",
				  tree_where(b->in->arena, &t->pos), path);
	return 0;
}

static int set_assets(struct kops18_build *b)
{
	/* the unknown keys of kube_env.yaml were named when it was first read */
	const struct dialect_opts quiet = { 0 };
	const struct tree *images = b->env->images;
	struct node *n = b->in->node;
	int r;

	r = kops18_assets(b->in->arena, b->env, &quiet, &n->assets, b->in->err);
	if (r < 0)
		return r;
	if (!str_is_empty(b->env->assets_signature))
		n->assets_signature = (struct node_text){
			.text = b->env->assets_signature,
			.pos = tree_lookup(b->env->tree, "assetsSignature")->pos
		};
	if (b->env->protokube_image) {
		r = read_image(b, b->env->protokube_image, "protokubeImage", &n->protokube);
		if (r < 0)
			return r;
	} else if (n->is_master) {
		return err_config(b->in->err,
				  "%s: 'protokubeImage' is missing: protokube brings a master its "
				  "volumes, etcd, addons and DNS names",
				  tree_where(b->in->arena, &b->env->tree->pos));
	}
	if (images && images->kind != TREE_SEQ)
		return err_config(b->in->err, "%s: images: expected a list",
				  tree_where(b->in->arena, &images->pos));
	r = kops18_at_most(b->in->arena, images, "images", IMAGES_MAX, b->in->err);
	if (r < 0)
		return r;
	for (size_t i = 0; images && i < images->n; i++) {
		struct node_image image = { 0 };

		r = kops18_go_on(b,
				 read_image(b, images->items[i].value,
					    arena_printf(b->in->arena, "images[%zu]", i), &image));
		if (r < 0)
			return r;
		arena_push(b->in->arena, n->images.v, n->images.n, image);
	}
	return 0;
}

/* Checks values that kops' own validation refuses: no document that kops wrote has them. */
static int check_sections(struct kops18_build *b)
{
	const struct opt_bool *policy = &b->cluster.kube_scheduler.use_policy_config_map;

	if (policy->set && policy->v && !node_k8s_at_least(b->in->node, 1, 7))
		return err_config(
			b->in->err,
			"%skubeScheduler.usePolicyConfigMap needs Kubernetes 1.7, this is %d.%d",
			tree_place(b->in->arena, b->cluster_spec, "kubeScheduler"),
			b->in->node->kubernetes.major, b->in->node->kubernetes.minor);
	return 0;
}

int kops18_proxy(struct arena *a, const struct documents *d, const struct dialect_opts *o,
		 struct node_proxy *ret, struct err *e)
{
	struct node node = { 0 };
	const struct reading in = { .arena = a, .opts = o, .node = &node, .err = e };
	struct kops18_build b = { .in = &in, .env = d->own };
	int r = unwrap(&b, d->cluster, "Cluster", b.env->cluster_name, &b.cluster_spec);

	if (r == 0)
		r = kops18_read(a, &kops18_cluster_schema, b.cluster_spec, "", o, &b.cluster, e);
	if (r == 0)
		r = kops18_egress_proxy(&b);
	*ret = node.proxy;
	return r;
}

/* Returns cluster.spec without the programs that a worker does not run: values that such a program refuses must not
 * stop a worker. */
static const struct tree *cluster_spec_of_node(struct kops18_build *b)
{
	static const char *const of_masters[] = { "kubeAPIServer", "kubeControllerManager",
						  "kubeScheduler", "masterKubelet", NULL };
	const struct tree *all = b->cluster_spec;
	struct tree *t = tree_map(b->in->arena);

	if (b->in->node->is_master)
		return all;
	t->pos = all->pos;
	for (size_t i = 0; i < all->n; i++)
		if (!str_is_one_of(all->items[i].key, of_masters))
			arena_push(b->in->arena, t->items, t->n, all->items[i]);
	return t;
}

/* Returns the group's taints, followed by kubelet's: the node has both. The list has the place of the group's
 * taints. */
static struct tree *all_taints(struct kops18_build *b, const struct tree *own)
{
	const struct tree *group = tree_lookup(b->ig_spec, "taints");
	struct tree *map = tree_map(b->in->arena), *all = tree_seq(b->in->arena);

	if (!group || group->kind != TREE_SEQ)
		return map;
	all->pos = group->pos;
	for (size_t i = 0; i < group->n; i++)
		(void)tree_add(b->in->arena, all, group->items[i].value);
	for (size_t i = 0; own && own->kind == TREE_SEQ && i < own->n; i++)
		(void)tree_add(b->in->arena, all, own->items[i].value);
	return tree_set(b->in->arena, map, "taints", all);
}

/* Checks the values that programs of that version refuse: in each document by itself, and in kubelet's merged
 * sections. */
static int check_values(struct kops18_build *b)
{
	const bool is_master = b->in->node->is_master && b->cluster.has_master_kubelet;
	const char *role = is_master ? "masterKubelet" : "kubelet";
	struct rule_section kubelet[] = {
		{ role, tree_lookup(b->cluster_spec, role), &kubelet_schema },
		{ "kubelet", tree_lookup(b->ig_spec, "kubelet"), &kubelet_schema },
	};
	const struct tree *taints = tree_lookup(kubelet[1].map, "taints");
	struct rule_section group = { .path = "" };
	struct tree *made_up = tree_map(b->in->arena);
	struct values v = { .arena = b->in->arena,
			    .opts = b->in->opts,
			    .minor = b->in->node->kubernetes.minor,
			    .accept = b->env->settings.accept };

	/* kops makes up missing values */
	tree_set_text(b->in->arena, made_up, "cgroupRoot", "/");
	if (!kubelet[0].map)
		kubelet[0].map = made_up;
	group.map = all_taints(b, taints ? taints : tree_lookup(kubelet[0].map, "taints"));
	values_find(&v, &kops18_cluster_schema, cluster_spec_of_node(b));
	values_find(&v, &kops18_ig_schema, b->ig_spec);
	values_find_across(&v, &kubelet_rules, kubelet, ARRAY_LEN(kubelet));
	values_find_across(&v, &taint_rules, kubelet, ARRAY_LEN(kubelet));
	values_find_across(&v, &taint_rules, &group, 1);
	if (b->in->node->is_master) {
		values_find_below(&v, &rules_apiserver, b->cluster_spec, "kubeAPIServer");
		values_find_below(&v, &rules_kcm, b->cluster_spec, "kubeControllerManager");
	}
	return values_judge(&v, b->in->err);
}

/* Checks files of the documents for values that the API server refuses. */
static int check_files(struct kops18_build *b)
{
	struct kube_apiserver_spec s = b->own->kube_apiserver;
	struct values v = { .arena = b->in->arena,
			    .opts = b->in->opts,
			    .minor = b->in->node->kubernetes.minor,
			    .accept = b->env->settings.accept };

	/* a secret replaces this file */
	if (b->own->encryption_config)
		s.experimental_encryption_provider_config = NULL;
	parsed_files_check(b->in->arena, &kube_apiserver_schema, &s, b->in->node, &v.found);
	return values_judge(&v, b->in->err);
}

/* Checks that do not depend on each other. */
static int (*const steps[])(struct kops18_build *b) = {
	set_role,   kops18_networking, kops18_extras, kops18_egress_proxy,
	set_assets, kops18_version,    set_cloud,
};

int kops18_node(const struct reading *in, const struct documents *d)
{
	struct kops18_node *own = arena_new(in->arena, struct kops18_node);
	struct node node = { .dialect = d->dialect, .own = own };
	const struct reading inner = { in->arena, in->opts, in->facts, &node, in->err };
	const struct dialect_opts *o = in->opts;
	struct kops18_build b = {
		.in = &inner,
		.env = d->own,
		.is_known = d->vintage.newest != 0,
		.own = own,
	};
	int r;

	*own = (struct kops18_node){ 0 };
	r = read_documents(&b, d->cluster, d->group);
	for (size_t i = 0; i < ARRAY_LEN(steps) && r == 0; i++)
		r = kops18_go_on(&b, steps[i](&b));
	if (r < 0)
		return r;
	set_names(&b);
	/* only if errors are kept: sets a default, so that the rest can be checked */
	node.networking = either(node.networking, NULL, "none");
	/* the rest depends on the version; if it is unknown, errors of the rest would be false */
	if (o->errors && !node.kubernetes.major)
		o->errors->is_vital = true;
	if (node.kubernetes.major) {
		set_cloud_config(&b);
		set_etcd_clusters(&b);
		kops18_default_sections(&b);
		r = kops18_go_on(&b, check_sections(&b));
		if (r == 0)
			r = kops18_go_on(&b, check_values(&b));
		if (r == 0)
			r = errs_keep_vital(o->errors, kops18_merge(&b), in->err);
		if (r == 0 && !errs_any_vital(o->errors))
			r = kops18_go_on(&b, check_files(&b));
	}
	if (r < 0)
		return r;
	*in->node = node;
	return 0;
}
