/* settings.h - the machine owner's settings for nodeup, whatever cluster it joins
 * The settings are in files of /etc/nodeup/nodeup.d, baked into an image or written by user data; kube_env.yaml
 * takes the same keys. Lists add up in order. Of other settings the first value stays.
 * Owner: the arena. Errors: CONFIG with file:line:column. Threads: none of its own.
 * Tests: test_field_secrets.c. */
#pragma once

#include "nodeup/base/errs.h"
#include "nodeup/base/field_list.h"

/* A text of a document with its place there, for messages about its contents. */
struct settings_text {
	const char *text;
	struct tree_pos pos;
};

struct settings_texts {
	struct settings_text *v;
	size_t n;
};

/* clang-format off */
#define SETTINGS(X) \
	X(const struct tree *, url_rewrites, "urlRewrites", .shape = TREE_SEQ, .secret = true, \
	  .doc = "FROM=TO: where URLs that begin so are fetched instead") \
	X(const struct tree *, mirrors, "mirrors", .shape = TREE_SEQ, .secret = true, \
	  .doc = "FROM=TO: where assets whose URLs begin so are asked for first") \
	X(const struct tree *, accept_keys, "acceptKeys", .shape = TREE_SEQ, \
	  .doc = "keys of today's kops, as messages name them, that nodeup does not know and is to leave alone") \
	X(const struct tree *, vintage, "kopsVersion", .shape = TREE_SCALAR, \
	  .doc = "which kops rendered the documents, where they do not tell: 1.36.2") \
	X(const struct tree *, accept, "accept", .shape = TREE_SEQ, \
	  .doc = "keys, as messages name them, whose values go on with a warning where nodeup says that a program refuses them") \
	X(const char *, ca_bundle, "caBundle", .doc = "file of the CA certificates that servers are checked by") \
	X(const struct tree *, public_keys, "publicKeys", .shape = TREE_SEQ, \
	  .doc = "public keys of minisign, by which signatures of assets are checked") \
	X(struct opt_bool, require_signatures, "requireSignatures", .doc = "refuse assets without a signature") \
	X(struct opt_bool, keep_assets, "keepAssets", .doc = "keep a copy of each program in the cache") \
	X(struct opt_bool, ignore_host_checks, "ignoreHostChecks", \
	  .doc = "try a Kubernetes that cannot run with this host's cgroups or runtime") \
	X(struct opt_bool, quiet_console, "quietConsole", .doc = "write nothing on the console of the machine") \
	X(struct opt_dur, console_after, "consoleAfter", \
	  .doc = "how old a run gets before the console is told what it waits for; without it: never") \
	X(const char *, status_url, "statusURL", \
	  .doc = "s3://BUCKET/PREFIX: the status of each run goes to PREFIX/INSTANCE/status.json there; without it: nowhere") \
	X(struct opt_bool, guard, "guard", \
	  .doc = "look every five minutes whether the node is as its last run left it, and report what is not") \
	X(const char *, metrics_dir, "metricsDir", \
	  .doc = "folder of node_exporter's textfile collector, in which each run writes nodeup.prom; without it: nowhere") \
	X(const struct tree *, signals, "signals", .shape = TREE_SEQ, \
	  .doc = "what is told outside of the first success and of a run that failed for good: lifecycleHook=GROUP:HOOK, instanceHealth, stackSignal=STACK:RESOURCE, tag=KEY; without it: nothing") \
	X(const char *, reserved, "reserved", .oneof = "eks|gke", \
	  .doc = "whose formula works out kubelet's kube-reserved, if the documents name neither it nor system-reserved: the amount is for kubelet, the runtime and the system together; without it: none") \
	X(const struct tree *, store_policy, "instanceStorePolicy", .shape = TREE_SCALAR, \
	  .doc = "RAID0: all NVMe disks of the instance store become one, for kubelet, the container runtime and the logs of pods; without it: they are left alone") \
	X(const char *, store_filesystem, "instanceStoreFilesystem", .oneof = "ext4|xfs|btrfs", \
	  .doc = "what instanceStorePolicy makes there; without it: ext4")
/* clang-format on */

/* The settings as a document has them. */
struct settings_doc {
	SETTINGS(FIELD_MEMBER)
};

struct settings {
	struct strv url_rewrites;   /* "FROM=TO" */
	struct strv mirrors;        /* "FROM=TO" */
	struct strv accept_keys;    /* "KubeletConfig.x": unknown keys that are no error */
	const struct tree *vintage; /* version of kops that wrote the documents; NULL: not given */
	struct strv accept;         /* "KubeletConfig.maxPods": accepts every value of this key */
	const char *ca_bundle;      /* NULL: searched */
	struct settings_texts public_keys; /* public keys of minisign */
	bool keys_are_own;                 /* only the machine's keys count, not a document's */
	bool require_signatures;           /* refuses assets without a signature */
	bool keep_assets;                  /* the cache never removes programs */
	bool ignore_host_checks;           /* goes on even if the node cannot run here */
	bool quiet_console;                /* writes nothing to the console */
	bool guard;                        /* the units of the guard are installed */
	const char *status_url;  /* s3:// location to which a run's status is copied; NULL: none */
	const char *metrics_dir; /* folder for the metrics of each run; NULL: none */
	struct strv signals;     /* "tag=KEY": services that are told how a run ended */
	const char *reserved;    /* whose formula works out kube-reserved; NULL: none */
	const struct tree *store_policy; /* RAID0; NULL: the instance store is left alone */
	const char *store_filesystem;    /* NULL: ext4 */
	int64_t console_after_ns; /* how long a run works before the console says so; 0: never */
};

/* The rows of a document that holds only settings. */
extern const struct schema settings_schema;

/* Checks a document's settings and adds them. own: the settings are the machine's, not a cluster's. If `errors` is
 * given, wrong settings are kept there. */
int settings_add(struct arena *a, const struct settings_doc *doc, bool own, struct settings *s,
		 struct errs *errors, struct err *e) must_check;
/* Return the policy for the instance store, and its file system; NULL: not given. The machine's own come first. */
const struct tree *settings_store_policy(const struct settings *own,
					 const struct settings_doc *doc);
const char *settings_store_filesystem(const struct settings *own, const struct settings_doc *doc);
/* Returns whether the machine's list or the document's own has a key, ignoring case; either may be NULL. */
bool settings_has(const struct strv *own, const struct tree *list, const char *key);
