/* endpoint.h - where a service of AWS is asked
 * Owner: the arena. Errors: none. Threads: all functions; the environment is read.
 * Source: botocore's endpoints.json, "Service-specific endpoints".
 * Tests: test_ec2.c. */
#pragma once

#include "nodeup/base/str.h"

enum endpoint_service { ENDPOINT_EC2, ENDPOINT_AUTO_SCALING };

/* The domain that names of AWS's hosts in a region end in: "amazonaws.com". */
const char *endpoint_domain(const char *region);
/* By what name the service is signed for: "ec2". */
const char *endpoint_signed_name(enum endpoint_service service);
/* Returns the endpoint that the environment names for the service, else AWS's own; no slash at its end. */
char *endpoint_of(struct arena *a, enum endpoint_service service, const char *region);
