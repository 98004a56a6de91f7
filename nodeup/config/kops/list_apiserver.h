/* list_apiserver.h - the keys of kube-apiserver; see specs.h
 * Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.37 pkg/apis/kops/componentconfig.go; of `until` Kubernetes' own option files and changelogs. */
#pragma once

/* clang-format off */
#define KOPS_KUBE_APISERVER(X) \
	X(const char *, image, "image", .doc = "container image") \
	X(struct opt_bool, disable_basic_auth, "disableBasicAuth", .doc = "not used") \
	X(const char *, log_format, "logFormat", FLAG("logging-format"), .flag_empty = "text", .accepts = &accepts_log_format) \
	X(int64_t, log_level, "logLevel", FLAG("v"), .flag_empty = "0", .accepts = &accepts_log_level) \
	X(const char *, cloud_provider, "cloudProvider", FLAG("cloud-provider"), .until = 32) \
	X(struct opt_dur, compaction_interval, "compactionInterval", \
	  FLAG("etcd-compaction-interval")) \
	X(int64_t, secure_port, "securePort", FLAG("secure-port"), .accepts = &accepts_secure_port) \
	X(struct opt_int, insecure_port, "insecurePort", FLAG("insecure-port"), .until = 23) \
	X(const char *, address, "address", FLAG("address"), .until = 23) \
	X(const char *, advertise_address, "advertiseAddress", FLAG("advertise-address"), .accepts = &accepts_ip) \
	X(const char *, bind_address, "bindAddress", FLAG("bind-address"), .accepts = &accepts_ip) \
	X(const char *, insecure_bind_address, "insecureBindAddress", \
	  FLAG("insecure-bind-address"), .until = 23) \
	X(struct opt_bool, enable_bootstrap_token_auth, "enableBootstrapTokenAuth", \
	  FLAG("enable-bootstrap-token-auth")) \
	X(struct opt_bool, enable_aggregator_routing, "enableAggregatorRouting", \
	  FLAG("enable-aggregator-routing")) \
	X(struct strv, admission_control, "admissionControl", FLAG("admission-control"), .accepts = &accepts_admission_plugin) \
	X(struct strv, append_admission_plugins, "appendAdmissionPlugins", \
	  .doc = "more of enableAdmissionPlugins") \
	X(struct strv, enable_admission_plugins, "enableAdmissionPlugins", \
	  FLAG("enable-admission-plugins"), .accepts = &accepts_admission_plugin) \
	X(struct strv, disable_admission_plugins, "disableAdmissionPlugins", \
	  FLAG("disable-admission-plugins"), .accepts = &accepts_admission_plugin) \
	X(const char *, admission_control_config_file, "admissionControlConfigFile", \
	  FLAG("admission-control-config-file"), .file = FIELD_FILE) \
	X(const char *, service_cluster_ip_range, "serviceClusterIPRange", \
	  FLAG("service-cluster-ip-range"), .format = &format_cidrs, .accepts = &accepts_service_ranges) \
	X(const char *, service_node_port_range, "serviceNodePortRange", \
	  FLAG("service-node-port-range"), .format = &format_port_range_today) \
	X(struct strv, etcd_servers, "etcdServers", FLAG("etcd-servers"), .accepts = &accepts_etcd_server) \
	X(struct strv, etcd_servers_overrides, "etcdServersOverrides", \
	  FLAG("etcd-servers-overrides"), .accepts = &accepts_etcd_override) \
	X(const char *, etcd_ca_file, "etcdCAFile", FLAG("etcd-cafile"), .file = FIELD_FILE) \
	X(const char *, etcd_cert_file, "etcdCertFile", FLAG("etcd-certfile"), .file = FIELD_FILE) \
	X(const char *, etcd_key_file, "etcdKeyFile", FLAG("etcd-keyfile"), .file = FIELD_FILE) \
	X(const char *, basic_auth_file, "basicAuthFile", FLAG("basic-auth-file"), .until = 18, .file = FIELD_FILE) \
	X(const char *, client_ca_file, "clientCAFile", FLAG("client-ca-file"), .file = FIELD_FILE) \
	X(const char *, tls_cert_file, "tlsCertFile", FLAG("tls-cert-file"), .file = FIELD_FILE) \
	X(const char *, tls_private_key_file, "tlsPrivateKeyFile", FLAG("tls-private-key-file"), .file = FIELD_FILE) \
	X(struct strv, tls_cipher_suites, "tlsCipherSuites", FLAG("tls-cipher-suites"), .accepts = &accepts_tls_ciphers) \
	X(const char *, tls_min_version, "tlsMinVersion", FLAG("tls-min-version"), .accepts = &accepts_tls_version) \
	X(const char *, token_auth_file, "tokenAuthFile", FLAG("token-auth-file"), .file = FIELD_FILE) \
	X(struct opt_bool, allow_privileged, "allowPrivileged", FLAG("allow-privileged")) \
	X(struct opt_int, api_server_count, "apiServerCount", FLAG("apiserver-count"), .accepts = &accepts_one_or_more) \
	X(struct strmap, runtime_config, "runtimeConfig", FLAG("runtime-config"), .accepts = &accepts_runtime_config) \
	X(const char *, kubelet_client_certificate, "kubeletClientCertificate", \
	  FLAG("kubelet-client-certificate"), .file = FIELD_FILE) \
	X(const char *, kubelet_certificate_authority, "kubeletCertificateAuthority", \
	  FLAG("kubelet-certificate-authority"), .file = FIELD_FILE) \
	X(const char *, kubelet_client_key, "kubeletClientKey", FLAG("kubelet-client-key"), .file = FIELD_FILE) \
	X(struct opt_bool, anonymous_auth, "anonymousAuth", FLAG("anonymous-auth")) \
	X(struct strv, kubelet_preferred_address_types, "kubeletPreferredAddressTypes", \
	  FLAG("kubelet-preferred-address-types")) \
	X(const char *, storage_backend, "storageBackend", FLAG("storage-backend"), .accepts = &accepts_storage_backend) \
	X(const char *, oidc_ca_file, "oidcCAFile", FLAG("oidc-ca-file"), .file = FIELD_FILE) \
	X(const char *, authentication_config_file, "authenticationConfigFile", \
	  FLAG("authentication-config"), .file = FIELD_FILE) \
	X(const char *, proxy_client_cert_file, "proxyClientCertFile", \
	  FLAG("proxy-client-cert-file"), .file = FIELD_FILE) \
	X(const char *, proxy_client_key_file, "proxyClientKeyFile", \
	  FLAG("proxy-client-key-file"), .file = FIELD_FILE) \
	X(const char *, audit_log_format, "auditLogFormat", FLAG("audit-log-format")) \
	X(const char *, audit_log_path, "auditLogPath", FLAG("audit-log-path"), .file = FIELD_LOG, .format = &format_log) \
	X(struct opt_int, audit_log_max_age, "auditLogMaxAge", FLAG("audit-log-maxage")) \
	X(struct opt_int, audit_log_max_backups, "auditLogMaxBackups", \
	  FLAG("audit-log-maxbackup")) \
	X(struct opt_int, audit_log_max_size, "auditLogMaxSize", FLAG("audit-log-maxsize")) \
	X(const char *, audit_policy_file, "auditPolicyFile", FLAG("audit-policy-file"), .file = FIELD_FILE, .format = &format_path) \
	X(struct opt_int, audit_webhook_batch_buffer_size, "auditWebhookBatchBufferSize", \
	  FLAG("audit-webhook-batch-buffer-size")) \
	X(struct opt_int, audit_webhook_batch_max_size, "auditWebhookBatchMaxSize", \
	  FLAG("audit-webhook-batch-max-size")) \
	X(struct opt_dur, audit_webhook_batch_max_wait, "auditWebhookBatchMaxWait", \
	  FLAG("audit-webhook-batch-max-wait")) \
	X(struct opt_int, audit_webhook_batch_throttle_burst, "auditWebhookBatchThrottleBurst", \
	  FLAG("audit-webhook-batch-throttle-burst")) \
	X(struct opt_bool, audit_webhook_batch_throttle_enable, "auditWebhookBatchThrottleEnable", \
	  FLAG("audit-webhook-batch-throttle-enable")) \
	X(const char *, audit_webhook_batch_throttle_qps, "auditWebhookBatchThrottleQps", \
	  FLAG("audit-webhook-batch-throttle-qps"), .format = &format_quantity) \
	X(const char *, audit_webhook_config_file, "auditWebhookConfigFile", \
	  FLAG("audit-webhook-config-file"), .file = FIELD_FILE) \
	X(struct opt_dur, audit_webhook_initial_backoff, "auditWebhookInitialBackoff", \
	  FLAG("audit-webhook-initial-backoff")) \
	X(const char *, audit_webhook_mode, "auditWebhookMode", FLAG("audit-webhook-mode")) \
	X(const char *, authentication_token_webhook_config_file, "authenticationTokenWebhookConfigFile", \
	  FLAG("authentication-token-webhook-config-file"), .file = FIELD_FILE) \
	X(struct opt_dur, authentication_token_webhook_cache_ttl, "authenticationTokenWebhookCacheTtl", \
	  FLAG("authentication-token-webhook-cache-ttl")) \
	X(const char *, authorization_mode, "authorizationMode", FLAG("authorization-mode"), .accepts = &accepts_authorization_mode) \
	X(const char *, authorization_webhook_config_file, "authorizationWebhookConfigFile", \
	  FLAG("authorization-webhook-config-file"), .file = FIELD_FILE) \
	X(struct opt_dur, authorization_webhook_cache_authorized_ttl, "authorizationWebhookCacheAuthorizedTTL", \
	  FLAG("authorization-webhook-cache-authorized-ttl")) \
	X(struct opt_dur, authorization_webhook_cache_unauthorized_ttl, "authorizationWebhookCacheUnauthorizedTTL", \
	  FLAG("authorization-webhook-cache-unauthorized-ttl")) \
	X(const char *, authorization_rbac_super_user, "authorizationRBACSuperUser", \
	  FLAG("authorization-rbac-super-user"), .until = 10) \
	X(const char *, encryption_provider_config, "encryptionProviderConfig", \
	  FLAG("encryption-provider-config"), .file = FIELD_FILE) \
	X(const char *, experimental_encryption_provider_config, "experimentalEncryptionProviderConfig", \
	  FLAG("experimental-encryption-provider-config"), .until = 23, .file = FIELD_FILE) \
	X(struct strv, requestheader_username_headers, "requestheaderUsernameHeaders", \
	  FLAG("requestheader-username-headers"), .accepts = &accepts_request_header) \
	X(struct strv, requestheader_group_headers, "requestheaderGroupHeaders", \
	  FLAG("requestheader-group-headers"), .accepts = &accepts_request_header) \
	X(struct strv, requestheader_extra_header_prefixes, "requestheaderExtraHeaderPrefixes", \
	  FLAG("requestheader-extra-headers-prefix"), .accepts = &accepts_request_header) \
	X(const char *, requestheader_client_ca_file, "requestheaderClientCAFile", \
	  FLAG("requestheader-client-ca-file"), .file = FIELD_FILE) \
	X(struct strv, requestheader_allowed_names, "requestheaderAllowedNames", \
	  FLAG("requestheader-allowed-names"), .accepts = &accepts_request_header) \
	X(struct strmap, feature_gates, "featureGates", FLAG("feature-gates"), .format = &format_switch, .accepts = &accepts_gates) \
	X(const char *, goaway_chance, "goawayChance", FLAG("goaway-chance"), .accepts = &accepts_goaway_chance) \
	X(int64_t, max_requests_inflight, "maxRequestsInflight", \
	  FLAG("max-requests-inflight"), .flag_empty = "0", .accepts = &accepts_not_negative) \
	X(int64_t, max_mutating_requests_inflight, "maxMutatingRequestsInflight", \
	  FLAG("max-mutating-requests-inflight"), .flag_empty = "0", .accepts = &accepts_not_negative) \
	X(struct opt_int, http2_max_streams_per_connection, "http2MaxStreamsPerConnection", \
	  FLAG("http2-max-streams-per-connection")) \
	X(struct opt_bool, etcd_quorum_read, "etcdQuorumRead", FLAG("etcd-quorum-read"), .until = 12) \
	X(struct opt_dur, request_timeout, "requestTimeout", FLAG("request-timeout"), .accepts = &accepts_no_negative_period) \
	X(struct opt_dur, storage_initialization_timeout, "storageInitializationTimeout", \
	  FLAG("storage-initialization-timeout"), .accepts = &accepts_no_negative_period) \
	X(struct opt_int, min_request_timeout, "minRequestTimeout", FLAG("min-request-timeout"), .accepts = &accepts_not_negative) \
	X(struct opt_bool, watch_cache, "watchCache", FLAG("watch-cache")) \
	X(struct strv, watch_cache_sizes, "watchCacheSizes", FLAG("watch-cache-sizes"), .accepts = &accepts_cache_size) \
	X(struct strv, service_account_key_file, "serviceAccountKeyFile", \
	  FLAG("service-account-key-file"), .file = FIELD_FILE, .repeat = true) \
	X(const char *, service_account_signing_key_file, "serviceAccountSigningKeyFile", \
	  FLAG("service-account-signing-key-file"), .file = FIELD_FILE) \
	X(const char *, service_account_issuer, "serviceAccountIssuer", \
	  FLAG("service-account-issuer"), .accepts = &accepts_token_issuer) \
	X(struct strv, additional_service_account_issuers, "additionalServiceAccountIssuers", \
	  .doc = "flags --service-account-issuer behind the first", .accepts = &accepts_token_issuer) \
	X(const char *, service_account_jwksuri, "serviceAccountJWKSURI", \
	  FLAG("service-account-jwks-uri"), .accepts = &accepts_https_url) \
	X(struct strv, api_audiences, "apiAudiences", FLAG("api-audiences")) \
	KOPS_POD_RESOURCES(X) \
	X(struct opt_dur, event_ttl, "eventTTL", FLAG("event-ttl")) \
	X(struct opt_bool, audit_dynamic_configuration, "auditDynamicConfiguration", \
	  FLAG("audit-dynamic-configuration"), .until = 18) \
	X(struct opt_bool, enable_profiling, "enableProfiling", FLAG("profiling")) \
	X(struct opt_bool, enable_contention_profiling, "enableContentionProfiling", \
	  FLAG("contention-profiling")) \
	X(struct strv, cors_allowed_origins, "corsAllowedOrigins", FLAG("cors-allowed-origins"), .accepts = &accepts_cors_origin) \
	X(struct strv, strict_transport_security_directives, "strictTransportSecurityDirectives", \
	  FLAG("strict-transport-security-directives"), .accepts = &accepts_hsts) \
	X(struct opt_int, default_not_ready_toleration_seconds, "defaultNotReadyTolerationSeconds", \
	  FLAG("default-not-ready-toleration-seconds"), .wide = true) \
	X(struct opt_int, default_unreachable_toleration_seconds, "defaultUnreachableTolerationSeconds", \
	  FLAG("default-unreachable-toleration-seconds"), .wide = true) \
	X(int64_t, target_ram_mb, "targetRamMB", FLAG("target-ram-mb"), .flag_empty = "0", .until = 23) \
	X(int64_t, delete_collection_workers, "deleteCollectionWorkers", \
	  FLAG("delete-collection-workers"), .flag_empty = "0") \
	/* a list of Kubernetes' EnvVar, as the document has it */ \
	X(const struct tree *, env, "env", .shape = TREE_SEQ, .secret = true, .doc = "environment of the pod")
/* clang-format on */
