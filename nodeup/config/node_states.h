/* node_states.h - a node whose documents say file by file what is there
 * A part of the model (node.h), of kube-up: no builder writes a text of its own there.
 * Owner: the arena of the run. Errors: none. Threads: const after the dialect is done.
 * Source: the states that kube-up has Salt make. */
#pragma once

#include "nodeup/base/str.h"
#include "nodeup/base/tree.h"

/* A text of a document with the place it stands at, for messages of what parses it further. */
struct node_text {
	const char *text;
	struct tree_pos pos;
	const char *signature; /* of an asset; NULL: none */
};

/* A file that the documents give whole, a directory, or a link. */
struct node_made {
	const char *path;
	const char *text;   /* NULL: a directory, or a link */
	const char *target; /* of a link */
	unsigned int mode;
	const char *owner; /* of a directory; NULL: root */
	bool secret;       /* the text is never shown */
	bool if_absent;    /* what is there stays, whatever it says */
	const char
		*template; /* file of the archive that the text is made of, and where that is asked for; or NULL */
	const char *
		other; /* of if_absent: what people are told where it says something else; or NULL */
};

/* A member of an archive of the assets, or with `known` an asset of its own, "HASH@URL". */
struct node_member {
	const char *name, *path, *known;
	unsigned int mode;
	bool optional; /* an archive without it is as good */
};

/* An image that is a member of the archive of programs; the archive says in another member which tag it has. */
struct node_member_image {
	const char
		*name; /* that its pods use: "gcr.io/google_containers/kube-proxy:0123456789ab" */
	const char *member, *tag; /* "kube-proxy.tar", "kube-proxy.docker_tag" */
	const char *loaded_as;    /* without the tag */
	struct node_text archive;
};

/* A node whose documents say what stands in its files: no builder makes their texts. */
struct node_states {
	struct {
		struct node_made *v;
		size_t n;
	} made;
	struct {
		struct node_member *v;
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
	/* what ran at each boot before our unit did, which does the same; one that begins otherwise is another's */
	struct {
		const char *path, *begins;
	} replaces;
};
