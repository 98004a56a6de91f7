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

/* Stand-ins for the package managers: they write down how they were called, and install what they
 * are given by adding it to dpkg's database. */
static const char fake_apt[] =
	"#!/bin/sh\n"
	"echo \"apt-get $*\" >>$SCRATCH/called\n"
	"[ \"$2\" != update ] || { [ ! -e $SCRATCH/stale ] || { echo 'E: no lists'; exit 100; }; exit 0; }\n"
	"[ ! -e $SCRATCH/fail ] || { echo 'E: Unable to locate package socat'; exit 100; }\n"
	"while [ \"$1\" != -- ]; do shift; done; shift\n"
	"for p; do printf 'Package: %s\\nStatus: install ok installed\\nVersion: 1\\n\\n' $p"
	" >>$SCRATCH/var/lib/dpkg/status; done\n";
static const char fake_dpkg[] =
	"#!/bin/sh\n"
	"echo \"dpkg $*\" | sed 's| /proc/.*||' >>$SCRATCH/called\n"
	"if [ \"$3\" = --configure ]; then sed -i 's/half-configured/installed/' $SCRATCH/var/lib/dpkg/status\n"
	"else printf 'Package: %s\\nStatus: install ok installed\\n\\n' $(cat $3) >>$SCRATCH/var/lib/dpkg/status; fi\n";
/* its database is the names in a file */
static const char fake_rpm[] =
	"#!/bin/sh\n"
	"n=0; [ \"$1\" = -q ] || exit 9; shift\n"
	"[ \"$1\" != --whatprovides ] || { shift\n"
	"for p; do grep -qx provides:$p $SCRATCH/rpms || { n=$((n+1)); echo \"no package provides $p\"; }; done\n"
	"exit $n; }\n"
	"for p; do grep -qx $p $SCRATCH/rpms && echo $p-1.0-1.x86_64 || { n=$((n+1));"
	" echo \"package $p is not installed\"; }; done\n"
	"exit $n\n";
static const char fake_dnf[] = "#!/bin/sh\n"
			       "echo \"dnf $*\" >>$SCRATCH/called\n"
			       "while [ \"$1\" != -- ]; do shift; done; shift\n"
			       "for p; do echo $p >>$SCRATCH/rpms; done\n";

static const char database[] = "Package: curl\n"
			       "Status: install ok installed\n"
			       "Version: 7\n"
			       "Description: fetches\n"
			       " Package: in a description is text\n"
			       "\n"
			       "Package: ntp\n"
			       "Status: deinstall ok config-files\n"
			       "Version: 4\n"
			       "\n";

struct world {
	struct scratch root;
	struct task_ctx ctx;
	struct task_diff diff;
	struct err e;
	struct arena *a;
};

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->a = arena_new_empty();
	scratch_new(&w->root);
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd, .cache_root_fd = w->root.fd };
	if (cache_new(w->root.fd, "/cache", true, &w->ctx.cache, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	scratch_find_programs(&w->root, "/usr/bin");
	scratch_write(&w->root, "/var/lib/dpkg/status", database);
	scratch_write(&w->root, "/rpms", "curl\n");
	scratch_program(&w->root, "/usr/bin/dpkg", fake_dpkg);
	scratch_program(&w->root, "/usr/bin/rpm", fake_rpm);
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	cache_free(w->ctx.cache);
	scratch_done(&w->root);
	arena_free(w->a);
	free(w);
	return 0;
}

static int check(struct world *w, const struct task *t)
{
	w->diff.why[0] = '\0';
	return t->ops->check(t, &w->ctx, &w->diff, &w->e);
}

static int apply(struct world *w, const struct task *t, struct task_run *run)
{
	*run = (struct task_run){ 0 };
	return t->ops->apply(t, &w->ctx, run, &w->e);
}

static void must_apply(struct world *w, const struct task *t)
{
	struct task_run run;

	if (apply(w, t, &run) != TASK_DONE)
		fail_msg("%s%s", w->e.msg, run.waiting);
}

static const char *called(struct world *w)
{
	char *text = scratch_read(&w->root, "/called");
	char *copy = arena_str(w->a, text ? text : "");

	free(text);
	return copy;
}

static struct task packages(struct world *w, enum package_family family, const char *names)
{
	return (struct task){
		.kind = TASK_PACKAGE,
		.ops = &task_package_ops,
		.name = names,
		.package = { .family = family, .names = strv_split(w->a, names, ' ') },
	};
}

static void apt_four_ways(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_DEB, "curl socat ntp");

	scratch_program(&w->root, "/usr/bin/apt-get", fake_apt);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	/* what has only its settings left is not there */
	assert_string_equal(w->diff.why, "not installed: socat ntp");
	must_apply(w, &t);
	assert_string_equal(called(w), "apt-get -q update\n"
				       "apt-get -q -y --no-install-recommends -o "
				       "Dpkg::Options::=--force-confold install -- socat ntp\n");
	assert_int_equal(check(w, &t), TASK_EQUAL);
	must_apply(w, &t);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	scratch_write(&w->root, "/var/lib/dpkg/status", database);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
}

