#include "units/bus.h"

#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "nodeup/base/dur.h"
#include "nodeup/base/str.h"
#include "nodeup/base/wait.h"
#include "units/job.h"

#define SYSTEMD "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"

#define autobuserr __attribute__((cleanup(sd_bus_error_free)))
#define automessage __attribute__((cleanup(sd_bus_message_unrefp)))

enum {
	/* A busy machine at boot may need longer for a daemon-reload than the 25 s that sd-bus waits. */
	CALL_TIMEOUT_S = 90,
	/* PID 1 closes every connection when it is upgraded, and is back in well under a second. */
	RECONNECT_TRIES = 50,
	RECONNECT_PAUSE_MS = 100,
	VERSION_DIGITS = 8,
};

struct bus {
	sd_bus *bus; /* NULL after a lost connection, until the next call */
	struct jobs jobs;
	int64_t polled_ns;
	bool links_changed; /* links were changed since the last reload */
};

struct method {
	const char *path, *interface, *member;
};

#define METHOD(...) (&(const struct method){ __VA_ARGS__ })
#define MANAGER(name) METHOD(SYSTEMD_PATH, SYSTEMD ".Manager", name)
#define PROPERTIES_IFACE "org.freedesktop.DBus.Properties"

static int on_job_removed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	const char *path, *unit, *result;
	struct bus *b = userdata;
	struct job *j;
	uint32_t id;

	(void)ret_error;
	/* polling takes the place of a signal that cannot be read */
	if (sd_bus_message_read(m, "uoss", &id, &path, &unit, &result) < 0)
		return 0;
	j = jobs_find(&b->jobs, id);
	if (j)
		job_finish(j, result);
	return 0;
}

static int open_private(sd_bus **ret)
{
	sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(bus, "unix:path=/run/systemd/private");
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r < 0) {
		(void)sd_bus_unref(bus);
		return r;
	}
	*ret = bus;
	return 0;
}

/* Asks for signals. On the private socket, the manager sends all signals unasked, and they name no sender. */
static int subscribe(struct bus *b, sd_bus *bus, const char *sender)
{
	autobuserr sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_set_method_call_timeout(bus, CALL_TIMEOUT_S * UINT64_C(1000000));

	if (r >= 0)
		r = sd_bus_match_signal(bus, NULL, sender, SYSTEMD_PATH, SYSTEMD ".Manager",
					"JobRemoved", on_job_removed, b);
	if (r >= 0)
		r = sd_bus_call_method(bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD ".Manager", "Subscribe",
				       &error, NULL, NULL);
	return r;
}

static int connect_manager(struct bus *b, struct err *e)
{
	static const struct {
		const char *name, *sender;
		int (*open)(sd_bus **ret);
	} ways[] = {
		{ "/run/systemd/private", NULL, open_private },
		{ "system bus", SYSTEMD, sd_bus_open_system },
	};
	int why[ARRAY_LEN(ways)];

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		sd_bus *bus = NULL;

		why[i] = ways[i].open(&bus);
		if (why[i] >= 0)
			why[i] = subscribe(b, bus, ways[i].sender);
		if (why[i] >= 0) {
			b->bus = bus;
			return 0;
		}
		(void)sd_bus_close_unref(bus);
	}
	(void)err_fail(e, ERR_SYSTEM, ENOTCONN, "no connection to systemd");
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		err_note(e, "ruled out", "%s: %s", ways[i].name, strerror(-why[i]));
	return -ENOTCONN;
}

static void disconnect(struct bus *b)
{
	b->bus = sd_bus_close_unref(b->bus);
}

static int reconnect(struct bus *b, struct err *e)
{
	int r;

	disconnect(b);
	for (int i = 0; (r = connect_manager(b, e)) < 0 && i < RECONNECT_TRIES; i++)
		wait_until(dur_now() + RECONNECT_PAUSE_MS * DUR_MS);
	return r;
}

static bool is_lost(const struct bus *b)
{
	return !b->bus || sd_bus_is_open(b->bus) <= 0;
}

static int dispatch(struct bus *b)
{
	int r;

	do
		r = sd_bus_process(b->bus, NULL);
	while (r > 0);
	return r;
}

/* Ends a call with result r. Handles the signals that were read during the call: poll(2) will not report them again,
 * and sd-bus needs no events for them. If the connection breaks here, the next call fails. */
static int settle(struct bus *b, int r)
{
	if (!is_lost(b))
		(void)dispatch(b);
	return r;
}

