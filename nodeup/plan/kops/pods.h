/* pods.h - static pods of Kubernetes' own programs, as today's kops runs them
 * One form a pod: what does not depend on the documents, in the order of the manifest. A rule says which setting of the
 * documents gives way to what is so on this node; nothing else takes the place of a setting.
 * Owner: the arena of the plan; forms and rules are constants. Errors: the plan's. Threads: one.
 * Source: kops 1.37 nodeup/pkg/model/kube_*.go, pkg/kubemanifest.
 * Tests: test_kops_pods.c. */
#pragma once

#include "nodeup/plan/kops/kops.h"
#include "nodeup/plan/static_pod.h"

struct kops_mount {
	const char *name, *path;
	const char *at;        /* in the container; NULL: at the same path */
	bool is_writable;      /* else it is read only */
	const char *type;      /* "FileOrCreate"; NULL: not said */
	bool is_ssl;           /* instead of all that: where this host keeps its CA certificates */
	enum kops_change when; /* it is there */
};

/* A pod of one program, called as the pod is. */
struct kops_pod {
	const char *name, *priority_class;
	const struct kops_mount *mounts;
	size_t n_mounts;
	int64_t healthz; /* the port where it says over TLS that it is well; 0: it has probes of its own */
};

/* The cloud's configuration, for a program that knows the cloud itself. */
#define KOPS_IN_TREE_CONFIG "/etc/kubernetes/in-tree-cloud.config"
#define KOPS_IN_TREE_MOUNT                                                                     \
	{                                                                                      \
		.name = "cloudconfig", .path = KOPS_IN_TREE_CONFIG, .when = KOPS_IN_TREE_CLOUD \
	}

/* Settings that the documents have for any such pod. */
struct kops_pod_spec {
	const char *image;
	const char *cpu_request, *cpu_limit, *memory_request, *memory_limit; /* NULL: none */
};

/* Those of a struct of config/kops/specs.h; `cpu` is requested when it names nothing. */
#define KOPS_POD_SPEC(s, cpu)                                                                    \
	{                                                                                        \
		.image = (s)->image, .cpu_request = (s)->cpu_request ? (s)->cpu_request : (cpu), \
		.cpu_limit = (s)->cpu_limit, .memory_request = (s)->memory_request,              \
		.memory_limit = (s)->memory_limit,                                               \
	}

/* When a setting of the documents gives way. */
enum kops_rule_when {
	RULE_ALWAYS,
	RULE_IF_EMPTY,  /* it is "" or not there */
	RULE_IF_ABSENT, /* it is not there: "" stays */
};

/* A text setting of a program that is what this node has, whatever the documents say. */
struct kops_rule {
	size_t member; /* offset of the const char * */
	enum kops_rule_when when;
	size_t of; /* offset of the setting that `when` asks: a key goes with its certificate */
	const char *value;
};

#define KOPS_RULE(S, m, w, v) KOPS_RULE_OF(S, m, w, m, v)
#define KOPS_RULE_OF(S, m, w, other, v)                      \
	{                                                    \
		offsetof(S, m), (w), offsetof(S, other), (v) \
	}

/* Apply the rules, in order, to the settings of a program: the rule of a certificate stands behind that of its key. */
void kops_apply_rules(void *spec, const struct kops_rule *rules, size_t n);
/* The pod of a form. Its one container runs the program with these flags, and writes to its log. */
struct pod *kops_pod(struct plan *p, const struct kops_pod *form, const struct kops_pod_spec *spec,
		     const struct strv *flags);
/* Tell the pod of the way to the outside, if the documents name one. */
void kops_proxy_env(struct plan *p, struct pod *pod);
