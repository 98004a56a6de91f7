/* scratch.h - a throw-away root directory for tests that write files
 * Owner: scratch_new/scratch_done. Errors: the test fails. Threads: one. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct scratch {
	char path[64];
	int fd;
	char *path_before; /* PATH as it was; NULL: it is as it was */
};

/* Make an empty directory below /tmp and open it. */
void scratch_new(struct scratch *s);
/* Remove it and all that is in it. PATH is what it was. */
void scratch_done(struct scratch *s);
/* Write a file below it, parents included. */
void scratch_write(const struct scratch *s, const char *path, const char *text);
/* The same of a program, a script. */
void scratch_program(const struct scratch *s, const char *path, const char *script);
/* Have programs of that folder below it found first. They find SCRATCH, the directory, in their environment. */
void scratch_find_programs(struct scratch *s, const char *folder);
/* The content of a file below it, malloc'ed; NULL if it is not there. */
char *scratch_read(const struct scratch *s, const char *path);
/* lstat below it; false if it is not there. */
bool scratch_stat(const struct scratch *s, const char *path, struct stat *st);
/* How many entries a directory below it has; 0 if it is not there. */
int scratch_count(const struct scratch *s, const char *path);
