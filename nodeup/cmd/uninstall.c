/* uninstall.c - removes nodeup's units, so that those of kops or of a package below /lib/systemd/system count again
 * Running programs go on, and only units and their masks are touched: no data, programs, keys or documents. A unit
 * goes only if the applied state has it, and it is still as nodeup wrote it. If the boot unit's own record is lost,
 * a unit that a run found byte for byte as nodeup writes it goes too: after the state was lost, a run notes its own
 * units so. If a kill leaves units, the next call finds them again. */
#include "nodeup/cmd/cli.h"

#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/show.h"
#include "nodeup/base/wait.h"
#include "nodeup/cmd/boot.h"
#include "nodeup/cmd/ending.h"
#include "nodeup/plan/tasklist.h"
#include "nodeup/run/lock.h"
#include "nodeup/run/waiting.h"
#include "nodeup/tasks/started.h"
#include "nodeup/tasks/state.h"
#include "units/enable.h"

/* a stop that ends before this needs no line */
#define QUIET_NS (2 * DUR_SEC)

enum { POLL_MS = 100 };

/* A file below /etc/systemd/system that nodeup wrote. */
struct entry {
	const char *path;
	const char *unit;  /* NULL: a drop-in */
	const char *other; /* another file of that name, which systemd uses afterwards; or NULL */
	const char *stays; /* why the file stays, or NULL */
	bool enabled, runs;
};

struct removal {
	struct arena *arena;
	int root_fd;
	struct bus *bus; /* NULL: an image */
	struct state *state;
	bool found_too; /* the boot unit's record is lost, so units that were found as nodeup writes them count too */
	struct entry *entries;
	size_t n, stay;
};

static const char *why_it_stays(struct removal *rm, const char *path, const struct stat *st)
{
	/* running programs have their data there, and kops has no unit for it */
	if (str_has_suffix(path, ".mount") || str_has_suffix(path, ".swap"))
		return "it mounts a disk: left alone";
	if (state_wrote(rm->state, path, st, rm->found_too))
		return NULL;
	return str_eq(str_basename(path), boot_unit)
		       ? "it is not as nodeup wrote it: left alone; when it runs, nodeup writes all "
			 "units again"
		       : "it is not as nodeup wrote it: left alone";
}

/* Looks at one unit file. is_recorded: the state has a record of the file. */
static int look_at(struct removal *rm, const char *path, bool is_recorded, struct err *e)
{
	struct entry entry = { .path = path };
	struct bus_unit u;
	struct stat st;
	int r = io_stat(rm->root_fd, path, &st, e);

	if (r == 0 && is_recorded)
		entry.stays = why_it_stays(rm, path, &st);
	/* a path with a further slash is a drop-in in UNIT.d/ */
	if (r == 0 && !strchr(path + strlen(plan_unit_dir), '/')) {
		entry.unit = str_basename(path);
		entry.other = enable_other(rm->root_fd, rm->arena, entry.unit);
	}
	if (r == 0 && entry.unit && rm->bus) {
		r = bus_get_with_links(rm->bus, rm->arena, entry.unit, &u, e);
		entry.runs = r == 0 && bus_unit_is_at_work(&u);
		entry.enabled = r == 0 && str_has_prefix(u.file_state, "enabled");
	} else if (r == 0 && entry.unit && !entry.stays && !S_ISLNK(st.st_mode)) {
		r = enable_check(rm->root_fd, entry.unit, &entry.enabled, e);
	}
	if (r == 0)
		arena_push(rm->arena, rm->entries, rm->n, entry);
	rm->stay += r == 0 && entry.stays;
	return r;
}

static int say_what_is_lost(struct err *e)
{
	(void)err_fail(e, ERR_CONFIG, 0, "%s is nodeup's, and " OWN_STATE " names no unit",
		       boot_unit);
	err_note(e, "do", "nodeup apply, which notes all units that are right, then this again");
	return err_code(e);
}

/* Finds the units to remove. Keeps files that the documents themselves place, since kops has these at the same path.
 * Takes the boot unit even without a record, as it would write all units again. */
