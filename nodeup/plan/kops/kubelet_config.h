/* kubelet_config.h - the text of kubelet.conf, and what is a flag where it is not in that file
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.37 nodeup/pkg/model/kubelet.go.
 * Tests: test_kops_kubelet.c, test_kops_kubelet.py. */
#pragma once

#include "nodeup/plan/kops/kops.h"

/* The files of the certificate that it shows. */
extern const char kops_server_cert[], kops_server_key[];
/* Returns where it finds containerd: a URL. */
const char *kops_runtime_endpoint(const struct plan *p);
/* KubeletConfiguration made of kubelet's settings, with what Go writes although it is not set. "" when the plan fails. */
const char *kops_kubelet_config(struct plan *p, const struct kops_kubelet *spec);
