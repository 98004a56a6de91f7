/* location.h - where a document is: s3://, https://, http://, file://, a path, or this instance's user data
 * Owner: borrowed from the text, or the arena. Errors: none. Threads: all functions.
 * Tests: test_store.c. */
#pragma once

#include "nodeup/base/str.h"

/* The user data of this instance, which the metadata service has; what is beside it begins so, and is nowhere.
 * A file of that name is ./imds. */
#define LOCATION_IMDS "imds"

/* The documents of an earlier run, by the number that follows. A file of such a name is ./kept:1. */
#define LOCATION_KEPT "kept:"

/* For messages and help: what a location begins with that is not a path. */
#define LOCATION_SCHEMES "s3://, https://, http://, file:// or " LOCATION_IMDS

/* Returns whether it is there, or would be beside it. */
bool location_is_imds(const char *location);
/* Returns whether it is such documents. */
bool location_is_kept(const char *location);
/* Returns whether it means the same place from any directory. */
bool location_is_absolute(const char *location);
/* The path of a file of this machine, or NULL when it is on another machine. */
const char *location_path(const char *location);
/* Returns whether a network is needed to read it. */
bool location_is_remote(const char *location);
/* The document of the usual name in that folder. */
char *location_in_folder(struct arena *a, const char *folder);
/* The document that is meant: in a folder of this machine, the one of the usual name. */
const char *location_document(struct arena *a, const char *location);
/* A path as seen from any directory; what is remote or absolute stays as it is. */
const char *location_absolute(struct arena *a, const char *location);
/* `location`/`name`. */
char *location_join(struct arena *a, const char *location, const char *name);
/* The location of that name in the folder that holds `location`. */
char *location_beside(struct arena *a, const char *location, const char *name);
/* For messages: what a URL may carry beside scheme, host and path is a secret. */
const char *location_shown(struct arena *a, const char *location);
