/* kops.h - the dialect of today's kops, 1.37: BootConfig in kube_env.yaml
 * BootConfig says which node this is, and where NodeupConfig comes from: the state store for a control
 * plane or an API server, kops-controller for a node.
 * Invariant: pure; no file, network or clock. Owner: the arena. Errors: CONFIG, all with file:line:column.
 * Bodies: boot.c, script.c.
 * Threads: all functions. Source: kops 1.37 pkg/apis/nodeup/config.go BootConfig. */
#pragma once

#include "nodeup/config/dialect.h"

struct kops_config_server {
	struct strv servers;
	const char *tls_server_name, *ca_certificates;
};

/* BootConfig. A key that is not there is NULL. */
struct kops_boot {
	const char *cloud_provider, *config_base, *cluster_name, *instance_group_name;
	const char *instance_group_role, *nodeup_config_hash;
	struct kops_config_server config_server;
	bool has_config_server;
	struct strv apiserver_ips, etcd_ips;
	struct settings_doc settings; /* ours */
};

/* Its keys. */
extern const struct schema kops_boot_schema, kops_config_server_schema;

/* Read BootConfig and check it by itself. An unknown key is an error. */
int kops_boot(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	      struct kops_boot *ret, struct err *e) must_check;
/* Take BootConfig out of kops' user data; in the clear its lines keep their numbers. -ENOENT: this is not
 * user data of today's kops. */
int kops_script(struct arena *a, const char *file, const char *text, const char **ret,
		struct err *e) must_check;
/* Its row of dialects[]. */
extern const struct dialect kops_dialect;
