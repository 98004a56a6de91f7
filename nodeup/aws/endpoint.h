/* endpoint.h - the address of a service of AWS
 * Owner: the arena. Errors: none. Threads: all functions; the environment is read.
 * Source: botocore's endpoints.json, "Service-specific endpoints".
 * Tests: test_ec2.c. */
#pragma once

#include "nodeup/base/str.h"

enum endpoint_service { ENDPOINT_EC2, ENDPOINT_AUTO_SCALING, ENDPOINT_CLOUDFORMATION };

struct endpoint {
	const char *name;     /* the name in signatures and host names: "ec2" */
	const char *title;    /* the usual name: "EC2" */
	const char *version;  /* the version of its API */
	const char *variable; /* the variable that sets another endpoint */
};

/* Returns the domain of AWS's host names in a region: "amazonaws.com". */
const char *endpoint_domain(const char *region);
/* Returns the row of a service. */
const struct endpoint *endpoint_row(enum endpoint_service service);
/* Returns the service of that name, which must be one. */
enum endpoint_service endpoint_named(const char *name);
/* Returns the endpoint that the environment names for the service; if it names none, AWS's endpoint. No slash at its
 * end. */
char *endpoint_of(struct arena *a, enum endpoint_service service, const char *region);
