#include "nodeup/cmd/session.h"
#include "nodeup/cmd/boot.h"
#include "nodeup/cmd/records.h"
#include "nodeup/documents/location.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/host/names.h"
#include "nodeup/plan/era.h"
#include "nodeup/run/pods.h"
#include "nodeup/tasks/foreign.h"
#include "nodeup/tasks/images.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/members.h"
#include "nodeup/tasks/selinux.h"
#include "nodeup/tasks/state.h"

/* after a silence of this length the http engine gives up by itself */
#define SILENCE_NS (20 * DUR_SEC)

enum { CGROUP_MAX = 64 << 10 };

char *session_own_unit(struct arena *a)
{
	autobuf struct buf text = BUF_INIT(CGROUP_MAX);
	struct err ignored;
	char *line, *rest;

	if (io_read_given("/proc/self/cgroup", 0, &text, &ignored) < 0 || text.len == 0)
		return NULL;
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		/* the unified hierarchy, or systemd's own hierarchy of cgroup version 1 */
		if (!str_has_prefix(line, "0::") && !strstr(line, ":name=systemd:"))
			continue;
		if (str_has_suffix(line, ".service"))
			return arena_str(a, str_basename(line));
	}
	return NULL;
}

/* Opens the http engine. If the run waits for documents less than SILENCE_NS, the engine waits for a silent server
 * only as long as that. */
static int open_http(struct session *s, const struct session_req *req, struct err *e)
{
	const int64_t silence = req->patience_ns < SILENCE_NS ? req->patience_ns + DUR_MS : 0;
	const struct http_opts opts = {
		.root_fd = s->host_fd,
		.ca_file = settings_ca(&s->settings),
		.connect_timeout_ns = silence,
		.header_timeout_ns = silence,
	};

	int r = http_new(&opts, &s->http, e);

	if (r < 0)
		return r;
	/* flags override the machine's settings */
	http_add_settings(s->http, &req->cli->rewrites, NULL);
	http_add_settings(s->http, &s->settings.url_rewrites, NULL);
	return 0;
}

/* The documents' settings are for everything fetched from now on. */
static int take_settings(struct session *s, struct errs *errors, struct err *e)
{
	const char *ca = s->settings.ca_bundle;
	struct strv more = { 0 };
	size_t n = s->settings.url_rewrites.n;
	int r = settings_of_document(s->arena, &s->boot.documents.settings, &s->boot.warnings,
				     &s->settings, errors, e);

	if (r < 0)
		return r;
	for (; n < s->settings.url_rewrites.n; n++)
		strv_add(s->arena, &more, s->settings.url_rewrites.v[n]);
	http_add_settings(s->http, &more, ca ? NULL : settings_ca(&s->settings));
	return 0;
}

struct ahead_arg {
	struct session *session;
	const struct session_req *req;
};

static void read_cache_ahead(void *arg)
{
	const struct ahead_arg *a = arg;

	session_read_ahead(a->session, a->req);
}

static void foresee(void *arg, const struct bootstrap *b);

static int load_documents(struct session *s, const struct session_req *req, struct err *e)
{
	const struct cli *cli = req->cli;
	struct ahead_arg ahead = { .session = s, .req = req };
	const struct bootstrap_req boot = {
		.settings = &s->settings,
		.conf = req->conf ? req->conf : cli->conf,
		.facts_file = cli->facts,
		.root_fd = s->root_fd,
		.policy = &s->policy,
		.http = s->http,
		.patience = { req->patience_ns, req->on_wait, req->wait_arg },
		.deadline_ns = req->end_ns,
		.pipe_ns = cli->deadline_ns,
		/* not with a saved plan: it would change the cache that the plan saw */
		.meanwhile = policy_may_change(&s->policy) && !cli->plan_file ? read_cache_ahead
									      : NULL,
		.foresee = foresee,
		.meanwhile_arg = &ahead,
		.keys = req->keys,
		.other_errors = &s->other_errors,
	};

	return bootstrap_load(s->arena, &boot, &s->boot, e);
}

/* Lists the paths that earlier runs wrote. Leaves out the files of nodeup's own start, and documents that were put
 * back: only the run that wrote these has tasks for them. */
static struct strv find_written(struct session *s)
{
	static const char *const kept[] = { "bootstrap", "documents", NULL };

	return state_written(s->ctx.state, s->arena, kept, false);
}

static bool has_file(void *arg, const char *path)
{
	const struct session *s = arg;

	return io_is_there(s->root_fd, path);
}

