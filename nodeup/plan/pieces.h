/* pieces.h - what several builders make the same way: kubeconfigs, static pods, keys, assets
 * Bodies: build_*.c, flag_versions.c, plan.c.
 * Owner: the arena of the plan. Errors: CONFIG. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/{context,kubectl,kube_*}.go, nodeup/pkg/distros. */
#pragma once

#include "manifests/manifest.h"
#include "nodeup/config/distro.h"
#include "nodeup/plan/plan.h"

/* The row of this host's distribution; unknown facts give the common one. */
const struct distro *plan_distro(const struct plan *p);
/* The task that puts something at a path, or NULL. */
struct task *plan_at(const struct plan *p, const char *path);
/* What stands for an asset's bytes in a map. */
const char *plan_digest(const struct plan *p, const struct asset *as);
/* Where unit files of ours are, with its slash. */
extern const char plan_unit_dir[];
/* Tasks were taken out: find the others anew. */
void plan_index_again(struct plan *p);
/* Append a task without looking for an equal one. */
struct task *plan_new_task(struct plan *p, enum task_kind kind, const char *name);
/* Read the Assets list into plan->assets; errors name file:line:column. */
int plan_parse_assets(struct plan *p, struct err *e) must_check;
/* The key pair of that name with certificate (and key), or NULL with *e filled. */
const struct node_keypair *plan_keypair(const struct plan *p, const char *name, bool key,
					struct err *e);
/* A file below the layout's srv. */
const char *plan_in_srv(const struct plan *p, const char *name);
/* Encryption at rest: the store's text where the cluster asks for it and Kubernetes can, or NULL. */
const char *plan_encryption_config(const struct plan *p);
/* A kubeconfig (0400) by which user, a key pair of the store, reaches the API server. */
int plan_kubeconfig(struct plan *p, const char *path, const char *user, struct err *e) must_check;
extern const char plan_containerd_unit[];
/* Whether containerd runs the pods, by itself: Kubernetes 1.10 was the first that can, and only a CNI
 * plugin can set up its networks. */
bool plan_uses_containerd(const struct plan *p);
/* Warn of flags that the component of this Kubernetes refuses: the documents have the last word, and kubelet
 * would report it only in a loop of restarts. */
void plan_warn_flags(struct plan *p, const char *component, const struct strv *flags);
/* Packages that installing docker takes, blank-separated; NULL: docker is not installed. */
const char *plan_docker_needs(struct plan *p);
/* kubelet's flag for the program that mounts on Container-Optimized OS; NULL elsewhere. */
const char *plan_mounter_flag(const struct plan *p);
/* As plan_install; where the documents list no such asset, the one of text, "sha1@url". */
struct task *plan_install_known(struct plan *p, const char *name, const char *text,
				const char *path, mode_t mode, struct err *e);
/* A package as a file: "sha1@url". */
struct task *plan_package_file(struct plan *p, const char *name, const char *text, struct err *e);
/* A pod of kube-system on the host's network that must not be evicted; its log file is mounted. */
struct pod *plan_pod(struct plan *p, const char *name, const char *image);
/* Tell the pod of the cluster's proxy, if there is one. */
void plan_proxy_env(const struct plan *p, struct pod *pod);
/* Write the pod's manifest, and its log file first. */
int plan_static_pod(struct plan *p, const struct pod *pod, struct err *e) must_check;
/* The API server as seen from this node. */
const char *plan_api_server(const struct plan *p);
/* Split an environment of the request: what may be shown in a unit, and what may not (credentials). */
void plan_environment(const struct plan *p, const struct strmap *env, struct strmap *ret_open,
		      struct strmap *ret_secret);
/* One assignment of an Environment= line: '%' is a specifier there, '$' is nothing special. */
const char *plan_assignment(struct arena *a, const char *key, const char *value);
/* What the cluster's proxy is called in an environment; nothing is added without one. */
void plan_proxy_variables(const struct plan *p, struct strmap *ret);
/* The same as "NAME=value", for a program that is started. */
struct strv plan_proxy_words(const struct plan *p);
/* Whether the unit is told of the cluster's proxy, and the file that tells it when there is a login. */
bool plan_is_proxied(const struct plan *p, const char *unit);
extern const char plan_proxy_env_file[];
/* Whether names are spread by gossip (".k8s.local") instead of DNS. */
bool plan_uses_gossip(const struct plan *p);
/* The same of the cluster's own name, by which kube-proxy is told. */
bool plan_is_gossip_cluster(const struct plan *p);
