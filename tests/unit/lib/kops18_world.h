/* kops18_world.h - the documents of one node and what became of them, for tests of the dialect
 * Owner: the arena of the test. Errors: the test fails where it is not about them. */
#pragma once

#include "nodeup/config/kops18/kops18.h"

#define SEED "tests/data/seed-cluster/"
/* What makes a master of world_small(). */
#define MASTER_ENV \
	"Tags: [_kubernetes_master]\nprotokubeImage: {name: 'protokube:1.8.1', source: 'https://h/p'}"
#define STORE SEED "state/jdurbin-kops/abc.joshdurbin.net/"

struct world {
	struct arena *a;
	struct dialect_opts opts;
	struct strv warnings;
	struct facts facts;
	struct kube_env env;
	struct tree *env_doc, *cluster, *ig;
	struct node node;
	struct err e;
};

/* Facts of a host with overlay, and no documents. */
struct world world_new(struct arena *a);
/* A file as text. */
char *world_load(struct arena *a, const char *path, size_t *n);
/* A document of that name from text, or from a file. */
struct tree *world_text(struct world *w, const char *file, const char *text);
struct tree *world_file(struct world *w, const char *path);
/* The seed's nodes, with the documents of their state store. */
struct world world_master(struct arena *a);
struct world world_worker(struct arena *a);
/* A worker of Kubernetes 1.9.3 with these documents; env_tail is appended to kube_env.yaml. */
struct world world_small(struct arena *a, const char *env_tail, const char *cluster,
			 const char *ig);
/* What its node has as one of kops 1.8, to be changed before it is planned. */
struct kops18_node *world_own(struct world *w);
/* The name that kubelet is told of such a node. */
const char *world_host_name(const struct node *n);
/* Make the node; the second fails the test when it cannot be made. */
int world_build(struct world *w) must_check;
void world_must_build(struct world *w);
