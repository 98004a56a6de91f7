#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/aws/imds.h"
#include "tests/unit/lib/cloud.h"

static int setup(void **state)
{
	*state = cloud_start(NULL);
	return 0;
}

static int teardown(void **state)
{
	cloud_stop(*state);
	return 0;
}

static void set(struct cloud *c, const char *name, const char *device)
{
	cloud_tell(c, CLOUD_IMDS,
		   arena_printf(c->arena, "/__set?path=block-device-mapping/%s&value=%s", name,
				device));
}

static void what_is_mapped(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct strmap map = { 0 };
	struct err e;

	set(c, "ephemeral0", "sdb");
	set(c, "root", "/dev/xvda");
	assert_int_equal(imds_block_devices(m, c->arena, &map, &e), 0);
	assert_int_equal(map.n, 2);
	assert_string_equal(strmap_get(&map, "ephemeral0"), "sdb");
	assert_string_equal(strmap_get(&map, "root"), "/dev/xvda");
	imds_free(m);
}

static void nothing_is_mapped(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct strmap map = { 0 };
	struct err e;

	assert_int_equal(imds_block_devices(m, c->arena, &map, &e), 0);
	assert_int_equal(map.n, 0);
	imds_free(m);
}

static void one_that_is_gone_meanwhile(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct strmap map = { 0 };
	struct err e;

	set(c, "ebs1", "sdf");
	set(c, "root", "sda1");
	cloud_fault(c, CLOUD_IMDS, "/latest/meta-data/block-device-mapping/ebs1",
		    "status=404&times=1");
	assert_int_equal(imds_block_devices(m, c->arena, &map, &e), 0);
	assert_int_equal(map.n, 1);
	assert_string_equal(map.v[0].key, "root");
	imds_free(m);
}

static void who_does_not_answer_is_an_error(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct strmap map = { 0 };
	struct err e;

	set(c, "root", "sda1");
	cloud_fault(c, CLOUD_IMDS, "/latest/meta-data/block-device-mapping/root",
		    "status=500&times=9");
	assert_true(imds_block_devices(m, c->arena, &map, &e) < 0);
	assert_int_equal(e.kind, ERR_NET);
	assert_int_equal(map.n, 0);
	imds_free(m);
}

static void the_type(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	const char *type = "";
	struct err e;

	cloud_tell(c, CLOUD_IMDS, "/__set?path=instance-type&value=m3.medium");
	assert_int_equal(imds_instance_type(m, c->arena, &type, &e), 0);
	assert_string_equal(type, "m3.medium");
	cloud_fault(c, CLOUD_IMDS, "/latest/meta-data/instance-type", "status=404&times=1");
	assert_int_equal(imds_instance_type(m, c->arena, &type, &e), 0);
	assert_null(type);
	cloud_fault(c, CLOUD_IMDS, "/latest/meta-data/instance-type", "status=500&times=9");
	assert_true(imds_instance_type(m, c->arena, &type, &e) < 0);
	assert_int_equal(e.kind, ERR_NET);
	imds_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_mapped, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_mapped, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_is_gone_meanwhile, setup, teardown),
		cmocka_unit_test_setup_teardown(who_does_not_answer_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(the_type, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
