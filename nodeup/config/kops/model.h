/* model.h - a node of today's kops, as its builders see it
 * What its documents say, and what follows from them and from the facts. node.own is one; that of an adopted
 * node has names alone.
 * Invariant: pure; config->cas has kubernetes-ca. Owner: the arena. Errors: CONFIG. Threads: const once it is made.
 * Bodies: model.c, extras.c, wants.c.
 * Source: kops 1.37 upup/pkg/fi/nodeup/command.go, nodeup/pkg/model/context.go.
 * Tests: test_kops_boot.c. */
#pragma once

#include "nodeup/config/kops/kops.h"
#include "nodeup/config/kops/readers.h"

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
