/* endpoint.h - where a service of AWS is asked
 * Owner: the arena. Errors: none. Threads: all functions; the environment is read.
 * Source: botocore's endpoints.json, "Service-specific endpoints". */
#pragma once

#include "nodeup/base/str.h"

/* The domain that names of AWS's hosts in a region end in: "amazonaws.com". */
const char *endpoint_domain(const char *region);
/* What the environment names instead of AWS's own endpoint of EC2, else that; no slash at its end. */
char *endpoint_ec2(struct arena *a, const char *region);
