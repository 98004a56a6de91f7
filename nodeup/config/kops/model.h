/* model.h - a node of today's kops, as its builders see it
 * What its documents say, and what follows from them and from the facts. node.own is one; that of an adopted
 * node has names alone.
 * Invariant: pure; config->cas has kubernetes-ca. Owner: the arena. Errors: CONFIG. Threads: const once it is made.
 * Bodies: model.c, extras.c, wants.c.
 * Source: kops 1.37 upup/pkg/fi/nodeup/command.go, nodeup/pkg/model (context.go; IssueCert, GetBootstrapCert,
 * FindKeyset), cmd/kops-controller/pkg/server issueCert.
 * Tests: test_kops_boot.c, test_kops_changes.c, test_kops_changes_written.c. */
#pragma once

#include "nodeup/config/kops/kops.h"

struct kops_node {
	const struct kops_boot *boot;
	const struct kops_config *config;
	const char *arch; /* of its assets and images; amd64 where it is not known */
	const char *name; /* of its Node object: the instance id, or what EC2 calls its address */
	const char *api_server;   /* for its programs: "https://api.internal.example.com" */
	struct strv names;        /* names and addresses of kubelet's server */
	struct strv names_of_ec2; /* and what EC2 itself calls it, whatever its network does */
	const char *address;      /* its first one; NULL: not known */
	const struct kops_node *otherwise; /* the node by its other name; NULL: it has no other */
	const char *service_ip;            /* the API server's, the first of services; or NULL */
};

/* A node of which there is no NodeupConfig: it may be called by its instance's id or by its address. */
struct kops_node *kops_unknown_node(struct arena *a, const struct kops_boot *boot,
				    const struct facts *f);
/* What a service of the cluster's own is called inside it: "api.internal.minimal.example.com". */
char *kops_name_inside(struct arena *a, const char *service, const char *cluster);
/* Make the parts of the common model that users add: hooks, files and volumes. */
int kops_extras(struct arena *a, const struct kops_config *c, const struct facts *f,
		const struct dialect_opts *o, struct node *ret, struct err *e) must_check;
/* The state store's URL of what is below ConfigBase. */
const char *kops_in_base(struct arena *a, const struct kops_boot *boot, const char *path);
/* The keysets, secrets and manifests that the node takes from the state store, and the certificates that it is given or
 * issues itself. */
struct node_wants kops_wants(struct arena *a, const struct documents *d, const struct node *n);
/* Make the model, and the parts of the common one that common builders read. config is changed: what stands for "@aws" in it. */
int kops_node(struct arena *a, const struct kops_boot *boot, struct kops_config *config,
	      const struct facts *f, const struct dialect_opts *o, struct node *ret,
	      struct err *e) must_check;

/* When a node has something: each condition must hold. */
enum kops_condition {
	KOPS_ANY_NODE = 0,
	KOPS_API = 1 << 0,           /* an API server runs here */
	KOPS_CONTROL_PLANE = 1 << 1, /* and the controllers */
	KOPS_KUBE_PROXY = 1 << 2,
	KOPS_KUBE_ROUTER = 1 << 3,
	KOPS_CILIUM_ETCD = 1 << 4,
	KOPS_HEALTHCHECK = 1 << 5,
	KOPS_AWS_LOGIN = 1 << 6, /* users are known by aws-iam-authenticator */
	KOPS_KCM_TLS = 1 << 7,   /* the documents name no certificate of their own */
	KOPS_SCHEDULER_TLS = 1 << 8,
	KOPS_SIGNS_TOKENS = 1 << 9,    /* with the key of the cluster */
	KOPS_CHANNELS_POD = 1 << 10,   /* a pod applies addons */
	KOPS_PROTOKUBE_UNIT = 1 << 11, /* protokube does */
};

/* Those that hold for the node. */
unsigned int kops_conditions(const struct kops_node *n);

/* One row a certificate: who signs it, for whom, under which names, and where the node has it.
 * A worker is given those that do not ask for an API server by kops-controller; where an API server runs the node issues all
 * of them itself. */
struct kops_certificate {
	const char *name, *signer;
	/* subject NULL: the node's name, behind "system:node:" if it is a client's */
	const char *subject, *organization;
	struct strv (*names)(struct arena *a,
			     const struct kops_node *n); /* NULL: it is a client's */
	unsigned int conditions;
	/* where it is: a kubeconfig, or two files */
	const char *login, *cert_at, *key_at;
	const char *user; /* whose these are; NULL: root */
	const char *pod;  /* the static pod that reads it only when it starts; NULL: none */
	bool pod_stays;   /* its manifest is not made here */
};

/* The node's, in the order of their names; NULL: no more of them. `at` begins with 0. */
const struct kops_certificate *kops_certificate(const struct kops_node *n, size_t *at);
/* The place of the manifest of the API server's healthcheck below ConfigBase; NULL: the documents name none. */
const char *kops_healthcheck(const struct kops_config *c);
/* The CA of the clients of an etcd cluster. */
const char *kops_etcd_clients_ca(struct arena *a, const struct kops_config *c, const char *cluster);
/* The users of the state store that have a token, sorted; NULL ends them. */
extern const char *const kops_tokens[];
