/* volumes.h - which EBS volumes are meant for this instance, from what EC2 has said; pure
 * An etcd volume carries the cluster's tag of either generation, the masters' role, and
 * k8s.io/etcd/<cluster> = <me>/<member>,<member>...; it is in this zone. An instance takes one member
 * of each etcd cluster, and the one that it has already. Others are named by id or by a tag.
 * Bodies: tags.c.
 * Owner: the arena. Errors: CONFIG for tags that cannot be followed, REFUSED for
 * a volume that another instance has or may have as well. Threads: all functions.
 * Source: kops 1.8.1 protokube/pkg/protokube/{aws_volume,volume_mounter}.go; etcd-manager;
 * kops upup/pkg/fi/cloudup/awsup. */
#pragma once

#include "nodeup/aws/ec2.h"
#include "nodeup/config/node.h"

enum volume_by { VOLUME_BY_ETCD, VOLUME_BY_ID, VOLUME_BY_TAG };

/* A volume that is wanted. */
struct volume_wish {
	enum volume_by by;
	const char *what;  /* for people: "etcd main", "/mnt/master-pd" */
	const char *key;   /* ETCD: the cluster; TAG: its key */
	const char *value; /* ID: the volume; TAG: its value */
	bool look_only;    /* protokube attaches it */
};

/* What is known when a volume is chosen. */
struct volume_view {
	const char *cluster; /* the documents' ClusterName */
	struct ec2_instance self;
	struct ec2_volumes here;      /* of our zone */
	struct ec2_volumes elsewhere; /* of others; only asked for when here has none of use */
	struct strv begun; /* we have asked for them to be attached; EC2 may not say so yet */
	struct strv lost;  /* another instance was faster; EC2 may not say so yet */
	struct strv
		doubt; /* asked for, and not said whether it is ours: no other is chosen meanwhile */
};

enum volume_state {
	VOLUME_HERE,    /* attached to us, or about to be */
	VOLUME_FREE,    /* to be attached */
	VOLUME_PENDING, /* none that could be attached now */
	VOLUME_ABSENT,  /* none at all */
};

struct volume_choice {
	const struct volume_wish *wish;
	enum volume_state state;
	const struct ec2_volume *volume; /* NULL: none, see why */
	struct volume_member member;     /* of an etcd volume */
	char why[ERR_NOTE_MAX];          /* the state for people */
};

/* Read "<me>/<member>,<member>..."; -EINVAL with e saying what is wrong with it. */
int volume_member_parse(struct arena *a, const char *text, struct volume_member *ret,
			struct err *e) must_check;
/* Whether tags are those of a volume of this cluster's masters. */
bool volume_is_of_masters(struct arena *a, const struct strmap *tags, const char *cluster);
/* Whether the instance belongs to the cluster; one clear error if its tags do not say so. */
int volume_check_cluster(const struct ec2_instance *self, const char *cluster,
			 struct err *e) must_check;
/* The requests whose answers together hold every volume that a wish could mean; each is one list of
 * filters. zone NULL: all zones. */
void volume_filters(struct arena *a, const struct volume_wish *wish,
		    const struct ec2_instance *self, const char *cluster, const char *zone,
		    struct ec2_filters **ret, size_t *ret_n);
/* REFUSED if another instance has it as well, or may. */
int volume_check_shared(const struct volume_wish *wish, const struct ec2_volume *v,
			struct err *e) must_check;
/* Choose the volume of a wish. like: a member that is preferred ("a"), or NULL. */
int volume_choose(struct arena *a, const struct volume_view *view, const struct volume_wish *wish,
		  const char *like, struct volume_choice *ret, struct err *e) must_check;
/* A device name that neither EC2 nor is_used (NULL: none) knows, nor is in refused; NULL: all are taken. */
const char *volume_device_name(const struct ec2_instance *self, const struct strv *refused,
			       bool (*is_used)(void *arg, const char *name), void *arg);
