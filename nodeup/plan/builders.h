/* builders.h - all builders, which plan.c has in a table
 * A builder reads plan->req and appends tasks (tasklist.h); it never looks at the machine. It asks the
 * model what is wanted, never which dialect the documents are of. What is wrong goes to
 * plan_error(). Their bodies are in build_*.c here or in the room of their era.
 * Owner: tasks live in the plan's arena. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model, one file each. */
#pragma once

#include "nodeup/plan/questions.h"
#include "nodeup/plan/tasklist.h"

/* A kind of nodes in a set of kinds. */
#define PLAN_NODE(kind) (1u << (kind))

/* Appends its tasks. */
typedef void plan_build_fn(struct plan *p);
/* Packages of the distribution that a builder takes, blank-separated; NULL: none. */
typedef const char *plan_needs_fn(struct plan *p);

/* Disks: file systems, mounts, and the services that wait for them. */
extern plan_build_fn build_volumes;
/* Directories that others drop files into. */
extern plan_build_fn build_directories;
/* What Container-Optimized OS needs so that programs run at all. */
extern plan_build_fn build_containeros;
/* The way to the outside, for services and package managers. */
extern plan_build_fn build_egress_proxy;
/* Every asset of the documents, and the unpacking of archives. */
extern plan_build_fn build_assets;
/* The user that kops 1.8 makes on a master. */
extern plan_build_fn build_users;
/* Packages of the distribution. */
extern plan_build_fn build_packages;
/* Updates that install themselves. */
extern plan_build_fn build_upgrades;
/* The service that keeps the time. */
extern plan_build_fn build_ntp;
/* Rotation of the logs of static pods. */
extern plan_build_fn build_logrotate;
/* A firewall that lets pods and their traffic through. */
extern plan_build_fn build_firewall;
/* What every role needs of the store: the CA, the registry login. */
extern plan_build_fn build_pki;
/* Kernel settings, as a file and in the running kernel. */
extern plan_build_fn build_sysctl;
/* cloud.config of kubelet and the control plane. */
extern plan_build_fn build_cloud_config;
/* CNI plugins of the network in use. */
extern plan_build_fn build_cni;
/* kube-proxy's static pod. */
extern plan_build_fn build_kube_proxy;
/* API server, controller manager, scheduler and kubectl. */
extern plan_build_fn build_control_plane;
/* EBS volumes to be attached: what became of each. */
extern plan_build_fn build_claims;
/* kubelet as a service. */
extern plan_build_fn build_kubelet;
/* The files of the user's own. */
extern plan_build_fn build_file_assets;
/* Nothing but the assets, all of them, images too. */
extern plan_build_fn build_bake;
/* Our own unit, that runs us at each boot. */
extern plan_build_fn build_bootstrap;
/* The configuration that is gone from this machine, from its kept copy. */
extern plan_build_fn build_documents;

/* Of nodes of kube-up alone: plan/kubeup. */

/* What stands in the model file by file: kubelet, docker, static pods, keys, images. */
extern plan_build_fn build_states;

/* Of nodes of today's kops alone: plan/kops. */

/* The services of a node that another program set up. */
extern plan_build_fn build_kops_adopted;
/* Nothing: refuses a host that these nodes are not made on. */
extern plan_build_fn build_kops_release;
/* What every node has: directories, the CA, the registry login, name resolution. */
extern plan_build_fn build_kops_system;
extern plan_needs_fn needs_kops_system;
/* Of a node with an API server: its keys and certificates, and the users who may read them. */
extern plan_build_fn build_kops_pki;
/* What keeps its host in order: updates, time, logs, firewall, kernel settings. */
extern plan_build_fn build_kops_upgrades, build_kops_ntp, build_kops_logrotate, build_kops_firewall,
	build_kops_sysctl;
extern plan_needs_fn needs_kops_upgrades, needs_kops_ntp, needs_kops_logrotate;
/* What its network plugin asks of the host. */
extern plan_build_fn build_kops_network;
extern plan_needs_fn needs_kops_network;
/* containerd, its settings, and images that it has before kubelet starts. */
extern plan_build_fn build_kops_containerd;
/* Other runtimes that containerd starts containers by, from their makers' packages. */
extern plan_build_fn build_kops_runtimes;
extern plan_needs_fn needs_kops_runtimes;
/* kubelet, its settings and certificates. */
extern plan_build_fn build_kops_kubelet;
/* kube-proxy's static pod, and what the pod that does its work needs. */
extern plan_build_fn build_kops_kube_proxy;
/* The API server's static pod. */
extern plan_build_fn build_kops_kube_apiserver;
/* Those of the controller manager and the scheduler, and kubectl. */
extern plan_build_fn build_kops_control_plane;
/* Static pods that lie in the state store: etcd's, and the one that applies addons. */
extern plan_build_fn build_kops_manifests;
/* Images that an instance of a warm pool has before it is used. */
extern plan_build_fn build_kops_warm_pool;
/* The units of the user's own, their containers by containerd. */
extern plan_build_fn build_kops_hooks;

/* Of nodes of kops 1.8 alone: plan/kops18. */

/* The settings of the container runtime that is there, and images to be loaded into it. */
extern plan_build_fn build_docker;
/* etcd's static pods on this master's volumes, where no protokube does it. */
extern plan_build_fn build_etcd;
/* protokube as a service. */
extern plan_build_fn build_protokube;
/* The units of the user's own, their containers by docker. */
extern plan_build_fn build_hooks;
