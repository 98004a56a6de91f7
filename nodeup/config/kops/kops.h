/* kops.h - the dialect of today's kops, 1.37: BootConfig in kube_env.yaml, and NodeupConfig
 * BootConfig says which node this is, and where NodeupConfig comes from: the state store for a control
 * plane or an API server, kops-controller for a node. NodeupConfig is what the node is made of; its hash
 * stands in BootConfig.
 * Invariant: pure; no file, network or clock. Owner: the arena. Errors: CONFIG, all with file:line:column.
 * Bodies: boot.c, config.c, readers.c, script.c.
 * Threads: all functions. Source: kops 1.37 pkg/apis/nodeup/config.go, pkg/apis/kops.
 * Tests: test_kops_boot.c, test_kops_config.c, test_kops_readers.c. */
#pragma once

#include "nodeup/config/dialect.h"
#include "nodeup/config/kops/list_config.h"
#include "nodeup/config/kops/list_containerd.h"
#include "nodeup/config/kops/specs.h"

/* The name of the cluster's own CA. */
#define KOPS_CA "kubernetes-ca"

struct kops_config_server {
	KOPS_CONFIG_SERVER(FIELD_MEMBER)
};

/* BootConfig. A key that is not there is NULL. */
struct kops_boot {
	KOPS_BOOT(FIELD_MEMBER)
	struct settings_doc settings; /* ours */
	const struct kops_role *role; /* of instance_group_role */
};

struct kops_static_manifest {
	KOPS_STATIC_MANIFEST(FIELD_MEMBER)
};

/* Name and file of a package by architecture, instead of the usual ones. */
struct kops_packages {
	KOPS_PACKAGES(FIELD_MEMBER)
};

struct kops_gpu {
	KOPS_GPU(FIELD_MEMBER)
};

struct kops_gvisor {
	KOPS_GVISOR(FIELD_MEMBER)
};

struct kops_containerd {
	KOPS_RUNC(FIELD_MEMBER)
	KOPS_NRI(FIELD_MEMBER)
	KOPS_CONTAINERD(FIELD_MEMBER)
};

/* What kops tells a node of its network; what else the cluster's spec says it keeps. */
struct kops_networking {
	KOPS_CALICO(FIELD_MEMBER)
	KOPS_CILIUM(FIELD_MEMBER)
	KOPS_CNI(FIELD_MEMBER)
	KOPS_HTTP_PROXY(FIELD_MEMBER)
	KOPS_EGRESS_PROXY(FIELD_MEMBER)
	KOPS_NETWORKING(FIELD_MEMBER)
};

struct kops_volume_mount {
	KOPS_VOLUME_MOUNT(FIELD_MEMBER)
};

struct kops_file_asset {
	KOPS_FILE_ASSET(FIELD_MEMBER)
};

struct kops_hook {
	KOPS_EXEC_CONTAINER(FIELD_MEMBER)
	KOPS_HOOK(FIELD_MEMBER)
};

struct kops_hooks {
	struct kops_hook *v;
	size_t n;
};

struct kops_oidc {
	KOPS_OIDC(FIELD_MEMBER)
};

/* On a control plane, and on an API server alone. */
struct kops_apiserver_config {
	KOPS_AUTHENTICATION(FIELD_MEMBER)
	KOPS_LOAD_BALANCER(FIELD_MEMBER)
	KOPS_API(FIELD_MEMBER)
	KOPS_APISERVER_CONFIG(FIELD_MEMBER)
};

/* NodeupConfig, `Config` of kops. A key that is not there is NULL, 0 or an unset has_... */
struct kops_config {
	KOPS_CONFIG_STORE(FIELD_MEMBER)
	KOPS_CONTROL_PLANE(FIELD_MEMBER)
	KOPS_DISCOVERY(FIELD_MEMBER)
	KOPS_CONFIG(FIELD_MEMBER)
	const struct tree *tree; /* as it stands, for places in messages */
	struct version kops;     /* that rendered it; see changes.h */
	struct version kubernetes;
	struct kops_hooks hooks_of_group, hooks_of_cluster; /* hooks_tree, read */
};

