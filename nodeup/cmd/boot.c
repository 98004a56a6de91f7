#include "nodeup/cmd/boot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/json.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/documents/location.h"
#include "nodeup/run/standing.h"

const char boot_unit[] = BOOT_UNIT;

static const char unit_path[] = "/etc/systemd/system/kops-configuration.service";
static const char package_program[] = "/usr/bin/nodeup";
/* this line marks a unit file as ours: kops' own unit file has another line */
static const char mark[] = "\nDocumentation=man:nodeup(8)\n";
static const char record_version[] = "1";

enum { RECORD_MAX = 1 << 20 };

/* A recorded variable. If the shell sets one variable of a group, it has set the whole group. open: no value of it is
 * a secret; a URL may have a login. */
struct variable {
	const char *name, *group;
	bool open;
};

static const struct variable unit_variables[] = {
	{ "AWS_REGION", "region", .open = true },
	{ "AWS_ENDPOINT_URL", "store" },
	{ "AWS_ENDPOINT_URL_S3", "store" },
	{ "AWS_ENDPOINT_URL_EC2", "store" },
	{ "AWS_ENDPOINT_URL_AUTO_SCALING", "store" },
	{ "AWS_ENDPOINT_URL_CLOUDFORMATION", "store" },
	{ "S3_ENDPOINT", "store" },
	{ "S3_REGION", "store", .open = true },
	{ "S3_ACCESS_KEY_ID", "store" },
	{ "S3_SECRET_ACCESS_KEY", "store" },
	{ "AWS_EC2_METADATA_SERVICE_ENDPOINT", "metadata" },
	{ "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "metadata", .open = true },
	{ "GOSSIP_DNS_CONN_LIMIT", "gossip", .open = true },
};

/* Variables that are recorded only for our own unit. */
static const struct variable own_variables[] = {
	{ "http_proxy", "proxy" },
	{ "https_proxy", "proxy" },
	{ "all_proxy", "proxy" },
	{ "HTTP_PROXY", "proxy" },
	{ "HTTPS_PROXY", "proxy" },
	{ "ALL_PROXY", "proxy" },
	{ "no_proxy", "no proxy" },
	{ "NO_PROXY", "no proxy" },
	{ "SSL_CERT_FILE", "CA", .open = true },
	{ "AWS_CA_BUNDLE", "CA", .open = true },
};

static const struct variable *find_in(const struct variable *vars, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(vars[i].name, name))
			return &vars[i];
	return NULL;
}

const char *boot_variable(const char *name, bool *ret_is_open)
{
	const struct variable *v =
		find_in(unit_variables, ARRAY_LEN(unit_variables), name)
			?: find_in(own_variables, ARRAY_LEN(own_variables), name);

	*ret_is_open = v && v->open;
	return v ? v->name : NULL;
}

static struct strmap environment_of(struct arena *a, const struct variable *vars, size_t n)
{
	struct strmap env = { 0 };

	for (size_t i = 0; i < n; i++) {
		const char *value = getenv(vars[i].name);

		if (!str_is_empty(value))
			strmap_set(a, &env, vars[i].name, value);
	}
	return env;
}

/* The record of how nodeup starts at boot. */
struct record {
	struct strv flags; /* ends with NULL */
	struct strmap environment, proxy_environment;
};

/* Returns the argument. If its `value` is a relative path, the absolute path takes its place. */
static const char *from_anywhere(struct arena *a, const char *arg, const char *value)
{
	if (!value || value < arg || value > arg + strlen(arg))
		return arg;
	return arena_printf(a, "%.*s%s", (int)(value - arg), arg, location_absolute(a, value));
}

/* Returns whether the first argument is a command. The unit file names the command, so the record needs none. */
static bool is_command(const char *first)
{
	return first && *first != '-';
}

/* Returns the flags of this command line, without the flags that concern this run alone. */
static struct strv own_flags(struct arena *a, const struct cli *cli)
{
	/* --root is the root directory of the machine that boots the image; booted, that machine needs no --root */
	static const char *const dropped[] = { "install-systemd-unit", "wait", "root", "facts",
					       "prune" };
	const char *const paths[] = { cli->conf, cli->cache, cli->metrics };
	struct strv out = { 0 };

