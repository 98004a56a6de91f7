/* release.h - the packages that kops 1.8 installed on each release of a distribution
 * The releases that kops 1.8 knew get what it installed there. Images of today bring their programs
 * themselves: nothing is installed on them but what the documents name.
 * Owner: static tables. Errors: none. Threads: all functions.
 * Source: kops 1.8.1 nodeup/pkg/distros, nodeup/pkg/model/{logrotate,packages}.go,
 * upup/models/nodeup. */
#pragma once

#include "nodeup/plan/plan.h"

struct release {
	const char *distribution;
	const char *version;  /* "8" is also 8.11; NULL: any */
	const char *codename; /* of that version, where a host tells no number */
	const char *packages; /* blank-separated; NULL: kops 1.8 did not know this release */
	const char *upgrades; /* package that installs updates by itself; NULL: none */
	const char *ntp;      /* package that keeps the time; NULL: the image does */
	const char *ntp_unit;
};

/* The n-th release or distribution of the tables, as facts; false: there are no more. */
bool release_nth(size_t n, struct facts *ret);
/* Returns whether the facts are of this release: the version begins so ("8" fits 8.11). A host without a version is
 * known by the code name (NULL: it has none). */
bool release_is(const char *distribution, const char *version, const char *codename,
		const struct facts *f);
/* The row of this host; one without anything for a release that kops 1.8 did not know. */
const struct release *plan_release(const struct plan *p);
/* "jessie", "centos7": how tables call it; NULL for a release kops 1.8 did not know. */
const char *release_name(const struct release *d);
