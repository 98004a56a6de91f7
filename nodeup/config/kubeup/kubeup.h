/* kubeup.h - the dialect of kube-up on AWS, Kubernetes 1.2 to 1.5: one flat kube_env.yaml
 * kube-up writes each value as a text in quotes. Its script exports them as variables of a shell, so
 * that a key counts in capitals alone. What the script would read as another text is an error here.
 * Invariant: pure; no file, network or clock.
 * Bodies: env.c, script.c, version.c.
 * Owner: the arena. Errors: CONFIG with file:line:column; no message shows a value that may be a secret.
 * Threads: all functions. Source: kubernetes v1.2.0 to v1.5.8 cluster/common.sh build-kube-env,
 * cluster/aws/util.sh, cluster/gce/configure-vm.sh.
 * Tests: test_kubeup_documents.py. */
#pragma once

#include "nodeup/config/dialect.h"
#include "nodeup/config/kubeup/list_keys.h"

/* kube_env.yaml: a text for each key, NULL for one that is not there. */
struct kubeup_env {
	KUBEUP_KEYS(FIELD_MEMBER)

	struct settings_doc settings; /* ours */
	const struct tree *tree;      /* the document, for positions */
	bool is_master;
	struct version kubernetes; /* the oldest that writes such a document */
};

/* Its keys. */
extern const struct schema kubeup_env_schema;
extern const struct field_rules kubeup_rules;

/* Read kube_env.yaml and check it by itself. */
int kubeup_env(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	       struct kubeup_env *ret, struct err *e) must_check;
/* Text of PEM out of base64, of some keys in gzip; NULL: it is not that. */
const char *kubeup_pem(struct arena *a, const char *base64, bool is_zipped);
/* Which Kubernetes writes such a document. Its keys say so: no value does. */
int kubeup_version(struct arena *a, const struct tree *t, struct version *ret,
		   struct err *e) must_check;
/* Whether every key is there without which that version's script ends, or makes a node that is none. */
int kubeup_has_all(struct arena *a, const struct kubeup_env *env, struct err *e) must_check;
/* Of a document with wrong values, which count as left out: give those that may be empty an empty one. false: there is no node
 * without one of the others. */
bool kubeup_go_without(struct kubeup_env *env);
/* Take the document out of kube-up's user data, with empty lines before it, so that its lines keep their
 * numbers. -ENOENT: this is not user data of kube-up. */
int kubeup_script(struct arena *a, const char *file, const char *text, const char **ret,
		  struct err *e) must_check;
/* Its row of dialects[]. */
extern const struct dialect kubeup_dialect;
