#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/proc.h"
#include "nodeup/host/containers.h"
#include "tests/unit/lib/scratch.h"

/* Stands for ctr: a container is a line "ID NAME NAMESPACE POD STATUS" of a file, and only these three questions are
 * taken. */
static const char fake_ctr[] =
	"#!/bin/sh\n"
	"[ \"$1 $2\" = '-n k8s.io' ] && shift 2 || exit 9\n"
	"[ ! -e $SCRATCH/down ] || { echo 'ctr: failed to dial'; exit 1; }\n"
	"case \"$1 $2\" in\n"
	"'containers ls')\n"
	"  [ $# = 4 ] && [ $3 = -q ] || exit 9\n"
	"  while read -r id name space pod status; do\n"
	"    [ \"$4\" = \"labels.\\\"io.kubernetes.container.name\\\"==\\\"$name\\\",labels."
	"\\\"io.kubernetes.pod.namespace\\\"==\\\"$space\\\"\" ] && echo $id\n"
	"  done <$SCRATCH/containers; exit 0 ;;\n"
	"'tasks ls')\n"
	"  [ $# = 2 ] || exit 9\n"
	"  echo 'TASK    PID     STATUS'\n"
	"  while read -r id name space pod status; do\n"
	"    printf '%s    %d    %s\\n' $id 17 $status\n"
	"  done <$SCRATCH/containers ;;\n"
	"'containers info')\n"
	"  [ $# = 3 ] || exit 9\n"
	"  while read -r id name space pod status; do\n"
	"    [ $id = $3 ] && printf '{\"ID\": \"%s\", \"CreatedAt\": \"2026-11-27T10:02:03.5Z\", \"Labels\": "
	"{\"io.kubernetes.pod.name\": \"%s\"}}\\n' $id $pod\n"
	"  done <$SCRATCH/containers; exit 0 ;;\n"
	"*) exit 9 ;;\n"
	"esac\n";

struct world {
	struct arena *arena;
	struct scratch root;
	struct containers found;
	struct err e;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->arena = arena_new_empty();
	scratch_new(&w->root);
	scratch_program(&w->root, "/bin/ctr", fake_ctr);
	scratch_write(&w->root, "/containers", "");
	scratch_find_programs(&w->root, "/bin");
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	scratch_done(&w->root);
	arena_free(w->arena);
	free(w);
	return 0;
}

static int ask(struct world *w)
{
	const struct container_query q = { .namespace_ = "kube-system", .name = "kube-proxy" };

	w->found.n = 0;
	return containers_of_containerd(w->arena, &q, &w->found, &w->e);
}

static void pods_of_containerd_are_those_whose_task_runs(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w), 0);
	assert_int_equal(w->found.n, 0);
	scratch_write(&w->root, "/containers",
		      "a1 kube-proxy kube-system kube-proxy-old STOPPED\n"
		      "a1b kube-proxy kube-system kube-proxy-new RUNNING\n"
		      "b kube-proxy default kube-proxy-mine RUNNING\n"
		      "c dns kube-system dns-x RUNNING\n");
	assert_int_equal(ask(w), 0);
	assert_int_equal(w->found.n, 1);
	assert_string_equal(w->found.v[0].id, "a1b");
	assert_string_equal(w->found.v[0].pod, "kube-proxy-new");
	assert_int_equal(w->found.v[0].began_ns / DUR_SEC, 1795773723);
}

static void a_containerd_that_is_down_is_an_error(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/down", "");
	assert_true(ask(w) < 0);
	assert_non_null(strstr(w->e.msg, "failed to dial"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pods_of_containerd_are_those_whose_task_runs, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_containerd_that_is_down_is_an_error, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