	for (size_t i = 1 + is_command(cli->argv[1]); cli->argv[i]; i++) {
		const char *arg = cli->argv[i], *name = arg + strspn(arg, "-");
		size_t len = strcspn(name, "=");
		bool drop = arg == cli->root || arg == cli->facts;

		for (size_t k = 0; k < ARRAY_LEN(dropped); k++)
			drop |= name != arg && strlen(dropped[k]) == len &&
				strncmp(name, dropped[k], len) == 0;
		for (size_t k = 0; k < ARRAY_LEN(paths); k++)
			arg = from_anywhere(a, arg, paths[k]);
		if (!drop)
			strv_add(a, &out, arg);
	}
	strv_add(a, &out, NULL);
	return out;
}

/* Records how this run was started. */
static struct record record_of_run(struct arena *a, const struct cli *cli)
{
	return (struct record){
		.flags = own_flags(a, cli),
		.environment = environment_of(a, unit_variables, ARRAY_LEN(unit_variables)),
		.proxy_environment = environment_of(a, own_variables, ARRAY_LEN(own_variables)),
	};
}

/* Returns NULL if the record is too large to be kept. */
static const char *render_record(struct arena *a, const struct record *rec)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	const struct strv flags = { rec->flags.v, rec->flags.n - 1 };
	struct tree *t = tree_map(a);
	struct err ignored;

	(void)tree_set(a, t, "version", tree_plain(a, record_version));
	(void)tree_set(a, t, "flags", tree_of_strv(a, &flags));
	(void)tree_set(a, t, "environment", tree_of_strmap(a, &rec->environment));
	(void)tree_set(a, t, "proxyEnvironment", tree_of_strmap(a, &rec->proxy_environment));
	if (json_render(t, true, &text, &ignored) < 0)
		return NULL;
	(void)buf_addc(&text, '\n');
	return buf_check(&text, plan_boot_record, &ignored) < 0 ? NULL
								: arena_str(a, buf_str(&text));
}

static bool parse_map(struct arena *a, const struct tree *t, struct strmap *ret)
{
	for (size_t i = 0; t && i < t->n; i++) {
		if (t->kind != TREE_MAP || t->items[i].value->kind != TREE_SCALAR)
			return false;
		strmap_set(a, ret, t->items[i].key, t->items[i].value->scalar);
	}
	return true;
}

/* Returns 1: the record is whole; 0: there is none; < 0: it is damaged. */
static int load_record(struct arena *a, int root_fd, struct record *ret)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	const struct tree *flags;
	struct record rec = { 0 };
	struct err ignored;
	struct tree *t;
	int r = io_read(root_fd, plan_boot_record, &text, &ignored);

	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	if (json_parse(a, plan_boot_record, buf_str(&text), text.len, &t, &ignored) < 0)
		return -EINVAL;
	flags = tree_get(t, "flags");
	if (!str_eq(tree_text(t, "version"), record_version) || !flags || flags->kind != TREE_SEQ ||
	    !parse_map(a, tree_get(t, "environment"), &rec.environment) ||
	    !parse_map(a, tree_get(t, "proxyEnvironment"), &rec.proxy_environment))
		return -EINVAL;
	for (size_t i = 0; i < flags->n; i++) {
		if (flags->items[i].value->kind != TREE_SCALAR)
			return -EINVAL;
		/* an old record may have a command */
		if (i > 0 || !is_command(flags->items[i].value->scalar))
			strv_add(a, &rec.flags, flags->items[i].value->scalar);
	}
	strv_add(a, &rec.flags, NULL);
	*ret = rec;
	return 1;
}

bool boot_has_unit_file(int root_fd)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct err ignored;

	return io_read(root_fd, unit_path, &text, &ignored) == 0 && strstr(buf_str(&text), mark);
}

/* Makes a record from the documents of this run. If the unit file is lost too, nothing else tells how nodeup was
 * started. */
static struct record record_of_documents(struct session *s, const struct cli *cli)
{
	struct record rec = record_of_run(s->arena, cli);

	rec.flags = (struct strv){ 0 };
	strv_addf(s->arena, &rec.flags, "--conf=%s", location_absolute(s->arena, s->boot.conf));
	strv_add(s->arena, &rec.flags, NULL);
	return rec;
}

/* Finds out, after the record was lost, whether nodeup was installed here, and how. *ret has no flags if only the
 * unit file knows them. */
