/* session_ebs.c - asks EC2 whether another instance has a volume of EBS, before this machine first uses it
 * A disk does not say who else has it, and two instances that mount one file system destroy it. EC2 is called only
 * about volumes of the documents that this machine has not used before; one call asks about all of them.
 * Errors: REFUSED if another instance has or may have a volume, CONFIG if nothing names a volume's disk, NET without
 * an answer. Source: Amazon EC2 API reference, DescribeVolumes. */
#include "nodeup/cmd/session.h"

#include "nodeup/aws/ec2.h"
#include "nodeup/base/log.h"
#include "nodeup/base/wait.h"
#include "nodeup/host/probe.h"
#include "nodeup/volumes/discover.h"
#include "nodeup/volumes/disk_record.h"

/* how long a run waits for an answer that it can do without */
#define ANSWER_NS (5 * DUR_SEC)

/* An EBS volume that this machine is about to use for the first time. */
struct candidate {
	const struct node_volume *volume;
	const char *id;
	bool is_here; /* a disk shows this volume's id */
};

struct inquiry {
	struct session *s;
	struct candidate *v; /* candidates that are named by id come first */
	size_t n, by_id;
};

static bool was_used(const struct session *s, const struct node_volume *v, const struct disk *d)
{
	const char *machine = s->boot.facts.instance_id;
	struct disk_record record;

	return disk_record_get(s->root_fd, s->arena, v->name, &record) &&
	       disk_record_is_done(&record, machine ? machine : "", d->serial);
}

static int find(const struct session *s, const struct node_volume *v, struct disks *ret)
{
	const struct disk_want want = {
		.by = v->disks == NODE_DISKS_PATHS ? DISK_BY_PATHS : DISK_BY_VOLUME_ID,
		.paths = v->devices,
		.volume_id = v->volume_id,
		.nth = -1,
	};
	const char *missing;
	struct err ignored;

	return disk_find(s->ctx.disks, s->arena, &want, ret, &missing, &ignored);
}

static void add_candidate(struct inquiry *q, const struct node_volume *v, const struct disks *disks)
{
	for (size_t i = 0; i < disks->n; i++) {
		const char *id = disks->v[i].volume_id;

		if (id && !strv_has(&q->s->ebs_asked, id) && !was_used(q->s, v, &disks->v[i]))
			arena_push(q->s->arena, q->v, q->n, (struct candidate){ v, id, true });
	}
	if (v->disks == NODE_DISKS_VOLUME_ID && disks->n == 0)
		arena_push(q->s->arena, q->v, q->n, (struct candidate){ v, v->volume_id, false });
}

/* Collects the volumes to ask about. A device that is not here yet is asked about when it comes. */
static void collect(struct inquiry *q, enum node_disks by)
{
	const struct node_volumes *all = &q->s->boot.node.volumes;

	for (size_t i = 0; i < all->n; i++) {
		struct disks disks = { 0 };

		if (all->v[i].disks != by)
			continue;
		if (find(q->s, &all->v[i], &disks) < 0)
			disks.n = 0;
		add_candidate(q, &all->v[i], &disks);
	}
}

/* Finds the instance id, which tells whether a volume is attached here, and used by this machine. */
static int know_instance(struct session *s, struct err *e)
{
	if (s->boot.facts.instance_id)
		return 0;
	if (!s->boot.imds)
		return err_fail(e, ERR_NET, ENETDOWN, "which instance this is cannot be asked");
	return probe_fact(s->arena, s->boot.imds, "instanceID", &s->boot.facts, e);
}

static int describe(const struct inquiry *q, struct query *ec2, struct ec2_volumes *ret,
		    struct err *e)
{
	struct strv ids = { 0 };

	if (q->s->policy.offline)
		return err_fail(e, ERR_NET, ENETDOWN, "we are offline");
	if (q->by_id && know_instance(q->s, e) < 0)
		return err_code(e);
	for (size_t i = 0; i < q->n; i++)
		strv_add_once(q->s->arena, &ids, q->v[i].id);
	return ec2_describe_volumes(ec2, q->s->arena, &ids, ret, e);
}

