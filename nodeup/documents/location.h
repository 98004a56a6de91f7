/* location.h - where a document lies: s3://, https://, http://, file://, a path, or instance user data
 * Owner: borrowed from the text, or the arena. Errors: none. Threads: all functions.
 * Tests: test_store.c. */
#pragma once

#include "nodeup/base/str.h"

/* This instance's user data, from IMDS. Locations beside the user data begin with `imds` too, but do not exist. A
 * file called imds must be given as ./imds. */
#define LOCATION_IMDS "imds"

/* The documents of an earlier run; the run's number follows. A file called kept:1 must be given as ./kept:1. */
#define LOCATION_KEPT "kept:"

/* For messages and help: beginnings of locations other than paths. */
#define LOCATION_SCHEMES "s3://, https://, http://, file:// or " LOCATION_IMDS

/* Returns whether the location is the user data, or is beside the user data. */
bool location_is_imds(const char *location);
/* Returns whether the location names an earlier run's documents. */
bool location_is_kept(const char *location);
/* Returns whether the location means the same place from every directory. */
bool location_is_absolute(const char *location);
/* Returns the path of a file of this machine; NULL: the location is on another machine. */
const char *location_path(const char *location);
/* Returns whether a network is needed to read the location. */
bool location_is_remote(const char *location);
/* Returns the location of the document with the usual name in that folder. */
char *location_in_folder(struct arena *a, const char *folder);
/* Returns the location of the document: the given location, or, if that is a folder of this machine, the document
 * with the usual name in it. */
const char *location_document(struct arena *a, const char *location);
/* Returns an absolute path; remote and absolute locations stay unchanged. */
const char *location_absolute(struct arena *a, const char *location);
/* Returns `location`/`name`. */
char *location_join(struct arena *a, const char *location, const char *name);
/* Returns the location of that name in the folder that holds `location`. */
char *location_beside(struct arena *a, const char *location, const char *name);
/* Returns a location for messages. A URL is cut to scheme, host and path, as the rest may be secret. */
const char *location_shown(struct arena *a, const char *location);
