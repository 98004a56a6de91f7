/* states.h - which files kube-up's Salt states make, and what stands in them
 * The list is ours, by version and role; the texts are the salt tarball's own. What a template makes of the
 * document is exact at every patch version, since the document names the tarball by its hash.
 * Invariant: pure.
 * Bodies: auth.c, context.c, node.c, render.c.
 * Owner: the arena. Errors: CONFIG that names the file of the tarball, with line and column.
 * Threads: all functions. Source: kubernetes v1.2.0 to v1.5.8 cluster/saltbase.
 * Tests: test_render.c, test_kubeup_templates.py. */
#pragma once

#include "nodeup/config/kubeup/kubeup.h"
#include "nodeup/config/kubeup/model.h"

enum kubeup_role { KUBEUP_BOTH, KUBEUP_MASTER, KUBEUP_NODE };

/* The newest minor version of kube-up on AWS. */
enum { KUBEUP_NEWEST = 5 };

enum { KUBEUP_WHEN_MAX = 3 };

/* What the document has to say. */
struct kubeup_when {
	size_t key;       /* offset in struct kubeup_env */
	const char *text; /* that it is; NULL: no condition */
	bool is_part;     /* it has this in it */
};

/* A file, or all YAML and JSON files below a directory, that a state makes. */
struct kubeup_state {
	const char *path;   /* on the machine */
	const char *source; /* below saltbase/salt; NULL: an empty file if nothing is there */
	unsigned int mode;
	enum kubeup_role role;
	int since, until;                         /* minor versions; until 0: all later ones */
	struct kubeup_when when[KUBEUP_WHEN_MAX]; /* all of them hold */
	bool renders;           /* its template is rendered; else the bytes are copied */
	bool tree;              /* source and path are directories */
	bool no_json;           /* of a tree: its YAML files alone */
	const char *sls, *says; /* only where this file of the states has this text; NULL: any */
	const char *without; /* a tree's files of this name, without its end, stay out; or NULL */
	const char *vars; /* what the state hands to the template, a map of YAML; NULL: nothing */
};

extern const struct kubeup_state kubeup_states[];
extern const size_t kubeup_n_states;

/* A file as it is to be. */
struct kubeup_file {
	const struct kubeup_state *state;
	const char *path, *text;
	const char *template; /* in the tarball; NULL: an empty file */
};

struct kubeup_files {
	struct kubeup_file *v;
	size_t n;
};

/* What templates know of the machine. */
struct kubeup_host {
	const char *name;   /* in its VPC */
	const char *driver; /* of docker's storage; NULL: docker's own choice */
	bool on_store;      /* docker and kubelet are on the instance store */
};

/* What templates know: pillar and grains, as a map. */
struct tree *kubeup_context(struct arena *a, const struct kubeup_env *env,
			    const struct kubeup_host *host);
/* The tag of Kubernetes' four images: the document's, or one of ours. The archive of programs has another in
 * it, and what is loaded of it gets this one as well: so the plan knows it. */
const char *kubeup_tag(struct arena *a, const struct kubeup_env *env);
/* Render every file of the states for this document, and parse static pods. All that is wrong is kept in
 * errors; NULL: the first ends it. */
int kubeup_render(struct arena *a, const struct documents *d, const struct kubeup_env *env,
		  const struct kubeup_host *host, struct kubeup_files *ret, struct errs *errors,
		  struct err *e) must_check;
/* Whether the salt tarball has that file of the states, and this text stands in it. */
bool kubeup_says(const struct documents *d, const char *source, const char *text);

/* What the script writes beside the states: configurations, keys and tokens, appended. */
void kubeup_auth(struct arena *a, const struct documents *d, const struct kubeup_env *env,
		 struct kubeup_node *ret);
/* The node of a document. */
int kubeup_node(struct arena *a, const struct documents *d, const struct facts *f,
		const struct dialect_opts *o, struct node *ret, struct err *e) must_check;
