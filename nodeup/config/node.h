/* node.h - the node to be, whatever documents it came from
 * Pure data: the folder of a dialect fills it, builders read it. The planner alone asks for the dialect, once.
 * Defaults are applied and documents are merged: what a builder sees is what the node gets.
 * Owner: the arena of the run. Errors: none. Threads: const after the dialect is done.
 * Source: kops 1.8.1 pkg/apis/nodeup, pkg/apis/kops.
 * Tests: test_kops18_store.c, test_vintage.c. */
#pragma once

#include "nodeup/config/settings.h"
#include "nodeup/config/volume.h"

/* A text of a document with its place there, for messages about its contents. */
struct node_text {
	const char *text;
	struct tree_pos pos;
	const char *signature; /* the signature of an asset; NULL: none */
};

struct node_texts {
	struct node_text *v;
	size_t n;
};

/* An image archive to load into the runtime. */
struct node_image {
	const char *name;   /* "protokube:1.8.1"; if the image has no name, "kube-proxy.tar" */
	bool is_unnamed;    /* only the archive tells the images' names */
	const char *source; /* URL, or several with commas between them */
	const char *hash;
	const char *signature; /* NULL: none */
	struct tree_pos pos;
};

/* An image that is a member of the archive of programs. Another member of the archive holds the image's tag. */
struct node_member_image {
	const char *name; /* name in pods: "gcr.io/google_containers/kube-proxy:0123456789ab" */
	const char *member, *tag; /* "kube-proxy.tar", "kube-proxy.docker_tag" */
	const char *loaded_as;    /* the image's name in the archive, without the tag */
	struct node_text archive;
};

struct node_images {
	struct node_image *v;
	size_t n;
};

/* A key pair of the store as PEM texts. key is NULL if only the certificate is needed. */
struct node_keypair {
	const char *name; /* "kubelet" */
	const char *cert, *key;
	const char *pool;     /* a CA: every certificate in use, newest first; NULL: cert alone */
	const char *why;      /* why this run makes a new pair; else NULL */
	bool unmade;          /* the pair is not made yet: cert and key are "" */
	const char *renewals; /* how many times this node has renewed the pair; NULL: never */
	const char *checked;  /* the result of a check, for the next run; NULL: none */
	const char *pod; /* the static pod that restarts for each new certificate; NULL: none */
	int64_t until;   /* end of an issued certificate, in seconds since 1970 */
};

struct node_keypairs {
	struct node_keypair *v;
	size_t n;
};

/* A unit of the user's own. */
struct node_hook {
	/* the document's name, with or without ".service"; or kops-hook-<index> */
	const char *name;
	struct strv requires, before;
	bool disabled;
	const char *manifest; /* [Service] section; NULL: the unit runs a container of `image` */
	bool is_whole;        /* the manifest is the whole unit */
	const char *image;
	struct strv command;
	struct strmap environment;
	struct tree_pos pos;
};

struct node_hooks {
	struct node_hook *v;
	size_t n;
};

/* A file of the user's own. */
struct node_file {
	const char *path, *content;
	size_t len;
	unsigned int mode;
	struct tree_pos pos;
};

struct node_files {
	struct node_file *v;
	size_t n;
};

struct version {
	int major, minor, patch;
	const char *suffix; /* "-beta.1" of a pre-release; NULL or "" */
};

/* The proxy for everything on this node. */
struct node_proxy {
	const char *url;      /* "http://proxy.example:3128"; NULL: no proxy */
	const char *excludes; /* "169.254.169.254,.example"; never NULL with a url */
	bool is_secret;       /* the url holds a login */
};

struct dialect;

struct node {
	const struct dialect *dialect; /* dialect of its documents; NULL: none was read */
	bool is_adopted; /* another program made the node, from documents that are not here */
	/* the instance type for which EC2 is asked for the facts enis, ipsPerENI and gpus; NULL: the node does not
	 * depend on them */
	const char *asked_type;
	bool takes_host_name; /* the node depends on the fact localHostname */
	bool may_be_warmed;   /* the node depends on the fact targetLifecycleState */
	const void *own;   /* the part of the model that only its era's builders know; NULL: none */
	const char *title; /* the usual word for such a node; NULL: master or worker */
	const char *cluster_name, *instance_group;
	const char *config_base; /* NULL: all documents are beside --conf */
	const char *master_internal_name;
	const char *cloud_provider;
	const char *networking; /* "kubenet", "classic", "cni"... */
	const char *non_masquerade_cidr, *service_cluster_ip_range, *cluster_dns_domain;
	bool is_master, auto_upgrades, keeps_time;
	struct node_proxy proxy;
	struct version kubernetes;
	struct strv packages; /* packages beyond those that every node has */

	struct node_texts assets;
	struct node_text assets_signature; /* signature over all assets; text NULL: none */
	struct node_image protokube;       /* name NULL: none */
	struct node_images images;

	const char *docker_version; /* version that the documents name; NULL: none */
	const char *docker_storage; /* docker's storage driver; NULL: docker chooses */
	bool refuses_swap;          /* kubelet stops if there is swap */
	bool asks_version1;         /* kubelet asks the metadata service without a token */

	struct node_volumes volumes;
	struct node_hooks hooks; /* hooks for this role, in order */
	struct node_files files;
	/* the program that did at each boot what our unit does. A file that does not begin with `begins` is somebody
	 * else's */
	struct {
		const char *path, *begins;
	} replaces;

	struct node_keypairs keypairs; /* the loaded key pairs of node_wants() */
	struct strmap secrets;         /* id to token */
	struct strmap manifests;       /* URL to text, of the manifests in node_wants() */
};

struct dialect_opts;
struct facts;

/* Shared by the readers of a dialect, which make the model of a node from its documents. */
struct reading {
	struct arena *arena;
	const struct dialect_opts *opts;
	const struct facts *facts;
	struct node *node; /* the model that they fill */
	struct err *err;
};

/* A document of this machine to be put back. */
struct node_lost {
	const char *path, *text;
	size_t n;
	const char *why; /* the damage, and the source of the copy that is used */
	bool damaged;    /* a damaged file exists, and is set aside; false: the file is missing */
};

/* Returns whether the node's Kubernetes is at least this version. */
bool node_k8s_at_least(const struct node *n, int major, int minor);
/* Returns whether a text of n bytes lets kubelet start on a host with swap: by swapoff, or by fail-swap-on false in
 * any form. */
bool node_takes_swap(const char *text, size_t n);
/* The directory on which kube-up mounts a master's volume, for all its data. */
extern const char node_master_pd[];
/* Returns the proxy as environment variables; none without a proxy. */
void node_proxy_variables(struct arena *a, const struct node_proxy *proxy, struct strmap *ret);
/* Finds the key pair of that name, or NULL. */
const struct node_keypair *node_keypair(const struct node *n, const char *name);
/* Finds the file at that path, or NULL; files may be NULL. */
const struct node_file *node_files_find(const struct node_files *files, const char *path);

/* Reads "1.8.7", "v1.8.7", "v1.9.0-beta.1", "1.8"; a '/' ends it, as the next part of a URL follows. */
bool version_parse(struct arena *a, const char *text, struct version *ret) must_check;
/* Returns the version in which a config.toml of containerd is written; 0: it names none. */
int version_of_toml(struct arena *a, const char *text);
