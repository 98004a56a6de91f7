/* kubelet.h - what a kubelet that runs was given
 * Its flags go before the files of its drop-in directory, and these before its configuration.
 * Owner: the arena. Errors: none: what cannot be read gives nothing. Threads: all functions.
 * Source: kubernetes cmd/kubelet/app/server.go, mergeKubeletConfigurations; kubelet.config.k8s.io/v1beta1.
 * Tests: test_liveness.c. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/mem.h"

/* The value of a key in the last file of a drop-in directory that has it, and that file; NULL: none has. */
const char *kubelet_dropin(struct arena *a, int root_fd, const char *dir, const char *key,
			   const char **ret_file);
/* Find where the kubelet of a process says that it is well: its usual place where nothing says otherwise. false: nowhere that can be
 * asked, and why. */
bool kubelet_healthz(struct arena *a, int root_fd, uint32_t pid, struct in_addr *ret_address,
		     uint16_t *ret_port, const char **ret_why);
