#include "units/notify.h"

#include <stdarg.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include "nodeup/base/print.h"
#include "nodeup/base/show.h"

/* More than systemctl shows in one line; the rest is cut. */
enum { STATUS_MAX = 512 };

void notify_status(const char *fmt, ...)
{
	char text[STATUS_MAX];
	va_list ap;

	if (!getenv("NOTIFY_SOCKET"))
		return;
	va_start(ap, fmt);
	(void)print_va(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A line break would begin another assignment of the protocol. */
	(void)sd_notifyf(0, "STATUS=%s", show_prose(text));
}

void notify_ready(void)
{
	(void)sd_notify(0, "READY=1");
}