static int new_request(struct bus *b, const struct method *m, sd_bus_message **ret)
{
	return sd_bus_message_new_method_call(b->bus, ret, SYSTEMD, m->path, m->interface,
					      m->member);
}

static int call_once(struct bus *b, const struct method *m, sd_bus_message **ret,
		     sd_bus_error *error, const char *types, va_list ap)
{
	automessage sd_bus_message *request = NULL;
	int r = new_request(b, m, &request);

	if (r >= 0 && types)
		r = sd_bus_message_appendv(request, types, ap);
	if (r >= 0)
		r = sd_bus_call(b->bus, request, 0, error, ret);
	return r;
}

static int no_reply(const struct method *m, int r, const sd_bus_error *error, struct err *e)
{
	return err_fail(e, ERR_SYSTEM, -r, "%s: %s: %s", m->member,
			error->name ? error->name : "no reply",
			error->message ? error->message : strerror(-r));
}

/* Calls a method; connects anew and tries again if the connection is lost. So a method that is called here may be
 * executed twice. */
static int call(struct bus *b, const struct method *m, sd_bus_message **ret, struct err *e,
		const char *types, ...)
{
	autobuserr sd_bus_error error = SD_BUS_ERROR_NULL;
	automessage sd_bus_message *reply = NULL;
	int r = -ENOTCONN;

	for (int tries = 0; tries < 2; tries++) {
		va_list ap;

		if (is_lost(b) && reconnect(b, e) < 0)
			return -ENOTCONN;
		sd_bus_error_free(&error);
		va_start(ap, types);
		r = call_once(b, m, &reply, &error, types, ap);
		va_end(ap);
		if (!is_lost(b))
			break;
	}
	if (r < 0)
		return no_reply(m, r, &error, e);
	*ret = TAKE(reply);
	return 0;
}

/* One of several questions that are sent at once: a method with one argument, and its answer. Until the answer
 * comes, reply and error are empty. */
struct query {
	const struct method *method;
	const char *arg;
	sd_bus_message *reply;
	sd_bus_error error;
	sd_bus_slot *slot;
};

static void forget(struct query *q, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		q[i].slot = sd_bus_slot_unref(q[i].slot);
		q[i].reply = sd_bus_message_unref(q[i].reply);
		sd_bus_error_free(&q[i].error);
	}
}

/* Fills e if the answer to the question is an error. */
static int refused(const struct query *q, struct err *e)
{
	return no_reply(q->method, -sd_bus_error_get_errno(&q->error), &q->error, e);
}

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct query *q = userdata;

	(void)ret_error;
	if (sd_bus_message_is_method_error(m, NULL))
		(void)sd_bus_error_copy(&q->error, sd_bus_message_get_error(m));
	else
		q->reply = sd_bus_message_ref(m);
	return 0;
}

static int send_query(struct bus *b, struct query *q)
{
	automessage sd_bus_message *request = NULL;
	int r = new_request(b, q->method, &request);

	if (r >= 0)
		r = sd_bus_message_append(request, "s", q->arg);
	return r < 0 ? r : sd_bus_call_async(b->bus, &q->slot, request, on_reply, q, 0);
}

static bool is_answered(const struct query *q, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!q[i].reply && !sd_bus_error_is_set(&q[i].error))
			return false;
	return true;
}

static int ask_once(struct bus *b, struct query *q, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++)
		r = send_query(b, &q[i]);
	while (r >= 0 && !is_answered(q, n)) {
		r = sd_bus_process(b->bus, NULL);
		if (r == 0)
			r = sd_bus_wait(b->bus, UINT64_MAX);
	}
	return r;
}

/* Sends all questions before it reads the first answer; otherwise works like call(). If an answer is an error, the
 * error is in its query, and ask() succeeds. */
static int ask(struct bus *b, struct query *q, size_t n, struct err *e)
{
	int r = -ENOTCONN;

	for (int tries = 0; tries < 2; tries++) {
		if (is_lost(b) && reconnect(b, e) < 0)
			return -ENOTCONN;
		forget(q, n);
		r = ask_once(b, q, n);
		if (!is_lost(b))
			break;
	}
	return r < 0 ? no_reply(q[0].method, r, &q[0].error, e) : 0;
}

static int malformed(struct err *e, const char *what, int r)
{
	return err_fail(e, ERR_SYSTEM, -r, "%s: systemd's answer cannot be read: %s", what,
			strerror(-r));
}

int bus_open(struct bus **ret, struct err *e)
{
	struct bus *b = xcalloc(1, sizeof(*b));
	int r = connect_manager(b, e);

	if (r < 0) {
		free(b);
		return r;
	}
	*ret = b;
	return 0;
}

