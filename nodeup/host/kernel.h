/* kernel.h - the modules that the running kernel can load
 * Owner: none. Errors: none: lists that cannot be read count as empty. Threads: all functions.
 * Source: depmod(8), modules.builtin.
 * Tests: test_probe.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/mem.h"

/* Reads one of the lists, "modules.dep" or "modules.builtin"; NULL: it does not exist. */
const char *kernel_list(struct arena *a, int root_fd, const char *list);
/* Returns whether a list has a module: "kernel/net/bridge/br_netfilter.ko.zst: ..." */
bool kernel_lists(int root_fd, const char *list, const char *module);
/* Returns whether the lists exist and none has the module. In a container the lists do not exist. */
bool kernel_lacks(int root_fd, const char *module);
/* Returns whether the kernel has raid0, or can load it as a module. */
bool kernel_has_raid0(int root_fd);
