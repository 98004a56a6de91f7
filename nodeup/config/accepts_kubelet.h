/* accepts_kubelet.h - what kubelet takes, for the rows of its keys in every dialect; see base/accepts.h and rules.h
 * Kubernetes that was read: 1.6 and 1.8 (kops 1.6.0 and 1.8.1 vendor it; 94ef202), 1.30 and 1.34 (vendored by microshift,
 * 3a1aed3 and 473c3de).
 * Owner: constants. Errors: none. Threads: all.
 * Source: pkg/kubelet/apis/config/validation/validation.go, pkg/kubelet/images/image_gc_manager.go,
 * pkg/kubelet/apis/config/v1beta1/defaults.go. */
#pragma once

#include "nodeup/config/rules.h"

extern const struct field_accepts accepts_max_pods;

/* What its settings have to be together. */
extern const struct field_rules kubelet_rules;
