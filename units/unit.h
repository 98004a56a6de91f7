/* unit.h - what stands in a systemd unit's text, quoted as systemd reads it back
 * Owner: the arena. Errors: none. Source: kops pkg/systemd/escaping.go; systemd.unit(5).
 * Tests: test_unit.c. */
#pragma once

#include "nodeup/base/str.h"

/* One argument of an Exec= line, quoted as systemd unquotes it (also $ and %). */
char *unit_quote(struct arena *a, const char *arg);
/* As unit_quote, but $ and % keep their sense, as kops writes a word. */
char *unit_quote_as_kops(struct arena *a, const char *word);
/* A path as part of a unit name: "/var/lib/x" gives "var-lib-x". */
char *unit_escape_path(struct arena *a, const char *path);
/* Lines KEY="value" for an EnvironmentFile=, quoted as systemd reads it back. */
char *unit_env_line(struct arena *a, const char *key, const char *value);
