/* accepts_kubelet.h - values that kubelet and kube-proxy accept, by version
 * Today's kops, kops 1.8 and kube-up share some keys, so each demand names the versions whose sources were read for
 * it. If a version was not read, or a form is not certain, there is no demand, or a wider one.
 * Owner: constants. Errors: none. Threads: all.
 * Source: Kubernetes 1.31.14 to 1.36.3, as openshift/microshift 8eb6c29 to ab25d11 have them, and kubernetes 001332b
 * of 1.37: pkg/kubelet (apis/config/validation, eviction/helpers.go, cm, sysctl, logs), cmd/kubelet/app,
 * pkg/proxy/apis/config/validation, cmd/kube-proxy/app. The same files, and pkg/kubelet/images, of 1.6 to 1.8, as
 * kops f69a313, e04c29d and 94ef202 have them.
 * Tests: test_accepts_kubelet.c. */
#pragma once

#include "nodeup/config/rules.h"

/* kubelet from 1.31 on */
extern const struct field_accepts kubelet_authorization_mode;
extern const struct field_accepts kubelet_reserved; /* kubeReserved, systemReserved */
extern const struct field_accepts kubelet_cloud_provider;
extern const struct field_accepts kubelet_cpu_policy;
extern const struct field_accepts kubelet_cfs_period;
extern const struct field_accepts kubelet_enforced;
extern const struct field_accepts kubelet_grace;
extern const struct field_accepts kubelet_hairpin;
extern const struct field_accepts kubelet_image_age;
extern const struct field_accepts kubelet_lease;
extern const struct field_accepts kubelet_log_files;
extern const struct field_accepts kubelet_log_size;
extern const struct field_accepts kubelet_no_flag; /* a key of kops whose flag is gone */
extern const struct field_accepts kubelet_percent;
extern const struct field_accepts kubelet_periods; /* grace periods of soft thresholds */
extern const struct field_accepts kubelet_port;
extern const struct field_accepts kubelet_pulls;
extern const struct field_accepts kubelet_reclaims;
extern const struct field_accepts kubelet_restart_period;
extern const struct field_accepts kubelet_swap;
extern const struct field_accepts kubelet_sysctls;
extern const struct field_accepts kubelet_thresholds;
extern const struct field_accepts kubelet_topology_policy;
/* kube-proxy from 1.31 on */
extern const struct field_accepts proxy_address;
extern const struct field_accepts proxy_cidrs;
extern const struct field_accepts proxy_metrics;
extern const struct field_accepts proxy_mode;
/* kubelet up to 1.10, if its demands differ */
extern const struct field_accepts kubelet_cloud_provider_old;
extern const struct field_accepts kubelet_enforced_old;
extern const struct field_accepts kubelet_network_plugin_old;
extern const struct field_accepts kubelet_periods_old;
extern const struct field_accepts kubelet_reclaims_old;
extern const struct field_accepts kubelet_reserved_old;
extern const struct field_accepts kubelet_thresholds_old;
extern const struct field_accepts gate_pairs_old; /* a=true,b=false; for all programs */

/* The sections that hold keys of kubelet. */
#define KUBELET_SECTIONS "KubeletConfig|kubelet|masterKubelet"
/* Rules across the keys of each program. */
extern const struct field_rules kubelet_rules, kube_proxy_rules;
