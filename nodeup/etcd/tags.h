/* tags.h - the tags by which kops of two generations marks what belongs to a cluster
 * Owner: none. Errors: none. Threads: all functions. Source: kops upup/pkg/fi/cloudup/awsup. */
#pragma once

#include "nodeup/etcd/volumes.h"

/* Whether tags are those of a volume of this cluster's masters. */
bool volume_is_of_masters(struct arena *a, const struct strmap *tags, const char *cluster);
