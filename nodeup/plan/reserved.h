/* reserved.h - what is kept from pods for kubelet, the runtime and the system, by the size of the machine
 * Owner: the arena. Errors: the plan's. Threads: one.
 * Source: awslabs/amazon-eks-ami nodeadm kubelet config; Google Kubernetes Engine "Plan node sizes".
 * Tests: test_reserved.c. */
#pragma once

#include "nodeup/plan/tasklist.h"

struct reserved_size {
	int64_t processors, memory_mib, boot_disk_gib, pods;
	bool knows_no_storage; /* kubelet before 1.8 reserves none of it */
};

/* Returns kubelet's kube-reserved of a machine of that size, by the setting's name of a formula. */
struct strmap reserved_of(struct arena *a, const char *formula, const struct reserved_size *size);
/* Sets kube-reserved, if the setting asks for it and the documents name neither it nor system-reserved. An unset
 * pods is kubelet's own default. */
void plan_reserve(struct plan *p, struct strmap *kube, bool system_is_named, struct opt_int pods);
/* Returns amounts as the flag has them: "cpu=70m,memory=574Mi". */
char *reserved_text(struct arena *a, const struct strmap *amounts);
