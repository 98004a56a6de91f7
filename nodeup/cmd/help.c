/* help.c - prints usage from the tables: commands, their flags, the documents' keys, exit statuses */
#include "nodeup/cmd/cli.h"

#include <string.h>
#include "nodeup/base/field.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/show.h"
#include "nodeup/config/facts.h"
#include "nodeup/documents/dialects.h"
#include "nodeup/plan/era.h"
#include "nodeup/plan/release.h"
#include "nodeup/run/explain.h"

enum { HELP_MAX = 256 << 10 };

/* Returns the n-th schema of `help config`: those of programs, and last that of the facts; NULL: there is no n-th
 * one. */
static const struct schema *config_part_at(size_t n)
{
	const struct dialect_program *program = dialects_program(n);

	if (program)
		return program->schema;
	return n == 0 || dialects_program(n - 1) ? &facts_schema : NULL;
}

/* Prints a schema, under its name. */
static void help_schema(const struct schema *s, struct buf *b)
{
	(void)buf_addf(b, "%s%s\n", b->len ? "\n" : "", s->name);
	(void)field_docs(s, 1, b);
}

static const struct schema *schema_at(const struct dialect *d, size_t offset)
{
	const struct schema *s;

	memcpy(&s, (const char *)d + offset, sizeof(s));
	return s;
}

/* Prints one schema of each dialect: the member of struct dialect at this offset. */
static void help_schemas(size_t offset, struct buf *b)
{
	for (const struct dialect *const *d = dialects; *d; d++)
		if (schema_at(*d, offset))
			help_schema(schema_at(*d, offset), b);
}

static void help_config(struct buf *b)
{
	const struct schema *s;

	for (size_t i = 0; (s = config_part_at(i)); i++)
		help_schema(s, b);
	help_schemas(offsetof(struct dialect, document), b);
}

/* Prints one of the schemas, by the beginning of its name. */
static int config_part(struct arena *a, const char *name, struct buf *b, struct err *e)
{
	const struct schema *s;
	struct strv names = { 0 };

	for (size_t i = 0; (s = config_part_at(i)); i++) {
		strv_add(a, &names, s->name);
		if (strncasecmp(s->name, name, strlen(name)) != 0)
			continue;
		(void)field_docs(s, 1, b);
		return 0;
	}
	return err_fail(e, ERR_USAGE, 0, "no part '%s' in help config: %s", name,
			cli_meant(a, name, &names, strv_join(a, &names, ", ")));
}

/* Prints the exit statuses by number; status 2 belongs to plan. */
static void help_exit(struct buf *b)
{
	for (int status = 0; status < 128; status++) {
		if (status == 2)
			(void)buf_adds(b, "  2   plan, why, diff, guard: changes are pending\n");
		for (int kind = ERR_NONE; kind < ERR_KIND_MAX; kind++) {
			const struct err e = { .kind = (enum err_kind)kind };

			if (err_exit_status(&e) == status)
				(void)buf_addf(b, "  %-3d %s\n", status, err_kind_meaning(e.kind));
		}
	}
	(void)buf_adds(b,
		       "  128+n ended by signal n\n\n"
		       "Of nodeup status: 0 ready, 1 failed, 2 degraded, 3 running, 4 never ran.\n"
		       "nodeup help 65 tells more of 65, and so on.\n");
}

static void help_hash(struct buf *b)
{
	(void)buf_adds(
		b, "An asset is hash@url[,mirror...]: sha1, sha256 or sha512 in hex, told by "
		   "length\nor by an algo: prefix. When every mirror sends the same wrong bytes, "
		   "the document's\nhash is probably stale: compare it with the publisher's. When "
		   "the mirrors differ,\none of them is broken; nodeup drops it for the run. What "
		   "is installed stays as it\nis until the right bytes have come.\n");
}

