/* states.h - the files that kube-up's Salt states make, and their texts
 * nodeup has its own list of the files, by version and role. The texts come from the salt tarball, which the
 * document names by its hash, so a rendered file is exact for every patch version.
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

/* A condition on one value of the document. */
struct kubeup_when {
	size_t key;       /* offset in struct kubeup_env */
	const char *text; /* the value must equal this; NULL: no condition */
	bool is_part;     /* the value must contain text */
};

/* A file that a state makes, or all YAML and JSON files below a directory. */
struct kubeup_state {
	const char *path;   /* path on the machine */
	const char *source; /* path below saltbase/salt; NULL: makes an empty file if none exists */
	unsigned int mode;
	enum kubeup_role role;
	int since, until;                         /* minor versions; until 0: all later ones */
	struct kubeup_when when[KUBEUP_WHEN_MAX]; /* all must hold */
	bool renders; /* renders the source as a template; else copies it */
	bool tree;    /* source and path are directories */
	bool no_json; /* with tree: takes only the YAML files */
	/* made only if the file `sls` contains the text `says`; NULL: always */
	const char *sls, *says;
	/* with tree: leaves out files of this name, whatever their suffix; or NULL */
	const char *without;
	const char *vars; /* the map, in YAML, that the state gives to the template; or NULL */
};

extern const struct kubeup_state kubeup_states[];
extern const size_t kubeup_n_states;

/* A file as this node must have it. */
struct kubeup_file {
	const struct kubeup_state *state;
	const char *path, *text;
	const char *template; /* path in the tarball; NULL: an empty file */
};

struct kubeup_files {
	struct kubeup_file *v;
	size_t n;
};

/* The facts of the machine that templates see. */
struct kubeup_host {
	const char *name;   /* name of the machine in the VPC */
	const char *driver; /* docker's storage driver; NULL: docker chooses */
	bool on_store;      /* docker and kubelet are on the instance store */
};

/* Makes the map that templates see: pillar and grains. */
struct tree *kubeup_context(struct arena *a, const struct kubeup_env *env,
			    const struct kubeup_host *host);
/* Returns the tag of Kubernetes' four images: the document's tag, or a tag made from the archive's hash. The archive
 * gives its images another tag, but they are tagged anew when they are loaded. So the plan knows the tag before the
 * archive is read. */
const char *kubeup_tag(struct arena *a, const struct kubeup_env *env);
/* Renders every file of the states for this document, and parses the static pods. Keeps all errors in errors; if
 * that is NULL, stops at the first. */
int kubeup_render(struct arena *a, const struct documents *d, const struct kubeup_env *env,
		  const struct kubeup_host *host, struct kubeup_files *ret, struct errs *errors,
		  struct err *e) must_check;
/* Returns whether the salt tarball has this file of the states with this text in it. */
bool kubeup_says(const struct documents *d, const char *source, const char *text);

/* Appends the files that the script writes beside the states: configurations, keys and tokens. */
void kubeup_auth(struct arena *a, const struct documents *d, const struct kubeup_env *env,
		 struct kubeup_node *ret);
/* Makes the node that the document describes. */
int kubeup_node(const struct reading *in, const struct documents *d) must_check;
