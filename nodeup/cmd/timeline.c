/* timeline.c - where the time of a boot, or of an earlier run, went
 * Reads records of runs: no lock, no root. Asks the API server one question, unless --offline. */
#include "nodeup/cmd/cli.h"

#include <stdlib.h>
#include "nodeup/base/io.h"
#include "nodeup/base/show.h"
#include "nodeup/run/health.h"
#include "nodeup/run/history.h"
#include "nodeup/run/registered.h"
#include "nodeup/run/timeline.h"

enum { SVG_MAX = 16 << 20 };

void timeline_runs(struct arena *a, struct strv *ret)
{
	(void)a;
	(void)ret;
}

/* Finds the run of a number, or for NULL the newest. Its index in *ret. */
static int find_run(const struct cli *cli, const struct tree *runs, const char *word, size_t *ret,
		    struct err *e)
{
	struct strv numbers = { 0 };

	for (size_t i = 0; i < runs->n; i++) {
		const char *number = tree_says(runs->items[i].value, "number");

		if (!word || str_eq(number, word)) {
			*ret = i;
			return 0;
		}
		if (*number)
			strv_add(cli->arena, &numbers, number);
	}
	if (!word)
		return err_fail(e, ERR_USAGE, 0, "no run is remembered; see nodeup status");
	return err_fail(e, ERR_USAGE, 0, "no run '%s' is remembered%s%s", word,
			numbers.n ? "; nodeup status --runs has their numbers, to " : "",
			numbers.n ? numbers.v[0] : "");
}

static int print(const struct cli *cli, const struct timeline *t, const struct timeline *before,
		 struct err *e)
{
	autobuf struct buf b = BUF_INIT(SVG_MAX);
	struct strv lines;
	int r;

	if (str_eq(cli->output, "json"))
		return show_json(timeline_json(cli->arena, t, before), e);
	if (str_eq(cli->output, "svg")) {
		timeline_svg(cli->arena, t, &b);
		r = buf_check(&b, "the picture", e);
		if (r == 0)
			show_bytes(buf_str(&b), b.len);
		return r;
	}
	lines = timeline_text(cli->arena, t, before);
	for (size_t i = 0; i < lines.n; i++)
		show_line(stdout, "%s", lines.v[i]);
	return 0;
}

int cmd_timeline(struct cli *cli, struct err *e)
{
	const char *word = cli->args.n ? cli->args.v[0] : NULL;
	const struct tree *earlier;
	struct timeline now, before;
	autoclose int root = -1;
	struct tree *runs;
	size_t i = 0;
	int r = io_open_root("/", &root, e);

	if (r >= 0)
		r = history_list(cli->arena, root, &runs, e);
	if (r >= 0)
		r = find_run(cli, runs, word, &i, e);
	if (r < 0)
		return r;
	now = timeline_of(cli->arena, runs->items[i].value);
	if (!cli->offline) {
		const struct registered node = registered_ask(cli->arena, root);

		timeline_add_node(&now, node.registered_s, node.ready_s);
	}
	earlier = timeline_run_before(runs, i);
	if (earlier)
		before = timeline_of(cli->arena, earlier);
	return print(cli, &now, earlier ? &before : NULL, e);
}
