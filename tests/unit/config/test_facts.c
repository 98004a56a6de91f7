#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/config/facts.h"

static int parse(struct arena *a, const char *text, struct facts *f, struct err *e)
{
	struct tree *t = NULL;

	assert_int_equal(yaml_parse(a, "facts.yaml", text, strlen(text), &t, e), 0);
	return facts_parse(a, t, f, e);
}

static void file_lies_over_what_is_known(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct facts f = { .version = "11", .codename = "bullseye" };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(parse(a,
			       "distribution: debian\nversion: 12\narch: amd64\n"
			       "availabilityZone: us-west-2a\ninstanceID: i-1\n"
			       "localHostname: a b\nlocalIPv4: 10.0.0.1\n"
			       "filesystems: [ext4, overlay]\nsystemd: 252\n",
			       &f, &e),
			 0);
	assert_string_equal(f.version, "12");
	assert_string_equal(f.codename, "bullseye");
	assert_string_equal(f.availability_zone, "us-west-2a");
	assert_string_equal(f.instance_id, "i-1");
	assert_string_equal(f.local_ipv4, "10.0.0.1");
	assert_true(strv_has(&f.filesystems, "overlay"));
	assert_int_equal(f.systemd, 252);
}

static void bad_files(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "distribution: gentoo\n",
		  "facts.yaml:1:15: distribution: expected one of debian|ubuntu|amazonlinux|rhel|"
		  "centos|rocky|fedora|flatcar|coreos|containeros, found 'gentoo'" },
		{ "arch: x86_64\n",
		  "facts.yaml:1:7: arch: expected one of amd64|arm64, found 'x86_64'" },
		{ "version: 12\nhostname: x\n", "facts.yaml:2:1: unknown fact 'hostname'" },
		{ "- a\n", "facts.yaml:1:1: expected a map, found a list" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct facts f = { .version = "old" };
		struct err e = { 0 };

		assert_true(parse(a, rows[i].text, &f, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_string_equal(e.msg, rows[i].message);
		assert_string_equal(f.version, "old");
	}
}

static void os_releases(void **state)
{
	static const struct {
		const char *text, *distribution, *version, *codename;
	} rows[] = {
		{ "NAME=\"Debian\"\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nID=debian\n",
		  "debian", "12", "bookworm" },
		{ "ID=debian\nVERSION_ID=\"8\"\nVERSION=\"8 (jessie)\"", "debian", "8", "jessie" },
		{ "ID=debian\n", "debian", NULL, NULL },
		{ "ID=ubuntu\nID_LIKE=debian\nVERSION_ID='22.04'\nUBUNTU_CODENAME=x\n", "ubuntu",
		  "22.04", NULL },
		{ "ID=\"amzn\"\r\nVERSION_ID=\"2\"\r\n", "amazonlinux", "2", NULL },
		{ "ID=\"rhel\"\nVERSION_ID=\"9.4\"\n", "rhel", "9.4", NULL },
		{ "ID=\"centos\"\n", "centos", NULL, NULL },
		{ "ID=\"rocky\"\n", "rocky", NULL, NULL },
		{ "ID=fedora\nVERSION_ID=44\nVERSION_CODENAME=\"\"\n", "fedora", "44", NULL },
		{ "ID=flatcar\n", "flatcar", NULL, NULL },
		{ "ID=coreos\n", "coreos", NULL, NULL },
		{ "BUILD_ID=1\nID=cos\n", "containeros", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct facts f = { 0 };
		struct err e = { 0 };

		assert_int_equal(facts_os_release(a, rows[i].text, &f, &e), 0);
		assert_string_equal(f.distribution, rows[i].distribution);
		assert_true(str_eq(f.version, rows[i].version));
		assert_true(str_eq(f.codename, rows[i].codename));
	}
}

static void a_host_has_a_name(void **state)
{
	static const struct {
		struct facts f;
		const char *text;
	} rows[] = {
		{ { .distribution = "debian", .version = "12", .arch = "amd64" },
		  "debian 12, amd64" },
		{ { .distribution = "flatcar" }, "flatcar" },
		{ { .arch = "arm64" }, "unknown, arm64" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();

		assert_string_equal(facts_host_text(a, facts_host(a, &rows[i].f)), rows[i].text);
	}
}

static void unknown_hosts(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct facts f = { 0 }, given = { .distribution = "debian" };
	struct err e = { 0 };

	(void)state;
	assert_true(facts_os_release(a, "ID=plan9\nVERSION_ID=4\n", &f, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(
		e.msg, "unknown distribution: os-release has ID 'plan9', known are "
		       "debian, ubuntu, amzn, rhel, centos, rocky, fedora, coreos, flatcar, cos");
	assert_null(f.version);
	assert_true(facts_os_release(a, "", &f, &e) < 0);
	assert_string_equal(e.msg, "os-release has no ID; the distribution is not known");
	/* a facts file has the last word */
	assert_int_equal(facts_os_release(a, "ID=plan9\nVERSION_ID=4\n", &given, &e), 0);
	assert_string_equal(given.distribution, "debian");
	assert_string_equal(given.version, "4");
}

static void machines(void **state)
{
	struct facts f = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(facts_arch("x86_64", &f, &e), 0);
	assert_string_equal(f.arch, "amd64");
	assert_int_equal(facts_arch("aarch64", &f, &e), 0);
	assert_string_equal(f.arch, "arm64");
	assert_true(facts_arch("mips", &f, &e) < 0);
	assert_string_equal(e.msg, "unknown machine 'mips': nodes are x86_64 or aarch64");
	assert_string_equal(f.arch, "arm64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_lies_over_what_is_known),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(os_releases),
		cmocka_unit_test(a_host_has_a_name),
		cmocka_unit_test(unknown_hosts),
		cmocka_unit_test(machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
