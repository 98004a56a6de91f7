/* unit.h - a systemd unit as data, and as text
 * Sections and keys keep the order in which they were added; a key may repeat. Values are written
 * as given: escaping is the caller's, by unit_quote or unit_escape_name.
 * Text: "[Section]" line, "k=v" lines, one blank line between sections, a final newline.
 * Owner: the arena. Errors: none. Source: kops pkg/systemd/manifest.go, escaping.go; systemd.unit(5). */
#pragma once

#include "nodeup/base/str.h"

struct unit_section {
	const char *name;
	struct strmap_item *v;
	size_t n;
};

struct unit {
	struct unit_section *sections;
	size_t n;
};

/* Append key=value to a section, which is made on first use. value must live long enough. */
void unit_set(struct arena *a, struct unit *u, const char *section, const char *key,
	      const char *value);
/* The unit file's text. */
char *unit_render(struct arena *a, const struct unit *u);
/* One argument of an Exec= line, quoted as systemd unquotes it (also $ and %). */
char *unit_quote(struct arena *a, const char *arg);
/* A path as part of a unit name: "/var/lib/x" gives "var-lib-x". */
char *unit_escape_path(struct arena *a, const char *path);
/* Lines KEY="value" for an EnvironmentFile=, quoted as systemd reads it back. */
char *unit_env_line(struct arena *a, const char *key, const char *value);