void bus_close(struct bus *b)
{
	if (!b)
		return;
	disconnect(b);
	jobs_done(&b->jobs);
	free(b);
}

int bus_fd(struct bus *b)
{
	return is_lost(b) ? -1 : sd_bus_get_fd(b->bus);
}

int bus_events(struct bus *b)
{
	int events = is_lost(b) ? 0 : sd_bus_get_events(b->bus);

	return events < 0 ? 0 : events;
}

/* The members of struct bus_unit, each with its property and D-Bus type. */
#define PROPERTY(name, type, member)                          \
	{                                                     \
		name, type, offsetof(struct bus_unit, member) \
	}

static const struct property {
	const char *name, *type;
	size_t offset;
} properties[] = {
	PROPERTY("LoadState", "s", load_state),
	PROPERTY("ActiveState", "s", active_state),
	PROPERTY("SubState", "s", sub_state),
	PROPERTY("FragmentPath", "s", fragment_path),
	PROPERTY("NeedDaemonReload", "b", need_reload),
	PROPERTY("ActiveEnterTimestampMonotonic", "t", active_enter_us),
	PROPERTY("After", "as", after),
	PROPERTY("Result", "s", result),
	PROPERTY("Type", "s", type),
	PROPERTY("ExecMainStatus", "i", exec_status),
	PROPERTY("ExecMainCode", "i", exec_code),
	PROPERTY("ExecMainStartTimestampMonotonic", "t", start_us),
	PROPERTY("MainPID", "u", main_pid),
	PROPERTY("NRestarts", "u", n_restarts),
};

static int read_strings(sd_bus_message *m, struct arena *a, const char *const **ret)
{
	const char **v = NULL, *s;
	size_t n = 0;
	int r = sd_bus_message_enter_container(m, 'a', "s");

	while (r >= 0 && (r = sd_bus_message_read(m, "s", &s)) > 0)
		arena_push(a, v, n, arena_str(a, s));
	if (r < 0)
		return r;
	arena_push(a, v, n, NULL);
	*ret = v;
	return sd_bus_message_exit_container(m);
}

static int read_property(sd_bus_message *m, struct arena *a, const struct property *p,
			 struct bus_unit *u)
{
	void *member = (char *)u + p->offset;
	const char *s;
	int r = sd_bus_message_enter_container(m, 'v', p->type);
	int truth;

	if (r < 0)
		return r;
	switch (p->type[0]) {
	case 'a':
		r = read_strings(m, a, member);
		break;
	case 's':
		r = sd_bus_message_read(m, "s", &s);
		if (r >= 0)
			*(const char **)member = arena_str(a, s);
		break;
	case 'b':
		r = sd_bus_message_read(m, "b", &truth);
		if (r >= 0)
			*(bool *)member = truth;
		break;
	default:
		r = sd_bus_message_read(m, p->type, member);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static const struct property *property_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(properties); i++)
		if (strcmp(properties[i].name, name) == 0)
			return &properties[i];
	return NULL;
}

static int read_properties(sd_bus_message *m, struct arena *a, struct bus_unit *u)
{
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		const struct property *p;
		const char *name;

		r = sd_bus_message_read(m, "s", &name);
		if (r < 0)
			return r;
		p = property_find(name);
		r = p ? read_property(m, a, p, u) : sd_bus_message_skip(m, "v");
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : 0;
}

/* Returns the unit's object path. systemd loads a unit that is asked for. */
static char *path_of(const char *unit)
{
	char *path = NULL;

	if (sd_bus_path_encode(SYSTEMD_PATH "/unit", unit, &path) < 0)
		abort();
	return path;
}

static int read_unit(sd_bus_message *m, struct arena *a, struct bus_unit *ret, struct err *e)
{
	static const char *const none[] = { NULL };
	int r;

	*ret = (struct bus_unit){ "", "", "", "", "", "", "", .after = none };
	r = read_properties(m, a, ret);
	return r < 0 ? malformed(e, "GetAll", r) : 0;
}

/* Reads the enablement from the links on the disk. The manager's property UnitFileState may be older than the last
 * change. */
static int read_file_state(const struct query *q, struct arena *a, struct bus_unit *u,
			   struct err *e)
{
	const char *state;
	int r;

	/* one of the unit's links leads nowhere; the rest of the answer is right */
	if (str_is_empty(u->fragment_path) || sd_bus_error_get_errno(&q->error) == ENOENT)
		return 0;
	if (!q->reply)
		return refused(q, e);
	r = sd_bus_message_read(q->reply, "s", &state);
	if (r < 0)
		return malformed(e, "GetUnitFileState", r);
	u->file_state = arena_str(a, state);
	return 0;
}

