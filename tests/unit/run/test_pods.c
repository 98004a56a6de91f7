#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/run/pods.h"
#include "tests/unit/lib/fake_bus.h"
#include "tests/unit/lib/scratch.h"

#define MANIFEST "/etc/kubernetes/manifests/kube-apiserver.manifest"
#define ETCD "/etc/kubernetes/manifests/etcd-main-a.manifest"

/* Of one container, which began when the file says. */
static const char fake_ctr[] =
	"#!/bin/sh\n"
	"case \"$3 $4\" in\n"
	"'containers ls') echo a1 ;;\n"
	"'tasks ls') printf 'TASK PID STATUS\\na1 17 RUNNING\\n' ;;\n"
	"'containers info')\n"
	"  printf '{\"CreatedAt\": \"%s\", \"Labels\": {\"io.kubernetes.pod.name\": "
	"\"%s-ip-10-0-0-1\"}}\\n' $(cat $SCRATCH/began) $(cat $SCRATCH/pod) ;;\n"
	"*) exit 9 ;;\n"
	"esac\n";

/* A node of today's kops, whose API server listens and hangs. */
struct world {
	struct arena *arena;
	struct scratch root;
	struct bus bus;
	struct fake_unit *containerd;
	struct task file, unit;
	struct task *tasks[2];
	struct task_ctx ctx;
	int fd, port;
};

static int listen_somewhere(struct world *w)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct sockaddr *any = (struct sockaddr *)(void *)&at;
	socklen_t size = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(w->fd, any, sizeof(at)), 0);
	assert_int_equal(listen(w->fd, 8), 0);
	assert_int_equal(getsockname(w->fd, any, &size), 0);
	return ntohs(at.sin_port);
}

static void began(struct world *w, int64_t ago_ns)
{
	scratch_write(&w->root, "/began",
		      dur_utc(w->arena, (dur_wall() - ago_ns) / DUR_SEC, "%Y-%m-%dT%H:%M:%SZ"));
}

/* Writes the manifest of the pod that runs: its container, and the flag that says where it listens. */
static void runs(struct world *w, const char *path, const char *pod, const char *container,
		 const char *flag)
{
	scratch_write(&w->root, "/pod", pod);
	scratch_write(&w->root, path,
		      arena_printf(w->arena,
				   "metadata: {name: %s, namespace: kube-system}\n"
				   "spec:\n"
				   "  hostNetwork: true\n"
				   "  containers:\n"
				   "  - {name: %s, args: ['%s%d']}\n",
				   pod, container, flag, w->port));
	w->file = (struct task){ .kind = TASK_FILE, .name = path };
}

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->arena = arena_new_empty();
	scratch_new(&w->root);
	scratch_program(&w->root, "/bin/ctr", fake_ctr);
	scratch_find_programs(&w->root, "/bin");
	w->port = listen_somewhere(w);
	runs(w, MANIFEST, "kube-apiserver", "kube-apiserver", "--secure-port=");
	w->unit = (struct task){ .kind = TASK_UNIT, .name = "containerd.service" };
	w->tasks[0] = &w->file;
	w->tasks[1] = &w->unit;
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd, .bus = &w->bus };
	w->containerd = fake_bus_add(&w->bus, "containerd.service", 1);
	began(w, 3600 * DUR_SEC);
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	(void)close(w->fd);
	scratch_done(&w->root);
	arena_free(w->arena);
	free(w);
	return 0;
}

static struct strv silent(struct world *w)
{
	return pods_silent(w->arena, &w->ctx, w->tasks, ARRAY_LEN(w->tasks));
}

static void an_api_server_that_hangs_is_named_by_its_manifest(void **state)
{
	struct world *w = *state;
	const struct strv lines = silent(w);

	assert_int_equal(lines.n, 1);
	assert_string_equal(lines.v[0],
			    arena_printf(w->arena,
					 MANIFEST
					 ": container kube-apiserver runs, but it does not answer: "
					 "127.0.0.1:%d says nothing for 1.0 s; nodeup restarts no "
					 "container of a control plane",
					 w->port));
}

static void an_etcd_that_hangs_is_named_too(void **state)
{
	struct world *w = *state;
	struct strv lines;

	runs(w, ETCD, "etcd-manager-main", "etcd-manager", "--client-urls=https://__name__:");
	lines = silent(w);
	assert_int_equal(lines.n, 1);
	assert_string_equal(lines.v[0],
			    arena_printf(w->arena,
					 ETCD
					 ": container etcd-manager runs, but it does not answer: "
					 "127.0.0.1:%d says nothing for 1.0 s; nodeup restarts no "
					 "container of a control plane",
					 w->port));
}

static void one_that_began_a_moment_ago_may_be_on_its_way(void **state)
{
	struct world *w = *state;

	began(w, 60 * DUR_SEC);
	assert_int_equal(silent(w).n, 0);
}

/* Root's status wrote that this container did. */
static void one_that_answered_once_is_not_on_its_way(void **state)
{
	struct world *w = *state;

	began(w, 60 * DUR_SEC);
	scratch_write(&w->root, OWN_ANSWERED, "another\na1");
	assert_int_equal(silent(w).n, 1);
	scratch_write(&w->root, OWN_ANSWERED, "another\na11");
	assert_int_equal(silent(w).n, 0);
}

/* A runtime that is down is named itself, and docker would be started by being asked. */
static void nothing_is_said_where_the_runtime_is_not_up(void **state)
{
	struct world *w = *state;

	w->containerd->is.active_state = "inactive";
	assert_int_equal(silent(w).n, 0);
	w->ctx.bus = NULL;
	assert_int_equal(silent(w).n, 0);
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WORLD_TEST(an_api_server_that_hangs_is_named_by_its_manifest),
		WORLD_TEST(an_etcd_that_hangs_is_named_too),
		WORLD_TEST(one_that_began_a_moment_ago_may_be_on_its_way),
		WORLD_TEST(one_that_answered_once_is_not_on_its_way),
		WORLD_TEST(nothing_is_said_where_the_runtime_is_not_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
