/* containerd.h - what the files of containerd say
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.37 nodeup/pkg/model/containerd.go, nvidia.go, gvisor.go.
 * Tests: test_kops_containerd.c. */
#pragma once

#include "nodeup/plan/kops/kops.h"

/* The folder in which others put files that containerd reads behind its config.toml, and the ending of their names. */
extern const char kops_containerd_shared[], kops_containerd_ending[];
/* Text of config.toml: the documents' own, or what is made of their settings. "" when the plan fails. ret_before: how it was
 * before others had a place, or NULL. */
const char *kops_containerd_config(struct plan *p, const char **ret_before);
/* A hosts.toml for each registry that has mirrors. No unit reads them when it starts: containerd reads them live. */
void kops_registry_hosts(struct plan *p);
/* The directory that holds them; NULL: no registry has mirrors. */
const char *kops_registry_dir(const struct plan *p);
/* Returns whether containers may use the instance's GPUs. */
bool kops_has_nvidia(const struct plan *p);
/* Returns whether pods may run in gVisor. */
bool kops_has_gvisor(const struct plan *p);
