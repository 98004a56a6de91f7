/* kubeup.h - the dialect of kube-up on AWS, Kubernetes 1.2 to 1.5: one flat kube_env.yaml
 * kube-up writes each value as a text in quotes. kube-up's script exports the keys as variables of a shell, so a key
 * counts only in capitals. A value that the script would read as another text is an error here.
 * Invariant: pure; no file, network or clock.
 * Bodies: env.c, script.c, version.c.
 * Owner: the arena. Errors: CONFIG with file:line:column; no message shows a value that may be a secret.
 * Threads: all functions. Source: kubernetes v1.2.0 to v1.5.8 cluster/common.sh build-kube-env, cluster/aws/util.sh,
 * cluster/gce/configure-vm.sh.
 * Tests: test_kubeup_documents.py. */
#pragma once

#include "nodeup/config/dialect.h"
#include "nodeup/config/kubeup/list_keys.h"

/* The values of kube_env.yaml as texts. A member is NULL if the document lacks its key. */
struct kubeup_env {
	KUBEUP_KEYS(FIELD_MEMBER)

	struct settings_doc settings; /* nodeup's own settings */
	const struct tree *tree;      /* the document, for positions */
	bool is_master;
	struct version kubernetes; /* the oldest Kubernetes whose kube-up writes such a document */
};

/* The keys of kube_env.yaml. */
extern const struct schema kubeup_env_schema;
extern const struct field_rules kubeup_rules;

/* Reads kube_env.yaml and checks it by itself. */
int kubeup_env(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	       struct kubeup_env *ret, struct err *e) must_check;
/* Decodes base64 that holds PEM; some keys hold it in gzip. NULL: the text is not PEM. */
const char *kubeup_pem(struct arena *a, const char *base64, bool is_zipped);
/* Finds the version of Kubernetes that writes such a document. The keys tell the version; no value does. */
int kubeup_version(struct arena *a, const struct tree *t, struct version *ret,
		   struct err *e) must_check;
/* Fails if the document lacks keys that this version needs, and names them. Without these keys the version's script
 * would stop, or make a node that does not work. */
int kubeup_has_all(struct arena *a, const struct kubeup_env *env, struct err *e) must_check;
/* Gives an empty value to each missing key that may be empty. Returns false if another key is missing. Wrong values
 * count as missing. */
bool kubeup_go_without(struct kubeup_env *env);
/* Takes the document out of kube-up's user data. Puts empty lines before it, so that its lines keep their numbers.
 * -ENOENT: this is not user data of kube-up. */
int kubeup_script(struct arena *a, const char *file, const char *text, const char **ret,
		  struct err *e) must_check;
/* The row of kube-up in dialects[]. */
extern const struct dialect kubeup_dialect;
