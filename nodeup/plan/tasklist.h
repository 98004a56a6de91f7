/* tasklist.h - what a builder appends to the plan
 * Asking for the same path twice with the same content is one task, with another content an error.
 * Owner: the arena of the plan. Errors: CONFIG. Threads: one. */
#pragma once

#include "nodeup/plan/plan.h"

/* Where unit files of ours are, with its slash. */
extern const char plan_unit_dir[];
/* Append a task without looking for an equal one. */
struct task *plan_new_task(struct plan *p, enum task_kind kind, const char *name);
/* Tasks were taken out: find the others anew. */
void plan_index_again(struct plan *p);
/* The task that puts something at a path, or NULL; so far. */
struct task *plan_at(const struct plan *p, const char *path);
/* The unit of that name, or NULL; so far. */
struct task *plan_unit_of(const struct plan *p, const char *name);

/* Each returns the task (an equal one that is there already included), or NULL with *e filled when the
 * same path was asked for with other content. */
struct task *plan_dir(struct plan *p, const char *path, mode_t mode, struct err *e);
struct task *plan_file(struct plan *p, const char *path, mode_t mode, const char *content,
		       struct err *e);
/* A file that is not wanted: one that begins with marker is removed, any other is left. */
struct task *plan_no_file(struct plan *p, const char *path, const char *marker, struct err *e);
/* As plan_file, content never shown. */
struct task *plan_secret(struct plan *p, const char *path, mode_t mode, const char *content,
			 struct err *e);
/* As plan_secret, for content that is not text. */
struct task *plan_secret_bytes(struct plan *p, const char *path, mode_t mode, const void *content,
			       size_t len, struct err *e);
/* A unit file of ours in /etc/systemd/system, or a drop-in: "x.service.d/10-y.conf". */
struct task *plan_unit_file(struct plan *p, const char *name, const char *text, struct err *e);
/* As plan_unit_file, text never shown. */
struct task *plan_secret_unit(struct plan *p, const char *name, const char *text, struct err *e);
/* A unit to be started (and enabled); inputs start with its unit file and drop-ins of this plan.
 * The caller adds others with strv_add to task->unit.inputs. */
struct task *plan_unit(struct plan *p, const char *name, bool enable, struct err *e);
/* Whether a task writes the unit's own file or one of its drop-ins. */
bool plan_is_text_of(const struct task *t, const char *unit);
