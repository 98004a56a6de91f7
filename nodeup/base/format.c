#include "nodeup/base/format.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/mem.h"
#include "nodeup/base/str.h"

enum {
	PIECE_MAX = 256,
	UNIT_NAME_MAX = 200,
	DNS_NAME_MAX = 253,
	DNS_LABEL_MAX = 63,
	PORT_MAX = 65535
};

/* Copies a part of a text as a string. False if it is longer than any sensible value. */
static bool take(const char *s, size_t n, char piece[static PIECE_MAX])
{
	if (n >= PIECE_MAX)
		return false;
	memcpy(piece, s, n);
	piece[n] = '\0';
	return true;
}

static int bits_of(const char *ip)
{
	struct in6_addr addr;

	if (inet_pton(AF_INET, ip, &addr) == 1)
		return 32;
	return inet_pton(AF_INET6, ip, &addr) == 1 ? 128 : 0;
}

static bool is_ip(const char *s)
{
	return bits_of(s) != 0;
}

/* Returns whether the text is a name such as "api.a.example.com". If the last part has only digits, the text is not
 * a name but a wrong address. */
static bool is_dns_name(const char *s)
{
	char label[PIECE_MAX];

	if (strlen(s) > DNS_NAME_MAX)
		return false;
	for (size_t n;; s += n + 1) {
		n = strcspn(s, ".");
		if (n == 0 || n > DNS_LABEL_MAX || s[0] == '-' || s[n - 1] == '-' ||
		    !take(s, n, label) || !str_has_only(label, "-_"))
			return false;
		if (s[n] == '\0')
			return strspn(s, "0123456789") < n;
	}
}

static bool is_host(const char *s)
{
	return is_ip(s) || is_dns_name(s);
}

/* Reads a decimal number of at most max; *end is what follows it. */
static bool take_number(const char *s, long max, const char **end)
{
	char *after;
	long v;

	if (!isdigit((unsigned char)*s))
		return false;
	v = strtol(s, &after, 10);
	*end = after;
	return v <= max;
}

static bool is_cidr(const char *s)
{
	const char *slash = strchr(s, '/'), *end;
	char ip[PIECE_MAX];

	return slash && take(s, (size_t)(slash - s), ip) && is_ip(ip) &&
	       take_number(slash + 1, bits_of(ip), &end) && *end == '\0';
}

static bool is_suffix(const char *s)
{
	static const char *const suffixes[] = { "",  "n",  "u",  "m",  "k",  "M",  "G",  "T", "P",
						"E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", NULL };
	const char *end;

	if (str_is_one_of(s, suffixes))
		return true;
	if (*s != 'e' && *s != 'E')
		return false;
	s++;
	if (*s == '+' || *s == '-')
		s++;
	return take_number(s, 999, &end) && *end == '\0';
}

static bool is_quantity(const char *s)
{
	size_t whole, part = 0;

	if (*s == '+' || *s == '-')
		s++;
	whole = strspn(s, "0123456789");
	s += whole;
	if (*s == '.')
		part = strspn(++s, "0123456789");
	return whole + part > 0 && is_suffix(s + part);
}

/* Returns whether the text is an amount to reserve, request or compare with: a quantity that is not negative. */
static bool is_amount(const char *s)
{
	return *s != '-' && is_quantity(s);
}

static bool is_port_range(const char *s)
{
	const char *end;

	return take_number(s, PORT_MAX, &end) && *end == '-' &&
	       take_number(end + 1, PORT_MAX, &end) && *end == '\0' &&
	       strtol(s, NULL, 10) <= strtol(strchr(s, '-') + 1, NULL, 10);
}

/* Accepts a single port and FROM+MORE too. */
static bool is_port_range_today(const char *s)
{
	const char *end, *last;

	if (!take_number(s, PORT_MAX, &end) || *end == '-')
		return is_port_range(s);
	return *end == '\0' ||
	       (*end == '+' && take_number(end + 1, PORT_MAX - strtol(s, NULL, 10), &last) &&
		*last == '\0');
}

static bool is_share(const char *s)
{
	const size_t n = strlen(s);
	char number[PIECE_MAX];

	if (n == 0 || s[n - 1] != '%')
		return is_amount(s);
	return take(s, n - 1, number) && strspn(number, "0123456789.") == n - 1 &&
	       is_amount(number) && strtod(number, NULL) <= 100;
}

static bool is_duration(const char *s)
{
	struct err e = { 0 };
	int64_t ns;

	return dur_parse(s, &ns, &e) == 0 && ns >= 0;
}

/* Checks "signal<value": text before the operator, and a valid value after it. */
static bool is_signal(const char *s, char op, bool (*is_value)(const char *))
{
	const char *at = strchr(s, op);

	return at && at != s && is_value(at + 1);
}

static bool is_threshold(const char *s)
{
	return is_signal(s, '<', is_share);
}

static bool is_reclaim(const char *s)
{
	return is_signal(s, '=', is_share);
}

static bool is_period(const char *s)
{
	return is_signal(s, '=', is_duration);
}

static bool is_effect(const char *s)
{
	return str_eq(s, "NoSchedule") || str_eq(s, "PreferNoSchedule") || str_eq(s, "NoExecute");
}

static bool is_taint(const char *s)
{
	const char *equals = strchr(s, '='), *colon = equals ? strchr(equals, ':') : NULL;

	return colon && equals != s && is_effect(colon + 1);
}

static bool is_taint_today(const char *s)
{
	const char *colon = strchr(s, ':'), *equals = strchr(s, '=');

	return colon && colon != s && equals != s && is_effect(colon + 1) &&
	       (!equals || !strchr(equals + 1, '='));
}

