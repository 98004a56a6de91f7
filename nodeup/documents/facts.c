#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeup/aws/ec2.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/yaml.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/loader.h"
#include "nodeup/config/instance_store.h"
#include "nodeup/host/disks.h"
#include "nodeup/host/occupied.h"
#include "nodeup/documents/op.h"

enum { FACTS_MAX = 1 << 20, KEPT_FACTS_MAX = 4096 };

/* the boot's id on a line, then the facts of the instance */
static const char kept_facts[] = OWN_INSTANCE;

int loader_given_facts(struct loader *l, struct err *e)
{
	const char *path = l->req->facts_file;
	autobuf struct buf b = BUF_INIT(FACTS_MAX);
	struct tree *t;
	int r;

	if (!path)
		return 0;
	r = io_read_given(path, l->req->pipe_ns, &b, e);
	if (r < 0 && e->kind == ERR_SYSTEM)
		e->kind = ERR_CONFIG;
	if (r < 0)
		return err_wrap(e, "facts");
	if (r >= 0)
		r = yaml_parse(l->arena, path, buf_str(&b), b.len, &t, e);
	if (r < 0 || t->kind == TREE_NULL)
		return r;
	return facts_parse(l->arena, t, &l->b->facts, e);
}

/* Asks IMDS as patiently as the store is asked: IMDS may come up later than we do. */
int loader_ask_fact(struct loader *l, const char *fact, struct err *e)
{
	const int64_t since = dur_now();
	unsigned int attempt = 0;
	int r;

	do {
		r = probe_fact(l->arena, l->b->imds, fact, &l->b->facts, e);
		if (r >= 0 || e->kind != ERR_NET)
			return r;
	} while (wait_again(&l->req->patience, "instance metadata", since, ++attempt, e));
	l->is_imds_silent = true;
	return r;
}

/* Facts from IMDS that the documents need: @aws means our name in the VPC, and file systems of local disks carry the
 * instance's id. */
struct wanted {
	bool name, id;
};

/* Makes a preliminary model, without messages and unknown facts. If errors are kept, leaves out wrong values. */
static int look_ahead(struct loader *l, struct arena *scratch, struct node *ret, struct err *e)
{
	const struct settings *settings = l->req->settings;
	struct errs wrong = { .arena = scratch };
	const struct dialect_opts opts = { .strict = l->policy->strict,
					   .accept = settings ? &settings->accept_keys : NULL,
					   .errors = l->req->errors ? &wrong : NULL,
					   .any_value = true,
					   .no_host = true };
	const struct documents *d = &l->b->documents;
	const struct reading in = { scratch, &opts, &l->b->facts, ret, e };

	return d->dialect->node(&in, d);
}

static int find_wanted(struct loader *l, struct wanted *ret, struct err *e)
{
	autoarena struct arena *scratch = arena_new_empty();
	struct node n = { 0 };
	int r = look_ahead(l, scratch, &n, e);

	if (r == 0)
		*ret = (struct wanted){ .name = n.takes_host_name, .id = n.volumes.n > 0 };
	return r;
}

/* Finds facts about this host that files of the documents decide, even before these files are written. */
static void take_files(struct loader *l)
{
	autoarena struct arena *scratch = arena_new_empty();
	struct node n = { 0 };
	struct err ignored;

	if (l->b->documents.dialect->file_asset && look_ahead(l, scratch, &n, &ignored) == 0)
		probe_written(l->arena, l->req->root_fd,
			      !l->policy->image_mode && !l->req->facts_file, &n.files,
			      &l->b->facts);
}

/* Fails at once, because nobody is asked for the fact. */
static int not_asked(struct loader *l, const char *fact, struct err *e)
{
	(void)err_fail(e, ERR_CONFIG, LOADER_UNASKED,
		       "fact %s: not known, and the metadata service is not asked%s", fact,
		       l->policy->no_metadata ? " (--no-metadata)"
		       : l->req->facts_file   ? " where --facts is given"
					      : "");
	return policy_may_change(l->policy) ? err_code(e) : facts_note(e, fact);
}

static int ask_for(struct loader *l, const char *fact, const char *why, struct err *e)
{
	const bool asks = l->b->imds && !l->req->facts_file;
	int r = asks ? loader_ask_fact(l, fact, e) : not_asked(l, fact, e);

	return r < 0 ? err_wrap(e, "%s", why) : 0;
}

/* Asks again, with the same patience as for a fact: without an answer nobody knows whether there is an instance
 * store. */
