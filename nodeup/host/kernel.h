/* kernel.h - what the kernel that runs can load
 * Owner: none. Errors: none: lists that cannot be read have nothing. Threads: all functions.
 * Source: depmod(8), modules.builtin.
 * Tests: test_probe.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/mem.h"

/* One of its lists: "modules.dep", "modules.builtin"; NULL: there is none. */
const char *kernel_list(struct arena *a, int root_fd, const char *list);
/* Returns whether a list has a module: "kernel/net/bridge/br_netfilter.ko.zst: ..." */
bool kernel_lists(int root_fd, const char *list, const char *module);
/* Returns whether its lists are there, and none has the module. In a container there are none. */
bool kernel_lacks(int root_fd, const char *module);
/* Returns whether it has raid0, or a module of it that it can load. */
bool kernel_has_raid0(int root_fd);
