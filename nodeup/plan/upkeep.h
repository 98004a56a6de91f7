/* upkeep.h - what keeps a host in order, as nodes of several eras have it
 * Kernel settings, the firewall, updates and logs: the eras differ in their texts.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 and 1.37 nodeup/pkg/model/{sysctls,firewall,update_service,logrotate}.go.
 * Tests: test_build.c. */
#pragma once

#include "nodeup/plan/tasklist.h"

/* Settings of the kernel: a file of sysctl.d(5), and its values in the kernel that runs. `own` are lines of it that the
 * documents themselves have. */
struct task *plan_sysctl(struct plan *p, const char *content, const char *own);
/* A script by which INPUT and FORWARD let pods and their traffic through, run at each boot. */
void plan_firewall(struct plan *p, const char *path, const char *script_text);
/* Turns automatic updates on or off, on hosts that have apt. */
void plan_upgrades(struct plan *p, bool wanted);
/* Rotate /var/log/NAME.log. `date` is a line of its own or empty, and `end` stands behind the last brace. */
void plan_rotated_log(struct plan *p, const char *name, const char *date, const char *end);
/* Rotate each hour; service is the text of logrotate.service, or NULL where the vendor's is good. */
void plan_rotate_hourly(struct plan *p, const char *service);
