/* model.h - the part of a node that only kops 1.8 has (node.own), and what a document says about each program
 * One list a spec, in list_*.h: C type, member, document key, flag and doc of each field; programs.c makes the rows
 * of the same lists. `const char *` is Go's string and *string (NULL: absent), struct opt_* its pointers, a plain
 * int64_t its plain int.
 * Owner: the arena they were read into. Errors: none; data only.
 * Source: kops 1.8.1 pkg/apis/kops/componentconfig.go and dockerconfig.go. */
#pragma once

#include "nodeup/base/field_list.h"
#include "nodeup/config/kops18/list_apiserver.h"
#include "nodeup/config/kops18/list_kubelet.h"
#include "nodeup/config/kops18/list_others.h"
#include "nodeup/config/node.h"

struct docker_spec {
	DOCKER_SPEC(FIELD_MEMBER)
};

struct kubelet_spec {
	KUBELET_SPEC(FIELD_MEMBER)
};

struct kube_proxy_spec {
	KUBE_PROXY_SPEC(FIELD_MEMBER)
};

struct leader_election_spec {
	LEADER_ELECTION_SPEC(FIELD_MEMBER)
};

struct kube_apiserver_spec {
	KUBE_APISERVER_SPEC(FIELD_MEMBER)
};

struct kube_controller_manager_spec {
	KCM_SPEC(FIELD_MEMBER)
};

struct kube_scheduler_spec {
	SCHEDULER_SPEC(FIELD_MEMBER)
};

/* One table of keys for each spec; field_parse, field_flags, field_overlay and field_docs walk the tables. */
extern const struct schema docker_schema;
extern const struct schema kubelet_schema;
extern const struct schema kube_proxy_schema;
extern const struct schema kube_apiserver_schema;
extern const struct schema kube_controller_manager_schema;
extern const struct schema kube_scheduler_schema;
extern const struct schema leader_election_schema;

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
	bool secure_kubelet; /* kubelet refuses anonymous requests, so the API server needs the key kubelet-api */
	bool isolate_masters;       /* masters are not part of the pod network */
	bool kopeio_authentication; /* the API server asks a webhook on this master */
	struct strv channels;
	struct strmap cloud_config; /* lines: "DisableSecurityGroupIngress" = "true" */
	bool has_cloud_config;
	struct kops18_etcds etcd_clusters;
	/* the storage driver is in node.docker_storage, since it depends on the host */
	struct docker_spec docker;
	/* kubelet's settings for this role, with the instance group's values and labels merged in */
	struct kubelet_spec kubelet;
	struct kube_proxy_spec kube_proxy;
	/* this member and the next two: only on masters */
	struct kube_apiserver_spec kube_apiserver;
	struct kube_controller_manager_spec kube_controller_manager;
	struct kube_scheduler_spec kube_scheduler;
};