/* Returns the only builder of a mode; NULL: the mode has all builders. */
static const char *only_builder(enum mode mode)
{
	return mode == MODE_BAKE ? "bake" : mode == MODE_INSTALL ? "bootstrap" : NULL;
}

static struct plan_req *request_plan(struct session *s, const struct session_req *req)
{
	struct plan_req *plan = arena_new(s->arena, struct plan_req);

	*plan = (struct plan_req){
		.node = &s->boot.node,
		.facts = &s->boot.facts,
		.settings = &s->settings,
		.runtime = s->boot.runtime,
		.imds_lacks_version1 = s->boot.imds_lacks_version1,
		.image_mode = s->policy.image_mode,
		.no_keys = s->boot.no_keys,
		.no_machine = !policy_has_machine(&s->policy),
		.lost = s->boot.lost,
		.n_lost = s->boot.n_lost,
		.verify = s->policy.verify,
		.only = only_builder(req->mode),
		.before = req->before,
	};
	/* documents are compared for a node, which has a container runtime and a distribution, whatever this machine
	 * is */
	if (!policy_has_machine(&s->policy)) {
		plan->runtime.unit = "docker.service";
		if (!plan->facts->distribution)
			(void)plan_nth_host(plan->node, 0, &s->boot.facts);
	}
	return plan;
}

/* Notes the other errors of the documents, and of their plan if there is a model. */
static int note_other_errors(struct session *s, const struct session_req *req, bool has_model,
			     struct err *e)
{
	const size_t before = errs_count(&s->other_errors);
	struct plan_req *plan;
	struct plan ignored;
	struct err why;

	if (has_model && take_settings(s, &s->other_errors, &why) == 0) {
		plan = request_plan(s, req);
		plan->errors = &s->other_errors;
		plan->no_keys = true;
		plan->is_partial = s->boot.lacks || errs_count(&s->other_errors) > before;
		if (plan_build(s->arena, plan, &ignored, &why) < 0)
			errs_keep_any(&s->other_errors, &why);
	}
	errs_note_others(&s->other_errors, e);
	return err_code(e);
}

static int open_state(struct session *s, struct err *e)
{
	return s->ctx.state ? 0 : state_open(s->root_fd, &s->ctx.state, e);
}

static int make_plan(struct session *s, const struct session_req *req, struct err *e)
{
	struct plan_req *plan = request_plan(s, req);
	int r;

	s->stage = SESSION_PLAN;
	if (s->policy.mode == MODE_DIFF)
		return plan_build(s->arena, plan, &s->plan, e);
	s->stage = SESSION_HOST;
	boot_settle(s, req, plan);
	if (!plan_may_run(s->arena, plan))
		return plan_build(s->arena, plan, &s->plan, e);
	s->stage = SESSION_VOLUMES;
	r = session_disks(s, req, plan, e);
	if (r == 0)
		r = open_state(s, e);
	if (r < 0)
		return r;
	if (!plan->only) {
		plan->written = find_written(s);
		plan->has_file = has_file;
		plan->has_file_arg = s;
	}
	s->stage = SESSION_PLAN;
	return plan_build(s->arena, plan, &s->plan, e);
}

/* Opens the bus, and asks for systemd's version, which decides the directives that units may have. Without systemd
 * the unit tasks fail by themselves. */
static void open_bus(struct session *s)
{
	const char *version;
	struct err why;

	if (s->policy.image_mode)
		return;
	if (bus_open(&s->ctx.bus, &why) < 0)
		log_warning("systemd cannot be reached: %s", why.msg);
	else if (!s->boot.facts.systemd && bus_version(s->ctx.bus, s->arena, &version, &why) == 0)
		s->boot.facts.systemd = strtoll(version, NULL, 10);
}

/* Lets assets be hashed again, for plan --verify and repair. */
static void trust_nothing(struct session *s)
{
	for (size_t i = 0; i < s->plan.n; i++)
		if (s->plan.tasks[i]->kind == TASK_ASSET)
			s->plan.tasks[i]->ops = &task_asset_recheck_ops;
}

int session_s3(const struct session *s, struct imds *imds, struct s3_session **out, struct err *e)
{
	const struct dialect *dialect = s->boot.documents.dialect;
	int r = s3_session_new(s->boot.facts.region, imds, out, e);

	/* documents that were not read have no dialect */
	if (r == 0 && dialect && dialect->dual_stack)
		s3_session_use_dual_stack(*out);
	return r;
}

