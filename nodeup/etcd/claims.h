/* claims.h - EBS volumes that have to be attached before there is a plan
 * Those of etcd, on a master whose documents name no protokube, and those that the documents name by
 * id or tag. An apply has them attached and their disks seen to be fit; a plan only asks what is
 * there. What comes out is data: volumes of the node, members for the plan, a line for each claim.
 * With EC2 silent, an apply goes by what the last one kept, if all those disks are here.
 * Bodies: devices.c, host.c, late.c, peers.c, plan.c, record.c.
 * Owner: the request's arena; request and result outlive what is late. Errors: as claim_take. Threads: one. */
#pragma once

#include "nodeup/etcd/claim.h"
#include "nodeup/plan/plan.h"
#include "nodeup/host/probe.h"
#include "nodeup/documents/store.h"

/* What a run wants, and what it has to ask with. */
struct claims_req {
	struct arena *arena;
	int root_fd;
	struct http *http;
	struct imds *imds;   /* NULL: there is nothing to ask */
	struct facts *facts; /* what has to be asked of the instance is added */
	const struct node *node;
	bool image_mode, offline, for_apply;
	bool may_leave;        /* etcd's volumes that do not come soon are left to another run */
	bool was_new;          /* a run of this process has formatted etcd's volumes before */
	struct claim_own *own; /* volumes that this process attached and has not used */
	int64_t deadline_ns;   /* of waiting for volumes; 0: none */
	wait_fn *on_wait;
	void *wait_arg;
};

struct claims;

struct claims_result {
	bool left;           /* etcd's volumes are not here, and nothing that needs them is done */
	bool is_new;         /* this run formats etcd's volumes, or one before of this process */
	struct claims *late; /* etcd begins without some of its members; NULL: with all */
};

/* A claim under way, as its host sees it. */
struct claims {
	const struct claims_req *req;
	struct claims_result *ret;
	struct query *ec2;
	struct disk_host disks;
	const struct node_volume **wanted; /* by wish: the documents'; NULL: etcd's */
	struct volume_wish *wishes;
	struct volume_choice *choices;
	size_t n;
	const char *own_address;
	struct strv fresh;             /* etcd's volumes whose disk is blank */
	int64_t since_ns, deadline_ns; /* the deadline of what is under way; 0: none */
	unsigned int attempt;
};

/* Have them, or look for them; fills what plan says of volumes, and node->volumes. */
int claims_settle(const struct claims_req *req, struct plan_req *plan, struct claims_result *ret,
		  struct err *e) must_check;
/* What came of it as data: volumes of the node, members for the plan. */
void claims_use(struct claims *c, struct plan_req *plan);
/* A line of the plan for each claim; devices: the names EC2 has for us. */
void claims_tell(struct claims *c, struct plan_req *plan, const struct strv *devices);
/* EC2 cannot be asked: the plan says so, and what else it knows. */
void claims_tell_unknown(struct claims *c, struct plan_req *plan, const char *why);
/* Members of etcd that need no request: on kube-up's one volume, or of an image by --facts. */
int claims_on_master_pd(const struct claims_req *req, struct plan_req *plan,
			struct err *e) must_check;
int claims_given(const struct claims_req *req, struct plan_req *plan, struct err *e) must_check;
/* After a failure before anything was done with a volume: what req->own holds is detached again. */
void claims_give_back(const struct claims_req *req, struct err *e);
/* The volumes of the last apply of this instance, if the disks of all are here by their serial numbers:
 * fills choices, and hosts with where the members of etcd were. Sends no request. */
bool claims_recall(struct claims *c, struct strmap *hosts) must_check;
/* Where the members were, whatever disks are here; empty without a record. */
void claims_recall_hosts(struct claims *c, struct strmap *hosts);
/* Keep what claims_recall tells. Losing it costs a start with EC2 down, no more. */
void claims_remember(struct claims *c, const struct strmap *hosts);
/* What ec2_claim asks and does, here. */
struct claim_host claims_host(struct claims *c);
/* Whether the disk of a volume is here, by its id or (Xen) the name it was attached by. */
int claims_find_disk(struct claims *c, const char *id, const char *attached_as, struct disks *ret,
		     struct err *e) must_check;
/* Whether this machine was done with the disk of a volume of the documents before. */
bool claims_was_used(struct claims *c, const struct node_volume *v, const struct disk *d);
/* Volumes that the documents name by a device, and that this machine has not used before: REFUSED if EC2
 * says that another instance has one as well, or may. No role of kops' nodes may ask, so that no answer
 * is a warning and nothing else. */
int claims_ask_devices(struct claims *c, struct err *e) must_check;
/* Say what is waited for, and wait until then. */
void claims_wait(struct claims *c, int64_t until_ns, const char *why, const struct err *last);
/* What is known of the members of etcd. */
struct members_known {
	struct strmap hosts; /* of one that has no volume now: its address of before */
	struct strv missing; /* names of those that have no volume now */
	int *balance; /* by choice: members of that cluster that have one, less those that have not */
};

/* A member of the cluster of choice number `cluster`: its address, that of before; NULL: not known. One
 * that is being replaced keeps its line in /etc/hosts: a second run changes nothing. */
void claims_note_peer(struct claims *c, struct members_known *known, size_t cluster,
		      const char *name, const char *now, const char *before);
/* Whether etcd need not wait for others any longer. */
bool claims_may_begin(const struct claims *c, const struct members_known *known, int64_t waited_ns);
/* Ask EC2 once where they are. */
int claims_ask_members(struct claims *c, struct members_known *ret, struct err *e) must_check;
/* Names of members whose address was never known. */
struct strv claims_unmet(struct claims *c, const struct members_known *known);
/* If etcd is new and lacks such members, ret->late is kept for claims_await_members. */
void claims_note_late(struct claims *c, const struct members_known *known);
/* When all is started: members that a new etcd began without are waited for, and their addresses written
 * by the plan's task of /etc/hosts as they come; ten minutes at most, or until the deadline. It fails
 * nothing: the next run mends it. late NULL: nothing. */
void claims_await_members(struct claims *late, const struct plan *plan, struct task_ctx *ctx);
/* Where the members of etcd are, into plan->etcd_hosts; waits until those are known that a new etcd
 * cannot begin without. */
int claims_peers(struct claims *c, struct plan_req *plan, struct err *e) must_check;
