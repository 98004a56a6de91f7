/* list_apiserver.h - the keys of kube-apiserver; see model.h
 * Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.8.1 pkg/apis/kops/componentconfig.go KubeAPIServerConfig. */
#pragma once

/* clang-format off */
#define KUBE_APISERVER_SPEC(X) \
	X(const char *, image, "image", .doc = "container image") \
	X(int64_t, log_level, "logLevel", .flag = "v", .flag_empty = "0", .doc = "log verbosity") \
	X(const char *, cloud_provider, "cloudProvider", .flag = "cloud-provider", \
	  .doc = "cloud integration to use") \
	X(int64_t, secure_port, "securePort", .flag = "secure-port", .accepts = &accepts_secure_port, \
	  .doc = "TLS port") \
	X(int64_t, insecure_port, "insecurePort", .flag = "insecure-port", .accepts = &accepts_insecure_port, \
	  .doc = "plain port on the loopback address") \
	X(const char *, address, "address", .flag = "address", .format = &format_ip, \
	  .doc = "address of the plain port") \
	X(struct strv, admission_control, "admissionControl", .flag = "admission-control", \
	  .doc = "admission plugins in order", .accepts = &accepts_admission_plugin) \
	X(const char *, service_cluster_ip_range, "serviceClusterIPRange", \
	  .flag = "service-cluster-ip-range", .format = &format_cidr, .doc = "service addresses", .accepts = &accepts_service_ranges) \
	X(const char *, service_node_port_range, "serviceNodePortRange", \
	  .flag = "service-node-port-range", .format = &format_port_range, \
	  .doc = "node ports of services, first-last") \
	X(struct strv, etcd_servers, "etcdServers", .flag = "etcd-servers", \
	  .doc = "etcd endpoints", .accepts = &accepts_etcd_server) \
	X(struct strv, etcd_servers_overrides, "etcdServersOverrides", \
	  .flag = "etcd-servers-overrides", .doc = "etcd endpoints by resource") \
	X(const char *, etcd_ca_file, "etcdCaFile", .flag = "etcd-cafile", .file = FIELD_FILE, .doc = "CA of etcd") \
	X(const char *, etcd_cert_file, "etcdCertFile", .flag = "etcd-certfile", .file = FIELD_FILE, \
	  .doc = "client certificate for etcd") \
	X(const char *, etcd_key_file, "etcdKeyFile", .flag = "etcd-keyfile", .file = FIELD_FILE, \
	  .doc = "client key for etcd") \
	X(const char *, basic_auth_file, "basicAuthFile", .flag = "basic-auth-file", .file = FIELD_FILE, \
	  .doc = "file of user names and passwords") \
	X(const char *, client_ca_file, "clientCAFile", .flag = "client-ca-file", .file = FIELD_FILE, \
	  .doc = "CA of client certificates") \
	X(const char *, tls_cert_file, "tlsCertFile", .flag = "tls-cert-file", .file = FIELD_FILE, \
	  .doc = "serving certificate") \
	X(const char *, tls_private_key_file, "tlsPrivateKeyFile", .flag = "tls-private-key-file", .file = FIELD_FILE, \
	  .doc = "serving key") \
	X(const char *, token_auth_file, "tokenAuthFile", .flag = "token-auth-file", .file = FIELD_FILE, \
	  .doc = "file of static tokens") \
	X(struct opt_bool, allow_privileged, "allowPrivileged", .flag = "allow-privileged", \
	  .doc = "allow privileged containers") \
	X(struct opt_int, api_server_count, "apiServerCount", .flag = "apiserver-count", \
	  .accepts = &accepts_one_or_more, .doc = "API servers of the cluster") \
	X(struct strmap, runtime_config, "runtimeConfig", .flag = "runtime-config", \
	  .doc = "API versions on and off", .accepts = &accepts_runtime_config) \
	X(const char *, kubelet_client_certificate, "kubeletClientCertificate", \
	  .flag = "kubelet-client-certificate", .file = FIELD_FILE, .doc = "client certificate for kubelets") \
	X(const char *, kubelet_client_key, "kubeletClientKey", .flag = "kubelet-client-key", .file = FIELD_FILE, \
	  .doc = "client key for kubelets") \
	X(struct opt_bool, anonymous_auth, "anonymousAuth", .flag = "anonymous-auth", \
	  .doc = "answer unauthenticated requests") \
	X(struct strv, kubelet_preferred_address_types, "kubeletPreferredAddressTypes", \
	  .flag = "kubelet-preferred-address-types", .doc = "which of a node's addresses to use") \
	X(const char *, storage_backend, "storageBackend", .flag = "storage-backend", \
	  .pointer = true, .oneof = "etcd2|etcd3|", .doc = "etcd2 or etcd3") \
	X(const char *, oidc_username_claim, "oidcUsernameClaim", .flag = "oidc-username-claim", \
	  .pointer = true, .doc = "OpenID claim of the user name") \
	X(const char *, oidc_groups_claim, "oidcGroupsClaim", .flag = "oidc-groups-claim", \
	  .pointer = true, .doc = "OpenID claim of the groups") \
	X(const char *, oidc_issuer_url, "oidcIssuerURL", .flag = "oidc-issuer-url", \
	  .pointer = true, .doc = "OpenID issuer", .accepts = &accepts_oidc_issuer) \
	X(const char *, oidc_client_id, "oidcClientID", .flag = "oidc-client-id", .pointer = true, \
	  .doc = "OpenID client id") \
	X(const char *, oidc_ca_file, "oidcCAFile", .flag = "oidc-ca-file", .file = FIELD_FILE, .pointer = true, \
	  .doc = "CA of the OpenID issuer") \
	X(const char *, proxy_client_cert_file, "proxyClientCertFile", \
	  .flag = "proxy-client-cert-file", .since = 7, .file = FIELD_FILE, .pointer = true, \
	  .doc = "client certificate for extension servers") \
	X(const char *, proxy_client_key_file, "proxyClientKeyFile", \
	  .flag = "proxy-client-key-file", .since = 7, .file = FIELD_FILE, .pointer = true, \
	  .doc = "client key for extension servers") \
	X(const char *, audit_log_path, "auditLogPath", .flag = "audit-log-path", .file = FIELD_LOG, .pointer = true, \
	  .doc = "file of the audit log", .format = &format_log) \
	X(struct opt_int, audit_log_max_age, "auditLogMaxAge", .flag = "audit-log-maxage", \
	  .accepts = &accepts_audit_count, .doc = "days to keep audit logs") \
	X(struct opt_int, audit_log_max_backups, "auditLogMaxBackups", \
	  .flag = "audit-log-maxbackup", .accepts = &accepts_audit_count, .doc = "audit logs to keep") \
	X(struct opt_int, audit_log_max_size, "auditLogMaxSize", .flag = "audit-log-maxsize", \
	  .accepts = &accepts_audit_count, .doc = "megabytes of one audit log") \
	X(const char *, audit_policy_file, "auditPolicyFile", .flag = "audit-policy-file", \
	  .since = 7, .file = FIELD_FILE, .doc = "audit policy") \
	X(const char *, authentication_token_webhook_config_file, \
	  "authenticationTokenWebhookConfigFile", \
	  .flag = "authentication-token-webhook-config-file", .file = FIELD_FILE, .pointer = true, \
	  .doc = "kubeconfig of the token webhook") \
	X(struct opt_dur, authentication_token_webhook_cache_ttl, \
	  "authenticationTokenWebhookCacheTtl", .flag = "authentication-token-webhook-cache-ttl", \
	  .doc = "how long its answers are cached") \
	X(const char *, authorization_mode, "authorizationMode", .flag = "authorization-mode", \
	  .pointer = true, .doc = "authorizers, comma separated", .accepts = &accepts_authorization_mode) \
	X(const char *, authorization_rbac_super_user, "authorizationRbacSuperUser", \
	  .flag = "authorization-rbac-super-user", .pointer = true, \
	  .doc = "user that may do anything under RBAC") \
	X(const char *, experimental_encryption_provider_config, \
	  "experimentalEncryptionProviderConfig", \
	  .flag = "experimental-encryption-provider-config", .since = 7, .file = FIELD_FILE, .pointer = true, \
	  .doc = "encryption of secrets at rest") \
	X(struct strv, requestheader_username_headers, "requestheaderUsernameHeaders", \
	  .flag = "requestheader-username-headers", .doc = "headers that carry the user") \
	X(struct strv, requestheader_group_headers, "requestheaderGroupHeaders", \
	  .flag = "requestheader-group-headers", .doc = "headers that carry groups") \
	X(struct strv, requestheader_extra_header_prefixes, "requestheaderExtraHeaderPrefixes", \
	  .flag = "requestheader-extra-headers-prefix", \
	  .doc = "prefixes of headers that carry extras") \
	X(const char *, requestheader_client_ca_file, "requestheaderClientCAFile", \
	  .flag = "requestheader-client-ca-file", .file = FIELD_FILE, .doc = "CA of the front proxy") \
	X(struct strv, requestheader_allowed_names, "requestheaderAllowedNames", \
	  .flag = "requestheader-allowed-names", .doc = "common names of the front proxy") \
	X(struct strmap, feature_gates, "featureGates", .flag = "feature-gates", \
	  .keys = FEATURE_GATES, .doc = "feature switches")
/* clang-format on */
