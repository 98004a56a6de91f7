/* ec2_fake.h - tests/fake/ec2.py as a child of a unit test, and a client of it
 * The environment points there, with the key that it knows.
 * Owner: the test's fixture. Errors: assertions. */
#pragma once

#include <sys/types.h>
#include "nodeup/aws/ec2.h"

struct ec2_fake {
	pid_t pid;
	int stdin_fd, port, root_fd;
	char dir[64];
	struct arena *arena;
	struct http *http;
	struct query *ec2;
};

/* Start it with this state ("volumes" and others, JSON without the outer braces). */
struct ec2_fake *ec2_fake_start(const char *state);
/* tests/fake/cloudformation.py in its stead: "stacks"; or tests/fake/autoscaling.py: "groups", "health". */
struct ec2_fake *ec2_fake_start_stacks(const char *state);
struct ec2_fake *ec2_fake_start_groups(const char *state);
void ec2_fake_stop(struct ec2_fake *f);
/* "DescribeVolumes&code=Blocked&times=2". */
void ec2_fake_fault(struct ec2_fake *f, const char *how);
/* How often an action was asked for. */
int ec2_fake_count(struct ec2_fake *f, const char *action);
/* All that was asked, as JSON. */
const char *ec2_fake_log(struct ec2_fake *f);
