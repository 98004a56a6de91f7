/* changes.h - what the kops of one version writes otherwise than that of another
 * One row for each difference: its name, what kops does, and the spans of versions that do it. A fix that was carried
 * back has a span in each minor. Where the version of Kubernetes counts too, its span says so.
 * Builders and readers ask for a difference by its name; nothing else compares versions of kops.
 * Invariant: pure. Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.29 to 1.37, nodeup/pkg/model, at each tag. */
#pragma once

#include "nodeup/config/kops/kops.h"

/* clang-format off */
#define KOPS_CHANGES(X) \
	/* kubelet, containerd */ \
	X(KUBELET_FILE, "kubelet takes nearly all its settings from kubelet.conf, not from flags", SINCE(36, 0)) \
	/* control plane, host, network */ \
	X(PROTOKUBE, "protokube runs on each control plane", UNTIL(35))
/* clang-format on */

#define KOPS_CHANGE_ENUM(name, doc, ...) KOPS_##name,
enum kops_change {
	KOPS_CHANGES(KOPS_CHANGE_ENUM) KOPS_CHANGE_COUNT,
};

/* Whether the kops of these documents does that. */
bool kops_does(const struct kops_config *c, enum kops_change change);
