/* model.h - what a node of kube-up has: node.own of its nodes
 * Its documents say file by file what is there: no builder writes a text of its own.
 * Owner: the arena of the run. Errors: none. Threads: const after the dialect is done.
 * Source: the states that kube-up has Salt make. */
#pragma once

#include "nodeup/config/node.h"

/* A file that the documents give whole, a directory, or a link. */
struct kubeup_made {
	const char *path;
	const char *text;   /* NULL: a directory, or a link */
	const char *target; /* of a link */
	unsigned int mode;
	const char *owner;    /* of a directory; NULL: root */
	bool secret;          /* the text is never shown */
	bool if_absent;       /* what is there stays, whatever it says */
	const char *template; /* file of the archive that makes the text; or NULL */
	const char *other;    /* of if_absent: the warning where it says something else; or NULL */
};

/* A member of an archive of the assets, or with `known` an asset of its own, "HASH@URL". */
struct kubeup_member {
	const char *name, *path, *known;
	unsigned int mode;
	bool optional; /* an archive without it is as good */
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
	struct strv whole; /* directories that hold nothing beside made */
	struct strv units; /* enabled and started, beside docker's and kubelet's */
	struct strmap sysctl;
	struct strv modules; /* of the kernel */
	struct {
		const char *name, *home, *shell;
	} user; /* name NULL: none */
};
