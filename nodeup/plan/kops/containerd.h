/* containerd.h - the content of containerd's files
 * Owner: the arena of the plan.
 * Errors: the plan's. Threads: one.
 * Source: kops 1.37 nodeup/pkg/model/containerd.go, nvidia.go, gvisor.go.
 * Tests: test_kops_containerd.c. */
#pragma once

#include "nodeup/plan/kops/kops.h"

/* The folder for files of other programs, which containerd reads after its config.toml, and the ending of the files'
 * names. */
extern const char kops_containerd_shared[], kops_containerd_ending[];
/* Returns the text of config.toml: the documents' own, or one made of their settings. "" when the plan fails.
 * ret_before: the earlier text, which did not import files of others; or NULL. */
const char *kops_containerd_config(struct plan *p, const char **ret_before);
/* Writes a hosts.toml for each registry with mirrors. No unit has such a file as an input, because containerd reads
 * it at each pull. */
void kops_registry_hosts(struct plan *p);
/* Returns the directory of the hosts.toml files; NULL: no registry has mirrors. */
const char *kops_registry_dir(const struct plan *p);
/* Returns whether containers may use the instance's GPUs. */
bool kops_has_nvidia(const struct plan *p);
/* Returns whether pods may run in gVisor. */
bool kops_has_gvisor(const struct plan *p);