static void help_disks(struct buf *b)
{
	(void)buf_adds(b,
		       "volumeMounts, of the instance group or of kube_env.yaml, is a list of:\n");
	for (const struct dialect *const *d = dialects; *d; d++)
		if ((*d)->volume_mount)
			(void)field_docs((*d)->volume_mount, 1, b);
	(void)buf_adds(
		b,
		"\nOnly a blank disk is formatted: any signature, any byte other than zero where\n"
		"signatures live and any read error is refused, and nodeup has no --force. Wipe\n"
		"a disk yourself (wipefs -a, then zeros all over it), or attach the right one.\n"
		"plan shows each disk, what is on it and what would be done, reading only.\n\n"
		"A disk of the instance store that is as EC2 made it, an empty ext3 that cloud-init\n"
		"mounts at /mnt, counts as blank for a volume that need not persist. What is not\n"
		"shown of it is data, and the refusal says what that is.\n\n"
		"A device that persists is the disk that was recorded under its name, in\n" OWN_VOLUMES_DIR
		". Another one is refused, blank or not: ask for it by\n"
		"volumeID, or remove the record.\n\n"
		"kube-up's DOCKER_STORAGE puts docker, containerd, kubelet and pod logs on the\n"
		"instance store at /mnt/ephemeral, unless KUBE_AWS_STORAGE is ebs.\n\n"
		"The setting instanceStorePolicy: RAID0, of " OWN_SETTINGS_DIR "/*.yaml or\n"
		"kube_env.yaml, makes one file system of the whole instance store, with kubelet,\n"
		"the container runtime and the logs of pods on it (instanceStoreFilesystem: ext4,\n"
		"xfs or btrfs). It is made at the first boot, or by hand on a node without pods.\n"
		"A stop of the instance empties it; it is made anew before the runtime starts.\n");
}

static void help_facts(struct buf *b)
{
	(void)field_docs(&facts_schema, 1, b);
}

/* Prints the hosts of each dialect. If only some versions of today's kops know a release, prints the first of these
 * versions too. */
static void help_distributions(struct buf *b)
{
	for (const struct dialect *const *d = dialects; *d; d++) {
		const struct node node = { .dialect = *d };
		struct facts f = { 0 };

		(void)buf_addf(b, "%sdocuments of %s\n", b->len ? "\n" : "", (*d)->title);
		for (size_t i = 0; plan_nth_host(&node, i, &f); i++) {
			const struct version *since = release_of(&f)->today.since;

			(void)buf_addf(b, "  %s%s%s", f.distribution, f.version ? " " : "",
				       f.version ? f.version : "");
			for (size_t k = 0; f.version && k < 2 && since[k].minor; k++)
				(void)buf_addf(b, "%s 1.%d.%d", k ? " and" : ", since kops",
					       since[k].minor, since[k].patch);
			(void)buf_adds(b, "\n");
		}
	}
	(void)buf_adds(b,
		       "\nOf documents of kops since 1.29 a release that is newer than all of its "
		       "distribution\nhere is taken as the newest, and a line says so; others are "
		       "refused.\n");
}

static void help_pki(struct buf *b)
{
	for (const struct dialect *const *d = dialects; *d; d++)
		if ((*d)->pki)
			(*d)->pki(b);
}

#define SCHEMA_OF(member) NULL, offsetof(struct dialect, member)

/* Topics that are not commands: a text, or a schema of each dialect. */
static const struct {
	const char *name, *help;
	void (*print)(struct buf *b);
	size_t schema;
} topics[] = {
	{ "config", "every key of the component specs and of a facts file", help_config, 0 },
	{ "kube_env", "every key of the document that --conf names", SCHEMA_OF(document) },
	{ "cluster", "every key of the cluster spec, cluster_spec.yaml", SCHEMA_OF(cluster) },
	{ "instancegroup", "every key of the instance group, ig_spec.yaml", SCHEMA_OF(group) },
	{ "hooks", "an item of hooks: a unit of your own", SCHEMA_OF(hook) },
	{ "fileAssets", "an item of fileAssets: a file of your own", SCHEMA_OF(file_asset) },
	{ "pki", "certificates, keys and secrets that a node takes, and their files", help_pki, 0 },
	{ "facts", "every key of the file that --facts names", help_facts, 0 },
	{ "distributions", "what nodes are made on, by the kind of documents", help_distributions,
	  0 },
	{ "volumes", "as disks", help_disks, 0 },
	{ "disks", "what volumeMounts may say, and what happens to a disk", help_disks, 0 },
	{ "exit-status", "what an exit status means", help_exit, 0 },
	{ "catalog", "the same of each error's number or kind, for the journal", explain_catalog,
	  0 },
	{ "asset-hash", "when an asset has the wrong hash", help_hash, 0 },
};

