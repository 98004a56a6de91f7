/* writer.h - which process writes the part of an entry, by the lock that it holds
 * Owner: values. Errors: none; what cannot be known stays empty. Units: bytes. Threads: all functions.
 * Source: proc_locks(5). */
#pragma once

#include <stdint.h>

struct cache_writer {
	int pid;       /* 0 unknown: it is in another PID namespace, say */
	char name[32]; /* of its program; "" unknown */
	int64_t bytes; /* that it has, and maybe some more */
};

/* The process that holds the lock of this file. */
struct cache_writer cache_writer_of(int fd);