/* In its environment, where no other user sees a login: the files of the manager are for everybody. */
static void each_manager_is_told_of_the_proxy(void **state)
{
	static const char telling[] =
		"#!/bin/sh\necho \"$http_proxy $no_proxy\" >>$SCRATCH/called\n"
		"[ \"$2\" = update ] || echo socat >>$SCRATCH/rpms\n"
		"printf 'Package: socat\\nStatus: install ok installed\\n\\n' "
		">>$SCRATCH/var/lib/dpkg/status\n";
	static const struct {
		enum package_family family;
		const char *program;
	} rows[] = { { PACKAGE_DEB, "apt-get" }, { PACKAGE_RPM, "yum" }, { PACKAGE_RPM, "dnf" } };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task t = packages(w, rows[i].family, "socat");

		strv_add(w->a, &t.package.env, "http_proxy=http://u:p@proxy:3128");
		strv_add(w->a, &t.package.env, "no_proxy=10.0.0.0/8");
		scratch_program(&w->root, arena_printf(w->a, "/usr/bin/%s", rows[i].program),
				telling);
		scratch_write(&w->root, "/called", "");
		must_apply(w, &t);
		assert_true(str_has_suffix(called(w), "http://u:p@proxy:3128 10.0.0.0/8\n"));
		t.package.env = (struct strv){ 0 };
		scratch_write(&w->root, "/called", "");
		must_apply(w, &t);
		assert_null(strstr(called(w), "proxy"));
	}
}

static void what_is_there_is_left_alone(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_DEB, "curl");

	assert_int_equal(check(w, &t), TASK_EQUAL);
	assert_string_equal(called(w), "");
}

/* By a package of another name; one that has only its settings left provides nothing. */
static void what_is_provided_is_there(void **state)
{
	struct world *w = *state;
	struct task t = packages(w, PACKAGE_DEB, "libssl3 netcat mta foo");
	struct asset file = { .name = "netcat.deb" };

	scratch_write(&w->root, "/var/lib/dpkg/status",
		      "Package: libssl3t64\nStatus: install ok installed\n"
		      "Provides: libssl3 (= 3.0.13), netcat\n\n"
		      "Package: exim\nStatus: deinstall ok config-files\nProvides: mta\n\n"
		      "Package: foobar\nStatus: install ok installed\nProvides: foo-bar\n\n");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "not installed: mta foo");
	t.package.source = &file;
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "not installed: libssl3 netcat mta foo");
	t = packages(w, PACKAGE_RPM, "curl iptables socat");
	scratch_write(&w->root, "/rpms", "curl\nprovides:iptables\n");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "not installed: socat");
	t.package.source = &file;
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "not installed: iptables socat");
}

static void a_manager_that_installs_nothing_is_not_believed(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_DEB, "curl socat");
	struct task_run run;

	scratch_program(&w->root, "/usr/bin/apt-get", "#!/bin/sh\nexit 0\n");
	assert_true(apply(w, &t, &run) < 0);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
	assert_true(str_has_suffix(w->e.msg, "not installed: socat"));
}

static void dpkg_killed_half_way_finishes_first(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_DEB, "socat");

	scratch_program(&w->root, "/usr/bin/apt-get", fake_apt);
	scratch_write(&w->root, "/var/lib/dpkg/status",
		      "Package: other\nStatus: install ok half-configured\n\n");
	must_apply(w, &t);
	assert_true(str_has_prefix(called(w),
				   "dpkg --force-confdef --force-confold --configure -a\n"
				   "apt-get -q update\n"));
}

