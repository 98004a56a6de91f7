#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/scratch.h"

static const char fake_modprobe[] = "#!/bin/sh\n"
				    "echo \"modprobe $*\" >>$SCRATCH/called\n"
				    "[ ! -e $SCRATCH/fail ] || { echo 'not permitted'; exit 1; }\n"
				    "mkdir -p $SCRATCH/sys/module/$2\n";
static const char fake_udevadm[] = "#!/bin/sh\n"
				   "echo \"udevadm $*\" >>$SCRATCH/called\n";
/* the units that run are the lines of a file */
static const char fake_systemctl[] =
	"#!/bin/sh\n"
	"echo \"systemctl $*\" >>$SCRATCH/called\n"
	"[ \"$1\" != list-units ] || { cat $SCRATCH/units 2>/dev/null; exit 0; }\n"
	"rm $SCRATCH/units\n";

static const char *const units[] = { "a@*.service", "a@*.timer", NULL };
static const struct task module = {
	.kind = TASK_MODULE,
	.ops = &task_module_ops,
	.name = "br_netfilter",
};
static const struct task stray = {
	.kind = TASK_STRAY,
	.ops = &task_stray_ops,
	.name = "a",
	.stray = { .units = units, .folder = "/run/network", .file = "a.conf", .rules = "/etc/r" },
};

struct world {
	struct scratch root;
	struct task_ctx ctx;
	struct task_diff diff;
	struct err e;
	struct arena *a;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->a = arena_new_empty();
	scratch_new(&w->root);
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd };
	scratch_find_programs(&w->root, "/usr/bin");
	scratch_program(&w->root, "/usr/bin/modprobe", fake_modprobe);
	scratch_program(&w->root, "/usr/bin/udevadm", fake_udevadm);
	scratch_program(&w->root, "/usr/bin/systemctl", fake_systemctl);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	scratch_done(&w->root);
	arena_free(w->a);
	free(w);
	return 0;
}

/* What this kernel has, as one of its lists says it. */
static void write_list(struct world *w, const char *list, const char *text)
{
	struct utsname host;

	assert_int_equal(uname(&host), 0);
	scratch_write(&w->root, arena_printf(w->a, "/lib/modules/%s/%s", host.release, list), text);
}

static int check(struct world *w, const struct task *t)
{
	return t->ops->check(t, &w->ctx, &w->diff, &w->e);
}

static int apply(struct world *w, const struct task *t)
{
	struct task_run run = { 0 };

	return t->ops->apply(t, &w->ctx, &run, &w->e);
}

static const char *called(struct world *w)
{
	char *text = scratch_read(&w->root, "/called");
	char *copy = arena_str(w->a, text ? text : "");

	free(text);
	return copy;
}

static void a_module_is_loaded_once(void **state)
{
	struct world *w = *state;

	write_list(w, "modules.dep",
		   "kernel/net/bridge/br_netfilter.ko.xz: kernel/net/bridge/bridge.ko.xz\n");
	assert_int_equal(check(w, &module), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "not loaded");
	assert_int_equal(apply(w, &module), TASK_DONE);
	assert_string_equal(called(w), "modprobe -- br_netfilter\n");
	assert_int_equal(check(w, &module), TASK_EQUAL);
	assert_null(module.ops->remark(&module, &w->ctx, w->a));
}

static void a_module_that_cannot_be_loaded_is_an_error(void **state)
{
	struct world *w = *state;

	write_list(w, "modules.dep", "kernel/net/bridge/br_netfilter.ko:\n");
	scratch_write(&w->root, "/fail", "");
	assert_true(apply(w, &module) < 0);
	assert_non_null(strstr(w->e.msg, "not permitted"));
}

static void a_kernel_without_the_module_is_left_alone_and_named(void **state)
{
	struct world *w = *state;

	write_list(w, "modules.dep", "kernel/net/bridge/bridge.ko:\n");
	assert_int_equal(check(w, &module), TASK_EQUAL);
	assert_string_equal(module.ops->remark(&module, &w->ctx, w->a),
			    "kernel module br_netfilter: this kernel does not have it");
	write_list(w, "modules.builtin", "kernel/net/bridge/br_netfilter.ko\n");
	assert_null(module.ops->remark(&module, &w->ctx, w->a));
	w->ctx.image_mode = true;
	write_list(w, "modules.dep", "kernel/net/bridge/br_netfilter.ko:\n");
	assert_int_equal(check(w, &module), TASK_EQUAL);
}

static void what_must_not_run_is_ended_and_what_it_wrote_goes(void **state)
{
	struct world *w = *state;

	assert_int_equal(check(w, &stray), TASK_EQUAL);
	scratch_write(
		&w->root, "/units",
		"a@ens5.service loaded active exited A\na@ens5.timer loaded active waiting A\n");
	scratch_write(&w->root, "/run/network/70-ens5.network.d/a.conf", "");
	scratch_write(&w->root, "/run/network/70-ens5.network.d/b.conf", "");
	scratch_write(&w->root, "/run/network/a.conf", "");
	assert_int_equal(check(w, &stray), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "a@ens5.service runs");
	assert_int_equal(unlinkat(w->root.fd, "called", 0), 0);
	assert_int_equal(apply(w, &stray), TASK_DONE);
	assert_string_equal(called(w), "udevadm control --reload-rules\n"
				       "systemctl list-units --plain --no-legend "
				       "--state=active,activating,reloading a@*.service a@*.timer\n"
				       "systemctl disable --now a@ens5.service a@ens5.timer\n");
	assert_int_equal(scratch_count(&w->root, "/run/network/70-ens5.network.d"), 1);
	assert_int_equal(check(w, &stray), TASK_EQUAL);
	assert_int_equal(apply(w, &stray), TASK_DONE);
}

static void what_strays_left_is_found_without_them(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/run/network/70-ens5.network.d/a.conf", "");
	assert_int_equal(check(w, &stray), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "/run/network/70-ens5.network.d/a.conf is there");
	w->ctx.image_mode = true;
	assert_int_equal(check(w, &stray), TASK_EQUAL);
}

static void what_strays_did_beside_files_is_undone(void **state)
{
	static const char *const undo[] = { "udevadm", "undo", NULL };
	struct world *w = *state;
	struct task t = stray;

	t.stray.folder = t.stray.file = NULL;
	t.stray.undo = undo;
	assert_int_equal(check(w, &t), TASK_EQUAL);
	scratch_write(&w->root, "/units", "a@1.timer loaded active waiting A\n");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_int_equal(unlinkat(w->root.fd, "called", 0), 0);
	assert_int_equal(apply(w, &t), TASK_DONE);
	assert_string_equal(called(w), "systemctl list-units --plain --no-legend "
				       "--state=active,activating,reloading a@*.service a@*.timer\n"
				       "udevadm undo\n"
				       "systemctl disable --now a@1.timer\n");
	assert_int_equal(check(w, &t), TASK_EQUAL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_module_is_loaded_once),
		T(a_module_that_cannot_be_loaded_is_an_error),
		T(a_kernel_without_the_module_is_left_alone_and_named),
		T(what_must_not_run_is_ended_and_what_it_wrote_goes),
		T(what_strays_left_is_found_without_them),
		T(what_strays_did_beside_files_is_undone),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