static bool find_again(struct session *s, const struct cli *cli, bool damaged, struct record *ret)
{
	const bool unit = boot_has_unit_file(s->root_fd);

	*ret = (struct record){ 0 };
	if (str_eq(s->own_unit, boot_unit)) {
		/* systemd started us with the unit file's flags and environment */
		*ret = record_of_run(s->arena, cli);
		return true;
	}
	if (!unit && !damaged && !io_is_there(s->root_fd, OWN_PROGRAM))
		return false;
	if (!unit)
		*ret = record_of_documents(s, cli);
	log_warning("'%s', the record of how nodeup is started at boot, is %s: %s",
		    plan_boot_record, damaged ? "damaged" : "gone",
		    unit ? "the unit stays as it is, and writes the record when it runs: at the "
			   "next boot, or by systemctl start kops-configuration.service"
			 : "the unit gets --conf of this run, and no other flag");
	return true;
}

void boot_settle(struct session *s, const struct session_req *req, struct plan_req *plan)
{
	struct plan_boot *boot = arena_new(s->arena, struct plan_boot);
	struct record rec = { 0 };
	const bool is_bake = s->policy.mode == MODE_BAKE, installs = s->policy.mode == MODE_INSTALL;
	const int loaded = is_bake ? 0 : load_record(s->arena, s->root_fd, &rec);
	const int found = installs ? 0 : loaded;
	bool installed = found > 0 || installs;

	if (installs && loaded == -EINVAL)
		log_warning("'%s' is damaged: it is made anew, and set aside", plan_boot_record);
	if (installs)
		rec = record_of_run(s->arena, req->cli);
	else if (found <= 0 && !is_bake)
		installed = find_again(s, req->cli, found < 0, &rec);
	/* without a record, or without flags in it, this is a run by hand, with a person's environment */
	if (!installed || !rec.flags.n)
		rec.environment =
			environment_of(s->arena, unit_variables, ARRAY_LEN(unit_variables));
	plan->environment = rec.environment;
	plan->proxy_environment = rec.proxy_environment;
	s->starts_at_boot = installed;
	if (!installed)
		return;
	*boot = (struct plan_boot){
		.flags = rec.flags.v,
		.record = rec.flags.v ? render_record(s->arena, &rec) : NULL,
		.damaged = loaded == -EINVAL,
		.version = cli_version(),
		.install = installs,
		.packaged = io_is_there(s->root_fd, package_program),
	};
	plan->boot = boot;
}

static bool shell_has(const struct variable *vars, size_t n, const char *group)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(vars[i].group, group) && getenv(vars[i].name))
			return true;
	return false;
}

/* Fills *ret with recorded variables that the shell does not set. Returns whether the shell sets any variable to
 * another value. */
static bool compare(struct arena *a, const struct variable *vars, size_t n,
		    const struct strmap *kept, struct strmap *ret)
{
	bool differs = false;

	for (size_t i = 0; i < n; i++) {
		const char *value = strmap_get(kept, vars[i].name), *shell = getenv(vars[i].name);

		differs |= shell && !str_eq(shell, value ? value : "");
		if (value && !shell_has(vars, n, vars[i].group))
			strmap_set(a, ret, vars[i].name, value);
	}
	return differs;
}

void boot_take_environment(struct cli *cli)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int root = -1;
	struct strmap open = { 0 };
	struct strv taken = { 0 };
	struct record rec;
	struct err ignored;

	if (cli->root || cli->install_unit || io_open_root("/", &root, &ignored) < 0 ||
	    load_record(a, root, &rec) <= 0)
		return;
	/* an access key in a person's shell replaces the instance's role */
	cli->shell_differs = getenv("AWS_ACCESS_KEY_ID") != NULL;
	cli->shell_differs |=
		compare(a, unit_variables, ARRAY_LEN(unit_variables), &rec.environment, &open);
	cli->shell_differs |=
		compare(a, own_variables, ARRAY_LEN(own_variables), &rec.proxy_environment, &open);
	for (size_t i = 0; i < open.n; i++)
		if (setenv(open.v[i].key, open.v[i].value, 1) == 0)
			strv_add(a, &taken, open.v[i].key);
	if (taken.n)
		log_info("as the boot unit has it: %s", strv_join(a, &taken, ", "));
}
