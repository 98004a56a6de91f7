#include <fcntl.h>
#include <string.h>
#include <time.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/yaml.h"
#include "nodeup/location.h"
#include "nodeup/loader.h"
#include "nodeup/store_op.h"

enum { FACTS_MAX = 1 << 20 };

int loader_given_facts(struct loader *l, struct err *e)
{
	const char *path = l->req->facts_file;
	autobuf struct buf b = BUF_INIT(FACTS_MAX);
	autoclose int fd = -1;
	struct tree *t;
	int r;

	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_config(e, "facts: open '%s': %s", path, strerror(errno));
	r = io_read_fd(fd, path, &b, e);
	if (r >= 0)
		r = yaml_parse(l->arena, path, buf_str(&b), b.len, &t, e);
	if (r < 0 || t->kind == TREE_NULL)
		return r;
	return facts_parse(l->arena, t, &l->b->facts, e);
}

static void sleep_until(int64_t due_ns)
{
	struct timespec due = { .tv_sec = due_ns / DUR_SEC, .tv_nsec = due_ns % DUR_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

/* Ask IMDS as patiently as the store is asked: it may come up later than we do. */
static int ask(struct loader *l, const char *fact, struct err *e)
{
	const struct bootstrap_req *req = l->req;
	int64_t since = dur_now(), now, next, left;
	int r;

	for (unsigned int attempt = 1;; attempt++) {
		r = probe_fact(l->arena, l->b->imds, fact, &l->b->facts, e);
		now = dur_now();
		left = req->patience_ns - (now - since);
		if (r >= 0 || e->kind != ERR_NET || (req->patience_ns >= 0 && left <= 0))
			return r;
		next = now + store_delay(attempt);
		if (req->patience_ns >= 0 && next > now + left)
			next = now + left;
		if (req->on_wait)
			req->on_wait(req->wait_arg, "instance metadata", since, attempt, e, next);
		sleep_until(next);
	}
}

/* Whether this node's documents call it by the name that its VPC gives it. */
static int wants_own_name(struct loader *l, bool *ret, struct err *e)
{
	const struct kops18_opts opts = { .strict = l->req->strict, .no_host = true };
	struct node n = { 0 };
	const char *names[2];
	int r;

	*ret = false;
	r = kops18_node(l->arena, &l->b->env, l->cluster, l->ig, &l->b->facts, &opts, &n, e);
	if (r < 0)
		return r;
	names[0] = n.kubelet.hostname_override;
	names[1] = n.kube_proxy.hostname_override;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		*ret = *ret || (names[i] && strcasecmp(str_trim(l->arena, names[i]), "@aws") == 0);
	return 0;
}

static int find_own_name(struct loader *l, struct err *e)
{
	bool wanted;
	int r;

	/* an image has no instance, and who only reads documents may not be on one */
	if (l->b->facts.local_hostname || l->req->image_mode || l->req->no_secrets)
		return 0;
	r = wants_own_name(l, &wanted, e);
	if (r < 0 || !wanted)
		return r;
	if (l->b->imds)
		r = ask(l, "localHostname", e);
	else
		r = err_fail(e, ERR_NET, ENETDOWN,
			     "fact localHostname: not asked for, we are offline");
	return r < 0 ? err_wrap(e, "hostnameOverride '@aws'") : 0;
}

int loader_facts(struct loader *l, struct err *e)
{
	struct facts *f = &l->b->facts;
	int r;

	r = probe_host(l->arena, l->req->root_fd, !l->req->image_mode, f, e);
	/* documents can be looked at on any machine */
	if (r < 0 && !l->req->no_secrets)
		return r;
	if (!f->region)
		f->region = store_region(l->b->store);
	return find_own_name(l, e);
}

const char *loader_key(struct loader *l)
{
	struct bootstrap *b = l->b;
	const char *base = b->env.config_base ? b->env.config_base : b->env.cluster_location;
	struct err ignored;

	if (location_is_remote(b->conf))
		base = location_shown(l->arena, b->conf);
	if (!base || !location_is_remote(base) || !l->req->may_replay || l->req->image_mode)
		return NULL;
	if (!b->facts.instance_id &&
	    (!b->imds || probe_fact(l->arena, b->imds, "instanceID", &b->facts, &ignored) < 0))
		return NULL;
	return arena_printf(l->arena, "%s %s", base, b->facts.instance_id);
}
