/* facts.h - the facts of this host
 * --facts gives them, or probing finds them. Builders and dialects read nothing else of the host.
 * Owner: the arena. Errors: CONFIG for a bad facts file.
 * Source: the questions that the builders of nodeup/plan ask of a host.
 * Tests: test_facts.c. */
#pragma once

#include "nodeup/base/field_list.h"

/* clang-format off */
#define FACTS(X) \
	X(const char *, distribution, "distribution", .oneof = "debian|ubuntu|amazonlinux|rhel|centos|rocky|fedora|flatcar|coreos|containeros", \
	  .doc = "family of the operating system") \
	X(const char *, version, "version", .doc = "its version, as os-release has it") \
	X(const char *, codename, "codename", .doc = "its code name") \
	X(const char *, arch, "arch", .oneof = "amd64|arm64", .doc = "architecture") \
	X(const char *, region, "region", .doc = "AWS region") \
	X(const char *, availability_zone, "availabilityZone", .doc = "zone within the region") \
	X(const char *, instance_id, "instanceID", .doc = "EC2 instance id") \
	X(const char *, instance_type, "instanceType", .doc = "EC2 instance type") \
	X(const char *, local_hostname, "localHostname", .doc = "host name in the VPC; what @aws means") \
	X(const char *, local_ipv4, "localIPv4", .doc = "address in the VPC") \
	X(const char *, public_ipv4, "publicIPv4", .doc = "address in the internet") \
	X(const char *, ipv6, "ipv6", .doc = "address of version 6") \
	X(const char *, mac, "mac", .doc = "MAC of the primary network interface") \
	/* "ens5" = its MAC */ \
	X(struct strmap, interfaces, "interfaces", .doc = "physical network interfaces, NAME: MAC") \
	/* "10.0.0.7/24", sorted */ \
	X(struct strv, addresses, "addresses", .doc = "addresses of all interfaces, ADDRESS/PREFIX") \
	/* "admin" = "/home/admin", as the distribution's image has it */ \
	X(struct strmap, homes, "homes", .doc = "users of the image who are to have a kubeconfig, NAME: HOME") \
	X(struct opt_bool, bpffs_mounted, "bpffsMounted", .doc = "whether /sys/fs/bpf is mounted") \
	X(struct opt_int, gpus, "gpus", .doc = "GPUs of NVIDIA that the instance type has") \
	X(struct opt_int, enis, "enis", .doc = "network interfaces that the instance type can have") \
	X(struct opt_int, ips_per_eni, "ipsPerENI", .doc = "addresses of each of them") \
	X(struct opt_bool, resolved, "resolved", .doc = "whether systemd-resolved has its own resolv.conf") \
	X(struct opt_bool, asks_itself, "asksItself", .doc = "whether /etc/resolv.conf names this host, or no server") \
	X(struct opt_int, processors, "processors", .doc = "processors of this machine") \
	X(struct opt_int, memory_mib, "memoryMiB", .doc = "its memory, as the kernel counts it") \
	X(struct opt_int, boot_disk_gib, "bootDiskGiB", .doc = "size of its root file system") \
	/* for an instance of a warm pool: "Warmed:Stopped" */ \
	X(const char *, target_lifecycle_state, "targetLifecycleState", .doc = "what its autoscaling group wants of it") \
	X(struct strv, swaps, "swaps", .doc = "swap space in use: files and devices") \
	X(struct strv, boot_swaps, "bootSwaps", .doc = "swap space that is used from the next boot on") \
	X(struct opt_bool, kubelet_takes_swap, "kubeletTakesSwap", .doc = "whether a drop-in of kubelet's is for a host with swap") \
	X(struct strv, filesystems, "filesystems", .doc = "file systems of the kernel") \
	X(const char *, docker_root, "dockerRoot", .doc = "docker's directory, where its daemon.json names one") \
	/* does not count volumes of the documents */ \
	X(const char *, docker_filesystem, "dockerFilesystem", .doc = "file system that docker's directory is on: ext4") \
	/* 0: unknown */ \
	X(int64_t, systemd, "systemd", .doc = "version of systemd") \
	/* their number */ \
	X(struct opt_int, instance_store, "instanceStore", .doc = "disks of the instance store") \
	X(struct opt_bool, instance_store_used, "instanceStoreUsed", .doc = "whether docker and kubelet of this instance are on them") \
	X(const char *, pods, "pods", .doc = "what shows that pods are or may be on this host, where it is asked; without it: none") \
	X(struct opt_bool, raid, "raid", .doc = "whether several disks can be striped by md") \
	X(struct opt_bool, kubelet_flags, "kubeletFlags", .doc = "whether kops' own program gave kubelet its settings by flags, not by a file") \
	/* 0: the file names no version */ \
	X(struct opt_int, containerd_config, "containerdConfig", .doc = "version that containerd's config.toml is written in")
/* clang-format on */

struct facts {
	FACTS(FIELD_MEMBER)
};

extern const struct schema facts_schema;

/* Reads a facts file's tree; it overrides the facts in f. */
int facts_parse(struct arena *a, const struct tree *t, struct facts *f, struct err *e) must_check;
/* Adds to the error how a missing fact can be given. Returns the error's code. */
int facts_note(struct err *e, const char *fact);
/* facts_os_release fills distribution (CONFIG: it is unknown), version and codename from os-release. facts_arch
 * fills arch from uname's machine. */
int facts_os_release(struct arena *a, const char *text, struct facts *f, struct err *e) must_check;
/* Return distribution, version and arch if they are known: facts_host as a map, facts_host_text as a text such as
 * "debian 12, amd64". */
struct tree *facts_host(struct arena *a, const struct facts *f);
const char *facts_host_text(struct arena *a, const struct tree *host);
int facts_arch(const char *machine, struct facts *f, struct err *e) must_check;

/* The container runtime of this machine, as probing found it. */
struct runtime {
	const char *unit;    /* "docker.service"; NULL: none found */
	const char *masked;  /* the first masked runtime; NULL: none */
	const char *version; /* "20.10.24"; NULL unknown */
	bool is_ours;        /* its unit was written by kops or nodeup, not by a vendor */
	/* the command with which docker's unit would pass $DOCKER_OPTS on; NULL: its present command does so already */
	const char *exec_start;
	bool is_late; /* a drop-in after 10-kops.conf changes the command */
	int cgroup;   /* version of the host's cgroups; 0 unknown */
	/* the driver that the runtime's configuration sets; NULL: the runtime's default */
	const char *cgroup_driver;
	/* the kernel has AppArmor on, but the program that loads profiles is missing */
	bool lacks_apparmor_parser;
	bool lacks_ipvs; /* the kernel has no ip_vs and cannot load it */
};