/* Asks for properties and enablement at once, since a busy manager answers late. If links is false, asks only for
 * the properties: for the enablement the manager reads all its folders. */
static int get_unit(struct bus *b, struct arena *a, const char *unit, bool links,
		    struct bus_unit *u, struct err *e)
{
	autofree char *path = path_of(unit);
	/* timers and mounts have other meanings of type and result */
	const char *interface = str_has_suffix(unit, ".service") ? "" : SYSTEMD ".Unit";
	struct query q[] = {
		{ METHOD(path, PROPERTIES_IFACE, "GetAll"), interface },
		{ MANAGER("GetUnitFileState"), unit },
	};
	int r = ask(b, q, links ? 2 : 1, e);

	if (r >= 0 && !q[0].reply)
		r = refused(&q[0], e);
	if (r >= 0)
		r = read_unit(q[0].reply, a, u, e);
	if (r >= 0 && links)
		r = read_file_state(&q[1], a, u, e);
	forget(q, ARRAY_LEN(q));
	return r;
}

static int get_settled(struct bus *b, struct arena *a, const char *unit, bool links,
		       struct bus_unit *ret, struct err *e)
{
	struct bus_unit u;
	int r = settle(b, get_unit(b, a, unit, links, &u, e));

	if (r < 0)
		return err_wrap(e, "state of %s", unit);
	*ret = u;
	return 0;
}

int bus_get(struct bus *b, struct arena *a, const char *unit, struct bus_unit *ret, struct err *e)
{
	return get_settled(b, a, unit, false, ret, e);
}

int bus_get_with_links(struct bus *b, struct arena *a, const char *unit, struct bus_unit *ret,
		       struct err *e)
{
	return get_settled(b, a, unit, true, ret, e);
}

int bus_reload(struct bus *b, struct err *e)
{
	automessage sd_bus_message *reply = NULL;
	int r = settle(b, call(b, MANAGER("Reload"), &reply, e, NULL));

	if (r < 0)
		return err_wrap(e, "daemon-reload");
	b->links_changed = false;
	return 0;
}

/* source: systemd's src/core/unit.c unit_need_daemon_reload, manager->unit_file_state_outdated */
int bus_reload_links(struct bus *b, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct bus_unit root;
	int r;

	if (!b->links_changed)
		return 0;
	r = bus_get(b, a, "-.slice", &root, e);
	return r < 0 || !root.need_reload ? r : bus_reload(b, e);
}

int bus_enable(struct bus *b, const char *unit, bool on, bool *ret_changed, struct err *e)
{
	automessage sd_bus_message *reply = NULL;
	int installs, r;

	if (on)
		r = call(b, MANAGER("EnableUnitFiles"), &reply, e, "asbb", 1, unit, 0, 1);
	else
		r = call(b, MANAGER("DisableUnitFiles"), &reply, e, "asb", 1, unit, 0);
	if (settle(b, r) < 0)
		return err_wrap(e, "%s %s", on ? "enable" : "disable", unit);
	if (on)
		r = sd_bus_message_read(reply, "b", &installs);
	if (r >= 0)
		r = sd_bus_message_enter_container(reply, 'a', "(sss)");
	if (r >= 0)
		r = sd_bus_message_at_end(reply, 0);
	if (r < 0)
		return malformed(e, unit, r);
	*ret_changed = r == 0;
	b->links_changed = b->links_changed || *ret_changed;
	return 0;
}