/* Their keys. */
extern const struct schema kops_boot_schema, kops_config_server_schema, kops_config_schema,
	kops_hook_schema, kops_file_asset_schema, kops_volume_mount_schema, kops_containerd_schema;
/* Flags of the API server. */
extern const struct schema kops_oidc_schema;

/* Which kops writes these documents, and of which Kubernetes. */
extern const char kops_title[];
extern const struct version kops_oldest, kops_newest;
/* Read BootConfig and check it by itself. An unknown key is an error. */
int kops_boot(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	      struct kops_boot *ret, struct err *e) must_check;
/* Returns the line of BootConfig that means these bytes of NodeupConfig. */
const char *kops_config_hash_line(struct arena *a, const char *text, size_t n);
/* Whether these are the bytes of NodeupConfig that BootConfig means; `from` is their place. ESTALE: they are not. */
int kops_config_check_hash(struct arena *a, const struct kops_boot *boot, const char *from,
			   const char *text, size_t n, struct err *e) must_check;
/* Read NodeupConfig of that kops and check it. An unknown key is an error, and so is one of
 * another cloud or of an older kops. */
int kops_config(struct arena *a, const struct tree *t, const struct kops_boot *boot,
		const struct vintage *vintage, const struct dialect_opts *o,
		struct kops_config *ret, struct err *e) must_check;
/* Whether how many pods there may be follows from the addresses of the instance. */
bool kops_wants_max_pods(const struct kops_config *c);
/* Whether containers may use the instance's GPUs, if its type has any of NVIDIA. */
bool kops_wants_gpus(const struct kops_config *c);
/* Whether the network plugin gives the host several addresses. */
bool kops_has_addresses(const struct kops_config *c);
/* Take BootConfig out of kops' user data; in the clear its lines keep their numbers. -ENOENT: this is not
 * user data of today's kops. */
int kops_script(struct arena *a, const char *file, const char *text, const char **ret,
		struct err *e) must_check;
/* A worker and a control plane to begin with. */
extern const struct dialect_example kops_examples[];
/* Its row of dialects[]. */
extern const struct dialect kops_dialect;

/* What an instance group can be: all that follows from the name alone. */
struct kops_role {
	const char *name;   /* as documents have it */
	const char *title;  /* as people call such a node */
	const char *folder; /* below igconfig of the state store; NULL: it is asked for elsewhere */
	bool serves_api, is_control_plane;
};
/* The row of a role by its name; that of a worker for any other name, which is an error of the document. */
const struct kops_role *kops_role(const char *role);

/* Keys of a document that are not known, but for those that are to be left alone. One is an error, as the node would be silently
 * wrong; acceptKeys of the machine or of BootConfig lets it through. */
struct kops_unknowns {
	struct field_unknowns all;
	const struct dialect_opts *opts;
	const struct tree *accept; /* of BootConfig; NULL: none */
};
/* Whether this one is to be left alone: then it is told as that. */
bool kops_accept(struct kops_unknowns *k, const struct field_unknown *u);
/* Make an error of each unknown key. */
int kops_refuse_unknown(const struct kops_unknowns *unknown, struct err *e) must_check;

/* The assets of an architecture, "HASH@url,mirror", each one that asset_parse() takes; all that are wrong are errors. */
int kops_assets(struct arena *a, const struct kops_config *c, const char *arch,
		const struct dialect_opts *o, struct node_texts *ret, struct err *e) must_check;
/* The images of an architecture. That there are none at all is fine. */
int kops_images(struct arena *a, const struct kops_config *c, const char *arch,
		const struct dialect_opts *o, struct node_images *ret, struct err *e) must_check;
/* The key of that id of a keyset.yaml, its certificate and its private key as PEM. KeypairIDs pins it; the primary one of the keyset
 * does not count. */
int kops_keyset(struct arena *a, const struct tree *t, const char *name, const char *id,
		struct node_keypair *ret, struct err *e) must_check;
