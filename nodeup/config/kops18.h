/* kops18.h - the dialect of kops 1.8: kube_env.yaml, cluster spec, instance group
 * Cluster spec and instance group come as v1alpha2 objects (metadata/spec) from the state store, or
 * as the bare sections of the seed's cluster_spec.yaml and ig_spec.yaml. What they lack is defaulted
 * as kops' CLI would have (see the table in the .c file).
 * Invariant: pure; no file, network or clock. Owner: the arena. Errors: CONFIG, all with
 * file:line:column where the document has one. Source: kops 1.8.1 pkg/apis/nodeup/config.go,
 * pkg/apis/kops/{cluster,instancegroup,componentconfig}.go, nodeup/pkg/model/kubelet.go. */
#pragma once

#include "nodeup/config/facts.h"
#include "nodeup/config/node.h"

/* kube_env.yaml. */
struct kube_env {
	struct strv tags;
	const struct tree *assets; /* a sequence, kept for its positions */
	const struct tree *images, *protokube_image;
	const char *config_base, *cluster_location, *instance_group_name, *cluster_name;
	struct strv channels;
	const char *docker_storage, *kube_aws_storage; /* kube-up's */
	const struct tree *volume_mounts;
	const struct tree *tree; /* the document, for positions */
	struct strv packages;    /* ours */
	const char *assets_signature;
	struct settings_doc settings;
};

/* Warnings and strictness while reading. */
struct kops18_opts {
	bool strict;           /* unknown keys are errors */
	struct strv *warnings; /* "file:line:column: unknown key 'x'" are appended */
	bool no_host;          /* documents only (validate, userdata): '@aws' stays as it stands */
	/* Whether mkfs can do what a volume wants, over so many disks (0: not known); NULL: not asked. The
	 * room that makes file systems has the only tables of this. */
	int (*volume_fits)(const struct node_volume *v, size_t n_disks, struct err *e);
};

/* Read kube_env.yaml and check it by itself (cluster name, assets a list of strings...). */
int kops18_env(struct arena *a, const struct tree *t, const struct kops18_opts *o,
	       struct kube_env *ret, struct err *e) must_check;
/* Where cluster spec and instance group stand in the store: URLs or paths; config_base is
 * normalised (no trailing slash). false when the documents beside --conf are to be used. */
bool kops18_locations(struct arena *a, const struct kube_env *env, const char **ret_cluster,
		      const char **ret_ig);
/* Build the model. cluster and ig may be TREE_NULL (bare minimum). Keypairs and secrets stay empty. */
int kops18_node(struct arena *a, const struct kube_env *env, const struct tree *cluster,
		const struct tree *ig, const struct facts *f, const struct kops18_opts *o,
		struct node *ret, struct err *e) must_check;

/* The proxy of a cluster's document alone; its url is NULL without one. */
int kops18_proxy(struct arena *a, const struct kube_env *env, const struct tree *cluster,
		 const struct kops18_opts *o, struct node_proxy *ret, struct err *e) must_check;

/* A key pair or secret this node cannot do without (or can: optional). */
struct node_want {
	const char *name;
	bool key;      /* the private key as well */
	bool optional; /* absent is fine, the feature is left out */
	bool told;     /* optional, but kops' clusters have it: its absence is a warning */
	bool pool;     /* a CA: every certificate of it */
};

struct node_wants {
	struct node_want *keypairs;
	size_t n_keypairs;
	struct node_want *secrets;
	size_t n_secrets;
	const char *key_store, *secret_store; /* URLs or paths; NULL: beside --conf */
	bool every_secret;                    /* what else is in secret_store is a token too */
};

/* What bootstrap has to load for this node, by role and version. */
struct node_wants kops18_wants(struct arena *a, const struct node *n, const struct kube_env *env,
			       const struct tree *cluster);
/* Check a certificate; the message begins with from, its place. */
int node_check_certificate(const char *name, const char *text, const char *from,
			   struct err *e) must_check;
/* Check certificate and key of a loaded pair, and that they belong together, and put them into the
 * model; `from` has the places of certificate and key, for messages. */
int node_add_keypair(struct arena *a, struct node *n, const struct node_keypair *pair,
		     const struct node_keypair *from, struct err *e) must_check;
/* Read a secret's JSON {"Data":"<base64>"} and put the token into the model. */
int node_add_secret(struct arena *a, struct node *n, const char *id, const struct tree *json,
		    const char *from, struct err *e) must_check;
