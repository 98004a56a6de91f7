/* tasklist.h - what a builder appends to the plan
 * One path asked for twice is one task if the content is the same, and else an error. A builder checks no
 * result: the plan keeps all errors, and fails when all builders have run.
 * Bodies: deps.c.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Tests: test_plan.c, test_deps.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* The folder of our unit files, with its slash. */
extern const char plan_unit_dir[];
/* Returns the error to fill, which fails the plan. The builder may go on: its later tasks are not used. */
struct err *plan_error(struct plan *p);
/* Say so of the documents, as err_config() does. */
#define plan_refuse(p, ...) ((void)err_config(plan_error(p), __VA_ARGS__))
/* The same of what is missing: nothing is said of it where it may be what could not be read. */
#define plan_lacks(p, ...) ((p)->is_partial ? (void)0 : plan_refuse(p, __VA_ARGS__))
/* Tell of something that is no reason to fail. */
#define plan_warn(p, ...) strv_addf((p)->arena, &(p)->warnings, __VA_ARGS__)
/* The same as plan_error() for an error that is there already. */
void plan_fail(struct plan *p, const struct err *e);
/* Two builders want different things at one place: the plan fails, and the task returned is not in it. */
struct task *plan_conflict(struct plan *p, const struct task *t);
/* Append a task without looking for an equal one. */
struct task *plan_new_task(struct plan *p, enum task_kind kind, const char *name);
/* Tasks were taken out: find the others anew. */
void plan_index_again(struct plan *p);
/* The task that puts something at a path, or NULL; so far. */
struct task *plan_at(const struct plan *p, const char *path);
/* The unit of that name, or NULL; so far. */
struct task *plan_unit_of(const struct plan *p, const char *name);

/* Each returns the task, an equal one that is there already included. When the same path was asked for
 * with other content the plan fails. */
struct task *plan_dir(struct plan *p, const char *path, mode_t mode);
struct task *plan_file(struct plan *p, const char *path, mode_t mode, const char *content);
/* A file that is not wanted: one that begins with marker is removed, any other is left. */
struct task *plan_no_file(struct plan *p, const char *path, const char *marker);
/* As plan_file, content never shown. */
struct task *plan_secret(struct plan *p, const char *path, mode_t mode, const char *content);
/* As either of them, for content that may not be text. */
struct task *plan_bytes(struct plan *p, const char *path, mode_t mode, const void *content,
			size_t len, bool secret);
/* The text of a document for that path; one of more than max bytes fails the plan. */
const char *plan_yaml(struct plan *p, const char *path, const struct tree *t, size_t max);
/* A unit file of ours in /etc/systemd/system, or a drop-in: "x.service.d/10-y.conf". */
struct task *plan_unit_file(struct plan *p, const char *name, const char *text);
/* Writes variables for a container as docker reads them: KEY=value to the end of the line, without quotes. Without
 * any, the file that `whose` had goes. */
void plan_env_file(struct plan *p, const char *path, const char *whose, const struct strmap *env);
/* As plan_unit_file, text never shown. */
struct task *plan_secret_unit(struct plan *p, const char *name, const char *text);
/* A unit file of ours as plan_unit_file, and the unit as plan_unit. */
struct task *plan_service(struct plan *p, const char *name, const char *text, bool enable);
/* A unit to be started (and enabled); inputs start with its unit file and drop-ins of this plan.
 * The caller adds others with strv_add to task->unit.inputs. */
struct task *plan_unit(struct plan *p, const char *name, bool enable);
/* Have kubelet, the task, start without what it remembers of other policies. root: its directory; cpus: its policy for CPUs;
 * either empty: its own default. */
void plan_checkpoints(struct plan *p, struct task *kubelet, const char *root, const char *cpus);
/* A unit that is not to run: stopped, and disabled. No unit of that name may be asked for. */
struct task *plan_unit_off(struct plan *p, const char *name);
/* Has nothing start a unit of that name any more. */
void plan_unit_mask(struct plan *p, const char *name);
/* Returns whether a task writes the unit's own file or one of its drop-ins. */
bool plan_is_text_of(const struct task *t, const char *unit);

/* Fill needs, users and serves of every task. A cycle is an error, by the names on it. */
int deps_link(struct plan *p, struct err *e) must_check;
/* Take assets and archives out that nothing is made of. */
void deps_drop_unused(struct plan *p);