/* Assets of s3:// are requested as the documents were: as the instance's role, if there is one. */
static int open_s3(struct session *s, struct err *e)
{
	struct http_scheme scheme;
	int r;

	if (s->s3)
		return 0;
	if (s->boot.imds && !s->imds)
		s->imds = imds_new(s->http);
	r = session_s3(s, s->imds, &s->s3, e);
	if (r < 0)
		return r;
	scheme = s3_session_scheme(s->s3);
	http_set_scheme(s->http, &scheme);
	return 0;
}

static int open_effects(struct session *s, const struct session_req *req, struct err *e)
{
	const struct cli *cli = req->cli;
	int r;

	/* the engines are working already */
	if (s->ctx.fetcher)
		return 0;
	s->ctx.root_fd = s->root_fd;
	s->ctx.has_labels = io_is_there(s->root_fd, SELINUX_CONFIG);
	s->ctx.image_mode = s->policy.image_mode;
	s->ctx.verify = s->policy.verify;
	s->ctx.prune = cli->prune;
	s->ctx.only_looks = !policy_may_change(&s->policy);
	s->ctx.http = s->http;
	s->ctx.is_offline = s->policy.offline;
	s->ctx.spares_runtime = s->policy.mode == MODE_GUARD;
	s->ctx.own_unit = s->own_unit;
	s->ctx.gives_away = !s->policy.image_mode && !cli->cache && !s->settings.keep_assets;
	session_end_ahead(s);
	r = session_open_cache(s, req, e);
	if (r < 0)
		return r;
	s->ctx.images = images_new();
	s->ctx.members = members_new(&s->ctx, (const struct task *const *)s->plan.tasks, s->plan.n);
	if (policy_may_change(&s->policy) || s->ctx.verify)
		r = workers_new(&s->workers, e);
	if (r >= 0 && s->ctx.verify)
		trust_nothing(s);
	if (r >= 0 && s->policy.mode == MODE_CHECK && !s->policy.offline)
		r = open_s3(s, e);
	if (r < 0 || !policy_may_change(&s->policy))
		return r;
	s->ctx.flush = flush_new();
	if (!s->policy.offline)
		r = open_s3(s, e);
	if (r < 0)
		return r;
	return fetch_new(s->policy.offline ? NULL : s->http, s->ctx.cache, &s->ctx.fetcher, e);
}

void session_may_change(struct session *s)
{
	const struct fetch_sink sink = members_sink(s->ctx.members);

	fetch_set_sink(s->ctx.fetcher, &sink);
}

/* Ends the fetcher first, since its last callbacks wake the workers' owner. The workers use http, which is closed
 * later. */
static void close_effects(struct session *s)
{
	fetch_free(TAKE(s->ctx.fetcher));
	flush_free(TAKE(s->ctx.flush));
	workers_free(TAKE(s->workers));
	images_free(TAKE(s->ctx.images));
	members_free(TAKE(s->ctx.members));
}

/* Returns whether a fetch may begin early. Returns false for a saved plan, which would find another cache, if
 * everything must be read anew, or if a volume may be mounted over the cache. */
static bool may_begin(const struct session *s, const struct session_req *req,
		      const struct bootstrap *b)
{
	return req->may_begin && !req->cli->plan_file && !s->policy.offline && !s->policy.verify &&
	       b->node.volumes.n == 0 && !s->foreseen.n;
}

static bool is_to_begin(struct session *s, const struct task *t)
{
	struct task_diff diff;
	struct err ignored;

	return t->ops->begin && t->ops->check(t, &s->ctx, &diff, &ignored) == TASK_DIFFERS;
}

/* Begins fetches that this run will need, unless the caller objects. */
static int begin_tasks(struct session *s, const struct session_req *req, struct err *e)
{
	bool *begins = arena_alloc(s->arena, s->plan.n + 1);
	bool any = false;
	int r;

	for (size_t i = 0; i < s->plan.n; i++)
		any |= begins[i] = is_to_begin(s, s->plan.tasks[i]);
	r = any ? req->may_begin(req->wait_arg, e) : 0;
	for (size_t i = 0; i < s->plan.n && r == 0; i++)
		if (begins[i])
			s->plan.tasks[i]->ops->begin(s->plan.tasks[i], &s->ctx);
	return r;
}

