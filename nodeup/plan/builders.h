/* builders.h - what a builder is, and all of them
 * A builder reads plan->req and appends tasks (tasklist.h); it never looks at the machine. It asks the
 * model what is wanted, never which dialect the documents are of. What is wrong goes to
 * plan_error(). Each stands below its body, in build_*.c here or in the room of its era.
 * Owner: tasks live in the plan's arena. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model, one file each. */
#pragma once

#include "nodeup/plan/questions.h"
#include "nodeup/plan/tasklist.h"

/* A kind of nodes in plan_builder.nodes. */
#define PLAN_NODE(kind) (1u << (kind))

struct plan_builder {
	const char *name;
	void (*build)(struct plan *p);
	/* packages of the distribution that it takes, blank-separated; NULL: none */
	const char *(*packages)(struct plan *p);
	bool master_only;
	unsigned int nodes; /* the kinds of nodes it is for, by PLAN_NODE; 0: all */
	bool explicit_only; /* runs only when plan_req.only names it */
};

/* Disks: file systems, mounts, and the services that wait for them. */
extern const struct plan_builder build_volumes;
/* Directories that others drop files into. */
extern const struct plan_builder build_directories;
/* What Container-Optimized OS needs so that programs run at all. */
extern const struct plan_builder build_containeros;
/* The way to the outside, for services and package managers. */
extern const struct plan_builder build_egress_proxy;
/* Every asset of the documents, and the unpacking of archives. */
extern const struct plan_builder build_assets;
/* The user that kops 1.8 makes on a master. */
extern const struct plan_builder build_users;
/* Packages of the distribution. */
extern const struct plan_builder build_packages;
/* Updates that install themselves. */
extern const struct plan_builder build_upgrades;
/* The service that keeps the time. */
extern const struct plan_builder build_ntp;
/* Rotation of the logs of static pods. */
extern const struct plan_builder build_logrotate;
/* A firewall that lets pods and their traffic through. */
extern const struct plan_builder build_firewall;
/* What every role needs of the store: the CA, the registry login. */
extern const struct plan_builder build_pki;
/* Kernel settings, as a file and in the running kernel. */
extern const struct plan_builder build_sysctl;
/* cloud.config of kubelet and the control plane. */
extern const struct plan_builder build_cloud_config;
/* CNI plugins of the network in use. */
extern const struct plan_builder build_cni;
/* kube-proxy's static pod. */
extern const struct plan_builder build_kube_proxy;
/* API server, controller manager, scheduler and kubectl. */
extern const struct plan_builder build_control_plane;
/* EBS volumes to be attached: what became of each. */
extern const struct plan_builder build_claims;
/* kubelet as a service. */
extern const struct plan_builder build_kubelet;
/* The files of the user's own. */
extern const struct plan_builder build_file_assets;
/* Nothing but the assets, all of them, images too. */
extern const struct plan_builder build_bake;
/* Our own unit, that runs us at each boot. */
extern const struct plan_builder build_bootstrap;
/* The configuration that is gone from this machine, from its kept copy. */
extern const struct plan_builder build_documents;

/* Of nodes of kube-up alone: plan/kubeup. */

/* What stands in the model file by file: kubelet, docker, static pods, keys, images. */
extern const struct plan_builder build_states;

/* Of nodes of today's kops alone: plan/kops. */

/* The services of a node that another program set up. */
extern const struct plan_builder build_kops_adopted;
/* Nothing: refuses a host that these nodes are not made on. */
extern const struct plan_builder build_kops_release;
/* What every node has: directories, the CA, the registry login, name resolution. */
extern const struct plan_builder build_kops_system;
/* Of a node with an API server: its keys and certificates, and the users who may read them. */
extern const struct plan_builder build_kops_pki;
/* What keeps its host in order: updates, time, logs, firewall, kernel settings. */
extern const struct plan_builder build_kops_upgrades, build_kops_ntp, build_kops_logrotate,
	build_kops_firewall, build_kops_sysctl;
/* What its network plugin asks of the host. */
extern const struct plan_builder build_kops_network;
/* containerd, its settings, and images that it has before kubelet starts. */
extern const struct plan_builder build_kops_containerd;
/* Other runtimes that containerd starts containers by, from their makers' packages. */
extern const struct plan_builder build_kops_runtimes;
/* kubelet, its settings and certificates. */
extern const struct plan_builder build_kops_kubelet;
/* kube-proxy's static pod, and what the pod that does its work needs. */
extern const struct plan_builder build_kops_kube_proxy;
/* The API server's static pod. */
extern const struct plan_builder build_kops_kube_apiserver;
/* Those of the controller manager and the scheduler, and kubectl. */
extern const struct plan_builder build_kops_control_plane;
/* Static pods that lie in the state store: etcd's, and the one that applies addons. */
extern const struct plan_builder build_kops_manifests;
/* Images that an instance of a warm pool has before it is used. */
extern const struct plan_builder build_kops_warm_pool;
/* The units of the user's own, their containers by containerd. */
extern const struct plan_builder build_kops_hooks;

/* Of nodes of kops 1.8 alone: plan/kops18. */

/* The settings of the container runtime that is there, and images to be loaded into it. */
extern const struct plan_builder build_docker;
/* etcd's static pods on this master's volumes, where no protokube does it. */
extern const struct plan_builder build_etcd;
/* protokube as a service. */
extern const struct plan_builder build_protokube;
/* The units of the user's own, their containers by docker. */
extern const struct plan_builder build_hooks;
