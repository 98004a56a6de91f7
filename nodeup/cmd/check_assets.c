#include "nodeup/cmd/check.h"

#include "assets/cache/cache.h"
#include "assets/http/http.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/pool.h"

#define ASK_NS (10 * DUR_SEC)

enum { ASKERS = 8 };

static void ask_mirrors(void *arg)
{
	struct check_asset *one = arg;

	for (size_t i = 0; i < one->asset->urls.n; i++) {
		const struct http_req req = {
			.url = one->asset->urls.v[i],
			.timeout_ns = ASK_NS,
			.has_mirrors = one->asset->urls.n > 1,
		};

		one->r = http_length(one->http, &req, &one->length, &one->why);
		if (one->r >= 0)
			return;
		one->no_name |= one->why.errnum == HTTP_NO_NAME;
	}
}

/* Lists assets that a run would fetch, by the plan. */
static void list_assets(struct checking *c)
{
	for (size_t i = 0; i < c->rep.n; i++) {
		const struct task *t = c->rep.outcomes[i].task;

		if (t->kind == TASK_ASSET && c->rep.outcomes[i].state == RUN_CHANGED)
			arena_push(c->cli->arena, c->assets, c->n_assets,
				   ((struct check_asset){ .asset = t->asset.asset,
							  .http = c->s->http,
							  .length = -1 }));
	}
}

void check_ask(struct checking *c)
{
	struct pool *askers;
	struct err e;

	list_assets(c);
	if (c->cli->offline || !c->n_assets)
		return;
	if (pool_new(ASKERS, ASKERS, &askers, &e) < 0) {
		c->assets[0].r = err_code(&e);
		c->assets[0].why = e;
		return;
	}
	for (size_t i = 0; i < c->n_assets; i++)
		pool_send(askers, ask_mirrors, &c->assets[i]);
	pool_free(askers);
}

int check_names(struct checking *c, struct err *e)
{
	if (c->opened < 0 && c->why.errnum == HTTP_NO_NAME) {
		*e = c->why;
		return c->opened;
	}
	if (c->cli->offline || c->opened < 0)
		return check_say(c, CHECK_SKIPPED, "not asked");
	for (size_t i = 0; i < c->n_assets; i++)
		if (c->assets[i].no_name) {
			*e = c->assets[i].why;
			/* another mirror may have the asset */
			return c->assets[i].r < 0 ? c->assets[i].r : CHECK_ODD;
		}
	return CHECK_RIGHT;
}

int check_mirrors(struct checking *c, struct err *e)
{
	char size[STR_SIZE_MAX];
	uint64_t sum = 0;

	if (c->opened < 0)
		return check_say(c, CHECK_SKIPPED, "not asked: the documents name them");
	if (c->cli->offline)
		return offline_check(c->s, e);
	for (size_t i = 0; i < c->n_assets; i++) {
		const struct check_asset *one = &c->assets[i];

		if (one->r < 0) {
			*e = one->why;
			return err_wrap(e, "%s", one->asset->name);
		}
		sum += one->length > 0 ? (uint64_t)one->length : 0;
	}
	return check_say(c, CHECK_RIGHT, "%zu to fetch, %s", c->n_assets, str_size(size, sum));
}
