#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/task_world.h"

static void sysctl_four_ways(void **state)
{
	struct world *w = *state;
	struct strmap_item items[] = {
		{ "net.ipv4.tcp_rmem", "4096 12582912 16777216" },
		{ "no.such.key", "1" },
	};
	const struct task t = {
		.kind = TASK_SYSCTL,
		.ops = &task_sysctl_ops,
		.name = "sysctl",
		.sysctl = { .values = { items, 2 } },
	};
	autofree char *text = NULL;

	/* what this kernel lacks is nobody's to set */
	assert_int_equal(check(w, &t), TASK_EQUAL);
	scratch_write(&w->root, "/proc/sys/net/ipv4/tcp_rmem", "1 2 3\n");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	scratch_write(&w->root, "/proc/sys/net/ipv4/tcp_rmem", "4096\t12582912\t16777216\n");
	assert_int_equal(check(w, &t), TASK_EQUAL);
	scratch_write(&w->root, "/proc/sys/net/ipv4/tcp_rmem", "");
	apply(w, &t);
	apply(w, &t);
	text = scratch_read(&w->root, "/proc/sys/net/ipv4/tcp_rmem");
	assert_string_equal(text, "4096 12582912 16777216");
}

static void sysctl_names_with_dots(void **state)
{
	struct world *w = *state;
	struct strmap_item items[] = {
		{ "net.ipv4.conf.eth0/100.rp_filter", "1" },
		{ "net/ipv4/conf/eth0.200/rp_filter", "2" },
	};
	const struct task t = {
		.kind = TASK_SYSCTL,
		.ops = &task_sysctl_ops,
		.name = "sysctl",
		.sysctl = { .values = { items, 2 } },
	};
	autofree char *first = NULL, *second = NULL;

	scratch_write(&w->root, "/proc/sys/net/ipv4/conf/eth0.100/rp_filter", "");
	scratch_write(&w->root, "/proc/sys/net/ipv4/conf/eth0.200/rp_filter", "");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	apply(w, &t);
	first = scratch_read(&w->root, "/proc/sys/net/ipv4/conf/eth0.100/rp_filter");
	second = scratch_read(&w->root, "/proc/sys/net/ipv4/conf/eth0.200/rp_filter");
	assert_string_equal(first, "1");
	assert_string_equal(second, "2");
	assert_int_equal(check(w, &t), TASK_EQUAL);
}

#define OURS "/etc/sysctl.d/99-k8s-general.conf"

