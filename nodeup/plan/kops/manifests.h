/* manifests.h - static pods of others, as they lie in the state store
 * Bodies: build_manifests.c.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.37 nodeup/pkg/model/{manifests,channels}.go.
 * Tests: test_kops_pods.c. */
#pragma once

#include "nodeup/plan/kops/kops.h"

/* The text of the manifest at that place. "" where documents are looked at alone, and when the plan fails. */
const char *kops_manifest_text(struct plan *p, const char *from);
