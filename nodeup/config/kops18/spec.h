/* spec.h - the documents of kops 1.8, and the steps that make a node of them
 * Internal to the dialect: only its .c files include it. Keys that a node does not need are kept as trees: each key
 * that kops 1.8 knows has a row, so a typo is not taken for a section that is unused here.
 * Bodies: assets.c, defaults.c, extras.c, kops18.c, merge.c, network.c, storage.c, version.c.
 * Owner: the arena. Errors: CONFIG with file:line:column.
 * Source: kops 1.8.1 pkg/apis/kops/v1alpha2/{cluster,instancegroup,networking}.go.
 * Tests: test_kops18.c, test_kops18_extras.c, test_field_secrets.c, test_storage.c. */
#pragma once

#include "nodeup/config/kops18/kops18.h"
#include "nodeup/config/kops18/list_cluster.h"
#include "nodeup/config/kops18/model.h"
#include "nodeup/config/storage_docker.h"

#define FIELD_MEMBER_UNUSED(...)

struct kops18_load_balancer {
	KOPS18_LOAD_BALANCER(FIELD_MEMBER)
};

struct kops18_api {
	KOPS18_API(FIELD_MEMBER)
};

/* Networks whose options only their addons read; a node does not. */
struct kops18_networking {
	KOPS18_WEAVE(FIELD_MEMBER)
	KOPS18_FLANNEL(FIELD_MEMBER)
	KOPS18_CALICO(FIELD_MEMBER)
	KOPS18_CANAL(FIELD_MEMBER)
	KOPS18_ROMANA(FIELD_MEMBER)
	KOPS18_NETWORKING(FIELD_MEMBER)
};

struct kops18_egress_proxy {
	KOPS18_HTTP_PROXY(FIELD_MEMBER)
	KOPS18_EGRESS_PROXY(FIELD_MEMBER)
};

struct kops18_etcd_member {
	KOPS18_ETCD_MEMBER(FIELD_MEMBER)
};

struct kops18_etcd_cluster {
	KOPS18_ETCD_CLUSTER(FIELD_MEMBER)
};

struct kops18_cloud_config {
	KOPS18_CLOUD_CONFIG(FIELD_MEMBER)
};

struct kops18_cluster {
	KOPS18_AUTHENTICATION(FIELD_MEMBER)
	KOPS18_AUTHORIZATION(FIELD_MEMBER)
	KOPS18_ASSETS(FIELD_MEMBER)
	KOPS18_CLUSTER(FIELD_MEMBER)
	const struct tree *unused; /* keys that a node does not need */
};

struct kops18_ig {
	KOPS18_IG(FIELD_MEMBER)
	const struct tree *unused;
};

/* v1alpha2 wraps a spec in an object. */
struct kops18_object {
	KOPS18_OBJECT(FIELD_MEMBER)
};

extern const struct schema kops18_env_schema, kops18_image_schema, kops18_cluster_schema,
	kops18_ig_schema, kops18_object_schema, kops18_networking_schema, kops18_hook_schema,
	kops18_file_asset_schema, kops18_etcd_cluster_schema;

/* The documents as read, and the node that is made of them. */
struct kops18_build {
	const struct reading *in;
	const struct kube_env *env;
	bool is_known; /* the version of kops that wrote kube_env.yaml is known */
	/* the specs without the objects around them, for positions */
	const struct tree *cluster_spec, *ig_spec;
	struct kops18_cluster cluster;
	struct kops18_ig ig;
	struct kops18_node *own; /* in->node->own */
};

/* Reads a map by its schema. Unknown keys are warnings, or one error if `strict` is set. */
int kops18_read(struct arena *a, const struct schema *s, const struct tree *t, const char *path,
		const struct dialect_opts *o, void *obj, struct err *e) must_check;
/* Returns r, or 0 if errors are kept and this error was kept. */
int kops18_go_on(struct kops18_build *b, int r) must_check;
/* Returns a location without slashes at its end. */
const char *kops18_folder(struct arena *a, const char *location);
/* Fails if a list (NULL is fine) has more items than allowed: each costs memory and time. */
int kops18_at_most(struct arena *a, const struct tree *list, const char *key, size_t most,
		   struct err *e) must_check;
/* Reads the entries of Assets: a text, or a map of asset (or hash and url) and signature. */
int kops18_assets(struct arena *a, const struct kube_env *env, const struct dialect_opts *o,
		  struct node_texts *ret, struct err *e) must_check;
/* Fails for a network that kops 1.8 does not have, before anything else of the spec is checked. */
int kops18_known_networks(struct kops18_build *b) must_check;
/* Finds the network: by its own section, else by kubelet's plugin. */
int kops18_networking(struct kops18_build *b) must_check;
/* Makes the proxy's URL. */
int kops18_egress_proxy(struct kops18_build *b) must_check;
/* The oldest and newest Kubernetes of these nodes. */
extern const struct version kops18_oldest, kops18_newest;
/* Finds the version: kubernetesVersion, else an image tag, else kubelet's URL. Fails if it is not supported. */
int kops18_version(struct kops18_build *b) must_check;
/* Returns "gcr.io/google_containers/<name>:<tag>", or the same image in the cluster's own registry. */
const char *kops18_image(struct kops18_build *b, const char *name, const char *tag);
/* Gives missing sections the values that kops would have written. */
void kops18_default_sections(struct kops18_build *b);
/* Reads hooks and fileAssets for this role. An item of the instance group hides the cluster's item of the same name
 * or path. */
int kops18_extras(struct kops18_build *b) must_check;
/* Merges kubelet's sections for this role, and sets host names and docker's storage driver. */
int kops18_merge(struct kops18_build *b) must_check;

/* An item of volumeMounts. */
extern const struct schema storage_mount_schema;

/* Fills the node's volumes from all documents and sets docker's storage driver. Fails if a volume is swap and the
 * kubelet would not start with swap. */
int kops18_storage(struct kops18_build *b) must_check;
