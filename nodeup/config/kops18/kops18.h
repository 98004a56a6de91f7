/* kops18.h - the dialect of kops 1.8: kube_env.yaml, cluster spec, instance group
 * Cluster spec and instance group come as v1alpha2 objects (metadata/spec) from the state store, or
 * as the bare sections of the seed's cluster_spec.yaml and ig_spec.yaml. What they lack is defaulted
 * as kops' CLI would have (see the table in the .c file).
 * Invariant: pure; no file, network or clock.
 * Bodies: store.c.
 * Owner: the arena. Errors: CONFIG, all with
 * file:line:column where the document has one. Source: kops 1.8.1 pkg/apis/nodeup/config.go,
 * pkg/apis/kops/{cluster,instancegroup,componentconfig}.go, nodeup/pkg/model/kubelet.go.
 * Tests: test_kops18.c, test_kops18_options.c, test_kops18_store.c. */
#pragma once

#include "nodeup/config/dialect.h"
#include "nodeup/config/kops18/list_env.h"
#include "nodeup/config/kops18/model.h"

/* kube_env.yaml. */
struct kube_env {
	KOPS18_ENV(FIELD_MEMBER)
	const struct tree *tree; /* the document, for positions */
	struct strv packages;    /* ours */
	struct settings_doc settings;
};

/* Read kube_env.yaml and check it by itself (cluster name, assets a list of strings...). */
int kops18_env(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	       struct kube_env *ret, struct err *e) must_check;
/* Where cluster spec and instance group stand in the store: URLs or paths; config_base is
 * normalised (no trailing slash). false when the documents beside --conf are to be used. */
bool kops18_locations(struct arena *a, const struct kube_env *env, const char **ret_cluster,
		      const char **ret_ig);
/* Build the model; d->own is kube_env. cluster and group may be TREE_NULL (bare minimum). Keypairs and secrets stay empty. */
int kops18_node(struct arena *a, const struct documents *d, const struct facts *f,
		const struct dialect_opts *o, struct node *ret, struct err *e) must_check;

/* The proxy of a cluster's document alone; its url is NULL without one. */
int kops18_proxy(struct arena *a, const struct documents *d, const struct dialect_opts *o,
		 struct node_proxy *ret, struct err *e) must_check;

/* Whether kube-proxy runs here: not on isolated masters, not where kube-router does. */
bool kops18_runs_kube_proxy(const struct node *n);
/* A worker and a master. */
extern const struct dialect_example kops18_examples[];
/* The keys and secrets of this node, by role and version. */
struct node_wants kops18_wants(struct arena *a, const struct documents *d, const struct node *n);
/* The same of every node, in words: names, conditions, files. */
void kops18_pki(struct buf *b);
/* Its row of dialects[]. */
extern const struct dialect kops18_dialect;
