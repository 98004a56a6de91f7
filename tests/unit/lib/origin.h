/* origin.h - tests/fake/origin.py as a child of a unit test, and temporary directories
 * Owner: the test's fixture. Errors: assertions. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct origin {
	pid_t pid;
	int stdin_fd; /* closing it ends the child */
	int port, tls_port;
	char dir[64]; /* temporary; cert.pem and sock are in it */
};

/* Start one, with TLS and a Unix socket. */
struct origin *origin_start(void);
void origin_stop(struct origin *o);
/* "http://127.0.0.1:PORT" or its https form, followed by the formatted path. malloc'ed. */
char *origin_url(const struct origin *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *origin_tls_url(const struct origin *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The first n bytes of the body it serves. malloc'ed. */
unsigned char *origin_body(size_t n);

/* Make a temporary directory, name into out; remove it with all that is in it. */
void tmp_make(char out[static 64]);
void tmp_remove(const char *dir);
/* Write a file below a directory, making its parents. */
void tmp_write(const char *dir, const char *path, const void *data, size_t n);
