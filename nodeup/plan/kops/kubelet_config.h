/* kubelet_config.h - the text of kubelet.conf
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.37 nodeup/pkg/model/kubelet.go. */
#pragma once

#include "nodeup/plan/kops/kops.h"

/* KubeletConfiguration made of kubelet's settings, with what Go writes although it is not set. "" when the plan fails. */
const char *kops_kubelet_config(struct plan *p, const struct kops_kubelet *spec);
