#include "tests/unit/lib/fake_bus.h"

#include <string.h>
#include "nodeup/base/str.h"
#include "units/journal.h"

static const char *const nothing[] = { NULL };

struct fake_unit *fake_bus_add(struct bus *b, const char *name, uint64_t start_us)
{
	struct fake_unit *u = &b->units[b->n++];

	*u = (struct fake_unit){
		.name = name,
		.is = { .load_state = "loaded",
			.active_state = "active",
			.sub_state = "running",
			.file_state = "enabled",
			.result = "success",
			.type = "simple",
			.fragment_path = "/etc/systemd/system/x",
			.main_pid = 100,
			.start_us = start_us,
			.active_enter_us = start_us,
			.after = nothing },
		.job = BUS_JOB_DONE,
		.result = "",
	};
	return u;
}

static struct fake_unit *find(struct bus *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->units[i].name, name) == 0)
			return &b->units[i];
	return NULL;
}

static void note(struct bus *b, const char *verb, const char *unit)
{
	size_t n = strlen(b->calls);

	(void)snprintf(b->calls + n, sizeof(b->calls) - n, "%s %s, ", verb, unit);
}

int bus_open(struct bus **ret, struct err *e)
{
	(void)ret;
	return err_fail(e, ERR_SYSTEM, ENOTCONN, "the tests bring their own");
}

void bus_close(struct bus *b)
{
	(void)b;
}

int bus_fd(struct bus *b)
{
	(void)b;
	return -1;
}

int bus_events(struct bus *b)
{
	(void)b;
	return 0;
}

int bus_process(struct bus *b, struct err *e)
{
	(void)b;
	(void)e;
	return 0;
}

int bus_get_with_links(struct bus *b, struct arena *a, const char *unit, struct bus_unit *ret,
		       struct err *e)
{
	const struct fake_unit *u = find(b, unit);

	(void)a;
	(void)e;
	*ret = u ? u->is : (struct bus_unit){ "not-found", "inactive", "dead", "",
					      "",          "",         "",     .after = nothing };
	return 0;
}

int bus_get(struct bus *b, struct arena *a, const char *unit, struct bus_unit *ret, struct err *e)
{
	const int r = bus_get_with_links(b, a, unit, ret, e);

	ret->file_state = "";
	return r;
}

int bus_reload(struct bus *b, struct err *e)
{
	(void)e;
	note(b, "reload", "all");
	return 0;
}

int bus_reload_links(struct bus *b, struct err *e)
{
	(void)b;
	(void)e;
	return 0;
}

int bus_enable(struct bus *b, const char *unit, bool on, bool *ret_changed, struct err *e)
{
	(void)e;
	note(b, on ? "enable" : "disable", unit);
	*ret_changed = true;
	return 0;
}

int bus_job(struct bus *b, const char *verb, const char *unit, uint32_t *ret_job, struct err *e)
{
	const struct fake_unit *u = find(b, unit);

	note(b, verb, unit);
	if (!u)
		return err_fail(e, ERR_SYSTEM, ENOENT, "%s %s: no such unit", verb, unit);
	*ret_job = (uint32_t)(u - b->units) + 1;
	return 0;
}

enum bus_job_state bus_job_state(struct bus *b, uint32_t job, const char **ret_result)
{
	const struct fake_unit *u = &b->units[job - 1];

	*ret_result = u->result;
	return u->job;
}

int bus_reset_failed(struct bus *b, const char *unit, struct err *e)
{
	(void)e;
	note(b, "reset-failed", unit);
	return 0;
}

int bus_manager_stamp(struct bus *b, const char *property, uint64_t *ret_us, struct err *e)
{
	(void)b;
	(void)property;
	(void)e;
	*ret_us = 0;
	return 0;
}

int bus_version(struct bus *b, struct arena *a, const char **ret, struct err *e)
{
	(void)b;
	(void)a;
	(void)e;
	*ret = "252";
	return 0;
}

int journal_tail(struct arena *a, const char *unit, size_t max, int64_t since_ns, struct strv *ret,
		 struct err *e)
{
	(void)max;
	(void)since_ns;
	(void)e;
	strv_add(a, ret, arena_printf(a, "last words of %s", unit));
	return 0;
}

int journal_write(enum log_level level, const char *message, const struct log_field *fields,
		  size_t n)
{
	(void)level;
	(void)message;
	(void)fields;
	(void)n;
	return -ENOTCONN;
}

bool journal_is_stderr(void)
{
	return false;
}
