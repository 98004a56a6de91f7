/* accepts_common.h - what several programs of Kubernetes take in the same way
 * Owner: constants. Errors: none. Threads: all.
 * Source: Kubernetes 1.31.14 to 1.36.3 and a state of 1.37: component-base cli/flag/ciphersuites_flag.go, logs/api/v1,
 * featuregate; Go's crypto/tls for the names of ciphers. */
#pragma once

#include "nodeup/base/accepts.h"

extern const struct field_accepts accepts_gates;       /* of the keys of a map; from 1.31 on */
extern const struct field_accepts accepts_tls_ciphers; /* of a list, or a text with commas */
extern const struct field_accepts accepts_tls_version;
extern const struct field_accepts
	accepts_log_level; /* from 1.31 on: glog took numbers below zero */
extern const struct field_accepts accepts_log_format;
extern const struct field_accepts accepts_not_negative;