static int check_shared(const struct candidate *m, const struct ec2_volume *v, struct err *e)
{
	const bool two = !str_is_empty(v->other);

	if (!v->multi_attach && !two)
		return 0;
	(void)err_fail(e, ERR_REFUSED, 0, "%s: volume %s %s", m->volume->name, v->id,
		       two ? "is attached to two instances"
			   : "can be attached to several instances at once");
	err_note(e, "has", "%s%s%s%s%s; wanted a volume that one instance has alone",
		 v->multi_attach ? "multi-attach is on" : "", v->multi_attach && two ? ", " : "",
		 two ? v->instance : "", two ? " and " : "", two ? v->other : "");
	err_note(e, "do", "turn it off, or name another volume");
	err_note(e, "untouched", "nothing was written to it");
	return err_code(e);
}

static const struct ec2_volume *answer_of(const struct ec2_volumes *all, const char *id)
{
	for (size_t i = 0; i < all->n; i++)
		if (str_eq(all->v[i].id, id))
			return &all->v[i];
	return NULL;
}

static bool is_ours(const struct session *s, const struct ec2_volume *v)
{
	return v && str_eq(v->instance, s->boot.facts.instance_id) &&
	       !str_eq(v->attachment, "detaching");
}

static const char *state_of(struct arena *a, const struct ec2_volume *v)
{
	if (!v)
		return "unknown to EC2";
	return *v->instance ? arena_printf(a, "%s, %s at %s", v->state, v->attachment, v->instance)
			    : v->state;
}

/* If a disk is here but EC2 says that it is not attached here, another instance may have it too: asks EC2 again. */
static int judge(const struct inquiry *q, const struct ec2_volumes *all, struct err *e)
{
	for (size_t i = 0; i < q->n; i++) {
		const struct candidate *m = &q->v[i];
		const struct ec2_volume *v = answer_of(all, m->id);

		if (v && check_shared(m, v, e) < 0)
			return err_code(e);
		if (i < q->by_id && m->is_here && !is_ours(q->s, v))
			return err_fail(e, ERR_NET, EAGAIN,
					"%s: the disk of %s is here, and it is %s", m->volume->name,
					m->id, state_of(q->s->arena, v));
	}
	return 0;
}

static int ask(const struct inquiry *q, int64_t last_ns, struct ec2_volumes *ret, struct err *e)
{
	struct query *ec2 = ec2_new(&(struct query_req){
		.http = q->s->http,
		.imds = q->s->boot.imds,
		.region = q->s->boot.facts.region,
	});
	int r;

	query_set_deadline(ec2, last_ns);
	r = describe(q, ec2, ret, e);
	if (r >= 0)
		r = judge(q, ret, e);
	query_free(ec2);
	return r;
}

/* Asks EC2. If a volume is named by id, an apply asks until an answer or the deadline comes: the volume may not be
 * used before. */
static int ask_patiently(const struct inquiry *q, const struct session_req *req,
			 struct ec2_volumes *ret, struct err *e)
{
	const bool waits = q->by_id && q->s->policy.mode == MODE_APPLY && !q->s->policy.offline;
	const int64_t since = dur_now(), last = waits ? req->deadline_ns : since + ANSWER_NS;
	unsigned int attempt = 0;

	for (;;) {
		const int r = ask(q, last, ret, e);
		const int64_t next = dur_now() + wait_delay(++attempt);

		if (r >= 0 || e->kind != ERR_NET || !waits || (last && next >= last))
			return r;
		wait_tell(req->on_volume_wait, req->wait_arg, "volumes", since, attempt, e, next);
		wait_until(next);
	}
}

