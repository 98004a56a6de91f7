#include "tests/unit/lib/store_fixture.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "tests/unit/lib/origin.h"

static void on_wait(void *arg, const struct wait *w)
{
	struct fixture *fx = arg;

	/* a server that takes its time has not failed */
	if (!w->why) {
		fx->silences++;
		return;
	}
	assert_true(w->since_ns > 0 && w->next_ns >= w->since_ns);
	fx->waits++;
	fx->last = *w->why;
	fx->last_attempt = w->attempt;
	(void)snprintf(fx->last_location, sizeof(fx->last_location), "%s", w->what);
}

/* The store again, as the next run has it. */
void fx_reopen(struct fixture *fx, struct http *http, const char *region)
{
	struct store_req req = {
		.http = http, .imds = fx->imds, .region = region, .patience = { 0, on_wait, fx }
	};
	struct err e;

	store_free(fx->s);
	assert_int_equal(store_new(fx->c->arena, &req, &fx->s, &e), 0);
}

int fx_setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	fx->c = cloud_start(NULL);
	fx->imds = imds_new(fx->c->http);
	fx_reopen(fx, fx->c->http, NULL);
	*state = fx;
	return 0;
}

int fx_teardown(void **state)
{
	struct fixture *fx = *state;

	store_free(fx->s);
	imds_free(fx->imds);
	cloud_stop(fx->c);
	free(fx);
	return 0;
}

void fx_object(struct fixture *fx, const char *path, const char *text)
{
	tmp_write(fx->c->dir, path, text, strlen(text));
}

int fx_get(struct fixture *fx, const char *location, const char **text, struct err *e)
{
	size_t n = 0;
	int r;

	*e = (struct err){ 0 };
	*text = NULL;
	r = store_get(fx->s, location, text, &n, e);
	if (r >= 0)
		assert_int_equal(n, strlen(*text));
	return r;
}

void fx_expect(struct fixture *fx, const char *location, const char *wanted)
{
	const char *text;
	struct err e;

	if (fx_get(fx, location, &text, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(text, wanted);
}

struct err fx_expect_failure(struct fixture *fx, const char *location, int errnum)
{
	const char *text;
	struct err e;

	assert_int_equal(fx_get(fx, location, &text, &e), -errnum);
	assert_null(text);
	return e;
}

void fx_expect_list(struct fixture *fx, const char *location, const char *wanted)
{
	struct strv names = { 0 };
	struct err e;

	if (store_list(fx->s, location, &names, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(strv_join(fx->c->arena, &names, " "), wanted);
}

const char *fx_note(const struct err *e, const char *label, const char *part)
{
	for (size_t i = 0; i < e->nnotes; i++)
		if (str_eq(e->notes[i].label, label) && strstr(e->notes[i].text, part))
			return e->notes[i].text;
	return NULL;
}
