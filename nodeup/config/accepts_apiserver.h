/* accepts_apiserver.h - demands on the values of a control plane's programs, containerd and docker, by field
 * Rows of all dialects name these demands. If the programs differ by version, a demand has a range of versions.
 * Owner: constants. Errors: none. Threads: all.
 * Source: kubernetes/apiserver release-1.6 to 1.10, e8a4fefba (1.31), 8f96c5224 (1.36) and 24a394e51 (1.37)
 * pkg/server/options, pkg/server/resourceconfig, pkg/authorization/path, plugin/pkg/authenticator/token/oidc;
 * component-base 349fbe0 config/validation; controller-manager eb4af90 options; Kubernetes 1.5 to 1.8, 1.31.14 and
 * 1.36.2 cmd/kube-apiserver/app/options, cmd/kube-controller-manager/app, pkg/kubeapiserver/options; client-go
 * tools/leaderelection; kops 268927e26 pkg/apis/kops/validation/validation.go; docker/go-units ulimit.go, docker
 * 1.12 registry/config.go, logrus ParseLevel.
 * Tests: test_accepts_apiserver.c. */
#pragma once

#include "nodeup/config/accepts_common.h"
#include "nodeup/config/rules.h"

/* One or two ranges, the first with at least eight addresses, each with at most 2^20. */
#define RANGES_OF_EIGHT \
	"^([^,:]*/0*([0-9]|1[0-9]|2[0-9])|[^,]*:[^,]*/0*([0-9]?[0-9]|1[01][0-9]|12[0-5])|[^,/]*)(,|$)"
#define RANGES_SMALL \
	"^(([^,:]*/0*(1[2-9]|[23][0-9])|[^,]*:[^,]*/0*(10[89]|1[12][0-9])|[^,/]*)(,|$))*$"

/* Demands of several programs. */
extern const struct field_accepts accepts_ip, accepts_one_or_more, accepts_period_text,
	accepts_allowed_path;
/* Demands of kube-apiserver. */
extern const struct field_accepts accepts_secure_port, accepts_insecure_port, accepts_audit_count,
	accepts_service_ranges, accepts_etcd_server, accepts_etcd_override, accepts_storage_backend,
	accepts_authorization_mode, accepts_admission_plugin, accepts_goaway_chance,
	accepts_oidc_issuer, accepts_token_issuer, accepts_https_url, accepts_runtime_config,
	accepts_request_header, accepts_cors_origin, accepts_hsts, accepts_cache_size;
/* Demands of kube-controller-manager. */
extern const struct field_accepts accepts_controller, accepts_reconcile_period;
/* Demands of containerd and docker. */
extern const struct field_accepts accepts_containerd_level, accepts_ulimit, accepts_mirror,
	accepts_log_driver;
/* Demands on kube-up's texts, Kubernetes 1.2 to 1.5. */
extern const struct field_accepts accepts_admission_plugin_old;

/* Rules across several keys: leader election, OpenID Connect (its section and kube-apiserver's), a pod
 * (kube-proxy's). */
extern const struct field_rules rules_apiserver, rules_oidc, rules_kcm, rules_scheduler,
	rules_leader, rules_pod, rules_containerd;
