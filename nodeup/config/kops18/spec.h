/* spec.h - the documents of kops 1.8 as they stand, and the steps that make a node of them
 * Internal to the dialect: kops18*.c alone include it. A key the node does not need is kept as a
 * tree, so that each key kops 1.8 knows has a row and a typo is told from a section of no use here.
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

/* Their addons read the options from the cluster spec; a node does not. */
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
	const struct tree *unused; /* of no use to a node */
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

/* Everything that was read, and where it goes. */
struct kops18_build {
	struct arena *arena;
	const struct kube_env *env;
	const struct facts *facts;
	const struct dialect_opts *opts;
	bool is_known;                             /* which kops rendered kube_env.yaml */
	const struct tree *cluster_spec, *ig_spec; /* unwrapped, for positions */
	struct kops18_cluster cluster;
	struct kops18_ig ig;
	struct node *node;
	struct kops18_node *own; /* the node's */
	struct err *err;
};

/* Read a map by its schema; unknown keys become warnings, or with strict one error. */
int kops18_read(struct arena *a, const struct schema *s, const struct tree *t, const char *path,
		const struct dialect_opts *o, void *obj, struct err *e) must_check;
/* What a step came to, or 0 where errors are kept and this one was. */
int kops18_go_on(struct kops18_build *b, int r) must_check;
/* A location without slashes at its end. */
const char *kops18_folder(struct arena *a, const char *location);
/* Whether a list (NULL is fine) has no more items than a node needs: each costs memory and time. */
int kops18_at_most(struct arena *a, const struct tree *list, const char *key, size_t most,
		   struct err *e) must_check;
/* The entries of Assets: a text, or a map of asset (or hash and url) and signature. */
int kops18_assets(struct arena *a, const struct kube_env *env, const struct dialect_opts *o,
		  struct node_texts *ret, struct err *e) must_check;
/* A network that no kops 1.8 has is an error, before anything else of the spec is looked at. */
int kops18_known_networks(struct kops18_build *b) must_check;
/* Which network: its own section, else what kubelet's plugin tells. */
int kops18_networking(struct kops18_build *b) must_check;
/* The proxy as a URL. */
int kops18_egress_proxy(struct kops18_build *b) must_check;
/* Of which Kubernetes these nodes are. */
extern const struct version kops18_oldest, kops18_newest;
/* kubernetesVersion, else an image tag, else kubelet's URL; checked against what is supported. */
int kops18_version(struct kops18_build *b) must_check;
/* "gcr.io/google_containers/<name>:<tag>", or where the cluster keeps its images. */
const char *kops18_image(struct kops18_build *b, const char *name, const char *tag);
/* Give sections that no document has the values kops would have written. */
void kops18_default_sections(struct kops18_build *b);
/* Hooks and fileAssets that are meant for this role; the instance group's hide the cluster's. */
int kops18_extras(struct kops18_build *b) must_check;
/* Merge kubelet's sections for this role, and settle host names and docker's storage driver. */
int kops18_merge(struct kops18_build *b) must_check;

/* An item of volumeMounts. */
extern const struct schema storage_mount_schema;

/* Fill the node's volumes from all documents and settle docker's storage driver. Swap where kubelet would
 * not start with it is an error. */
int kops18_storage(struct kops18_build *b) must_check;
