/* facts.h - what this host is
 * Supplied by --facts or found by probing; builders and dialects read nothing of the host but this.
 * Owner: the arena. Errors: CONFIG for a bad facts file. Source: what the builders of nodeup/plan ask of a host. */
#pragma once

#include "nodeup/base/field.h"

struct facts {
	const char *
		distribution; /* debian, ubuntu, amazonlinux, rhel, centos, rocky, flatcar, coreos, containeros */
	const char *version, *codename, *arch;
	const char *region, *availability_zone, *instance_id, *instance_type;
	const char *local_hostname, *local_ipv4, *public_ipv4, *ipv6;
	const char *mac;          /* of the primary interface */
	struct strmap interfaces; /* physical ones: "ens5" = its MAC */
	struct strv addresses;    /* of all interfaces, "10.0.0.7/24", sorted */
	struct strmap
		homes; /* of the users that images of distributions bring: "admin" = "/home/admin" */
	struct opt_bool bpffs_mounted;
	struct opt_int gpus;                /* of this instance type */
	struct opt_int enis, ips_per_eni;   /* how many it can have at most */
	struct opt_bool resolved;           /* systemd-resolved has a resolv.conf of its own */
	const char *target_lifecycle_state; /* of an instance of a warm pool: "Warmed:Stopped" */
	struct strv filesystems;
	int64_t systemd;               /* version, 0 unknown */
	struct opt_int instance_store; /* how many disks of it there are */
	struct opt_bool raid;          /* md's raid0 is to be had for several of them */
	/* of a master to be: "main" = "vol-0abc a/a,b,c", the volume and its etcd tag */
	struct strmap etcd_volumes;
};

extern const struct schema facts_schema;

/* Read a facts file's tree over what is in f already. */
int facts_parse(struct arena *a, const struct tree *t, struct facts *f, struct err *e) must_check;
/* Fill distribution, version and codename from os-release text (an unknown one is a CONFIG error
 * that names it), and arch from uname's machine. */
int facts_os_release(struct arena *a, const char *text, struct facts *f, struct err *e) must_check;
int facts_arch(const char *machine, struct facts *f, struct err *e) must_check;