static void stale_lists_are_no_reason_to_give_up(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_DEB, "socat");
	struct task_run run;

	scratch_program(&w->root, "/usr/bin/apt-get", fake_apt);
	scratch_write(&w->root, "/stale", "");
	scratch_write(&w->root, "/fail", "");
	assert_true(apply(w, &t, &run) < 0);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
	assert_string_equal(w->e.notes[0].text, "E: Unable to locate package socat");
	assert_string_equal(w->e.notes[1].label, "before");
	assert_non_null(strstr(w->e.notes[1].text, "E: no lists"));
	unlinkat(w->root.fd, "fail", 0);
	must_apply(w, &t);
	assert_int_equal(check(w, &t), TASK_EQUAL);
}

/* A lock of this process counts as another's; it goes when the asker closes the file. */
static void a_lock_is_waited_for_by_its_holders_name(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_DEB, "socat");
	struct flock lock = { .l_type = F_WRLCK };
	struct task_run run;
	int fd;

	scratch_program(&w->root, "/usr/bin/apt-get", fake_apt);
	scratch_write(&w->root, "/var/lib/dpkg/lock-frontend", "");
	fd = openat(w->root.fd, "var/lib/dpkg/lock-frontend", O_RDWR | O_CLOEXEC);
	assert_int_equal(fcntl(fd, F_SETLK, &lock), 0);
	assert_int_equal(apply(w, &t, &run), TASK_WAIT);
	assert_string_equal(
		run.waiting,
		arena_printf(w->a,
			     "/var/lib/dpkg/lock-frontend, which test_packages (pid %d) holds",
			     getpid()));
	assert_true(run.next_ns > 0);
	assert_string_equal(called(w), "");
	must_apply(w, &t);
	close(fd);
}

static void a_file_is_installed_from_its_verified_bytes(void **state)
{
	static const char bytes[] = "docker-engine";
	struct world *w = *state;
	struct asset as = { .name = "docker-engine.deb" };
	struct task t = packages(w, PACKAGE_DEB, "docker-engine");
	struct cache_entry *en;
	struct task_run run;

	scratch_program(&w->root, "/usr/bin/apt-get", fake_apt);
	digest_of(DIGEST_SHA256, bytes, strlen(bytes), &as.digest);
	t.package.source = &as;
	assert_true(apply(w, &t, &run) < 0);
	if (cache_begin(w->ctx.cache, &as.digest, &en, &w->e) < 0 ||
	    cache_write(en, bytes, strlen(bytes), &w->e) < 0 || cache_commit(en, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	must_apply(w, &t);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	assert_string_equal(called(w), "dpkg --force-confold -i\n");
}

static void rpm_four_ways(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_RPM, "curl socat ebtables");

	scratch_program(&w->root, "/usr/bin/dnf", fake_dnf);
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "not installed: socat ebtables");
	must_apply(w, &t);
	assert_string_equal(
		called(w),
		"dnf -q -y --setopt=install_weak_deps=False install -- socat ebtables\n");
	assert_int_equal(check(w, &t), TASK_EQUAL);
	must_apply(w, &t);
	scratch_write(&w->root, "/rpms", "");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
}

static void dnf_that_runs_is_waited_for(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_RPM, "socat");
	struct task_run run;

	scratch_program(&w->root, "/usr/bin/dnf", fake_dnf);
	scratch_write(&w->root, "/var/lib/dnf/rpmdb_lock.pid", arena_printf(w->a, "%d", getpid()));
	assert_int_equal(apply(w, &t, &run), TASK_WAIT);
	assert_non_null(strstr(run.waiting, "rpmdb_lock.pid, which test_packages (pid"));
	/* the file of one that was killed stays */
	scratch_write(&w->root, "/var/lib/dnf/rpmdb_lock.pid", "0");
	must_apply(w, &t);
}

static void a_host_without_a_manager_says_so(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_DEB, "socat");
	struct task_run run;

	assert_true(apply(w, &t, &run) < 0);
	assert_true(run.final);
	assert_non_null(strstr(w->e.msg, "no package manager on this host (apt-get)"));
	unlinkat(w->root.fd, "var/lib/dpkg/status", 0);
	assert_int_equal(check(w, &t), -ENOENT);
	assert_non_null(strstr(w->e.msg, "dpkg's database"));
}