static int find_units(struct removal *rm, struct err *e)
{
	static const char *const of_documents[] = { "file-assets", NULL };
	const char *boot = arena_printf(rm->arena, "%s%s", plan_unit_dir, boot_unit);
	struct strv paths = state_written(rm->state, rm->arena, of_documents, false);
	int r = 0;

	rm->found_too = !strv_has(&paths, boot);
	if (rm->found_too)
		paths = state_written(rm->state, rm->arena, of_documents, true);

	for (size_t i = 0; i < paths.n && r == 0; i++)
		if (str_has_prefix(paths.v[i], plan_unit_dir) &&
		    io_is_there(rm->root_fd, paths.v[i]))
			r = look_at(rm, paths.v[i], true, e);
	if (r == 0 && !strv_has(&paths, boot) && boot_has_unit_file(rm->root_fd))
		r = rm->n ? look_at(rm, boot, false, e) : say_what_is_lost(e);
	return r;
}

static const char *fate(struct arena *a, const struct entry *entry)
{
	if (entry->stays || !entry->unit)
		return entry->stays;
	if (entry->other)
		return arena_printf(a, "%s counts again%s", entry->other,
				    entry->runs ? "; what runs goes on" : "");
	return entry->runs ? "what runs goes on; until there is another unit of that name, nothing "
			     "starts it again"
			   : "there is no other unit of that name";
}

static void tell(struct removal *rm, bool dry)
{
	for (size_t i = 0; i < rm->n; i++) {
		const struct entry *entry = &rm->entries[i];
		const char *why = fate(rm->arena, entry);

		show_signed(stdout, "", NULL, entry->stays ? '!' : '-',
			    arena_printf(rm->arena, " file %s%s%s", entry->path, why ? ": " : "",
					 why ? why : ""));
	}
	if (!rm->n)
		show_line(stdout, "nothing to remove: " OWN_STATE " names no unit that is there; "
				  "nodeup apply notes those that are right");
	else
		show_line(stdout, "%zu of %zu files of units %s; all else that nodeup wrote stays",
			  rm->n - rm->stay, rm->n, dry ? "would be removed" : "removed");
}

static int turn(struct removal *rm, const char *unit, bool on, struct err *e)
{
	bool ignored;

	if (rm->bus)
		return bus_enable(rm->bus, unit, on, &ignored, e);
	return on ? enable_apply(rm->root_fd, unit, NULL, e) : enable_remove(rm->root_fd, unit, e);
}

/* Removes the boot record, so that no later run takes nodeup for installed and brings the boot unit back. */
static int forget_boot(struct removal *rm, struct err *e)
{
	int r = io_remove(rm->root_fd, OWN_BOOT, e);

	return r < 0 ? r : io_remove(rm->root_fd, OWN_PROGRAM, e);
}

static int remove_entry(struct removal *rm, const struct entry *entry, struct err *e)
{
	int r = str_eq(entry->unit, boot_unit) ? forget_boot(rm, e) : 0;

	/* If another unit of that name must stay enabled, the link stays: systemd goes by the link's name. In an
	 * image the link goes, as it would enable the other unit wherever it points. */
	if (r == 0 && entry->enabled && (!entry->other || !rm->bus))
		r = turn(rm, entry->unit, false, e);
	if (r == 0 && entry->unit)
		r = started_forget(rm->root_fd, entry->unit, e);
	if (r == 0)
		r = io_remove(rm->root_fd, entry->path, e);
	if (r == 0)
		state_forget(rm->state, entry->path);
	return r;
}

static int remove_units(struct removal *rm, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < rm->n && r == 0; i++)
		if (!rm->entries[i].stays)
			r = remove_entry(rm, &rm->entries[i], e);
	if (r == 0 && rm->bus && rm->n)
		r = bus_reload(rm->bus, e);
	for (size_t i = 0; i < rm->n && r == 0; i++)
		if (!rm->entries[i].stays && rm->entries[i].enabled && rm->entries[i].other)
			r = turn(rm, rm->entries[i].unit, true, e);
	if (r == 0 && rm->bus && rm->n)
		r = bus_reload(rm->bus, e);
	return r < 0 ? r : state_store(rm->state, e);
}

