/* pod_files.h - the files that flags of a static pod's program name
 * A program reads them in its container, so that each needs a mount there, and on this host somebody who writes it.
 * Owner: the arena of the plan. Errors: the plan's; a file that nobody writes is a warning. Threads: one.
 * Tests: test_kops_pods.c. */
#pragma once

#include "manifests/manifest.h"
#include "nodeup/plan/plan.h"

/* Mount the folder of a file: of a log that the program renames, or of what may be replaced. Nothing of one without a folder, as
 * "-" and "/a.log" are, and of NULL. */
void plan_mount_folder_of(struct plan *p, struct pod *pod, const char *volume, const char *file,
			  bool read_only);
/* Mount what flags of this spec name, and no mount of the pod brings yet; it has all others. */
void plan_pod_files(struct plan *p, struct pod *pod, const struct schema *s, const void *spec);
/* The same of a manifest that is another's: what it lacks is told, and what kubelet would refuse fails the plan. */
void plan_check_manifest(struct plan *p, const char *from, const char *text);
/* All builders are through: warn of files that no task writes and that are not there. */
void plan_warn_pod_files(struct plan *p);
