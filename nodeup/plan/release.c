#include "nodeup/plan/release.h"

#include <string.h>

#define DEBIAN "logrotate ebtables ethtool socat nfs-common python-apt apt-transport-https curl"
#define RHEL "logrotate ebtables ethtool socat"

/* clang-format off */
static const struct release releases[] = {
	{ "debian", "8",     "jessie",  DEBIAN, "unattended-upgrades", "ntp", "ntp.service" },
	{ "debian", "9",     "stretch", DEBIAN, "unattended-upgrades", "ntp", "ntp.service" },
	{ "ubuntu", "16.04", "xenial",  DEBIAN, "unattended-upgrades", "ntp", "ntp.service" },
	{ "centos", "7",     NULL,      RHEL,   NULL,                  "ntp", "ntpd.service" },
	{ "rhel",   "7",     NULL,      RHEL,   NULL,                  "ntp", "ntpd.service" },
	{ NULL },
};

/* clang-format on */

static bool is_release(const char *version, const char *row)
{
	const size_t n = strlen(row);

	return strncmp(version, row, n) == 0 && (version[n] == '\0' || version[n] == '.');
}

bool release_is(const char *distribution, const char *version, const char *codename,
		const struct facts *f)
{
	if (!str_eq(distribution, f->distribution))
		return false;
	return f->version ? is_release(f->version, version)
			  : codename && str_eq(codename, f->codename);
}

static bool is_row(const struct release *d, const struct facts *f)
{
	return !d->distribution || release_is(d->distribution, d->version, d->codename, f);
}

bool release_nth(size_t n, struct facts *ret)
{
	const size_t n_rows = ARRAY_LEN(releases) - 1;

	/* without the rows for every other */
	if (n >= n_rows + n_distros - 1)
		return false;
	ret->distribution = n < n_rows ? releases[n].distribution : distros[n - n_rows].name;
	ret->version = n < n_rows ? releases[n].version : NULL;
	ret->codename = n < n_rows ? releases[n].codename : NULL;
	return true;
}

const struct release *plan_release(const struct plan *p)
{
	const struct release *d = releases;

	while (!is_row(d, p->req->facts))
		d++;
	return d;
}

const char *release_name(const struct release *d)
{
	if (!d->distribution)
		return NULL;
	if (d->codename)
		return d->codename;
	return strcmp(d->distribution, "rhel") == 0 ? "rhel7" : "centos7";
}
