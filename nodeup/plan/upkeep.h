/* upkeep.h - kernel settings, firewall, updates and logs of a host
 * The eras share the tasks and differ in the texts.
 * Owner: the arena of the plan.
 * Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 and 1.37 nodeup/pkg/model/{sysctls,firewall,update_service,logrotate}.go.
 * Tests: test_build.c. */
#pragma once

#include "nodeup/plan/tasklist.h"

/* Writes kernel settings to a file of sysctl.d(5), and sets them in the running kernel. `own` holds the lines that
 * the documents add. */
struct task *plan_sysctl(struct plan *p, const char *content, const char *own);
/* Writes a script that opens INPUT and FORWARD for pods and their traffic, and runs it at each boot. */
void plan_firewall(struct plan *p, const char *path, const char *script_text);
/* Turns automatic updates on or off, on hosts with apt. */
void plan_upgrades(struct plan *p, bool wanted);
/* Rotates /var/log/NAME.log. `date` is a line of its own or empty, and `end` comes after the last brace. */
void plan_rotated_log(struct plan *p, const char *name, const char *date, const char *end);
/* Rotates every hour. service is the text of logrotate.service; NULL: the vendor's unit will do. */
void plan_rotate_hourly(struct plan *p, const char *service);