/* What files of others say of a key, and whose it is then. */
static void sysctl_of_others_stays(void **state)
{
	static const struct {
		const char *files[3][2];
		const char *says; /* NULL: ours counts */
	} rows[] = {
		{ { { "/etc/sysctl.d/999-mine.conf", "# x\nnet.core.somaxconn = 65535\n" } },
		  "net.core.somaxconn is /etc/sysctl.d/999-mine.conf:2's, which comes later" },
		{ { { "/usr/lib/sysctl.d/99-z.conf", "net/core/somaxconn=65535" } },
		  "net.core.somaxconn is /usr/lib/sysctl.d/99-z.conf:1's, which comes later" },
		{ { { "/usr/local/lib/sysctl.d/zz.conf", "\n\n  -net.core.somaxconn =65535" } },
		  "net.core.somaxconn is /usr/local/lib/sysctl.d/zz.conf:3's, which comes later" },
		{ { { "/lib/sysctl.d/zz.conf", "net.core.somaxconn=65535" } },
		  "net.core.somaxconn is /lib/sysctl.d/zz.conf:1's, which comes later" },
		{ { { "/etc/sysctl.conf", "net.core.somaxconn=65535" },
		    { "/etc/sysctl.d/999-mine.conf", "net.core.somaxconn=1" } },
		  "net.core.somaxconn is /etc/sysctl.conf:1's, which comes later" },
		/* the last line of a key counts */
		{ { { "/run/sysctl.d/99-l.conf",
		      "net.core.somaxconn=1\nnet.core.somaxconn=2\n; net.core.somaxconn=3" } },
		  "net.core.somaxconn is /run/sysctl.d/99-l.conf:2's, which comes later" },
		/* it says the same, comes before, or does not count */
		{ { { "/etc/sysctl.d/999-mine.conf", "net.core.somaxconn = 32768\n" } }, NULL },
		{ { { "/etc/sysctl.d/98-mine.conf", "net.core.somaxconn = 65535\n" } }, NULL },
		{ { { "/usr/lib/sysctl.d/99-k8s-general.conf", "net.core.somaxconn = 1\n" } },
		  NULL },
		{ { { "/etc/sysctl.d/999-mine", "net.core.somaxconn = 65535\n" } }, NULL },
		{ { { "/etc/sysctl.d/999-mine.conf", "net.core.* = 65535\n" } }, NULL },
		{ { { "/etc/sysctl.d/999-mine.conf", "net.core.somaxconn\n" } }, NULL },
		/* one of /etc hides one of that name elsewhere, be it empty or a link to nothing */
		{ { { "/usr/lib/sysctl.d/zz.conf", "net.core.somaxconn=1" },
		    { "/etc/sysctl.d/zz.conf", "" } },
		  NULL },
		{ { { "/usr/lib/sysctl.d/zz.conf", "net.core.somaxconn=1" },
		    { "/run/sysctl.d/zz.conf", NULL } },
		  NULL },
	};
	struct strmap_item items[] = { { "net.core.somaxconn", "32768" } };
	const struct task t = {
		.kind = TASK_SYSCTL,
		.ops = &task_sysctl_ops,
		.name = OURS,
		.sysctl = { .values = { items, 1 } },
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autofree char *text = NULL;

		scratch_write(&w->root, "/proc/sys/net/core/somaxconn", "4096\n");
		for (size_t k = 0; k < 3 && rows[i].files[k][0]; k++) {
			const char *path = rows[i].files[k][0];

			if (rows[i].files[k][1]) {
				scratch_write(&w->root, path, rows[i].files[k][1]);
				continue;
			}
			scratch_write(&w->root, path, "");
			assert_int_equal(unlinkat(w->root.fd, path + 1, 0), 0);
			assert_int_equal(symlinkat("/dev/null", w->root.fd, path + 1), 0);
		}
		assert_int_equal(check(w, &t), rows[i].says ? TASK_EQUAL : TASK_DIFFERS);
		assert_string_equal(w->diff.why, rows[i].says ? rows[i].says
							      : "net.core.somaxconn is not '32768' "
								"in the kernel");
		assert_int_equal(w->diff.left, rows[i].says != NULL);
		apply(w, &t);
		text = scratch_read(&w->root, "/proc/sys/net/core/somaxconn");
		assert_string_equal(text, rows[i].says ? "4096\n" : "32768");
		for (size_t k = 0; k < 3 && rows[i].files[k][0]; k++)
			assert_int_equal(unlinkat(w->root.fd, rows[i].files[k][0] + 1, 0), 0);
	}
}

