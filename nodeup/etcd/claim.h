/* claim.h - attach the volumes that are meant for this instance, all or none
 * Volumes are attached in the order of the wishes, each before the next is asked for. So masters that
 * boot together cannot each hold what another waits for. When all are here, their disks are inspected
 * before one is used. If a disk is not fit, the volumes that this call attached are detached again,
 * and never one that was here before. While it is unclear whether a volume was attached, no other is
 * taken in its place: the instance would hold two members of one etcd cluster.
 * Owner: the arena. Errors: CONFIG, what `fit` says, and at the deadline the last error, or BUSY
 * (ENODEV: there is no such volume).
 * Units: nanoseconds. Threads: one. */
#pragma once

#include "nodeup/etcd/volumes.h"

/* What it takes; tests have a world of their own. */
struct claim_host {
	void *arg;
	int (*instance)(void *arg, struct arena *a, struct ec2_instance *ret, struct err *e);
	int (*volumes)(void *arg, struct arena *a, const struct ec2_filters *filters,
		       struct ec2_volumes *ret, struct err *e);
	int (*attach)(void *arg, const char *volume, const char *device, struct err *e);
	int (*detach)(void *arg, const char *volume, struct err *e);
	/* Whether something of that name is in /dev. */
	bool (*is_used)(void *arg, const char *device);
	/* What uses the disk of a volume, or may use it, in words; then the volume stays attached. NULL:
	 * nothing. device: the name that the volume was to be attached by. */
	const char *(*user)(void *arg, const char *volume, const char *device);
	/* 0: the disk of this volume can be used; -EAGAIN: it is not there yet. */
	int (*fit)(void *arg, const struct volume_choice *c, struct err *e);
	/* Until then or a while less: why, and the last error or NULL. */
	void (*wait)(void *arg, int64_t until_ns, const char *why, const struct err *last);
	int64_t (*now)(void *arg);
};

/* Volumes that we attached and have not used, and those that we may have: a lost answer counts. */
struct claim_own {
	struct arena *arena;
	struct strv ids;
	struct strmap devices; /* by id: the name asked for last */
};

struct claim_req {
	const char *cluster;
	const struct volume_wish *wishes;
	size_t n;
	int64_t deadline_ns;   /* 0: none */
	struct claim_own *own; /* what is attached goes there */
};

/* Ask for all volumes that a wish could mean, of a zone or (NULL) of all; of one that *all has already the later answer counts. */
int claim_ask(struct arena *a, const struct claim_host *host, const struct volume_wish *wish,
	      const struct ec2_instance *self, const char *cluster, const char *zone,
	      struct ec2_volumes *all, struct err *e) must_check;
/* Have them here. choices: req->n of them. */
int claim_take(struct arena *a, const struct claim_req *req, const struct claim_host *host,
	       struct volume_choice *choices, struct err *e) must_check;
/* Detach the volumes of own that nothing uses; notes of e say what became of each. For callers that
 * fail before they used a volume. claim_take does this itself where a person has to act. */
void claim_give_back(struct claim_own *own, const struct claim_host *host, struct err *e);
/* Only look, once: what claim_take would begin with, and the device names EC2 has for us. */
int claim_look(struct arena *a, const struct claim_req *req, const struct claim_host *host,
	       struct volume_choice *choices, struct strv *ret_devices, struct err *e) must_check;