/* Begins fetches while certificates are made and asked for. An error here occurs again later, and is reported then. */
static void foresee(void *arg, const struct bootstrap *b)
{
	const struct ahead_arg *a = arg;
	struct session *s = a->session;
	const struct session before = *s;
	struct err ignored;

	if (!may_begin(s, a->req, b))
		return;
	/* if the cache has entries to hash, most of the needed assets are among them */
	session_read_ahead(s, a->req);
	if (s->ahead)
		return;
	s->boot = *b;
	if (take_settings(s, NULL, &ignored) == 0 && open_state(s, &ignored) == 0 &&
	    plan_build(s->arena, request_plan(s, a->req), &s->plan, &ignored) == 0) {
		if (open_effects(s, a->req, &ignored) == 0)
			(void)!begin_tasks(s, a->req, &ignored);
		else
			close_effects(s);
	}
	s->foreseen = s->plan;
	s->boot = before.boot;
	s->settings = before.settings;
	s->stage = before.stage;
	s->plan = before.plan;
}

/* Returns a text for comparison: the assets that the plan fetches, and their files. */
static const char *brought_by(const struct session *s, const struct plan *p)
{
	struct strv all = { 0 };
	char hex[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < p->n; i++) {
		const struct task *t = p->tasks[i];

		if (t->kind != TASK_ASSET && t->kind != TASK_UNPACK)
			continue;
		strv_add(s->arena, &all,
			 arena_str(s->arena, digest_hex(&t->asset.asset->digest, hex)));
		for (size_t k = 0; k < t->n_serves; k++)
			strv_add(s->arena, &all, t->serves[k]->name);
	}
	return strv_join(s->arena, &all, "\n");
}

/* Goes on with the fetches that were begun, if this plan needs the same assets. */
static void take_begun(struct session *s)
{
	if (!s->foreseen.n || !str_eq(brought_by(s, &s->foreseen), brought_by(s, &s->plan)))
		close_effects(s);
}

static void log_warnings(const struct strv *warnings)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv shown = strv_abridge(a, warnings, CLI_WARNINGS_MAX);

	for (size_t i = 0; i < shown.n; i++)
		log_warning("%s", shown.v[i]);
}

static void log_boot_warnings(const struct session *s)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv warnings = bootstrap_warnings(a, &s->boot);

	log_warnings(&warnings);
}

/* Logs tasks' remarks for people. */
static void log_remarks(struct session *s)
{
	for (size_t i = 0; i < s->plan.n; i++) {
		const struct task *t = s->plan.tasks[i];
		const char *text = t->ops->remark ? t->ops->remark(t, &s->ctx, s->arena) : NULL;

		if (text)
			log_warning("%s", text);
	}
}

/* Only plan and repair warn of foreign files: an admin knows these files, and each boot would repeat the warning. No
 * run restarts a silent static pod. */
static void log_foreign(struct session *s)
{
	struct strv silent, names;

	const enum mode mode = s->policy.mode;

	if (mode == MODE_BAKE || mode == MODE_INSTALL || mode == MODE_GUARD ||
	    (mode == MODE_APPLY && !s->policy.verify))
		return;
	s->foreign = foreign_lines(s->arena, s->root_fd, s->plan.tasks, s->plan.n);
	silent = pods_silent(s->arena, &s->ctx, s->plan.tasks, s->plan.n);
	strv_add_all(s->arena, &s->foreign, &silent);
	if (!s->policy.image_mode) {
		names = names_lines(s->arena, s->root_fd);
		strv_add_all(s->arena, &s->foreign, &names);
	}
	log_warnings(&s->foreign);
}

/* Every document of kops 1.8 names assets by sha1, and an admin cannot change that, so once a boot is enough. */
static void warn_sha1(const struct session *s)
{
	const bool once = !s->policy.image_mode && s->policy.mode != MODE_BAKE;
	struct err ignored;

	if (!s->plan.sha1 || !policy_may_change(&s->policy) ||
	    (once && io_is_there(s->root_fd, OWN_SHA1_TOLD)))
		return;
	log_warning("%s", s->plan.sha1);
	/* without the record the next run only warns again */
	if (once)
		(void)!record_write(s->root_fd, OWN_SHA1_TOLD, 0644, "", &ignored);
}

static void set_policy(struct session *s, const struct session_req *req)
{
	const struct cli *cli = req->cli;
	struct policy *p = &s->policy;

	*p = (struct policy){
		.mode = req->mode,
		.image_mode = cli->root != NULL,
		.offline = cli->offline,
		.no_metadata = cli->no_metadata,
		.strict = cli->strict,
		.verify = cli->verify,
	};
	if (policy_has_machine(p))
		s->own_unit = session_own_unit(s->arena);
	p->at_boot = str_eq(s->own_unit, boot_unit);
	p->may_mend = !cli->conf || p->at_boot;
}

