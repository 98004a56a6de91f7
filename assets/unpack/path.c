#include "assets/unpack/path.h"

#include <errno.h>
#include <string.h>
#include "nodeup/base/print.h"
#include "nodeup/base/show.h"

enum { PART_BYTES_MAX = 255 };

const char *extract_show(const char *raw, char out[static EXTRACT_SHOWN_MAX])
{
	(void)print_to(out, EXTRACT_SHOWN_MAX, "%.*s", EXTRACT_SHOWN_MAX - 1, raw);
	return show_clean(out);
}

int extract_refuse(const char *archive, const char *raw, const char *why, struct err *e)
{
	char shown[EXTRACT_SHOWN_MAX];

	return err_fail(e, ERR_INTEGRITY, EBADMSG, "archive '%s': entry '%s' refused: %s", archive,
			extract_show(raw, shown), why);
}

const char *extract_clean(const char *raw, char out[static EXTRACT_NAME_MAX + 1])
{
	size_t len = 0, depth = 0, n;

	if (strlen(raw) > EXTRACT_NAME_MAX)
		return "the name has more than 4095 bytes";
	if (*raw == '/')
		return "absolute name";
	out[0] = '\0';
	for (const char *p = raw; *p; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (n == 0 || (n == 1 && *p == '.'))
			continue;
		if (n == 2 && p[0] == '.' && p[1] == '.')
			return "'..' in the name";
		if (n > PART_BYTES_MAX)
			return "a part of the name has more than 255 bytes";
		if (++depth > EXTRACT_DEPTH_MAX)
			return "nested more than 128 directories deep";
		if (len)
			out[len++] = '/';
		memcpy(out + len, p, n);
		len += n;
		out[len] = '\0';
	}
	return NULL;
}

/* A link's target stays inside if its ".."s come first and are not more than the link's depth. A ".." after another
 * part could lead anywhere, since that part may be a link. If every link obeys this rule, chains of links stay
 * inside too. */
const char *extract_check_target(const char *path, const char *target)
{
	size_t depth = 0, n;
	bool down = false;

	if (*target == '\0' || strlen(target) > EXTRACT_NAME_MAX)
		return "empty or endless link target";
	if (*target == '/')
		return "a link to an absolute path";
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
		depth++;
	for (const char *p = target; *p; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (n == 0 || (n == 1 && *p == '.'))
			continue;
		if (n != 2 || p[0] != '.' || p[1] != '.')
			down = true;
		else if (down || depth-- == 0)
			return "a link that leaves the tree";
	}
	return NULL;
}
