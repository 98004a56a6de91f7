#include "nodeup/config/distro.h"
#include "nodeup/config/kops18/spec.h"

#include <string.h>
#include <strings.h>

static const char role_label[] = "kubernetes.io/role";
static const char master_label[] = "node-role.kubernetes.io/master";
static const char node_label[] = "node-role.kubernetes.io/node";
static const char ig_label[] = "kops.k8s.io/instancegroup";

static bool refuses_anonymous(const struct kubelet_spec *k)
{
	return k->anonymous_auth.set && !k->anonymous_auth.v;
}

static void add_labels(struct kops18_build *b)
{
	struct strmap *labels = &b->own->kubelet.node_labels;
	const bool master = b->in->node->is_master;

	strmap_set(b->in->arena, labels, master ? master_label : node_label, "");
	strmap_set(b->in->arena, labels, role_label, master ? "master" : "node");
	/* kops' CLI writes this label into each instance group */
	if (b->env->instance_group_name && !strmap_get(&b->ig.node_labels, ig_label))
		strmap_set(b->in->arena, labels, ig_label, b->env->instance_group_name);
	for (size_t i = 0; i < b->ig.node_labels.n; i++)
		strmap_set(b->in->arena, labels, b->ig.node_labels.v[i].key,
			   b->ig.node_labels.v[i].value);
}

static void add_taints(struct kops18_build *b)
{
	const struct strv before = b->own->kubelet.taints;
	struct strv taints = { 0 };

	/* a copy: the document's list must not grow */
	strv_add_all(b->in->arena, &taints, &before);
	strv_add_all(b->in->arena, &taints, &b->ig.taints);
	if (taints.n == 0 && b->in->node->is_master)
		strv_addf(b->in->arena, &taints, "%s=:NoSchedule", master_label);
	b->own->kubelet.taints = taints;
}

static void merge_kubelet(struct kops18_build *b)
{
	const struct kops18_cluster *c = &b->cluster;
	struct kubelet_spec *k = &b->own->kubelet;
	const bool master = b->in->node->is_master;

	field_overlay(b->in->arena, &kubelet_schema, k, master ? &c->master_kubelet : &c->kubelet);
	b->own->secure_kubelet = refuses_anonymous(&b->ig.kubelet) ||
				 refuses_anonymous(&c->kubelet) ||
				 (master && refuses_anonymous(&c->master_kubelet));
	if (b->own->secure_kubelet)
		k->client_ca_file = arena_printf(b->in->arena, "%s/ca.crt",
						 distro_of(b->in->facts->distribution)->srv);
	field_overlay(b->in->arena, &kubelet_schema, k, &b->ig.kubelet);
	add_labels(b);
	add_taints(b);
	/* since 1.6 taints decide where pods run; on a node that is not schedulable they would be ignored */
	k->register_schedulable = (struct opt_bool){ true, true };
	/* from 1.8 on kubelet stops at swap, unless a flag allows it */
	b->in->node->refuses_swap = node_k8s_at_least(b->in->node, 1, 8) &&
				    (!k->fail_swap_on.set || k->fail_swap_on.v);
	b->in->node->asks_version1 = str_eq(k->cloud_provider, "aws");
}

static bool is_host_name(struct kops18_build *b, const char *name)
{
	return name && strcasecmp(str_trim(b->in->arena, name), "@aws") == 0;
}

/* Returns the host name. "@aws" means the first name that the VPC gives this instance. */
static int settle_hostname(struct kops18_build *b, const char *section, const char **name)
{
	const char *text = *name ? str_trim(b->in->arena, *name) : "";
	const char *fact = b->in->facts->local_hostname;

	if (!is_host_name(b, *name) || b->in->opts->no_host)
		return 0;
	fact = fact ? str_trim(b->in->arena, fact) : "";
	if (*fact == '\0') {
		(void)err_config(b->in->err,
				 "%s%s.hostnameOverride is '%s', but the fact localHostname is "
				 "not known",
				 tree_place(b->in->arena, b->cluster_spec, section), section, text);
		return facts_note(b->in->err, "localHostname");
	}
	*name = arena_strn(b->in->arena, fact, strcspn(fact, " \t\r\n"));
	return 0;
}

int kops18_merge(struct kops18_build *b)
{
	const struct kops18_cluster *c = &b->cluster;
	struct node *n = b->in->node;
	int r;

	merge_kubelet(b);
	b->own->docker = c->docker;
	n->docker_version = c->docker.version;
	n->docker_storage = c->docker.storage;
	b->own->kube_proxy = c->kube_proxy;
	if (n->is_master) {
		b->own->kube_apiserver = c->kube_apiserver;
		b->own->kube_controller_manager = c->kube_controller_manager;
		b->own->kube_scheduler = c->kube_scheduler;
	}
	n->takes_host_name = is_host_name(b, b->own->kubelet.hostname_override) ||
			     is_host_name(b, b->own->kube_proxy.hostname_override);
	r = kops18_storage(b);
	if (r == 0)
		r = settle_hostname(b, n->is_master ? "masterKubelet" : "kubelet",
				    &b->own->kubelet.hostname_override);
	if (r == 0)
		r = settle_hostname(b, "kubeProxy", &b->own->kube_proxy.hostname_override);
	return r;
}
