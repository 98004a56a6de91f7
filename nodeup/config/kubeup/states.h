/* states.h - which files kube-up's Salt states make, and what stands in them
 * The list is ours, by version and role; the texts are the salt tarball's own. What a template makes of the
 * document is exact at every patch version, since the document names the tarball by its hash.
 * Invariant: pure.
 * Bodies: context.c, render.c.
 * Owner: the arena. Errors: CONFIG that names the file of the tarball, with line and column.
 * Threads: all functions. Source: kubernetes v1.2.0 to v1.5.8 cluster/saltbase. */
#pragma once

#include "nodeup/config/kubeup/kubeup.h"

enum kubeup_role { KUBEUP_BOTH, KUBEUP_MASTER, KUBEUP_NODE };

/* The newest minor version of kube-up on AWS. */
enum { KUBEUP_NEWEST = 5 };

/* A file, or all YAML and JSON files below a directory, that a state makes. */
struct kubeup_state {
	const char *path; /* on the machine */
	const char
		*source; /* below saltbase/salt; NULL: an empty file, unless something is there */
	unsigned int mode;
	enum kubeup_role role;
	int since, until;                           /* minor versions; until 0: all later ones */
	bool (*when)(const struct kubeup_env *env); /* NULL: always */
	bool renders;           /* its template is rendered; else the bytes are copied */
	bool tree;              /* source and path are directories */
	const char *sls, *says; /* only where this file of the states has this text; NULL: any */
	const char *
		without; /* a tree's files of this name, without its end, are left out; NULL: none */
	const char *vars; /* what the state hands to the template, a map of YAML; NULL: nothing */
};

extern const struct kubeup_state kubeup_states[];
extern const size_t kubeup_n_states;

/* A file as it is to be. */
struct kubeup_file {
	const struct kubeup_state *state;
	const char *path, *text;
	size_t n;
};

struct kubeup_files {
	struct kubeup_file *v;
	size_t n;
};

/* What templates know: pillar and grains, as a map. `host` is this machine's name in its VPC. */
struct tree *kubeup_context(struct arena *a, const struct kubeup_env *env, const char *host);
/* In the place of an image's tag, which only the archive of programs says: "@kube-proxy@". */
const char *kubeup_tag_of(struct arena *a, const struct kubeup_env *env, const char *image);
/* Every file of the states for this document. Static pods are parsed as well. */
int kubeup_render(struct arena *a, const struct documents *d, const struct kubeup_env *env,
		  const char *host, struct kubeup_files *ret, struct err *e) must_check;
