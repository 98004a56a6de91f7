/* kubelet.h - the settings of a running kubelet
 * Flags override files of the drop-in directory, and these override the configuration file.
 * Owner: the arena. Errors: none: settings that cannot be read are left out. Threads: all functions.
 * Source: kubernetes cmd/kubelet/app/server.go, mergeKubeletConfigurations; kubelet.config.k8s.io/v1beta1.
 * Tests: test_liveness.c. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/mem.h"

/* A directory that kubelet makes when it starts; the names of its files name pods. */
#define KUBELET_LOGS "/var/log/containers"

/* Returns the value of a key in a drop-in directory, and the file that gives it: the last file that has the key.
 * NULL: no file has it. */
const char *kubelet_dropin(struct arena *a, int root_fd, const char *dir, const char *key,
			   const char **ret_file);
/* Finds the address of a process's health check: the usual one, unless a setting changes it. false: the check cannot
 * be asked; *ret_why is the reason. */
bool kubelet_healthz(struct arena *a, int root_fd, uint32_t pid, struct in_addr *ret_address,
		     uint16_t *ret_port, const char **ret_why);
