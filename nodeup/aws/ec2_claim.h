/* ec2_claim.h - have the volumes that are meant for this instance attached, all or none
 * In the order of the wishes: nothing is asked of a later one before an earlier one is here, so that
 * masters that boot together cannot each hold what another waits for. When all are here, their disks
 * are looked at before anything is begun with one; if one is not fit, what this call attached is
 * detached again, and never what was here before. While it is not clear whether a volume was attached,
 * no other is taken in its place: two members of one etcd cluster would be here.
 * Owner: the arena. Errors: CONFIG, what `fit` says, and at the deadline the last error, or BUSY
 * (ENODEV: there is no such volume).
 * Units: nanoseconds. Threads: one. */
#pragma once

#include "nodeup/aws/ec2_volumes.h"

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
	/* Who uses its disk, or may, for people: it stays attached; NULL: nobody. device: the name that it
	 * was to be attached by. */
	const char *(*user)(void *arg, const char *volume, const char *device);
	/* 0: the disk of this volume can be used; -EAGAIN: it is not there yet. */
	int (*fit)(void *arg, const struct volume_choice *c, struct err *e);
	/* Until then or a while less: why, and the last error or NULL. */
	void (*wait)(void *arg, int64_t until_ns, const char *why, const struct err *last);
	int64_t (*now)(void *arg);
};

/* Attached by us and not used yet, and what may be: a volume whose answer was lost stays in it. */
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

/* Have them here. choices: req->n of them. */
int claim_take(struct arena *a, const struct claim_req *req, const struct claim_host *host,
	       struct volume_choice *choices, struct err *e) must_check;
/* What is in own is detached again, unless somebody uses it; notes of e say what became of it. For who
 * fails before anything was done with a volume. claim_take does so where people have to act. */
void claim_give_back(struct claim_own *own, const struct claim_host *host, struct err *e);
/* Only look, once: what claim_take would begin with, and the device names EC2 has for us. */
int claim_look(struct arena *a, const struct claim_req *req, const struct claim_host *host,
	       struct volume_choice *choices, struct strv *ret_devices, struct err *e) must_check;