static bool is_path(const char *s)
{
	return str_is_path(s) && str_is_line(s);
}

static bool is_below(const char *s)
{
	autofree char *path = xasprintf("/%s", s);

	return *s && is_path(path);
}

static bool is_log(const char *s)
{
	return str_eq(s, "-") || is_path(s);
}

/* a path of a cgroup as kubelet takes it: with or without the leading '/' */
static bool is_cgroup(const char *s)
{
	return is_path(s) || is_below(s);
}

/* systemd makes a unit of this name. source: systemd src/basic/unit-name.c VALID_CHARS */
static bool is_slice(const char *s)
{
	const char *name = s + (*s == '/');

	return *name && !strchr(".-", *name) && strlen(name) < UNIT_NAME_MAX && is_cgroup(s) &&
	       str_has_only(s, "/:_.@\\-");
}

/* The name becomes part of a file's name, a URL or a unit's name. */
static bool is_name(const char *s)
{
	return *s && *s != '.' && *s != '-' && str_has_only(s, "-._");
}

/* source: Go's strconv.ParseBool */
static bool is_switch(const char *s)
{
	static const char *const words[] = { "1", "t", "T",     "true",  "TRUE",  "True", "0",
					     "f", "F", "false", "FALSE", "False", NULL };

	return str_is_one_of(s, words);
}

/* Returns "a < b" without the blanks around the operator. */
static const char *without_blanks(struct arena *a, const char *s, char op)
{
	const char *at = strchr(s, op);

	if (!at)
		return s;
	return arena_printf(a, "%s%c%s", str_trim(a, arena_strn(a, s, (size_t)(at - s))), op,
			    str_trim(a, at + 1));
}

const char *format_fold(struct arena *a, const struct field_format *f, const char *s)
{
	char *text = f->folds ? arena_str(a, s) : NULL, *to = text;

	if (!text)
		return s;
	for (; *s; s++)
		if (*s != '/' || s[1] != '/')
			*to++ = *s;
	*to = '\0';
	return text;
}

bool format_is_valid(const struct field_format *f, const char *s)
{
	autoarena struct arena *scratch = f->padded ? arena_new_empty() : NULL;

	if (!f->is_list)
		return f->is_valid(s);
	for (;;) {
		const size_t n = strcspn(s, ",");
		char piece[PIECE_MAX];

		if (!take(s, n, piece) ||
		    !f->is_valid(f->padded ? without_blanks(scratch, piece, f->padded) : piece))
			return false;
		if (s[n] == '\0')
			return true;
		s += n + 1;
	}
}

/* Checks each line. A line that begins with '-' may have only a key; then patterns in other lines do not apply to
 * that key. */
static bool is_sysctl(const char *s)
{
	for (;; s++) {
		const char *start = s + strspn(s, " \t\r");
		const size_t n = strcspn(start, "\n"), key = strcspn(start, "=\n");

		if (n && !strchr("#;-", *start) && (key == n || key == 0))
			return false;
		s = start + n;
		if (!*s)
			return true;
	}
}

const struct field_format format_cidr = { "an address range such as 10.0.0.0/8", is_cidr };
const struct field_format format_cidrs = { "address ranges with commas between them", is_cidr,
					   .is_list = true };
const struct field_format format_ip = { "an IP address", is_ip };
const struct field_format format_host = { "an IP address or a DNS name", is_host };
const struct field_format format_ips = { "IP addresses with commas between them", is_ip,
					 .is_list = true };
const struct field_format format_quantity = { "an amount such as 100m or 64Mi", is_amount };
const struct field_format format_port_range = { "ports from-to such as 30000-32767",
						is_port_range };
const struct field_format format_port_range_today = {
	"ports such as 30000-32767, 30000+2767 or 30000", is_port_range_today
};
const struct field_format format_thresholds = { "thresholds such as memory.available<100Mi",
						is_threshold, .is_list = true };
const struct field_format format_reclaims = { "amounts such as memory.available=100Mi", is_reclaim,
					      .is_list = true };
const struct field_format format_periods = { "periods such as memory.available=1m30s", is_period,
					     .is_list = true };
const struct field_format format_path = { "an absolute path such as /etc/kubernetes/manifests",
					  is_path, .folds = true };
const struct field_format format_below = { "a path without '/' before it and '..' in it",
					   is_below };
const struct field_format format_log = { "an absolute path, or -", is_log };
const struct field_format format_cgroup = { "a cgroup such as /system.slice/kubelet.service",
					    is_cgroup, .folds = true };
const struct field_format format_slice = { "a cgroup such as /kube-reserved", is_slice };
const struct field_format format_name = { "a name", is_name };
const struct field_format format_switch = { "true or false", is_switch };
const struct field_format format_sysctl = { "a line of sysctl.d(5) such as net.core.somaxconn=1024",
					    is_sysctl };
const struct field_format format_taint = {
	"a taint such as key=value:NoSchedule (or PreferNoSchedule, NoExecute)", is_taint
};
const struct field_format format_taint_today = {
	"a taint such as key=value:NoSchedule or key:NoSchedule (or PreferNoSchedule, NoExecute)",
	is_taint_today
};
const struct field_format format_thresholds_today = { "thresholds such as memory.available<100Mi",
						      is_threshold, .is_list = true,
						      .padded = '<' };
const struct field_format format_reclaims_today = { "amounts such as memory.available=100Mi",
						    is_reclaim, .is_list = true, .padded = '=' };
const struct field_format format_periods_today = { "periods such as memory.available=1m30s",
						   is_period, .is_list = true, .padded = '=' };