static int open_all(struct session *s, const struct session_req *req, struct err *e)
{
	const enum mode mode = req->mode;
	bool is_read;
	int r;

	*s = (struct session){ .arena = arena_new_empty(), .root_fd = -1, .host_fd = -1 };
	s->other_errors.arena = s->arena;
	set_policy(s, req);
	r = io_open_root("/", &s->host_fd, e);
	if (r < 0)
		return r;
	r = io_open_root(s->policy.image_mode ? req->cli->root : "/", &s->root_fd, e);
	if (r < 0)
		return r;
	if (policy_is_of_node(&s->policy))
		records_look(s->root_fd, mode == MODE_APPLY);
	if (policy_has_machine(&s->policy))
		r = settings_load(s->arena, s->root_fd, s->policy.strict, &s->remarks, &s->settings,
				  e);
	if (req->cli->metrics)
		s->settings.metrics_dir = location_absolute(s->arena, req->cli->metrics);
	if (r < 0)
		return r;
	log_warnings(&s->remarks);
	r = open_http(s, req, e);
	if (r < 0)
		return r;
	s->stage = SESSION_DOCUMENTS;
	if (mode == MODE_INSTALL) {
		r = bootstrap_facts(s->arena, req->cli->facts, s->root_fd, !s->policy.image_mode,
				    &s->boot.facts, e);
	} else {
		r = load_documents(s, req, e);
		is_read = r >= 0;
		if (is_read)
			r = take_settings(s, NULL, e);
		if (r < 0)
			r = note_other_errors(s, req, is_read || s->boot.is_partial, e);
	}
	if (r < 0)
		return r;
	log_boot_warnings(s);
	if (mode != MODE_BAKE && mode != MODE_DIFF)
		open_bus(s);
	r = make_plan(s, req, e);
	if (r < 0)
		return r;
	log_warnings(&s->plan.warnings);
	if (mode == MODE_DIFF)
		return 0;
	warn_sha1(s);
	s->stage = SESSION_CACHE;
	take_begun(s);
	r = open_effects(s, req, e);
	if (r >= 0) {
		s->stage = SESSION_OPEN;
		log_remarks(s);
		log_foreign(s);
	}
	if (r >= 0 && policy_may_change(&s->policy))
		session_note_use(s);
	return r;
}

int session_open(struct session *s, const struct session_req *req, struct err *e)
{
	const int r = open_all(s, req, e);

	if (r < 0)
		close_effects(s);
	return r;
}

void session_close(struct session *s)
{
	if (!s->arena)
		return;
	session_end_ahead(s);
	close_effects(s);
	bootstrap_done(&s->boot);
	http_free(s->http);
	s3_session_free(s->s3);
	imds_free(s->imds);
	bus_close(s->ctx.bus);
	cache_free(s->ctx.cache);
	state_close(s->ctx.state);
	cleanup_closep(&s->root_fd);
	cleanup_closep(&s->host_fd);
	arena_free(s->arena);
	*s = (struct session){ 0 };
}

struct run_req session_run(struct session *s)
{
	return (struct run_req){
		.tasks = (const struct task *const *)s->plan.tasks,
		.n = s->plan.n,
		.ctx = &s->ctx,
		.workers = s->workers,
	};
}

void session_look(struct session *s, bool verify, struct run_report *ret)
{
	struct run_req run = session_run(s);
	struct task_ctx ctx = s->ctx;

	ctx.only_looks = true;
	ctx.verify = verify;
	run.ctx = &ctx;
	run_plan(s->arena, &run, ret);
	/* a run starts the runtime afterwards, which may then have other images */
	images_changed(&s->ctx);
}

bool session_sweep(const struct session *s)
{
	/* users, mounts and host names are in files that no task is named after */
	static const char *const ours[] = { OWN_DIRS, "/etc" };
	struct strv dirs = { 0 };
	bool all = true;

	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		strv_add(s->arena, &dirs, ours[i]);
	for (size_t i = 0; i < s->plan.n; i++) {
		const char *path = task_path(s->plan.tasks[i]);
		const char *dir =
			path ? arena_strn(s->arena, path, (size_t)(strrchr(path, '/') - path))
			     : NULL;

		if (!str_is_empty(dir) && !strv_has(&dirs, dir))
			strv_add(s->arena, &dirs, dir);
	}
	for (size_t i = 0; i < dirs.n; i++)
		all &= io_stage_sweep(s->root_fd, dirs.v[i]);
	return all;
}