static const struct verb {
	const char *name, *method;
	bool stops;
} verbs[] = {
	{ "start", "StartUnit", false },
	{ "restart", "RestartUnit", false },
	{ "stop", "StopUnit", true },
	{ "reload-or-restart", "ReloadOrRestartUnit", false },
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

int bus_job(struct bus *b, const char *verb, const char *unit, uint32_t *ret_job, struct err *e)
{
	const struct verb *v = verb_find(verb);
	automessage sd_bus_message *reply = NULL;
	const char *path;
	uint32_t id;
	int r;

	if (!v)
		return err_fail(e, ERR_SYSTEM, EINVAL, "%s %s: no such verb", verb, unit);
	r = call(b, MANAGER(v->method), &reply, e, "ss", unit, "replace");
	if (r < 0)
		return err_wrap(e, "%s %s", verb, unit);
	r = sd_bus_message_read(reply, "o", &path);
	if (r < 0)
		return malformed(e, v->method, r);
	id = (uint32_t)strtoul(str_basename(path), NULL, 10);
	jobs_add(&b->jobs, id, unit, v->stops);
	*ret_job = id;
	return settle(
		b,
		0); /* handles signals only now: a quick job may have ended already, and its signal is known by the
		     * job's id */
}

enum bus_job_state bus_job_state(struct bus *b, uint32_t job, const char **ret_result)
{
	const struct job *j = jobs_find(&b->jobs, job);

	if (!j) {
		*ret_result = "unknown";
		return BUS_JOB_FAILED;
	}
	if (j->result)
		*ret_result = j->result;
	return j->state;
}

/* Asks for the job's own object. If the job has ended and its signal was lost, judges the job by the state of its
 * unit. */
static int job_poll(struct bus *b, struct job *j, struct err *e)
{
	autofree char *path = xasprintf(SYSTEMD_PATH "/job/%u", j->id);
	autobuserr sd_bus_error error = SD_BUS_ERROR_NULL;
	autofree char *state = NULL;
	autoarena struct arena *a = NULL;
	struct bus_unit u;
	int r;

	r = sd_bus_get_property_string(b->bus, SYSTEMD, path, SYSTEMD ".Job", "State", &error,
				       &state);
	if (r >= 0) {
		j->state = str_eq(state, "running") ? BUS_JOB_RUNNING : BUS_JOB_WAITING;
		return 0;
	}
	/* An answer of another kind, such as a timeout, says nothing about the job. */
	if (!error.name || !str_has_prefix(error.name, "org.freedesktop.DBus.Error.Unknown"))
		return 0;
	/* a signal about the job would have come before this answer */
	if (dispatch(b) < 0 || j->result)
		return 0;
	a = arena_new_empty();
	r = bus_get(b, a, j->unit, &u, e);
	if (r >= 0)
		job_finish(j, job_judge(j, &u));
	return r;
}

static int jobs_poll(struct bus *b, struct err *e)
{
	int64_t now = dur_now();

	if (b->polled_ns && now - b->polled_ns < DUR_SEC)
		return 0;
	b->polled_ns = now;
	for (size_t i = 0; i < b->jobs.n; i++) {
		struct job *j = &b->jobs.v[i];
		int r = j->result || is_lost(b) ? 0 : job_poll(b, j, e);

		if (r < 0)
			return r;
	}
	return 0;
}

int bus_process(struct bus *b, struct err *e)
{
	int r = is_lost(b) ? -ENOTCONN : dispatch(b);

	if (r < 0) {
		r = reconnect(b, e);
		if (r < 0)
			return r;
		b->polled_ns = 0; /* polls all jobs now, as signals were missed */
	}
	return settle(b, jobs_poll(b, e));
}

int bus_reset_failed(struct bus *b, const char *unit, struct err *e)
{
	automessage sd_bus_message *reply = NULL;
	autofree char *path = path_of(unit);
	/* resets by the unit's object, not by its name: a unit that is not loaded has nothing to reset */
	int r = call(b, METHOD(path, SYSTEMD ".Unit", "ResetFailed"), &reply, e, NULL);

	return settle(b, r) < 0 ? err_wrap(e, "reset-failed %s", unit) : 0;
}

int bus_version(struct bus *b, struct arena *a, const char **ret, struct err *e)
{
	autobuserr sd_bus_error error = SD_BUS_ERROR_NULL;
	autofree char *text = NULL;
	const char *digits;
	int r;

	if (is_lost(b) && reconnect(b, e) < 0)
		return -ENOTCONN;
	r = sd_bus_get_property_string(b->bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD ".Manager", "Version",
				       &error, &text);
	if (settle(b, r) < 0)
		return err_fail(e, ERR_SYSTEM, -r, "systemd's version: %s",
				error.message ? error.message : strerror(-r));
	/* "252.39-1~deb12u2"; older ones "systemd 215" */
	digits = text + strcspn(text, "0123456789");
	*ret = arena_strn(a, digits, strspn(digits, "0123456789"));
	return 0;
}

int bus_manager_stamp(struct bus *b, const char *property, uint64_t *ret_us, struct err *e)
{
	autobuserr sd_bus_error error = SD_BUS_ERROR_NULL;
	int r;

	if (is_lost(b) && reconnect(b, e) < 0)
		return -ENOTCONN;
	r = sd_bus_get_property_trivial(b->bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD ".Manager", property,
					&error, 't', ret_us);
	if (settle(b, r) < 0)
		return err_fail(e, ERR_SYSTEM, -r, "systemd's %s: %s", property,
				error.message ? error.message : strerror(-r));
	return 0;
}
