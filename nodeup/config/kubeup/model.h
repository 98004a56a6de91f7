/* model.h - the part of a node that kube-up alone has: node.own of its nodes
 * The documents give every file whole; no builder writes a text of its own.
 * Owner: the arena of the run. Errors: none. Threads: const after the dialect is done.
 * Source: the states that kube-up lets Salt make. */
#pragma once

#include "nodeup/config/node.h"

/* A file that the documents give whole, a directory, or a link. */
struct kubeup_made {
	const char *path;
	const char *text;   /* NULL: a directory, or a link */
	const char *target; /* target of a link; else NULL */
	unsigned int mode;
	const char *owner;    /* owner of a directory; NULL: root */
	bool secret;          /* the file's text is never shown */
	bool if_absent;       /* keeps a file that exists, whatever its text */
	const char *template; /* the file of the archive that makes the text; or NULL */
	const char *other; /* with if_absent: the warning if the file has another text; or NULL */
};

/* A member of one of the archives. If `known` is set, the member is an asset by itself: "HASH@URL". */
struct kubeup_member {
	const char *name, *path, *known;
	unsigned int mode;
	bool optional; /* an archive may lack the member */
};

struct kubeup_node {
	struct {
		struct kubeup_made *v;
		size_t n;
	} made;
	struct {
		struct kubeup_member *v;
		size_t n;
	} members;
	struct {
		struct node_member_image *v;
		size_t n;
	} images;
	struct strv whole; /* directories that may hold only files that `made` lists */
	struct strv units; /* enabled and started, in addition to docker and kubelet */
	struct strmap sysctl;
	struct strv modules; /* kernel modules */
	struct {
		const char *name, *home, *shell;
	} user; /* name NULL: no user is made */
};
