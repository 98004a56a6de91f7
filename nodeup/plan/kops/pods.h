/* pods.h - static pods of Kubernetes' own programs, as today's kops runs them
 * Each pod has one form. A form holds the parts that do not depend on the documents, in the order of the manifest. A
 * rule says which setting of the documents this node replaces; settings are replaced only by rules.
 * Owner: the arena of the plan; forms and rules are constants. Errors: the plan's. Threads: one.
 * Source: kops 1.37 nodeup/pkg/model/kube_*.go, pkg/kubemanifest.
 * Tests: test_kops_pods.c. */
#pragma once

#include "nodeup/plan/kops/kops.h"
#include "nodeup/plan/static_pod.h"

struct kops_mount {
	const char *name, *path;
	const char *at;        /* path in the container; NULL: the same path as on the host */
	bool is_writable;      /* false: the mount is read-only */
	const char *type;      /* "FileOrCreate"; NULL: no type is given */
	bool is_ssl;           /* replaces the members above: mounts the host's CA certificates */
	enum kops_change when; /* the change of kops that brought the mount */
};

/* Describes the pod of one program, which has the pod's name. */
struct kops_pod {
	const char *name, *priority_class;
	const struct kops_mount *mounts;
	size_t n_mounts;
	int64_t healthz; /* the port at which the program answers /healthz over TLS; 0: it has its own probes */
};

/* The cloud configuration, for a program with its own cloud provider. */
#define KOPS_IN_TREE_CONFIG "/etc/kubernetes/in-tree-cloud.config"
#define KOPS_IN_TREE_MOUNT                                                                     \
	{                                                                                      \
		.name = "cloudconfig", .path = KOPS_IN_TREE_CONFIG, .when = KOPS_IN_TREE_CLOUD \
	}

/* Holds settings that the documents have for every such pod. */
struct kops_pod_spec {
	const char *image;
	const char *cpu_request, *cpu_limit, *memory_request, *memory_limit; /* NULL: none */
};

/* Takes the settings of a struct of config/kops/specs.h; `cpu` is the request if the struct has none. */
#define KOPS_POD_SPEC(s, cpu)                                                                    \
	{                                                                                        \
		.image = (s)->image, .cpu_request = (s)->cpu_request ? (s)->cpu_request : (cpu), \
		.cpu_limit = (s)->cpu_limit, .memory_request = (s)->memory_request,              \
		.memory_limit = (s)->memory_limit,                                               \
	}

/* Says when a rule replaces a setting of the documents. */
enum kops_rule_when {
	RULE_ALWAYS,
	RULE_IF_EMPTY,  /* the setting is "" or absent */
	RULE_IF_ABSENT, /* the setting is absent: "" stays */
};

/* Replaces a text setting of a program by the value of this node. */
struct kops_rule {
	size_t member; /* offset of the const char * that is set */
	enum kops_rule_when when;
	size_t of; /* offset of the setting that `when` looks at: a key's rule looks at its certificate */
	const char *value;
};

#define KOPS_RULE(S, m, w, v) KOPS_RULE_OF(S, m, w, m, v)
#define KOPS_RULE_OF(S, m, w, other, v)                      \
	{                                                    \
		offsetof(S, m), (w), offsetof(S, other), (v) \
	}

/* Applies the rules in order to a program's settings. The rule of a certificate comes after the rule of its key,
 * which looks at the certificate. */
void kops_apply_rules(void *spec, const struct kops_rule *rules, size_t n);
/* Returns the pod of a form. The pod's only container runs the program with these flags, and writes to the pod's log
 * file. */
struct pod *kops_pod(struct plan *p, const struct kops_pod *form, const struct kops_pod_spec *spec,
		     const struct strv *flags);
/* Gives the pod the proxy of the documents, if they name one. */
void kops_proxy_env(struct plan *p, struct pod *pod);
