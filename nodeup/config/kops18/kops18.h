/* kops18.h - the dialect of kops 1.8: kube_env.yaml, cluster spec, instance group
 * Cluster spec and instance group are v1alpha2 objects (metadata/spec) from the state store, or the bare sections of
 * cluster_spec.yaml and ig_spec.yaml. Missing values get the defaults of kops' CLI (table in the .c file).
 * Invariant: pure; no file, network or clock.
 * Bodies: store.c.
 * Owner: the arena. Errors: CONFIG, with file:line:column where the document has one.
 * Source: kops 1.8.1 pkg/apis/nodeup/config.go, pkg/apis/kops/{cluster,instancegroup,componentconfig}.go,
 * nodeup/pkg/model/kubelet.go.
 * Tests: test_kops18.c, test_kops18_options.c, test_kops18_store.c. */
#pragma once

#include "nodeup/config/dialect.h"
#include "nodeup/config/kops18/list_env.h"
#include "nodeup/config/kops18/model.h"

/* The values of kube_env.yaml. */
struct kube_env {
	KOPS18_ENV(FIELD_MEMBER)
	const struct tree *tree; /* the document, for positions */
	struct strv packages;    /* a setting of nodeup's own */
	struct settings_doc settings;
};

/* Reads kube_env.yaml and checks it by itself (cluster name, assets as a list of strings...). */
int kops18_env(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	       struct kube_env *ret, struct err *e) must_check;
/* Gives the places of cluster spec and instance group in the store, as URLs or paths without a trailing slash.
 * Returns false if the documents beside --conf are to be used. */
bool kops18_locations(struct arena *a, const struct kube_env *env, const char **ret_cluster,
		      const char **ret_ig);
/* Builds the model from d; d->own is a kube_env. Cluster and group may be TREE_NULL (bare minimum). Key pairs and
 * secrets stay empty. */
int kops18_node(const struct reading *in, const struct documents *d) must_check;

/* Reads the proxy out of a cluster's document alone. The url is NULL if the document names no proxy. */
int kops18_proxy(struct arena *a, const struct documents *d, const struct dialect_opts *o,
		 struct node_proxy *ret, struct err *e) must_check;

/* Returns whether kube-proxy runs here: not on isolated masters, and not with kube-router. */
bool kops18_runs_kube_proxy(const struct node *n);
/* Examples of a worker and a master. */
extern const struct dialect_example kops18_examples[];
/* The keys and secrets that this node needs, by role and version. */
struct node_wants kops18_wants(struct arena *a, const struct documents *d, const struct node *n);
/* Describes in words the keys and secrets of every node: names, conditions, files. */
void kops18_pki(struct buf *b);
/* The row of kops 1.8 in dialects[]. */
extern const struct dialect kops18_dialect;
