#include "nodeup/cmd/ending.h"

#include "nodeup/base/io.h"
#include "nodeup/base/log.h"
#include "nodeup/run/history.h"
#include "nodeup/run/interrupted.h"
#include "nodeup/cmd/session.h"
#include "units/notify.h"

static void say_wait(const struct ending_event *ev)
{
	if (ev->child)
		log_notice("%s came: waiting for %s to end, as cut off it leaves damage; a second "
			   "signal ends nodeup at once and leaves it to itself",
			   ending_signal_name(ev->sig), ev->child);
}

void cmd_ending_looked(void *arg, const struct ending_event *ev)
{
	(void)arg;
	say_wait(ev);
	if (!ev->last)
		return;
	log_set_footer(NULL);
	log_notice("interrupted by %s; nothing was changed", ending_signal_name(ev->sig));
}

void cmd_ending_over(void *arg, const struct ending_event *ev)
{
	(void)arg;
	(void)ev;
}

void cmd_ending_made(void *arg, const struct ending_event *ev)
{
	const uint64_t kept = ev->last ? session_kept_bytes(arg) : 0;
	const char *name = ending_signal_name(ev->sig);

	say_wait(ev);
	if (!ev->last)
		return;
	log_set_footer(NULL);
	if (kept)
		log_notice("interrupted by %s; %.1f MB kept, run again to go on", name,
			   (double)kept / 1e6);
	else
		log_notice("interrupted by %s; what is done stays, run again to go on", name);
}

void cmd_ending_run(void *arg, const struct ending_event *ev)
{
	const char *name = ending_signal_name(ev->sig);
	autoclose int root = -1;
	struct err e;

	if (io_open_root("/", &root, &e) < 0 || interrupted_note(root, name, ev->child, &e) < 0)
		log_warning("status not kept: %s", e.msg);
	else if (ev->last && history_keep(root, NULL, &e) < 0)
		log_warning("this run is not remembered: %s", e.msg);
	if (ev->child)
		notify_status("interrupted by %s, waiting for %s", name, ev->child);
	else
		notify_status("interrupted by %s", name);
	/* before READY=1 systemd counts any end as a failure, whatever the signal */
	if (ev->last)
		notify_ready();
	cmd_ending_made(arg, ev);
}