/* What pods or kubelet cannot do without is set, and who undoes it is named, right or not. */
static void sysctl_that_is_needed_is_set(void **state)
{
	static const struct {
		const char *key, *path;
		bool by_kubelet;
		const char *other; /* what the other file calls it; NULL: the same */
	} rows[] = {
		{ "net.ipv4.ip_forward", "/proc/sys/net/ipv4/ip_forward", false },
		{ "net.ipv4.ip_forward", "/proc/sys/net/ipv4/ip_forward", false,
		  "net.ipv4.conf.all.forwarding" },
		{ "net.ipv4.ip_forward", "/proc/sys/net/ipv4/ip_forward", false,
		  "net/ipv4/conf/all/forwarding" },
		{ "net.ipv4.conf.all.forwarding", "/proc/sys/net/ipv4/ip_forward", false,
		  "net.ipv4.ip_forward" },
		{ "net.ipv6.conf.all.forwarding", "/proc/sys/net/ipv6/conf/all/forwarding", false },
		{ "net.bridge.bridge-nf-call-iptables",
		  "/proc/sys/net/bridge/bridge-nf-call-iptables", false },
		{ "vm.overcommit_memory", "/proc/sys/vm/overcommit_memory", true },
		{ "kernel.panic", "/proc/sys/kernel/panic", true },
	};
	struct world *w = *state;

	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		const bool keeps = i % 2;
		const char *key = rows[i / 2].key, *path = rows[i / 2].path;
		const char *other = rows[i / 2].other ? rows[i / 2].other : key;
		autofree char *text = xasprintf("%s=0\n", other), *now = NULL;
		autofree char *says =
			xasprintf("/etc/sysctl.d/999-mine.conf:1 would undo %s = 1", key);
		struct strmap_item items[] = { { key, "1" } };
		const struct task t = {
			.kind = TASK_SYSCTL,
			.ops = &task_sysctl_ops,
			.name = OURS,
			.sysctl = { .values = { items, 1 }, .keeps_defaults = keeps },
		};
		const bool needed = keeps || !rows[i / 2].by_kubelet;

		scratch_write(&w->root, "/etc/sysctl.d/999-mine.conf", text);
		scratch_write(&w->root, path, "0\n");
		assert_int_equal(check(w, &t), needed ? TASK_DIFFERS : TASK_EQUAL);
		apply(w, &t);
		now = scratch_read(&w->root, path);
		assert_int_equal(now[0], needed ? '1' : '0');
		assert_int_equal(check(w, &t), TASK_EQUAL);
		assert_true(w->diff.left);
		assert_int_equal(strcmp(w->diff.why, says) == 0, needed);
	}
}

static void sysctl_that_the_kernel_lacks_is_told(void **state)
{
	struct strmap_item items[] = {
		{ "net.ipv4.tcp_keepalive_tme", "600" },
		{ "kernel.not_asked_for", "1" },
		{ "net.ipv4.conf.lxc*.rp_filter", "0" },
	};
	const char *asked[] = { "net.ipv4.tcp_keepalive_tme", "net.ipv4.conf.lxc*.rp_filter" };
	const struct task t = {
		.kind = TASK_SYSCTL,
		.ops = &task_sysctl_ops,
		.name = OURS,
		.sysctl = { .values = { items, 3 }, .asked = { asked, 2 } },
	};
	struct world *w = *state;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(check(w, &t), TASK_EQUAL);
		assert_true(w->diff.left);
		assert_string_equal(w->diff.why,
				    "the kernel has no net.ipv4.tcp_keepalive_tme, and "
				    "systemd-sysctl fails on it");
		apply(w, &t);
	}
	scratch_write(&w->root, "/proc/sys/net/ipv4/tcp_keepalive_tme", "600\n");
	assert_int_equal(check(w, &t), TASK_EQUAL);
	assert_false(w->diff.left);
}

/* There is room for some; the others are counted. */
static void sysctl_notes_are_cut_at_one(void **state)
{
	struct strmap_item items[20];
	const struct task t = {
		.kind = TASK_SYSCTL,
		.ops = &task_sysctl_ops,
		.name = OURS,
		.sysctl = { .values = { items, ARRAY_LEN(items) } },
	};
	autoarena struct arena *a = arena_new_empty();
	struct strv lines = { 0 };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		items[i] = (struct strmap_item){ arena_printf(a, "net.core.key%zu", i), "1" };
		strv_addf(a, &lines, "%s = 2", items[i].key);
	}
	scratch_write(&w->root, "/etc/sysctl.d/999.conf", strv_join(a, &lines, "\n"));
	assert_int_equal(check(w, &t), TASK_EQUAL);
	assert_true(str_has_suffix(w->diff.why, "later; and 17 more"));
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(sysctl_four_ways),
		WORLD_TEST(sysctl_of_others_stays),
		WORLD_TEST(sysctl_that_is_needed_is_set),
		WORLD_TEST(sysctl_that_the_kernel_lacks_is_told),
		WORLD_TEST(sysctl_notes_are_cut_at_one),
		WORLD_TEST(sysctl_names_with_dots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
