#include "nodeup/config/accepts_common.h"

#include "nodeup/config/feature_gates_locked.h"
#include "nodeup/config/feature_gates_today.h"

#define GATES_AT(v, ...)                                                               \
	{                                                                              \
		.wanted = "a feature gate of Kubernetes 1." #v, .oneof = GATES_OF_##v, \
		.keys = true, .names = true, .since = (v), __VA_ARGS__                 \
	}

/* Each version locks more gates as open. A program stops if a locked gate is set to another value. */
#define LOCKED_AT(v, ...)                                                                     \
	{                                                                                     \
		.wanted = "true, as Kubernetes has locked it",                                \
		.pattern = "!^(" LOCKED_ON_##v ")=(0|f|F|false|FALSE|False)$", .pairs = true, \
		.names = true, .since = (v), __VA_ARGS__                                      \
	}

static const struct field_accepts locked_36 = LOCKED_AT(36);
static const struct field_accepts locked_35 = LOCKED_AT(35, .next = &locked_36);
static const struct field_accepts locked_34 = LOCKED_AT(34, .next = &locked_35);
static const struct field_accepts locked_33 = LOCKED_AT(33, .next = &locked_34);
static const struct field_accepts locked_32 = LOCKED_AT(32, .next = &locked_33);
static const struct field_accepts locked_31 = LOCKED_AT(31, .next = &locked_32);
static const struct field_accepts gates_37 = GATES_AT(37, .next = &locked_31);
static const struct field_accepts gates_36 = GATES_AT(36, .until = 36, .next = &gates_37);
static const struct field_accepts gates_35 = GATES_AT(35, .until = 35, .next = &gates_36);
static const struct field_accepts gates_34 = GATES_AT(34, .until = 34, .next = &gates_35);
static const struct field_accepts gates_33 = GATES_AT(33, .until = 33, .next = &gates_34);
static const struct field_accepts gates_32 = GATES_AT(32, .until = 32, .next = &gates_33);
const struct field_accepts accepts_gates = GATES_AT(31, .until = 31, .next = &gates_32);

const struct field_accepts accepts_tls_ciphers = {
	.wanted = "the name of a cipher of Go",
	.oneof = "TLS_AES_128_GCM_SHA256|TLS_AES_256_GCM_SHA384|TLS_CHACHA20_POLY1305_SHA256|"
		 "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA|TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256|"
		 "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256|TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA|"
		 "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384|TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305|"
		 "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256|TLS_ECDHE_ECDSA_WITH_RC4_128_SHA|"
		 "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA|TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA|"
		 "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256|TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256|"
		 "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA|TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384|"
		 "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305|TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256|"
		 "TLS_ECDHE_RSA_WITH_RC4_128_SHA|TLS_RSA_WITH_3DES_EDE_CBC_SHA|"
		 "TLS_RSA_WITH_AES_128_CBC_SHA|TLS_RSA_WITH_AES_128_CBC_SHA256|"
		 "TLS_RSA_WITH_AES_128_GCM_SHA256|TLS_RSA_WITH_AES_256_CBC_SHA|"
		 "TLS_RSA_WITH_AES_256_GCM_SHA384|TLS_RSA_WITH_RC4_128_SHA",
	.commas = true,
	.names = true
};
const struct field_accepts accepts_tls_version = {
	.oneof = "VersionTLS10|VersionTLS11|VersionTLS12|VersionTLS13"
};
const struct field_accepts accepts_log_level = { ACCEPTS_FROM_TO(0, 2147483647), .since = 31 };
const struct field_accepts accepts_log_format = { .oneof = "text|json" };
const struct field_accepts accepts_not_negative = { ACCEPTS_OR_MORE(0) };
const struct field_accepts accepts_no_negative_period = { .wanted = "a duration of 0s or more",
							  .max = INT64_MAX };