static int wait_for_stop(struct removal *rm, const char *unit, uint32_t job, struct waits *waits,
			 struct err *e)
{
	struct wait w = {
		.what = unit,
		.reason = "it was asked to stop",
		.since_ns = dur_now(),
		.expected = true,
	};
	const char *result = "";

	for (;;) {
		int r = bus_process(rm->bus, e);

		if (r < 0)
			return r;
		switch (bus_job_state(rm->bus, job, &result)) {
		case BUS_JOB_DONE:
			return 0;
		case BUS_JOB_FAILED:
			return err_fail(e, ERR_SYSTEM, EIO, "%s: its stop job: %s", unit, result);
		default:
			w.next_ns = dur_now() + POLL_MS * DUR_MS;
			if (dur_now() - w.since_ns >= QUIET_NS)
				waits_tell(waits, &w);
			wait_until(w.next_ns);
		}
	}
}

/* Stops a unit of ours. */
static int stop_unit(struct removal *rm, const char *unit, bool dry, struct err *e)
{
	struct waits *waits;
	struct bus_unit u;
	uint32_t job;
	int r = bus_get(rm->bus, rm->arena, unit, &u, e);

	if (r < 0 || !bus_unit_is_at_work(&u) || !str_has_prefix(u.fragment_path, plan_unit_dir))
		return r;
	show_line(stdout, "%s is at work, and %s first", unit,
		  dry ? "would be stopped" : "is stopped");
	if (dry)
		return 0;
	r = bus_job(rm->bus, "stop", unit, &job, e);
	if (r < 0)
		return r;
	waits = waits_new();
	r = wait_for_stop(rm, unit, job, waits, e);
	waits_free(waits);
	return r;
}

/* Stops the unit of runs, which may retry for ever and would write its units again, and the guard's timer, which would
 * start a unit that is gone. */
static int stop_units(struct removal *rm, bool dry, struct err *e)
{
	int r = stop_unit(rm, boot_unit, dry, e);

	return r < 0 ? r : stop_unit(rm, plan_guard_timer, dry, e);
}

/* Finds nodeup's units by the present state. */
static int look(struct removal *rm, struct err *e)
{
	int r;

	state_close(rm->state);
	rm->state = NULL;
	rm->n = rm->stay = 0;
	r = state_open(rm->root_fd, &rm->state, e);
	return r < 0 ? r : find_units(rm, e);
}

static int uninstall(struct cli *cli, struct removal *rm, struct err *e)
{
	autoclose int lock = -1;
	int r = io_open_root(cli->root ? cli->root : "/", &rm->root_fd, e);

	if (r == 0 && !cli->root)
		r = bus_open(&rm->bus, e);
	if (r == 0)
		r = look(rm, e);
	if (r == 0 && rm->bus && rm->n > rm->stay)
		r = stop_units(rm, cli->dryrun, e);
	if (r == 0 && rm->bus && rm->n > rm->stay && !cli->dryrun)
		r = lock_take(rm->root_fd, NULL, &lock, e);
	/* the stopped unit may have written more */
	if (r == 0 && rm->n > rm->stay && !cli->dryrun)
		r = look(rm, e);
	if (r == 0 && !cli->dryrun)
		r = remove_units(rm, e);
	if (r < 0)
		return r;
	tell(rm, cli->dryrun);
	return 0;
}

int cmd_uninstall(struct cli *cli, struct err *e)
{
	struct removal rm = { .arena = cli->arena, .root_fd = -1 };
	int r;

	if (!cli->units)
		return err_fail(e, ERR_USAGE, 0,
				"nodeup uninstall needs --units: it removes nothing else");
	if (geteuid() != 0)
		return err_fail(e, ERR_USAGE, EPERM, "must be root to %s",
				cli->dryrun ? "read the state of nodeup" : "remove units");
	show_line(stdout, "nodeup version %s", cli_version());
	(void)fflush(stdout);
	if (!cli->dryrun)
		ending_tell(cmd_ending_made, cli);
	r = uninstall(cli, &rm, e);
	state_close(rm.state);
	bus_close(rm.bus);
	cleanup_closep(&rm.root_fd);
	if (r < 0)
		return r;
	show_line(stdout, "success");
	return 0;
}
