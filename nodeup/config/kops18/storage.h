/* storage.h - what the documents say about disks, and docker's storage driver
 * kops' volumeMounts with selectors beyond a path, and the two settings of kube-up; both become
 * volumes of the model. What cannot be meant is an error with its place before anything is touched.
 * Owner: the arena. Errors: CONFIG with file:line:column. Threads: one.
 * Source: kops pkg/apis/kops VolumeMountSpec; kube-up 1.2 to 1.5 format-disks.sh.
 * Tests: test_storage.c. */
#pragma once

#include "nodeup/config/kops18/spec.h"
#include "nodeup/config/storage_docker.h"

/* An item of volumeMounts. */
extern const struct schema storage_mount_schema;

/* Fill the node's volumes from all documents and settle docker's storage driver. Swap where kubelet would
 * not start with it is an error. */
int kops18_storage(struct kops18_build *b) must_check;
