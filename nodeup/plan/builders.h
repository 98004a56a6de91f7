/* builders.h - the rows of plan_builders[]: each appends the tasks of one part of a node
 * A builder reads plan->req and calls the plan_* helpers; it never looks at the machine.
 * Bodies: build_*.c.
 * Owner: tasks live in the plan's arena. Errors: CONFIG. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model, one file each. */
#pragma once

#include "nodeup/plan/plan.h"

/* Disks: file systems, mounts, and the services that wait for them. */
int build_volumes(struct plan *p, struct err *e) must_check;
/* Directories that others drop files into. */
int build_directories(struct plan *p, struct err *e) must_check;
/* What Container-Optimized OS needs so that programs run at all. */
int build_containeros(struct plan *p, struct err *e) must_check;
/* The way to the outside, for services and package managers. */
int build_egress_proxy(struct plan *p, struct err *e) must_check;
/* Every asset of the documents, and the unpacking of archives. */
int build_assets(struct plan *p, struct err *e) must_check;
/* The user that kops 1.8 makes on a master. */
int build_users(struct plan *p, struct err *e) must_check;
/* Packages of the distribution. */
int build_packages(struct plan *p, struct err *e) must_check;
/* Updates that install themselves. */
int build_upgrades(struct plan *p, struct err *e) must_check;
/* The service that keeps the time. */
int build_ntp(struct plan *p, struct err *e) must_check;
/* Rotation of the logs of static pods. */
int build_logrotate(struct plan *p, struct err *e) must_check;
/* A firewall that lets pods and their traffic through. */
int build_firewall(struct plan *p, struct err *e) must_check;
/* What every role needs of the store: the CA, the registry login. */
int build_pki(struct plan *p, struct err *e) must_check;
/* Kernel settings, as a file and in the running kernel. */
int build_sysctl(struct plan *p, struct err *e) must_check;
/* cloud.config of kubelet and the control plane. */
int build_cloud_config(struct plan *p, struct err *e) must_check;
/* The settings of the container runtime that is there, and images to be loaded into it. */
int build_docker(struct plan *p, struct err *e) must_check;
/* CNI plugins of the network in use. */
int build_cni(struct plan *p, struct err *e) must_check;
/* kube-proxy's static pod. */
int build_kube_proxy(struct plan *p, struct err *e) must_check;
/* API server, controller manager, scheduler and kubectl. */
int build_control_plane(struct plan *p, struct err *e) must_check;
/* EBS volumes to be attached: what became of each. */
int build_claims(struct plan *p, struct err *e) must_check;
/* etcd's static pods on this master's volumes, where no protokube does it. */
int build_etcd(struct plan *p, struct err *e) must_check;
/* kubelet as a service. */
int build_kubelet(struct plan *p, struct err *e) must_check;
/* protokube as a service. */
int build_protokube(struct plan *p, struct err *e) must_check;
/* The units of the user's own. */
int build_hooks(struct plan *p, struct err *e) must_check;
/* The files of the user's own. */
int build_file_assets(struct plan *p, struct err *e) must_check;
/* Nothing but the assets, all of them, images too. */
int build_bake(struct plan *p, struct err *e) must_check;
/* Our own unit, that runs us at each boot. */
int build_bootstrap(struct plan *p, struct err *e) must_check;
/* The configuration that is gone from this machine, from its kept copy. */
int build_documents(struct plan *p, struct err *e) must_check;
