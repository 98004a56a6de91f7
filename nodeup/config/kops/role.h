/* role.h - the roles of instance groups of today's kops, as a table
 * Invariant: pure; the rows are constants. Errors: none. Threads: all functions. Source: kops 1.37 pkg/apis/kops.
 * Tests: test_kops_config.c. */
#pragma once

#include <stdbool.h>

/* What an instance group can be: all that follows from the name alone. */
struct kops_role {
	const char *name;   /* as documents have it */
	const char *title;  /* as people call such a node */
	const char *folder; /* below igconfig of the state store; NULL: it is asked for elsewhere */
	bool serves_api, is_control_plane;
};

/* The row of a role by its name; that of a worker for any other name, which is an error of the document. */
const struct kops_role *kops_role(const char *role);