static void an_image_is_told_of_and_left_alone(void **state)
{
	struct world *w = *state;
	const struct task t = packages(w, PACKAGE_DEB, "curl socat");
	const struct task has = packages(w, PACKAGE_DEB, "curl");
	const struct task rpm = packages(w, PACKAGE_RPM, "curl socat");

	w->ctx.image_mode = true;
	assert_int_equal(check(w, &t), TASK_EQUAL);
	assert_string_equal(
		task_package_ops.remark(&t, &w->ctx, w->a),
		"packages socat are not installed: no package manager is run below a root");
	assert_null(task_package_ops.remark(&has, &w->ctx, w->a));
	assert_string_equal(called(w), "");
	assert_string_equal(task_package_ops.remark(&rpm, &w->ctx, w->a),
			    "packages curl socat: whether they are there was not asked, rpm is not "
			    "run below a root");
	assert_string_equal(called(w), "");
}

/* A program that is there needs no package, whoever put it there. */
static void a_program_that_is_there_is_enough(void **state)
{
	struct world *w = *state;
	struct task t = packages(w, PACKAGE_DEB, "xfsprogs");

	t.package.program = "mkfs.xfs";
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	scratch_write(&w->root, "/usr/local/sbin/mkfs.xfs", "");
	assert_int_equal(check(w, &t), TASK_EQUAL);
	w->ctx.image_mode = true;
	assert_null(task_package_ops.remark(&t, &w->ctx, w->a));
	assert_string_equal(called(w), "");
}

/* In a container the kernel shows no lists, and lacks nothing that could be installed there. */
static void modules_are_those_of_the_kernel_that_runs(void **state)
{
	struct world *w = *state;
	struct task t = packages(w, PACKAGE_RPM, "kernel-modules-extra");
	struct utsname host;
	const char *list;

	assert_int_equal(uname(&host), 0);
	list = arena_printf(w->a, "/lib/modules/%s/modules.dep", host.release);
	strv_add(w->a, &t.package.modules, "br_netfilter");
	strv_add(w->a, &t.package.modules, "ip_set");
	scratch_program(&w->root, "/usr/bin/dnf", fake_dnf);
	assert_int_equal(check(w, &t), TASK_EQUAL);
	scratch_write(&w->root, list, "kernel/net/bridge/br_netfilter.ko.xz:\n");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	assert_string_equal(w->diff.why,
			    arena_printf(w->a, "not installed: kernel-modules-extra-%s",
					 host.release));
	must_apply(w, &t);
	assert_string_equal(called(w),
			    arena_printf(w->a,
					 "dnf -q -y --setopt=install_weak_deps=False install -- "
					 "kernel-modules-extra-%s\n",
					 host.release));
	assert_int_equal(check(w, &t), TASK_EQUAL);
	scratch_write(&w->root, "/rpms", "kernel-modules-extra-0\n");
	assert_int_equal(check(w, &t), TASK_DIFFERS);
	scratch_write(&w->root, list, "kernel/net/br_netfilter.ko.xz:\nkernel/net/ip_set.ko:\n");
	assert_int_equal(check(w, &t), TASK_EQUAL);
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(apt_four_ways),
		WORLD_TEST(each_manager_is_told_of_the_proxy),
		WORLD_TEST(what_is_there_is_left_alone),
		WORLD_TEST(what_is_provided_is_there),
		WORLD_TEST(a_manager_that_installs_nothing_is_not_believed),
		WORLD_TEST(dpkg_killed_half_way_finishes_first),
		WORLD_TEST(stale_lists_are_no_reason_to_give_up),
		WORLD_TEST(a_lock_is_waited_for_by_its_holders_name),
		WORLD_TEST(a_file_is_installed_from_its_verified_bytes),
		WORLD_TEST(rpm_four_ways),
		WORLD_TEST(dnf_that_runs_is_waited_for),
		WORLD_TEST(a_host_without_a_manager_says_so),
		WORLD_TEST(a_program_that_is_there_is_enough),
		WORLD_TEST(an_image_is_told_of_and_left_alone),
		WORLD_TEST(modules_are_those_of_the_kernel_that_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
