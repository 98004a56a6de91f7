/* volumes.h - what other builders and the dependency rules ask about a plan's volumes
 * Bodies: volume_tools.c.
 * Owner: the arena of the plan. Errors: none. Threads: one.
 * Tests: test_build_volumes.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Returns the UUID that the volume's file system has or will have; NULL: it is not known which machine this is. */
const char *volumes_uuid(const struct plan *p, const struct node_volume *v);
/* Returns the services that may start only when something is mounted. */
struct strv volumes_services(const struct plan *p);
/* Returns the mount points that the service waits for. kubelet waits for all mount points, as its pods may use any
 * volume. */
struct strv volumes_of_service(const struct plan *p, const char *service);
/* Returns the name of the marker for a bind's target in the form that a unit's text needs. */
const char *volumes_specifier_free(struct arena *a, const char *target);
/* Makes package tasks for the programs that make a volume's file system, if this distribution can install them.
 * Returns the programs. Asks for a package only if its program is missing and the volume is not made yet. */
struct strv volume_tools(struct plan *p, const struct node_volume *v);

/* Dependency rules: see deps.c. */
bool volumes_is_mount(const struct task *unit);
bool volumes_needs_mount(const struct task *t, const struct task *unit);
bool volumes_is_below(const struct task *t, const struct task *unit);
bool volumes_is_bind(const struct task *unit);
bool volume_tools_is_for(const struct task *volume, const struct task *package);
bool volume_tools_is_before(const struct task *package, const struct task *file);
