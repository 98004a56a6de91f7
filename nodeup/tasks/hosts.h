/* hosts.h - lines of ours in /etc/hosts
 * A block between two comments, which say whose it is. What stands outside of it stays.
 * Owner: constants; lines are the arena's. Errors: none. Threads: all functions.
 * Source: hosts(5); kops 1.37 pkg/dns/hosts/hosts.go. */
#pragma once

#include "nodeup/base/str.h"

struct hosts_block {
	const char *first, *last; /* with their newlines */
	bool is_apart;            /* one blank line stands before it */
};

/* Of the members of etcd; of the API server's names, as kops itself has it. */
extern const struct hosts_block hosts_of_etcd, hosts_of_kops;

/* The lines of names, each with its address. */
struct strv hosts_lines(struct arena *a, const struct strmap *names);
