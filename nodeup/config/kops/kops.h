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

/* Holds BootConfig. An absent key is NULL. */
struct kops_boot {
	KOPS_BOOT(FIELD_MEMBER)
	struct settings_doc settings; /* nodeup's own settings */
	const struct kops_role *role; /* the row of instance_group_role */
};

struct kops_static_manifest {
	KOPS_STATIC_MANIFEST(FIELD_MEMBER)
};

/* Holds the name and the file of a package for each architecture, which replace the usual ones. */
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

/* Holds what a node must know of its network; the rest of the cluster's spec stays with kops. */
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

/* Holds what a node with an API server gets. */
struct kops_apiserver_config {
	KOPS_AUTHENTICATION(FIELD_MEMBER)
	KOPS_LOAD_BALANCER(FIELD_MEMBER)
	KOPS_API(FIELD_MEMBER)
	KOPS_APISERVER_CONFIG(FIELD_MEMBER)
};

/* Holds NodeupConfig, which kops calls `Config`. An absent key is NULL, 0 or an unset has_... */
struct kops_config {
	KOPS_CONFIG_STORE(FIELD_MEMBER)
	KOPS_CONTROL_PLANE(FIELD_MEMBER)
	KOPS_DISCOVERY(FIELD_MEMBER)
	KOPS_CONFIG(FIELD_MEMBER)
	const struct tree *tree; /* the document itself, for places in messages */
	struct version kops;     /* the version of kops that wrote the document; see changes.h */
	struct version kubernetes;
	struct kops_hooks hooks_of_group, hooks_of_cluster; /* parsed from hooks_tree */
};

/* List the keys of the documents. */
extern const struct schema kops_boot_schema, kops_config_server_schema, kops_config_schema,
	kops_hook_schema, kops_file_asset_schema, kops_volume_mount_schema, kops_containerd_schema;
/* Lists the OIDC flags of the API server. */
extern const struct schema kops_oidc_schema;

/* Say which kops writes these documents, and for which Kubernetes. */
extern const char kops_title[];
extern const struct version kops_oldest, kops_newest;
/* Reads BootConfig and checks it alone. An unknown key is an error. */
int kops_boot(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	      struct kops_boot *ret, struct err *e) must_check;
/* Returns the line of BootConfig that holds the hash of these bytes of NodeupConfig. */
const char *kops_config_hash_line(struct arena *a, const char *text, size_t n);
/* Checks that BootConfig has the hash of these bytes of NodeupConfig; `from` is their place. ESTALE: BootConfig has
 * another hash. */
int kops_config_check_hash(struct arena *a, const struct kops_boot *boot, const char *from,
			   const char *text, size_t n, struct err *e) must_check;
/* Reads NodeupConfig of that kops and checks it. An unknown key is an error, and so is a key of another cloud or of
 * an older kops. */
int kops_config(struct arena *a, const struct tree *t, const struct kops_boot *boot,
		const struct vintage *vintage, const struct dialect_opts *o,
		struct kops_config *ret, struct err *e) must_check;
/* Returns whether the addresses of the instance limit how many pods may run. */
bool kops_wants_max_pods(const struct kops_config *c);
/* Returns whether containers may use NVIDIA GPUs, if the instance's type has any. */
bool kops_wants_gpus(const struct kops_config *c);
/* Returns whether the network plugin gives the host several addresses. */
bool kops_has_addresses(const struct kops_config *c);
/* Takes BootConfig out of kops' user data. Lines of a BootConfig that is not compressed keep their numbers. -ENOENT:
 * this is not user data of today's kops. */
int kops_script(struct arena *a, const char *file, const char *text, const char **ret,
		struct err *e) must_check;
/* Shows a worker and a control plane, for a start. */
extern const struct dialect_example kops_examples[];
/* The row of dialects[]. */
extern const struct dialect kops_dialect;

/* Describes a role of instance groups: everything that follows from the role's name alone. */
struct kops_role {
	const char *name;  /* name in documents */
	const char *title; /* name in messages to people */
	/* below igconfig in the state store; NULL: NodeupConfig lies elsewhere */
	const char *folder;
	bool serves_api, is_control_plane;
};
/* Returns the row of a role. Any other name is an error of the document, and gets the row of a worker. */
const struct kops_role *kops_role(const char *role);

/* Collects the unknown keys of a document, except those to be left alone. An unknown key is an error, as the node
 * would be silently wrong; acceptKeys of the machine or of BootConfig lets it through. */
struct kops_unknowns {
	struct field_unknowns all;
	const struct dialect_opts *opts;
	const struct tree *accept; /* acceptKeys of BootConfig; NULL: none */
};
/* Returns whether the key may pass; if so, warns of it. */
bool kops_accept(struct kops_unknowns *k, const struct field_unknown *u);
/* Makes an error of each unknown key. */
int kops_refuse_unknown(const struct kops_unknowns *unknown, struct err *e) must_check;

/* Reads the assets of an architecture, "HASH@url,mirror", in the form that asset_parse() takes. Each wrong asset is
 * an error. */
int kops_assets(struct arena *a, const struct kops_config *c, const char *arch,
		const struct dialect_opts *o, struct node_texts *ret, struct err *e) must_check;
/* Reads the images of an architecture; there may be none. */
int kops_images(struct arena *a, const struct kops_config *c, const char *arch,
		const struct dialect_opts *o, struct node_images *ret, struct err *e) must_check;
/* Reads the key with that id from a keyset.yaml: its certificate and its private key as PEM. KeypairIDs pins the id;
 * the primary key of the keyset does not count. */
int kops_keyset(struct arena *a, const struct tree *t, const char *name, const char *id,
		struct node_keypair *ret, struct err *e) must_check;
