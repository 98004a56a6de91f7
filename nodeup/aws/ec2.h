/* ec2.h - asks EC2 about instance types and volumes, and for an IPv6 prefix
 * Uses query.h, which alone has time limits and retries.
 * Owner: ec2_new/query_free; answers are the arena's. Errors: query.h's. Units: nanoseconds. Threads: one.
 * Source: Amazon EC2 API reference, 2016-11-15.
 * Tests: test_ec2.c. */
#pragma once

#include "nodeup/aws/query.h"

struct ec2_volume {
	const char *id;
	const char *state; /* creating, available, in-use, deleting, deleted, error */
	/* the instance that the volume is attached to; "": none */
	const char *instance, *device;
	const char *attachment; /* attaching, attached, detaching, detached, busy */
	bool multi_attach;      /* may be attached to several instances at once */
	const char *other;      /* a second instance that the volume is attached to; "": none */
};

/* The limits of an instance type. */
struct ec2_type {
	int64_t enis, ips_per_eni; /* network interfaces, and IPv4 addresses of each */
	int64_t gpus;              /* GPUs of NVIDIA */
};

struct ec2_volumes {
	struct ec2_volume *v;
	size_t n;
};

/* Calls query_new() for the service EC2. */
struct query *ec2_new(const struct query_req *req) must_check;
/* Describes an instance type by its name. */
int ec2_describe_type(struct query *c, struct arena *a, const char *name, struct ec2_type *ret,
		      struct err *e) must_check;
/* Describes the volumes with these ids, page by page. Leaves out volumes that EC2 does not know. */
int ec2_describe_volumes(struct query *c, struct arena *a, const struct strv *ids,
			 struct ec2_volumes *ret, struct err *e) must_check;
/* Gives a network interface one more IPv6 prefix. */
int ec2_assign_prefix(struct query *c, const char *interface, struct err *e) must_check;
