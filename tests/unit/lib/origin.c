#include "tests/unit/lib/origin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nodeup/base/mem.h"

extern char **environ;

void tmp_make(char out[static 64])
{
	(void)snprintf(out, 64, "/tmp/nodeup-unit-XXXXXX");
	assert_non_null(mkdtemp(out));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void tmp_remove(const char *dir)
{
	assert_int_equal(nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void tmp_write(const char *dir, const char *path, const void *data, size_t n)
{
	autofree char *full = xasprintf("%s/%s", dir, path);
	FILE *f;

	for (char *p = strchr(full + strlen(dir) + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

struct origin *origin_start(void)
{
	struct origin *o = xcalloc(1, sizeof(*o));
	autofree char *sock = NULL;
	posix_spawn_file_actions_t actions;
	int in[2], out[2], r;
	FILE *ports;

	tmp_make(o->dir);
	sock = xasprintf("%s/sock", o->dir);
	const char *argv[] = { "/usr/bin/python3",
			       "tests/fake/origin.py",
			       "--until-eof",
			       "--tls",
			       o->dir,
			       "--unix",
			       sock,
			       NULL };

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
	assert_int_equal(posix_spawn_file_actions_adddup2(&actions, in[0], 0), 0);
	assert_int_equal(posix_spawn_file_actions_adddup2(&actions, out[1], 1), 0);
	r = posix_spawn(&o->pid, "/usr/bin/python3", &actions, NULL, (char *const *)argv, environ);
	assert_int_equal(r, 0);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(in[0]);
	(void)close(out[1]);
	o->stdin_fd = in[1];
	ports = fdopen(out[0], "r");
	assert_non_null(ports);
	assert_int_equal(fscanf(ports, "%d %d", &o->port, &o->tls_port), 2);
	(void)fclose(ports);
	return o;
}

void origin_stop(struct origin *o)
{
	int status;

	(void)close(o->stdin_fd);
	assert_int_equal(waitpid(o->pid, &status, 0), o->pid);
	tmp_remove(o->dir);
	free(o);
}

static char *make_url(const char *scheme, int port, const char *fmt, va_list ap)
{
	autofree char *path = NULL;

	if (vasprintf(&path, fmt, ap) < 0)
		abort();
	return xasprintf("%s://127.0.0.1:%d%s", scheme, port, path);
}

char *origin_url(const struct origin *o, const char *fmt, ...)
{
	va_list ap;
	char *url;

	va_start(ap, fmt);
	url = make_url("http", o->port, fmt, ap);
	va_end(ap);
	return url;
}

char *origin_tls_url(const struct origin *o, const char *fmt, ...)
{
	va_list ap;
	char *url;

	va_start(ap, fmt);
	url = make_url("https", o->tls_port, fmt, ap);
	va_end(ap);
	return url;
}

unsigned char *origin_body(size_t n)
{
	unsigned char *p = xcalloc(n, 1);

	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)((i % 251 * 7 + 3) % 251);
	return p;
}
