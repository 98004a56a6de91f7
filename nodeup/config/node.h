/* node.h - the node to be, whatever documents it came from
 * Pure data: the folder of a dialect fills it, builders read it. The planner alone asks for the dialect, once.
 * Defaults are applied and documents are merged: what a builder sees is what the node gets.
 * Owner: the arena of the run. Errors: none. Threads: const after the dialect is done.
 * Source: kops 1.8.1 pkg/apis/nodeup, pkg/apis/kops.
 * Tests: test_kops18_store.c, test_vintage.c. */
#pragma once

#include "nodeup/config/settings.h"
#include "nodeup/config/volume.h"

/* A text of a document with the place it stands at, for messages of what parses it further. */
struct node_text {
	const char *text;
	struct tree_pos pos;
	const char *signature; /* of an asset; NULL: none */
};

struct node_texts {
	struct node_text *v;
	size_t n;
};

/* An image archive that is loaded into the runtime. */
struct node_image {
	const char *name;   /* "protokube:1.8.1"; of one that is unnamed "kube-proxy.tar" */
	bool is_unnamed;    /* the archive alone says what its images are called */
	const char *source; /* URL, or several with commas between them */
	const char *hash;
	const char *signature; /* NULL: none */
	struct tree_pos pos;
};

/* An image that is a member of the archive of programs; the archive says in another member which tag it has. */
struct node_member_image {
	const char *name;         /* for pods: "gcr.io/google_containers/kube-proxy:0123456789ab" */
	const char *member, *tag; /* "kube-proxy.tar", "kube-proxy.docker_tag" */
	const char *loaded_as;    /* without the tag */
	struct node_text archive;
};

struct node_images {
	struct node_image *v;
	size_t n;
};

/* A key pair of the store. PEM text; key is NULL where only the certificate is wanted. */
struct node_keypair {
	const char *name; /* "kubelet" */
	const char *cert, *key;
	const char *pool;     /* a CA: every certificate in use, newest first; NULL: cert alone */
	const char *why;      /* the reason to make one in this run; else NULL */
	bool unmade;          /* it would be: cert and key are "" */
	const char *renewals; /* how often this node issued it anew; NULL: never */
	const char *checked;  /* what a check found, for the next run; NULL: nothing */
	const char *pod; /* the static pod that is to start again for each of these; NULL: none */
	int64_t until;   /* of one that was issued: when it ends, in seconds since 1970 */
};

struct node_keypairs {
	struct node_keypair *v;
	size_t n;
};

/* A unit of the user's own. */
struct node_hook {
	const char *name; /* of the document, perhaps without ".service"; or kops-hook-<index> */
	struct strv requires, before;
	bool disabled;
	const char *manifest; /* its [Service] section; NULL: a container of this image */
	bool is_whole;        /* the manifest is all of the unit */
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

/* The way to the outside, for everything on this node. */
struct node_proxy {
	const char *url;      /* "http://proxy.example:3128"; NULL: no proxy */
	const char *excludes; /* "169.254.169.254,.example"; never NULL with a url */
	bool is_secret;       /* there is a login in the url */
};

struct dialect;

struct node {
	const struct dialect *dialect; /* of its documents; NULL: none was read */
	bool is_adopted; /* another program made it, from documents that are not here */
	/* an instance type of which EC2 is asked for the facts enis, ipsPerENI and gpus; NULL: they decide nothing */
	const char *asked_type;
	bool takes_host_name; /* the fact localHostname decides something */
	bool may_be_warmed;   /* the fact targetLifecycleState decides something */
	const void *own;      /* the model that builders of its era alone know; NULL: none */
	const char *title;    /* as people call such a node; NULL: master or worker */
	const char *cluster_name, *instance_group;
	const char *config_base; /* NULL: the documents beside --conf are all there is */
	const char *master_internal_name;
	const char *cloud_provider;
	const char *networking; /* "kubenet", "classic", "cni"... */
	const char *non_masquerade_cidr, *service_cluster_ip_range, *cluster_dns_domain;
	bool is_master, auto_upgrades, keeps_time;
	struct node_proxy proxy;
	struct version kubernetes;
	struct strv packages; /* of the distribution, beside those a node always has */

	struct node_texts assets;
	struct node_text assets_signature; /* over all of them; text NULL: none */
	struct node_image protokube;       /* name NULL: none */
	struct node_images images;

	const char *docker_version; /* that the documents name; NULL: none */
	const char *docker_storage; /* docker's storage driver; NULL: its own choice */
	bool refuses_swap;          /* kubelet ends where there is swap space */
	bool asks_version1;         /* kubelet asks the metadata service without a token */

	struct node_volumes volumes;
	struct node_hooks hooks; /* of this role, in order */
	struct node_files files;
	/* what ran at each boot before our unit did, which does the same; one that begins otherwise is another's */
	struct {
		const char *path, *begins;
	} replaces;

	struct node_keypairs keypairs; /* what bootstrap loaded of node_wants() */
	struct strmap secrets;         /* id to token */
	struct strmap manifests;       /* URL to text, of those of node_wants() */
};

/* A document of this machine that is put back. */
struct node_lost {
	const char *path, *text;
	size_t n;
	const char *why; /* how it is damaged, and whose copy is used */
	bool damaged;    /* what is there is set aside; else nothing is there */
};

/* Returns whether the node's Kubernetes is at least this version. */
bool node_k8s_at_least(const struct node *n, int major, int minor);
/* Returns whether a text of n bytes has kubelet start on a host with swap: by swapoff, or by fail-swap-on false in any form. */
bool node_takes_swap(const char *text, size_t n);
/* The directory where kube-up mounts the one volume of a master, for all its data. */
extern const char node_master_pd[];
/* The proxy as variables of an environment; none without one. */
void node_proxy_variables(struct arena *a, const struct node_proxy *proxy, struct strmap *ret);
/* The key pair of that name, or NULL. */
const struct node_keypair *node_keypair(const struct node *n, const char *name);
/* The file at that path, or NULL; of a list that is NULL too. */
const struct node_file *node_files_find(const struct node_files *files, const char *path);

/* "1.8.7", "v1.8.7", "v1.9.0-beta.1", "1.8"; what follows a '/' is the next part of a URL. */
bool version_parse(struct arena *a, const char *text, struct version *ret) must_check;
/* The version that a config.toml of containerd is written in; 0: it says none. */
int version_of_toml(struct arena *a, const char *text);