static int ask_for_store(struct loader *l, struct err *e)
{
	struct bootstrap *b = l->b;
	const char *key = b->documents.instance_store_key;
	int r;

	if (b->imds && !b->facts.instance_id) {
		r = loader_ask_fact(l, "instanceID", e);
		if (r < 0)
			return err_wrap(e, "%s", key);
	}
	r = probe_instance_store(l->arena, l->req->root_fd, b->imds, b->documents.instance_store,
				 &b->facts, e);
	if (r == 0 && str_eq(b->documents.instance_store, instance_store_name) &&
	    b->facts.instance_store.v > 0 && !b->facts.instance_store_used.v &&
	    l->policy->mode != MODE_GUARD)
		b->facts.pods = occupied_by(l->arena, l->req->root_fd, b->facts.docker_root);
	return r < 0 ? err_wrap(e, "%s", key) : 0;
}

/* Returns the first unknown fact that every node of today's kops needs; NULL: all are known. */
static const char *missing_fact(const struct facts *f)
{
	return !f->instance_id         ? "instanceID"
	       : !f->region            ? "region"
	       : !f->availability_zone ? "availabilityZone"
				       : NULL;
}

/* Asks for all facts that a node of today's kops needs. If IMDS is silent, this boot's facts stay: other facts would
 * change a file and restart kubelet. */
static int ask_for_all(struct loader *l, struct err *e)
{
	static const char *const facts[] = { "region",        "availabilityZone",
					     "instanceID",    "instanceType",
					     "localHostname", "localIPv4",
					     "publicIPv4",    "ipv6",
					     "mac",           "targetLifecycleState" };
	bool is_ahead = false;
	int r = 0;

	if (l->policy->offline && !missing_fact(&l->b->facts))
		return 0;
	if (l->b->imds && l->is_imds_silent)
		r = err_fail(e, ERR_NET, ENETDOWN,
			     "what this instance is: instance metadata does not answer");
	for (size_t i = 0; i < ARRAY_LEN(facts) && r == 0 && l->b->imds; i++) {
		const bool answers = imds_has_answered(l->b->imds);

		/* once IMDS has answered, asks for all other facts at once */
		if (answers && !is_ahead)
			probe_facts_ahead(l->b->imds, facts, ARRAY_LEN(facts), &l->b->facts);
		is_ahead |= answers;
		r = loader_ask_fact(l, facts[i], e);
	}
	if (r < 0 ? e->kind != ERR_NET : l->b->imds != NULL)
		return r;
	loader_kept_facts(l->arena, l->req->root_fd, &l->b->facts);
	if (missing_fact(&l->b->facts))
		return r < 0 ? r : not_asked(l, missing_fact(&l->b->facts), e);
	if (l->b->imds)
		strv_addf(l->arena, &l->b->warnings, "%s; what it said before in this boot is used",
			  e->msg);
	return 0;
}

/* Notes that the setting instanceStorePolicy wants the instance store, unless the documents do. */
static void note_setting(struct loader *l)
{
	struct documents *d = &l->b->documents;

	if (!settings_store_policy(l->req->settings, &d->settings) || d->instance_store)
		return;
	d->instance_store = instance_store_name;
	d->instance_store_key = "instanceStorePolicy";
}

static int find_own_facts(struct loader *l, struct err *e)
{
	const struct facts *f = &l->b->facts;
	struct wanted wanted;
	int r;

	note_setting(l);
	/* an image has no instance, and documents may be read on any machine */
	if (l->policy->image_mode || !policy_makes_node(l->policy))
		return 0;
	if (l->b->documents.of_instance && !l->req->facts_file) {
		r = ask_for_all(l, e);
		return r == 0 && l->b->documents.instance_store ? ask_for_store(l, e) : r;
	}
	/* facts that are given belong to another machine, whose disks are not here */
	if (l->b->documents.docker_root && !l->req->facts_file)
		probe_docker_filesystem(l->arena, l->req->root_fd, l->b->documents.docker_root,
					&l->b->facts);
	r = l->b->documents.instance_store && !l->req->facts_file ? ask_for_store(l, e) : 0;
	if (r == 0 && f->local_hostname && f->instance_id)
		return 0;
	if (r == 0)
		r = find_wanted(l, &wanted, e);
	if (r == 0 && wanted.name && !f->local_hostname)
		r = ask_for(l, "localHostname", "hostnameOverride '@aws'", e);
	if (r == 0 && wanted.id && !f->instance_id)
		r = ask_for(l, "instanceID", "volumes", e);
	return r;
}

/* Sets facts that are not known yet. */
static void set_type(struct facts *f, struct opt_int gpus, struct opt_int enis,
		     struct opt_int ips_per_eni)
{
	if (!f->gpus.set)
		f->gpus = gpus;
	if (!f->enis.set)
		f->enis = enis;
	if (!f->ips_per_eni.set)
		f->ips_per_eni = ips_per_eni;
}

