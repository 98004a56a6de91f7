/* tasklist.h - what a builder appends to the plan
 * If one path is asked for twice, the result is one task if the content is the same, otherwise an error. A builder
 * checks no result: the plan keeps all errors, and fails when all builders have run.
 * Bodies: deps.c.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Tests: test_plan.c, test_deps.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* The folder of our unit files, with a slash at its end. */
extern const char plan_unit_dir[];
/* Returns an error to be filled in, which fails the plan. The builder may go on: its later tasks are not used. */
struct err *plan_error(struct plan *p);
/* Fails the plan with an error of the documents, as err_config() makes it. */
#define plan_refuse(p, ...) ((void)err_config(plan_error(p), __VA_ARGS__))
/* Fails the plan because something is missing, but not if it may be among the values that could not be read. */
#define plan_lacks(p, ...) ((p)->is_partial ? (void)0 : plan_refuse(p, __VA_ARGS__))
/* Warns of something without failing the plan. */
#define plan_warn(p, ...) strv_addf((p)->arena, &(p)->warnings, __VA_ARGS__)
/* Fails the plan with an error that exists already. */
void plan_fail(struct plan *p, const struct err *e);
/* Fails the plan because two builders want different things at one place. The returned task is not in the plan. */
struct task *plan_conflict(struct plan *p, const struct task *t);
/* Appends a task without looking for an equal one. */
struct task *plan_new_task(struct plan *p, enum task_kind kind, const char *name);
/* Builds the index of tasks again, after tasks were taken out. */
void plan_index_again(struct plan *p);
/* Returns the task that puts something at a path, or NULL if no builder has made one yet. */
struct task *plan_at(const struct plan *p, const char *path);
/* Returns the task for the unit of that name, or NULL if no builder has made one yet. */
struct task *plan_unit_of(const struct plan *p, const char *name);

/* Each function appends its task and returns it, or returns an equal task that exists already. If the path was asked
 * for with other content, the plan fails. */
struct task *plan_dir(struct plan *p, const char *path, mode_t mode);
struct task *plan_file(struct plan *p, const char *path, mode_t mode, const char *content);
/* Removes a file that begins with marker; leaves any other file. */
struct task *plan_no_file(struct plan *p, const char *path, const char *marker);
/* Does the same as plan_file, for content that is never shown. */
struct task *plan_secret(struct plan *p, const char *path, mode_t mode, const char *content);
/* Does the same as plan_file, or as plan_secret if `secret`, for content that may not be text. */
struct task *plan_bytes(struct plan *p, const char *path, mode_t mode, const void *content,
			size_t len, bool secret);
/* Returns the text of a document for that path. A text of more than max bytes fails the plan. */
const char *plan_yaml(struct plan *p, const char *path, const struct tree *t, size_t max);
/* Writes a unit file in /etc/systemd/system, or a drop-in: "x.service.d/10-y.conf". */
struct task *plan_unit_file(struct plan *p, const char *name, const char *text);
/* Writes a container's variables in the form that docker reads: KEY=value to the end of the line, without quotes. If
 * there are no variables, removes the file that `whose` had. */
void plan_env_file(struct plan *p, const char *path, const char *whose, const struct strmap *env);
/* Does the same as plan_unit_file, for text that is never shown. */
struct task *plan_secret_unit(struct plan *p, const char *name, const char *text);
/* Writes a unit file as plan_unit_file does, and starts the unit as plan_unit does. */
struct task *plan_service(struct plan *p, const char *name, const char *text, bool enable);
/* Starts (and enables) a unit. The unit's inputs are the unit file and drop-ins in this plan; the caller adds others
 * to task->unit.inputs with strv_add. */
struct task *plan_unit(struct plan *p, const char *name, bool enable);
/* Makes the task remove kubelet's records of other policies before it starts kubelet. root: kubelet's directory;
 * cpus: its CPU policy; "": kubelet's own default. */
void plan_checkpoints(struct plan *p, struct task *kubelet, const char *root, const char *cpus);
/* Stops and disables a unit. No builder may ask for the unit as well. */
struct task *plan_unit_off(struct plan *p, const char *name);
/* Masks a unit of that name, so that nothing starts it any more. */
void plan_unit_mask(struct plan *p, const char *name);
/* Returns whether the task is a link that masks a unit. */
bool plan_is_mask(const struct task *t);
/* Returns whether the task writes the unit's own file or one of its drop-ins. */
bool plan_is_text_of(const struct task *t, const char *unit);

/* Fill needs, users and serves of every task. A cycle is an error that names its tasks. */
int deps_link(struct plan *p, struct err *e) must_check;
/* Takes out assets and archives from which nothing is installed. */
void deps_drop_unused(struct plan *p);