/* EC2's device name counts only if the volume is attached to this very instance. */
static int name_disk(struct session *s, const struct candidate *m, const struct ec2_volume *v,
		     struct err *e)
{
	if (is_ours(s, v) && !str_is_empty(v->device)) {
		strmap_set(s->arena, &s->guard.attached_as, m->id, v->device);
		return 0;
	}
	if (disk_show_no_ids(s->ctx.disks, s->arena)) {
		(void)err_config(e,
				 "%s: %s: volumeID: no disk of this machine tells which volume "
				 "it is, and EC2 names no device of %s here",
				 tree_where(s->arena, &m->volume->pos), m->volume->name, m->id);
		err_note(e, "do", "attach it, or name the disk by its device");
		return err_code(e);
	}
	if (!is_ours(s, v))
		log_warning("volume %s: %s is %s, and nodeup attaches no volume", m->volume->name,
			    m->id, state_of(s->arena, v));
	return 0;
}

static int settle(const struct inquiry *q, const struct ec2_volumes *all, struct err *e)
{
	for (size_t i = 0; i < q->n; i++) {
		const struct candidate *m = &q->v[i];

		if (m->is_here)
			strv_add(q->s->arena, &q->s->ebs_asked, m->id);
		else if (name_disk(q->s, m, answer_of(all, m->id), e) < 0)
			return err_code(e);
	}
	return 0;
}

/* Warns; the volumes are used all the same. */
static void warn(const struct inquiry *q, const struct err *why)
{
	for (size_t i = 0; i < q->n; i++) {
		log_warning("volume %s: whether another instance has %s as well is not known: %s",
			    q->v[i].volume->name, q->v[i].id, why->msg);
		strv_add(q->s->arena, &q->s->ebs_asked, q->v[i].id);
	}
}

static int refuse_offline(const struct candidate *m, struct err *e)
{
	(void)err_fail(e, ERR_NET, ENETDOWN,
		       "%s: whether another instance has volume %s as well EC2 would know, and we "
		       "are offline",
		       m->volume->name, m->id);
	err_note(e, "do", "run it once without --offline: what is in use then needs no answer");
	return err_code(e);
}

/* Applies EC2's answer. If there is no answer, decides whether the volumes are used all the same. */
static int go_on(const struct inquiry *q, int r, const struct ec2_volumes *all, bool must_know,
		 const struct err *why, struct err *e)
{
	if (r >= 0)
		return settle(q, all, e);
	if (why->kind != ERR_REFUSED && !must_know) {
		warn(q, why);
		return 0;
	}
	*e = *why;
	return err_code(e);
}

int session_may_use(void *arg, const struct node_volume *v, const struct disks *disks,
		    struct err *e)
{
	struct session *s = arg;
	struct inquiry q = { .s = s };
	struct ec2_volumes all = { 0 };
	struct err why = { 0 };

	add_candidate(&q, v, disks);
	if (q.n == 0)
		return 0;
	q.by_id = v->disks == NODE_DISKS_VOLUME_ID ? q.n : 0;
	return go_on(&q, ask(&q, dur_now() + ANSWER_NS, &all, &why), &all, q.by_id > 0, &why, e);
}

int session_ebs(struct session *s, const struct session_req *req, struct err *e)
{
	struct inquiry q = { .s = s };
	struct ec2_volumes all = { 0 };
	const bool is_apply = s->policy.mode == MODE_APPLY;
	struct err why = { 0 };
	int r;

	if (s->policy.mode == MODE_INSTALL || s->policy.mode == MODE_BAKE)
		return 0;
	/* asks once more about the volumes that need an answer */
	(void)!know_instance(s, &why);
	collect(&q, NODE_DISKS_VOLUME_ID);
	q.by_id = q.n;
	collect(&q, NODE_DISKS_PATHS);
	if (q.n == 0)
		return 0;
	if (q.by_id && s->policy.offline && is_apply)
		return refuse_offline(&q.v[0], e);
	r = ask_patiently(&q, req, &all, &why);
	return go_on(&q, r, &all, q.by_id && (is_apply || why.kind != ERR_NET), &why, e);
}
