/* model.h - a node of today's kops, as its builders see it
 * Holds what its documents say, and what follows from them and from the facts. node.own points to such a model; for
 * an adopted node it holds only names.
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
	const char *arch; /* architecture of assets and images; amd64 if not known */
	const char *name; /* name of its Node object: instance id, or EC2's name for the address */
	/* the URL that the node's programs use: "https://api.internal.example.com" */
	const char *api_server;
	struct strv names;        /* names and addresses on the certificate of kubelet's server */
	struct strv names_of_ec2; /* EC2's own names and addresses, whatever the network does */
	const char *address;      /* the first address; NULL: not known */
	/* the same node under its other name; NULL: the node has only one name */
	const struct kops_node *otherwise;
	const char *service_ip; /* the API server's address, the first of the services; or NULL */
};

/* Returns a node without NodeupConfig. The node's name may be the instance's id or EC2's name for its address. */
struct kops_node *kops_unknown_node(struct arena *a, const struct kops_boot *boot,
				    const struct facts *f);
/* Returns the name of one of the cluster's own services: "api.internal.minimal.example.com". */
char *kops_name_inside(struct arena *a, const char *service, const char *cluster);
/* Fills the parts of the common model that users add: hooks, files and volumes. */
int kops_extras(const struct reading *in, const struct kops_config *c) must_check;
/* Returns the URL in the state store of a path below ConfigBase. */
const char *kops_in_base(struct arena *a, const struct kops_boot *boot, const char *path);
/* Returns which keysets, secrets and manifests the node takes from the state store, and which certificates it is
 * given or issues itself. */
struct node_wants kops_wants(struct arena *a, const struct documents *d, const struct node *n);
/* Makes the model, and the parts of the common model that common builders read. Changes config: replaces "@aws" in
 * it. */
int kops_node(const struct reading *in, const struct kops_boot *boot,
	      struct kops_config *config) must_check;

/* The conditions of a row in a table: it counts for a node if all of them hold. */
enum kops_condition {
	KOPS_ANY_NODE = 0,
	KOPS_API = 1 << 0,           /* an API server runs here */
	KOPS_CONTROL_PLANE = 1 << 1, /* the controllers run here as well */
	KOPS_KUBE_PROXY = 1 << 2,
	KOPS_KUBE_ROUTER = 1 << 3,
	KOPS_CILIUM_ETCD = 1 << 4,
	KOPS_HEALTHCHECK = 1 << 5,
	KOPS_AWS_LOGIN = 1 << 6, /* aws-iam-authenticator identifies users */
	KOPS_KCM_TLS = 1 << 7,   /* the documents name no certificate for the controller manager */
	KOPS_SCHEDULER_TLS = 1 << 8,
	KOPS_SIGNS_TOKENS = 1 << 9,    /* the API server signs tokens with the cluster's key */
	KOPS_CHANNELS_POD = 1 << 10,   /* a pod applies addons */
	KOPS_PROTOKUBE_UNIT = 1 << 11, /* protokube applies addons */
};

/* Returns the conditions that hold for the node. */
unsigned int kops_conditions(const struct kops_node *n);

/* One row for each certificate: its signer, its subject, its names, and its files on the node. On a worker,
 * kops-controller issues the certificates of rows without KOPS_API. A node with an API server issues all of them
 * itself. */
struct kops_certificate {
	const char *name, *signer;
	/* subject NULL: the node's name; a client's has "system:node:" before it */
	const char *subject, *organization;
	struct strv (*names)(
		struct arena *a,
		const struct kops_node *n); /* NULL: a client's certificate, which needs no names */
	unsigned int conditions;
	/* where it is written: in a kubeconfig, or in two files */
	const char *login, *cert_at, *key_at;
	const char *user; /* the owner of the files; NULL: root */
	const char *pod;  /* pod that reads the certificate only when it starts; NULL: none */
	bool pod_stays;   /* the pod's manifest is not written here */
};

/* Returns the node's next certificate, in the order of names; NULL: there are no more. `at` begins with 0. */
const struct kops_certificate *kops_certificate(const struct kops_node *n, size_t *at);
/* Returns the place below ConfigBase where the manifest of the API server's healthcheck is; NULL: the documents name
 * none. */
const char *kops_healthcheck(const struct kops_config *c);
/* Returns the CA that signs the clients of an etcd cluster. */
const char *kops_etcd_clients_ca(struct arena *a, const struct kops_config *c, const char *cluster);
/* Lists the users with a token in the state store, sorted; ends with NULL. */
extern const char *const kops_tokens[];
