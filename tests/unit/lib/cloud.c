#include "tests/unit/lib/cloud.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/lib/origin.h"

extern char **environ;

/* Whatever the host of the tests has set. */
static void clean_environment(void)
{
	static const char *const names[] = {
		"AWS_REGION",
		"AWS_DEFAULT_REGION",
		"S3_REGION",
		"AWS_ENDPOINT_URL",
		"AWS_ENDPOINT_URL_S3",
		"S3_ENDPOINT",
		"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
		"AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY",
		"AWS_SESSION_TOKEN",
		"S3_ACCESS_KEY_ID",
		"S3_SECRET_ACCESS_KEY",
		"http_proxy",
		"https_proxy",
		"HTTP_PROXY",
		"HTTPS_PROXY",
		"all_proxy",
		"ALL_PROXY",
		"no_proxy",
		"NO_PROXY",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(unsetenv(names[i]), 0);
}

static void spawn(struct cloud *c, const char *objects)
{
	const char *argv[] = { "/usr/bin/python3", "-B", "tests/fake/cloud.py", objects,
			       "us-west-2",        NULL };
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	FILE *ports;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
	assert_int_equal(posix_spawn_file_actions_adddup2(&actions, in[0], 0), 0);
	assert_int_equal(posix_spawn_file_actions_adddup2(&actions, out[1], 1), 0);
	assert_int_equal(posix_spawn(&c->pid, "/usr/bin/python3", &actions, NULL,
				     (char *const *)argv, environ),
			 0);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(in[0]);
	(void)close(out[1]);
	c->stdin_fd = in[1];
	ports = fdopen(out[0], "r");
	assert_non_null(ports);
	assert_int_equal(fscanf(ports, "%d %d", &c->s3_port, &c->imds_port), 2);
	(void)fclose(ports);
}

char *cloud_url(struct cloud *c, enum cloud_service service, const char *path)
{
	return arena_printf(c->arena, "http://127.0.0.1:%d%s",
			    service == CLOUD_S3 ? c->s3_port : c->imds_port, path);
}

struct cloud *cloud_start(const char *objects)
{
	static const char *const regions[] = { "us-east-1", "us-west-2" };
	struct cloud *c = xcalloc(1, sizeof(*c));
	struct http_opts opts = { 0 };
	struct err e;

	clean_environment();
	tmp_make(c->dir);
	spawn(c, objects ? objects : c->dir);
	c->arena = arena_new_empty();
	c->root_fd = opts.root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(c->root_fd >= 0);
	for (size_t i = 0; i < ARRAY_LEN(regions); i++)
		strv_add(c->arena, &opts.rewrites,
			 arena_printf(c->arena, "https://bucket.s3.%s.amazonaws.com/=%s%s/bucket/",
				      regions[i], cloud_url(c, CLOUD_S3, "/@"), regions[i]));
	assert_int_equal(setenv("AWS_ENDPOINT_URL_S3", cloud_url(c, CLOUD_S3, ""), 1), 0);
	assert_int_equal(
		setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", cloud_url(c, CLOUD_IMDS, "/"), 1), 0);
	if (http_new(&opts, &c->http, &e) < 0)
		fail_msg("%s", e.msg);
	return c;
}

void cloud_stop(struct cloud *c)
{
	int status;

	http_free(c->http);
	(void)close(c->stdin_fd);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	(void)close(c->root_fd);
	arena_free(c->arena);
	tmp_remove(c->dir);
	free(c);
}

static char *ask(struct cloud *c, enum cloud_service service, const char *path)
{
	struct buf b = BUF_INIT(4096);
	struct http_req req = { .url = cloud_url(c, service, path), .no_proxy = true };
	struct err e;

	if (http_get(c->http, &req, &b, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	return buf_take(&b);
}

void cloud_tell(struct cloud *c, enum cloud_service service, const char *what)
{
	autofree char *ignored = ask(c, service, what);
}

void cloud_fault(struct cloud *c, enum cloud_service service, const char *path, const char *how)
{
	cloud_tell(c, service, arena_printf(c->arena, "/__fault?path=%s&%s", path, how));
}

int cloud_count(struct cloud *c, enum cloud_service service, const char *path)
{
	autofree char *text =
		ask(c, service,
		    arena_printf(c->arena, "/__count%s%s", path ? "?path=" : "", path ? path : ""));

	return (int)strtol(text, NULL, 10);
}
