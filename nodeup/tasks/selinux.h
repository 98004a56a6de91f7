/* selinux.h - the labels that the policy of SELinux has for files and directories
 * Without it a new file has the label of its directory, or of the cache from which its bytes come.
 * Owner: the arena. Errors: none: what cannot be read has no label. Threads: all functions.
 * Source: selinux(8), selabel_file(5), file_contexts(5), selinux_config(5).
 * Tests: test_selinux.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Says which policy is used, on a host that may have one. */
#define SELINUX_CONFIG "/etc/selinux/config"

/* Returns the label of a regular file, or of a directory if the mode is one's, at that path below the root; NULL: the
 * policy has none for it, or there is no policy. */
const char *selinux_label(struct arena *a, int root_fd, const char *path, mode_t mode);
/* Labels the open object that is at `path`, or will be put there. A kernel that takes no labels has no use for
 * them. */
void selinux_set(struct task_ctx *ctx, const char *path, int fd);
