/* kernel.h - what the kernel that runs can load
 * Owner: none. Errors: none: lists that cannot be read have nothing. Threads: all functions.
 * Source: depmod(8), modules.builtin. */
#pragma once

#include <stdbool.h>

/* Whether one of its lists ("modules.dep", "modules.builtin") has a module: "kernel/net/bridge/br_netfilter.ko.zst: ..." */
bool kernel_lists(int root_fd, const char *list, const char *module);
/* Whether its lists are there, and none has the module. In a container there are none. */
bool kernel_lacks(int root_fd, const char *module);