static void usage(struct buf *b)
{
	(void)buf_adds(b, "usage: nodeup [COMMAND] [FLAGS]\n\ncommands:\n");
	for (size_t i = 0; i < cli_n_commands; i++)
		(void)buf_addf(b, "  %-12s %s\n", cli_commands[i].name, cli_commands[i].help);
	(void)buf_adds(b, "\nnodeup help TOPIC, with a command, a key of a document or one of:\n");
	for (size_t i = 0; i < ARRAY_LEN(topics); i++)
		(void)buf_addf(b, "  %-13s %s\n", topics[i].name, topics[i].help);
	(void)buf_adds(b, "\nflags of apply:\n");
	cli_help(&cli_commands[0], b);
}

/* Returns a JSON Schema for the topic; a document may be of any dialect. */
static struct tree *json_of(struct arena *a, size_t schema)
{
	struct tree *any = tree_seq(a);

	for (const struct dialect *const *d = dialects; *d; d++)
		if (schema_at(*d, schema))
			(void)tree_add(a, any, field_json_schema(a, schema_at(*d, schema)));
	return any->n == 1 ? any->items[0].value : tree_set(a, tree_map(a), "anyOf", any);
}

static int print_json(struct arena *a, const char *name, struct err *e)
{
	struct tree *json = NULL;

	if (str_eq(name, "facts"))
		json = field_json_schema(a, &facts_schema);
	for (size_t i = 0; i < ARRAY_LEN(topics) && !json; i++)
		if (str_eq(topics[i].name, name) && !topics[i].print)
			json = json_of(a, topics[i].schema);
	if (!json)
		return err_fail(e, ERR_USAGE, 0,
				"help -o json is a JSON Schema: of kube_env, cluster, "
				"instancegroup, hooks, fileAssets or facts");
	tree_set_text(a, json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	return show_json(json, e);
}

void help_topics(struct arena *a, struct strv *ret)
{
	for (const struct explanation *x = explanations; x->name; x++)
		strv_add(a, ret, x->name);
	for (size_t i = 0; i < ARRAY_LEN(topics); i++)
		strv_add(a, ret, topics[i].name);
	for (size_t i = 0; i < cli_n_commands; i++)
		strv_add(a, ret, cli_commands[i].name);
}

static int print_topic(struct arena *a, const char *name, struct buf *b, struct err *e)
{
	const struct explanation *explained = explain_find(name);
	struct strv names = { 0 };

	if (explained) {
		explain_show(explained, b);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(topics); i++)
		if (str_eq(topics[i].name, name)) {
			if (topics[i].print)
				topics[i].print(b);
			else
				help_schemas(topics[i].schema, b);
			return 0;
		}
	for (size_t i = 0; i < cli_n_commands; i++)
		if (str_eq(cli_commands[i].name, name)) {
			(void)buf_addf(b, "usage: nodeup %s %s%s[FLAGS]\n%s\n\nflags:\n", name,
				       cli_commands[i].args, *cli_commands[i].args ? " " : "",
				       cli_commands[i].help);
			cli_help(&cli_commands[i], b);
			return 0;
		}
	if (help_key(a, name, b))
		return 0;
	help_topics(a, &names);
	return err_fail(e, ERR_USAGE, 0, "no help on '%s'; %s", name,
			cli_meant(a, name, &names, "see nodeup help"));
}

int cmd_help(struct cli *cli, struct err *e)
{
	autobuf struct buf b = BUF_INIT(HELP_MAX);
	int r = 0;

	if (str_eq(cli->output, "json"))
		return print_json(cli->arena, cli->args.n == 1 ? cli->args.v[0] : NULL, e);
	if (cli->args.n > 1 && str_eq(cli->args.v[0], "config"))
		r = config_part(cli->arena, cli->args.v[1], &b, e);
	else if (cli->args.n > 1)
		r = err_fail(e, ERR_USAGE, 0, "nodeup help: unexpected '%s'", cli->args.v[1]);
	else if (cli->args.n)
		r = print_topic(cli->arena, cli->args.v[0], &b, e);
	else
		usage(&b);
	if (r < 0)
		return r;
	show_text(buf_str(&b), b.len);
	return 0;
}
