#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/cmd/cli.h"

static const struct cli_command apply = { .name = "apply", .bit = CMD_APPLY };
static const struct cli_command help = { .name = "help", .bit = CMD_HELP, .max_args = 1 };

static int parse(struct cli *cli, const struct cli_command *c, const char *const *argv,
		 struct err *e)
{
	*cli = (struct cli){ .arena = arena_new_empty() };
	return cli_parse(cli, c, argv, e);
}

static void the_seeds_command_line(void **state)
{
	const char *const argv[] = { "--install-systemd-unit", "--conf=/x/kube_env.yaml", "--v=8",
				     NULL };
	struct cli cli;
	struct err e;

	(void)state;
	assert_int_equal(parse(&cli, &apply, argv, &e), 0);
	assert_true(cli.install_unit);
	assert_string_equal(cli.conf, "/x/kube_env.yaml");
	assert_int_equal(cli.verbosity, 8);
	arena_free(cli.arena);
}

static void go_forms(void **state)
{
	const char *const argv[] = { "-conf",       "a",
				     "--cache",     "b",
				     "-retries=-1", "--offline=false",
				     "-strict",     "--deadline",
				     "1m30s",       "--rewrite=x=y",
				     "-rewrite",    "u=v",
				     "--wait",      "--logtostderr",
				     NULL };
	struct cli cli;
	struct err e;

	(void)state;
	assert_int_equal(parse(&cli, &apply, argv, &e), 0);
	assert_string_equal(cli.conf, "a");
	assert_string_equal(cli.cache, "b");
	assert_int_equal(cli.retries, -1);
	assert_true(cli.retries_set);
	assert_false(cli.offline);
	assert_true(cli.strict);
	assert_int_equal(cli.deadline_ns, 90 * DUR_SEC);
	assert_int_equal(cli.rewrites.n, 2);
	assert_string_equal(cli.rewrites.v[0], "x=y");
	assert_true(cli.wait);
	assert_int_equal(cli.wait_ns, 0);
	arena_free(cli.arena);
}

static void bad_lines(void **state)
{
	static const struct {
		const char *argv[3], *says;
	} rows[] = {
		{ { "--nonsense" }, "unknown flag '--nonsense'" },
		{ { "--conf" }, "--conf needs a value" },
		{ { "--retries=many" }, "--retries: 'many' is not a number" },
		{ { "--deadline=5" }, "--deadline: '5': a number without a unit" },
		{ { "--offline=maybe" }, "--offline: 'maybe' is neither" },
		{ { "--gzip" }, "nodeup apply takes no --gzip" },
		{ { "stray" }, "unexpected 'stray'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cli cli;
		struct err e = { 0 };

		assert_true(parse(&cli, &apply, rows[i].argv, &e) < 0);
		assert_int_equal(e.kind, ERR_USAGE);
		if (!strstr(e.msg, rows[i].says))
			fail_msg("'%s' does not say '%s'", e.msg, rows[i].says);
		arena_free(cli.arena);
	}
}

static void arguments_follow_flags(void **state)
{
	const char *const argv[] = { "--v", "2", "config", NULL };
	struct cli cli;
	struct err e;

	(void)state;
	assert_int_equal(parse(&cli, &help, argv, &e), 0);
	assert_int_equal(cli.args.n, 1);
	assert_string_equal(cli.args.v[0], "config");
	arena_free(cli.arena);
}

static void help_lists_a_commands_flags(void **state)
{
	autobuf struct buf b = BUF_INIT(64 << 10);

	(void)state;
	cli_help(&apply, &b);
	assert_non_null(strstr(b.data, "  --conf=PATH "));
	assert_non_null(strstr(b.data, "  --install-systemd-unit "));
	assert_null(strstr(b.data, "--gzip"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_seeds_command_line),
		cmocka_unit_test(go_forms),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(arguments_follow_flags),
		cmocka_unit_test(help_lists_a_commands_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
