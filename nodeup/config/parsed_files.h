/* parsed_files.h - files that the API server parses when it starts, and ends on
 * What such a file must have is data: kinds, parts, and the words and forms of their values, at which versions. Only what
 * every build of the program refuses is told. Keys that are not known here are none of its business.
 * Invariant: a finding shows no text of a file that holds keys, only its place.
 * Owner: the arena. Errors: none; findings are data, the caller weighs them. Threads: all.
 * Source: k8s.io/apiserver 24a394e and its tags 1.7.16 to 1.36.3: pkg/server/options/encryptionconfig,
 * pkg/apis/apiserver/validation, pkg/apis/audit/validation, pkg/audit/policy/reader.go, pkg/admission/config.go;
 * kubernetes 1.31 pkg/kubeapiserver/options/authentication.go.
 * Tests: test_parsed_files.c. */
#pragma once

#include "nodeup/base/accepts.h"
#include "nodeup/config/node.h"

/* The text of a file. */
struct parsed_text {
	const char *flag; /* of the API server, that names the file: "audit-policy-file" */
	const char *key;  /* what the setting `accept` calls it: a path, or the name of a secret */
	const char *from; /* begins each finding: "f:2:1: FileAssets: '/srv/a.yaml'" */
	const char *text;
	size_t n;
};

/* Append what the API server of Kubernetes 1.minor refuses of a text; nothing of a flag whose file is not known here. */
void parsed_text_check(struct arena *a, const struct parsed_text *t, int minor,
		       struct accepts_findings *ret);
/* The same of each file of the node that a flag of the API server names; obj is of schema s, and has the flags. */
void parsed_files_check(struct arena *a, const struct schema *s, const void *obj,
			const struct node *n, struct accepts_findings *ret);
