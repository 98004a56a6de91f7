/* ec2.h - the few questions of an instance to EC2: its type, volumes; and one request: a prefix
 * By query.h, whose patience and retries are all there are.
 * Owner: ec2_new/query_free; answers are the arena's. Errors: query.h's.
 * Units: nanoseconds. Threads: one. Source: Amazon EC2 API reference, 2016-11-15.
 * Tests: test_ec2.c. */
#pragma once

#include "nodeup/aws/query.h"

struct ec2_volume {
	const char *id;
	const char *state; /* creating, available, in-use, deleting, deleted, error */
	/* of its attachment; "" for none */
	const char *instance, *device;
	const char *attachment; /* attaching, attached, detaching, detached, busy */
	bool multi_attach;      /* several instances may have it at once */
	const char *other;      /* another instance that has it as well; "" for none */
};

/* The most that an instance type can have. */
struct ec2_type {
	int64_t enis, ips_per_eni; /* network interfaces, and addresses of version 4 of each */
	int64_t gpus;              /* of NVIDIA */
};

struct ec2_volumes {
	struct ec2_volume *v;
	size_t n;
};

/* A query_new() that needs not to be told the service. */
struct query *ec2_new(const struct query_req *req) must_check;
/* An instance type by its name. */
int ec2_describe_type(struct query *c, struct arena *a, const char *name, struct ec2_type *ret,
		      struct err *e) must_check;
/* The volumes of these ids that EC2 knows, page by page. */
int ec2_describe_volumes(struct query *c, struct arena *a, const struct strv *ids,
			 struct ec2_volumes *ret, struct err *e) must_check;
/* Give a network interface one more prefix of version 6. */
int ec2_assign_prefix(struct query *c, const char *interface, struct err *e) must_check;
