#include "tests/unit/lib/ec2_fake.h"

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

static void spawn(struct ec2_fake *f, const char *script, const char *path)
{
	const char *argv[] = { "/usr/bin/python3", "-B", script, "127.0.0.1", "0", path, NULL };
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	FILE *port;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
	assert_int_equal(posix_spawn_file_actions_adddup2(&actions, in[0], 0), 0);
	assert_int_equal(posix_spawn_file_actions_adddup2(&actions, out[1], 1), 0);
	assert_int_equal(
		posix_spawn(&f->pid, argv[0], &actions, NULL, (char *const *)argv, environ), 0);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(in[0]);
	(void)close(out[1]);
	f->stdin_fd = in[1];
	port = fdopen(out[0], "r");
	assert_non_null(port);
	assert_int_equal(fscanf(port, "%d", &f->port), 1);
	(void)fclose(port);
}

static void set(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static struct ec2_fake *start(const char *script, const char *variable, const char *state)
{
	struct ec2_fake *f = xcalloc(1, sizeof(*f));
	const char *text;
	struct err e;

	tmp_make(f->dir);
	f->arena = arena_new_empty();
	text = arena_printf(f->arena, "{\"keys\": {\"AKIA1\": [\"secret\", \"token\"]}, %s}",
			    state);
	tmp_write(f->dir, "state.json", text, strlen(text));
	spawn(f, script, arena_printf(f->arena, "%s/state.json", f->dir));
	f->root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->root_fd >= 0);
	const struct http_opts opts = { .root_fd = f->root_fd };

	set("AWS_ENDPOINT_URL", NULL);
	set(variable, arena_printf(f->arena, "http://127.0.0.1:%d/", f->port));
	set("AWS_REGION", "us-west-2");
	set("AWS_ACCESS_KEY_ID", "AKIA1");
	set("AWS_SECRET_ACCESS_KEY", "secret");
	set("AWS_SESSION_TOKEN", "token");
	set("http_proxy", NULL);
	set("S3_ENDPOINT", NULL);
	if (http_new(&opts, &f->http, &e) < 0)
		fail_msg("%s", e.msg);
	f->ec2 = ec2_new(&(struct query_req){ .http = f->http });
	return f;
}

struct ec2_fake *ec2_fake_start(const char *state)
{
	return start("tests/fake/ec2.py", "AWS_ENDPOINT_URL_EC2", state);
}

struct ec2_fake *ec2_fake_start_groups(const char *state)
{
	return start("tests/fake/autoscaling.py", "AWS_ENDPOINT_URL_AUTO_SCALING", state);
}

struct ec2_fake *ec2_fake_start_stacks(const char *state)
{
	return start("tests/fake/cloudformation.py", "AWS_ENDPOINT_URL_CLOUDFORMATION", state);
}

void ec2_fake_stop(struct ec2_fake *f)
{
	int status;

	query_free(f->ec2);
	http_free(f->http);
	(void)close(f->stdin_fd);
	assert_int_equal(waitpid(f->pid, &status, 0), f->pid);
	(void)close(f->root_fd);
	arena_free(f->arena);
	tmp_remove(f->dir);
	free(f);
}

static const char *tell(struct ec2_fake *f, const char *what)
{
	autobuf struct buf b = BUF_INIT(1 << 20);
	struct http_req req = {
		.url = arena_printf(f->arena, "http://127.0.0.1:%d%s", f->port, what),
		.no_proxy = true,
	};
	struct err e;

	if (http_get(f->http, &req, &b, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	return arena_str(f->arena, buf_str(&b));
}

void ec2_fake_fault(struct ec2_fake *f, const char *how)
{
	(void)tell(f, arena_printf(f->arena, "/__fault?action=%s", how));
}

const char *ec2_fake_log(struct ec2_fake *f)
{
	return tell(f, "/__log");
}

int ec2_fake_count(struct ec2_fake *f, const char *action)
{
	const char *what = arena_printf(f->arena, "\"Action\": \"%s\"", action), *at;
	int n = 0;

	for (at = strstr(ec2_fake_log(f), what); at; at = strstr(at + 1, what))
		n++;
	return n;
}
