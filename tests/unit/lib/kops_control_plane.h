/* kops_control_plane.h - a control plane of today's kops, and the static pods that it is planned to run
 * Owner: the arena. Errors: the test fails; those of documents are in the worker's e. Threads: one. */
#pragma once

#include "tests/unit/lib/kops_worker.h"

/* Keys of its documents, in YAML's flow style and with a comma before each: ", logLevel: 4". NULL: none. The
 * worker's role is "ControlPlane" unless it is set. */
struct control_plane {
	struct kops_worker w;
	const char *api_server, *kcm, *scheduler;         /* of these programs' settings */
	const char *api_config, *containerd, *networking; /* of these sections */
	const char *all;                                  /* at the top */
	const char *api_address; /* the whole of APIServerConfig.API, instead of one with a name */
};

/* Where its documents say that the healthcheck's manifest is. */
#define HEALTHCHECK_AT "s3://store/a.example/manifests/static/healthcheck.yaml"
#define HEALTHCHECK_KEY \
	", staticManifests: [{key: kube-apiserver-healthcheck, path: manifests/static/healthcheck.yaml}]"

/* Plan it by one builder. NULL: it cannot be. */
struct plan *control_plane_try(struct arena *a, struct control_plane *c, const char *builder);
/* The same of one that can be. */
struct plan *control_plane_plan(struct arena *a, struct control_plane *c, const char *builder);
/* The file that is planned there; the test fails without it. */
const struct task_file *planned_file(const struct plan *p, const char *path);
/* The pod of its manifest, read. */
const struct tree *planned_pod(const struct plan *p, const char *name);
/* Its container of that number. */
const struct tree *container_of(const struct tree *pod, size_t i);
/* The value of its flag, "" included; NULL: it has no such flag. Of several the first. */
const char *flag_of(const struct tree *pod, const char *flag);
/* What the tree says is what this YAML says. */
void assert_says(struct arena *a, const struct tree *t, const char *yaml);
