/* kops_worker.h - a node of today's kops, planned of a few keys of its NodeupConfig
 * Owner: the arena. Errors: the worker's e. Threads: one. */
#pragma once

#include "nodeup/config/kops/model.h"
#include "tests/unit/lib/seed.h"

/* A certificate of a CA, as a text of YAML. */
#define KOPS_TEST_CA                                                          \
	"\"-----BEGIN CERTIFICATE-----\\n"                                    \
	"MIIBhDCCASqgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1rdWJlcm5l\\n" \
	"dGVzLWNhMCAXDTI2MTEyNzIwNDQyNloYDzIxMjYxMTAzMjA0NDI2WjAYMRYwFAYD\\n" \
	"VQQDDA1rdWJlcm5ldGVzLWNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtsbW\\n" \
	"TQ07sGFdeNN3ouICWLxM4oZcLuuZITfdRX2G8IaMw10oe10ZI0jj9m/cMqcsynr4\\n" \
	"U5oEP9aKnB8f5c/XMaNjMGEwHQYDVR0OBBYEFLj79ol0Tv/4rfS32lWBaoUKbTG/\\n" \
	"MB8GA1UdIwQYMBaAFLj79ol0Tv/4rfS32lWBaoUKbTG/MA8GA1UdEwEB/wQFMAMB\\n" \
	"Af8wDgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49BAMCA0gAMEUCIH/DAgdxulioR1g0\\n" \
	"A0jAyDh9f0aIFWznX2DQu1LbzbRtAiEAnedFG+TxYbz9k3nMqAn/r64Z59MhHU73\\n" \
	"THZgU2ryGK0=\\n"                                                     \
	"-----END CERTIFICATE-----\\n\""

/* facts, runtime, role, vintage and manifests may be filled in before it is planned. */
struct kops_worker {
	const char *role;       /* NULL: "Node" */
	struct vintage vintage; /* the kops of its documents; all 0: the newest */
	struct facts facts;
	struct runtime runtime;
	int kubernetes;          /* of Kubernetes 1.x; 0: 35 */
	const char *accept;      /* "[KubeletConfig.x]": values that go on with a warning */
	struct strmap manifests; /* of the state store; none: the plan is of documents alone */
	struct kops_boot boot;
	struct node node;
	struct plan_req req;
	struct plan plan;
	struct err e;
};

/* Plan such a node of these keys of NodeupConfig by one builder; NULL: all. NULL is returned when it cannot be. */
struct plan *kops_try_plan(struct arena *a, struct kops_worker *w, const char *builder,
			   const char *text);
/* The same of a whole NodeupConfig, of cluster a.example. */
struct plan *kops_try_documents(struct arena *a, struct kops_worker *w, const char *builder,
				const char *all);
