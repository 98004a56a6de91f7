/* apply_signals.c - tells services outside how a run ended; config/signals.h has the table and the rule */
#include "nodeup/cmd/apply.h"

#include "nodeup/aws/signal.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/cmd/boot.h"
#include "nodeup/cmd/last_good.h"
#include "nodeup/config/signals.h"
#include "nodeup/documents/settings_dir.h"
#include "nodeup/host/probe.h"
#include "nodeup/run/interrupted.h"

#define PATIENCE_NS (2 * DUR_SEC)

enum { RECORD_MAX = 512 };

struct teller {
	struct arena *arena;
	const struct apply *ap;
	struct facts facts;
	const char *boot;
	struct signal_moment moment;
	struct http *http;
	struct imds *imds;
};

/* Fills the moment from the record "INSTANCE BOOT WORD". BOOT is the first boot; "-": nodeup did not see it. If no
 * record of this instance exists, this is the first boot only if neither nodeup nor kubelet ran here before. A node
 * that was ready once has left its first boot. */
static void read_moment(struct teller *t)
{
	const char *instance = t->facts.instance_id;
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct signal_moment *m = &t->moment;
	struct strv words = { 0 };
	const bool was_good = last_good_is_of(t->arena, t->ap->live_fd, instance);

	m->failed = t->ap->status.error != NULL;
	m->by_boot_unit = str_eq(t->ap->status.unit, boot_unit);
	m->is_first_boot = !was_good && !t->ap->kubelet_ran && !str_eq(t->ap->identity, instance);
	if (record_read(t->ap->live_fd, OWN_SIGNALS, &text))
		words = strv_split(t->arena, str_trim(t->arena, buf_str(&text)), ' ');
	if (words.n != 3 || !str_eq(words.v[0], instance))
		return;
	m->is_first_boot = !was_good && str_eq(words.v[1], t->boot) && !str_eq(t->boot, "-");
	m->word = SIGNAL_READY;
	for (size_t i = 0; i < SIGNAL_WORDS; i++)
		if (str_eq(words.v[2], signal_words[i]))
			m->word = (enum signal_word)i;
}

static int keep_word(const struct teller *t, enum signal_word word, struct err *e)
{
	const char *boot = t->moment.is_first_boot ? t->boot : "-";

	return record_keep(t->ap->live_fd, OWN_SIGNALS, 0644,
			   arena_printf(t->arena, "%s %s %s\n", t->facts.instance_id, boot,
					signal_words[word]),
			   e);
}

/* Returns 1 if the group wants the instance in service; 0 if it wants something else, or if there is no group. */
static int goes_into_service(struct teller *t, struct err *e)
{
	const char *state;
	int r = imds_get(t->imds, t->arena, "meta-data/autoscaling/target-lifecycle-state", &state,
			 e);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : str_eq(state, "InService");
}

/* Returns whether the service has heard it, or waits for nothing. */
static bool tell(struct teller *t, const struct signal *s)
{
	const bool failed = t->moment.failed;
	const struct signal_req req = {
		.http = t->http,
		.imds = t->imds,
		.region = t->facts.region,
		.service = s->row->service,
		.action = s->row->action,
		.parameters = signal_parameters(t->arena, s, t->facts.instance_id, failed),
		.timeout_ns = PATIENCE_NS,
	};
	const char *told = failed ? s->row->failure : s->row->success;
	struct err e;
	int r = s->row->is_of_hook ? goes_into_service(t, &e) : 1;

	if (r > 0)
		r = signal_send(&req, &e);
	if (r < 0)
		log_warning("signal %s: %s is not told: %s%s%s", s->row->name, told, e.msg,
			    r == -EACCES ? "; it takes " : "", r == -EACCES ? s->row->right : "");
	else
		log_info("signal %s: %s", s->row->name, r ? told : "nothing waits for it");
	return r >= 0;
}

static bool tell_all(struct teller *t)
{
	const struct strv *all = &t->ap->session.settings.signals;
	bool heard = true;

	for (size_t i = 0; i < all->n; i++) {
		struct signal s;

		if (signal_parse(t->arena, all->v[i], &s) && signal_may_be_sent(s.row, &t->moment))
			heard &= tell(t, &s);
	}
	return heard;
}

static int open_teller(struct teller *t, struct err *e)
{
	const struct settings *s = &t->ap->session.settings;
	int r = http_new(&(struct http_opts){ .root_fd = t->ap->live_fd }, &t->http, e);

	if (r < 0)
		return r;
	http_add_settings(t->http, &(struct strv){ 0 }, settings_ca(s));
	t->imds = imds_new(t->http);
	return probe_fact(t->arena, t->imds, "instanceID", &t->facts, e);
}

/* Notes a failure before it is told, so that nothing asks twice for the end of an instance. */
static int tell_and_note(struct teller *t, bool is_over, struct err *e)
{
	const struct signal_moment *m = &t->moment;
	int r = open_teller(t, e);

	if (r < 0)
		return r;
	read_moment(t);
	if (m->failed)
		r = keep_word(t, is_over ? signal_after(m, false) : m->word, e);
	if (r < 0 || !is_over)
		return r;
	r = tell_all(t);
	return m->failed ? 0 : keep_word(t, signal_after(m, r), e);
}

void apply_tell_outside(const struct apply *ap, enum round next)
{
	autoarena struct arena *a = arena_new_empty();
	const struct session *s = &ap->session;
	struct teller t = { .arena = a,
			    .ap = ap,
			    .facts = s->boot.facts,
			    .boot = interrupted_boot_id(a, ap->live_fd) ?: "-" };
	struct err late;

	if (!s->settings.signals.n || ap->cli->offline || ap->cli->no_metadata ||
	    str_has_prefix(t.facts.target_lifecycle_state ?: "", "Warmed:"))
		return;
	if (tell_and_note(&t, next == ROUND_NONE, &late) < 0)
		log_warning("signals: %s", late.msg);
	imds_free(t.imds);
	http_free(t.http);
}