void loader_type(struct loader *l)
{
	const char *name = l->b->node.asked_type;
	struct http *http = l->policy->offline ? NULL : l->req->http;
	struct facts *f = &l->b->facts, kept = { 0 };
	struct ec2_type type;
	struct query *ec2;
	struct err e;

	if (!name || !http)
		return;
	ec2 = ec2_new(&(struct query_req){
		.http = http, .imds = l->b->imds, .region = l->b->facts.region });
	if (ec2_describe_type(ec2, l->arena, name, &type, &e) == 0) {
		set_type(f, (struct opt_int){ true, type.gpus },
			 (struct opt_int){ true, type.enis },
			 (struct opt_int){ true, type.ips_per_eni });
	} else {
		strv_add(l->arena, &l->b->warnings, arena_str(l->arena, e.msg));
		/* another number of pods would restart kubelet */
		loader_kept_facts(l->arena, l->req->root_fd, &kept);
		if (str_eq(kept.instance_type, name))
			set_type(f, kept.gpus, kept.enis, kept.ips_per_eni);
	}
	query_free(ec2);
}

/* Two boots of one disk may be two instances, so facts of another boot do not count. */
static bool read_boot_id(int root_fd, struct buf *b)
{
	struct err ignored;

	return io_read(root_fd, "/proc/sys/kernel/random/boot_id", b, &ignored) == 0 && b->len;
}

int loader_keep_facts(int root_fd, const struct facts *f, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf text = BUF_INIT(KEPT_FACTS_MAX);
	int r;

	if (!f->instance_id || !read_boot_id(root_fd, &text))
		return 0;
	r = yaml_render(probe_instance(a, f), &text, e);
	if (r == 0)
		r = buf_check(&text, kept_facts, e);
	return r < 0 ? r : record_keep(root_fd, kept_facts, 0644, buf_str(&text), e);
}

void loader_kept_facts(struct arena *a, int root_fd, struct facts *f)
{
	autobuf struct buf text = BUF_INIT(KEPT_FACTS_MAX), boot = BUF_INIT(KEPT_FACTS_MAX);
	struct facts kept = { 0 };
	struct err ignored;
	struct tree *t;

	if (!read_boot_id(root_fd, &boot) || !record_read(root_fd, kept_facts, &text) ||
	    !str_has_prefix(buf_str(&text), buf_str(&boot)) ||
	    yaml_parse(a, kept_facts, buf_str(&text) + boot.len, text.len - boot.len, &t,
		       &ignored) < 0 ||
	    facts_parse(a, t, &kept, &ignored) < 0)
		return;
	field_overlay(a, &facts_schema, &kept, f);
	*f = kept;
}

/* Returns the store's region, to be taken for this machine's. If another company runs the store, its region says
 * nothing about AWS: then returns AWS_REGION, or NULL. */
static const char *default_region(struct loader *l)
{
	const char *given = getenv("AWS_REGION");

	if (!s3_is_foreign())
		return store_region(l->b->store);
	return given && s3_is_region(given) ? given : NULL;
}

int loader_facts(struct loader *l, struct err *e)
{
	/* documents that diff compares get one name for the instance */
	static const char any_instance[] = "i-00000000000000000";
	struct facts *f = &l->b->facts;
	int r;

	if (!policy_has_machine(l->policy)) {
		f->region = f->region ? f->region : default_region(l);
		f->instance_id = f->instance_id ? f->instance_id : any_instance;
		return 0;
	}
	r = probe_host(l->arena, l->req->root_fd, !l->policy->image_mode, f, e);
	/* documents can be checked on any machine */
	if (r < 0 && policy_makes_node(l->policy))
		return r;
	if (l->policy->offline && !l->policy->image_mode && policy_makes_node(l->policy))
		loader_kept_facts(l->arena, l->req->root_fd, f);
	if (!f->region)
		f->region = default_region(l);
	if (policy_makes_node(l->policy) && !l->b->documents.of_instance)
		take_files(l);
	return find_own_facts(l, e);
}

int loader_instance(struct loader *l, struct err *e)
{
	struct facts *f = &l->b->facts;
	int r = 0;

	/* offline, facts that this boot has kept are not asked for again */
	if (!f->instance_id && l->policy->offline)
		loader_kept_facts(l->arena, l->req->root_fd, f);
	if (!f->instance_id && l->b->imds)
		r = probe_fact(l->arena, l->b->imds, "instanceID", f, e);
	if (!f->instance_id)
		loader_kept_facts(l->arena, l->req->root_fd, f);
	if (f->instance_id)
		return 0;
	return r < 0 ? r : err_config(e, "the id of this instance is not known");
}
