/* version.h - the text of a version, of Kubernetes or another program
 * Owner: the arena. Errors: none; false is one. Threads: all functions. Source: semver.org.
 * Tests: test_vintage.c. */
#pragma once

#include "nodeup/config/node.h"

/* "1.8.7", "v1.8.7", "v1.9.0-beta.1", "1.8"; what follows a '/' is the next part of a URL. */
bool version_parse(struct arena *a, const char *text, struct version *ret) must_check;
/* The version that a config.toml of containerd is written in; 0: it says none. */
int version_of_toml(struct arena *a, const char *text);
