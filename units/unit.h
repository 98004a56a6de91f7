/* unit.h - words for a systemd unit's text, quoted as systemd reads them back; and the drop-ins of a unit
 * Owner: the arena. Errors: none; a file that cannot be read counts as missing.
 * Source: kops pkg/systemd/escaping.go; systemd.unit(5), systemd.exec(5).
 * Tests: test_unit.c, test_foreign.c. */
#pragma once

#include "nodeup/base/str.h"

/* Quotes one argument of an Exec= line, so that systemd changes neither $ nor % in it. */
char *unit_quote(struct arena *a, const char *arg);
/* Quotes like unit_quote, but $ and % keep their special meaning, as in words that kops writes. */
char *unit_quote_as_kops(struct arena *a, const char *word);
/* Makes a path a part of a unit's name: "/var/lib/x" gives "var-lib-x". */
char *unit_escape_path(struct arena *a, const char *path);
/* Writes lines KEY="value" for an EnvironmentFile=, quoted as systemd reads them back. */
char *unit_env_line(struct arena *a, const char *key, const char *value);

/* Returns the paths of a service's drop-ins in all folders where systemd looks for them, sorted in each folder.
 * Leaves out drop-ins that systemd writes for `systemctl set-property`: they take effect without a start. */
struct strv unit_dropins(struct arena *a, int root_fd, const char *unit);
/* Returns the texts of the drop-ins, and of the environment files that the drop-ins name: path = text. */
struct strmap unit_dropin_texts(struct arena *a, int root_fd, const char *unit);
