/* model.h - what only a node of kops 1.8 has: node.own of its nodes
 * Owner: the arena of the run. Errors: none. Threads: const after the dialect is done.
 * Source: kops 1.8.1 pkg/apis/nodeup, pkg/apis/kops. */
#pragma once

#include "nodeup/config/kops18/programs.h"
#include "nodeup/config/node.h"

struct kops18_etcd {
	const char *name;    /* "main", "events" */
	const char *version; /* "2.2.1" */
	const char *image;   /* "gcr.io/google_containers/etcd:2.2.1" */
	struct strv members; /* "a", "b", "c" */
	struct opt_dur leader_election_timeout, heartbeat_interval;
};

struct kops18_etcds {
	struct kops18_etcd *v;
	size_t n;
};

struct kops18_node {
	const char *master_public_name;
	const char *dns_zone; /* NULL: not known */
	bool api_dns, encryption_config, etcd_tls;
	bool secure_kubelet; /* kubelet refuses anonymous requests: the API server needs kubelet-api */
	bool isolate_masters;       /* masters have no part in the pod network */
	bool kopeio_authentication; /* the API server asks a webhook on this master */
	struct strv channels;
	struct strmap cloud_config; /* lines: "DisableSecurityGroupIngress" = "true" */
	bool has_cloud_config;
	struct kops18_etcds etcd_clusters;
	struct docker_spec docker;   /* but for what is chosen on the host: node.docker_storage */
	struct kubelet_spec kubelet; /* of this role, instance group and labels merged in */
	struct kube_proxy_spec kube_proxy;
	struct kube_apiserver_spec kube_apiserver; /* this and the next two: masters only */
	struct kube_controller_manager_spec kube_controller_manager;
	struct kube_scheduler_spec kube_scheduler;
};
