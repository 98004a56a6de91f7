/* collect_logs.c - one archive for a report: what nodeup knows of this node, without its secrets
 * One table has the parts of the archive, each with its bound; of what is larger the newest lines stay. Two walks over
 * it: the first learns the secrets of documents, units and variables, the second hides them wherever they are. A part
 * that cannot be read is named, and the others are written. */
#include "nodeup/cmd/cli.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "assets/unpack/pack.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/show.h"
#include "nodeup/base/walk.h"
#include "nodeup/base/yaml.h"
#include "nodeup/cmd/boot.h"
#include "nodeup/cmd/redact.h"
#include "nodeup/cmd/status.h"
#include "nodeup/config/settings.h"
#include "nodeup/documents/dialects.h"
#include "nodeup/documents/loader.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/store.h"
#include "nodeup/documents/user_data.h"
#include "nodeup/plan/tasklist.h"
#include "nodeup/run/history.h"
#include "nodeup/run/timeline.h"
#include "nodeup/tasks/state.h"
#include "units/journal.h"

enum {
	KIB = 1024,
	MIB = 1024 * KIB,
	UNIT_MAX = 64 * KIB,
	DOCUMENT_MAX = 4 * MIB,
	/* of a line of a journal: the length of its date, and the least that is counted for it */
	DATE = 20,
	LINE_LEAST = 64,
};

struct collect {
	struct arena *arena; /* of the present part */
	int root_fd;
	struct redact *redact;
	struct health health;
	bool is_cut; /* older lines of the present part are left out */
	bool is_unsure; /* what has secrets could not be read, so these cannot be hidden in free text */
	size_t lacks; /* number of parts that cannot be read */
};

struct part {
	const char *name;
	size_t most; /* bytes; 16 MiB for all */
	int (*add)(struct collect *c, const struct part *p, struct buf *b, struct err *e);
	const char *unit, *program; /* of a journal */
	bool teaches;               /* it holds secrets to be hidden elsewhere */
	bool is_free;               /* it may quote any of these secrets */
};

static int add_tree(struct collect *c, const struct tree *t, struct buf *b, struct err *e)
{
	const int r = json_render(redact_tree(c->redact, c->arena, t), true, b, e);

	/* a half is no JSON */
	if (r < 0)
		buf_done(b);
	else
		(void)buf_addc(b, '\n');
	return r;
}

static int add_status(struct collect *c, const struct part *p, struct buf *b, struct err *e)
{
	autobuf struct buf text = BUF_INIT(p->most);
	const int r = status_text(c->arena, c->root_fd, &c->health, true, &text, e);

	if (r >= 0)
		redact_text(c->redact, buf_str(&text), b);
	b->overflow |= text.overflow;
	return r;
}

static int add_status_json(struct collect *c, const struct part *p, struct buf *b, struct err *e)
{
	(void)p;
	return add_tree(c, status_tree(c->arena, &c->health), b, e);
}

/* Appends as many of the last runs as there is room for. */
static int add_runs(struct collect *c, const struct part *p, struct buf *b, struct err *e)
{
	struct tree *runs;
	int r = history_list(c->arena, c->root_fd, &runs, e);

	(void)p;
	if (r < 0)
		return r;
	while ((r = add_tree(c, runs, b, e)) == -EFBIG && runs->n) {
		runs->n /= 2;
		c->is_cut = true;
	}
	return r;
}

/* Appends where the time of the last run went, by its record alone. */
static int add_timeline(struct collect *c, const struct part *p, struct buf *b, struct err *e)
{
	struct timeline now, before;
	const struct tree *earlier;
	struct strv lines;
	struct tree *runs;
	const int r = history_list(c->arena, c->root_fd, &runs, e);

	(void)p;
	if (r < 0 || !runs->n)
		return r;
	now = timeline_of(c->arena, runs->items[0].value);
	earlier = timeline_run_before(runs, 0);
	if (earlier)
		before = timeline_of(c->arena, earlier);
	lines = timeline_text(c->arena, &now, earlier ? &before : NULL);
	redact_text(c->redact, strv_join(c->arena, &lines, "\n"), b);
	return 0;
}

/* Lists the files that nodeup wrote, by the applied state. */
static int written(struct collect *c, struct strv *ret, struct err *e)
{
	static const char *const no_origin[] = { NULL };
	struct state *s = NULL;
	const int r = state_open(c->root_fd, &s, e);

	if (r < 0)
		return r;
	*ret = state_written(s, c->arena, no_origin, true);
	state_close(s);
	strv_sort(ret);
	return 0;
}

/* Appends what nodeup put where. The digest of a file with a password would help to guess it. */
static int add_applied(struct collect *c, const struct part *p, struct buf *b, struct err *e)
{
	struct strv paths;
	const int r = written(c, &paths, e);

	(void)p;
	if (r < 0)
		return r;
	for (size_t i = 0; i < paths.n; i++) {
		const char *path = redact_line(c->redact, c->arena, paths.v[i]);
		struct err why;
		struct stat st;

		if (io_stat(c->root_fd, paths.v[i], &st, &why) < 0)
			(void)buf_addf(b, "%s: %s\n", path, strerror(why.errnum));
		else
			(void)buf_addf(b, "%s: %04o, %lld bytes\n", path, st.st_mode & 07777,
				       (long long)st.st_size);
	}
	return 0;
}

static void add_variables(struct collect *c, const struct tree *map, struct buf *b)
{
	for (size_t i = 0; map && map->kind == TREE_MAP && i < map->n; i++) {
		const char *value = tree_says(map, map->items[i].key);
		bool is_open;
		const char *name = boot_variable(map->items[i].key, &is_open);

		if (!is_open)
			redact_learn(c->redact, value);
		if (is_open && redact_is_open(c->redact, value))
			(void)buf_addf(b, "%s=%s\n", name, value);
		else
			(void)buf_addf(b, "%s=<%zu bytes>\n", name ? name : "<unknown>",
				       strlen(value));
	}
}

/* Appends how nodeup is started at boot: the names of its flags, and its variables. */
static int add_boot(struct collect *c, const struct part *p, struct buf *b, struct err *e)
{
	autobuf struct buf text = BUF_INIT(p->most);
	const struct tree *flags;
	struct tree *t;
	int r = io_read(c->root_fd, OWN_BOOT, &text, e);

	if (r >= 0)
		r = json_parse(c->arena, OWN_BOOT, buf_str(&text), text.len, &t, e);
	if (r < 0)
		return r;
	flags = tree_get(t, "flags");
	for (size_t i = 0; flags && flags->kind == TREE_SEQ && i < flags->n; i++) {
		const struct tree *flag = flags->items[i].value;
		const char *word = flag->kind == TREE_SCALAR ? flag->scalar : "";
		const char *name = arena_strn(c->arena, word, strcspn(word, "="));
		const char *value = *name == '-' && str_has_only(name, "-") ? word + strlen(name)
									    : word;

		redact_learn(c->redact, value + (*value == '='));
		(void)buf_addf(b, "%.*s", (int)(value - word), word);
		if (*value)
			(void)buf_addf(b, "<%zu bytes>", strlen(value));
		(void)buf_addc(b, '\n');
	}
	add_variables(c, tree_get(t, "environment"), b);
	add_variables(c, tree_get(t, "proxyEnvironment"), b);
	return 0;
}

static int add_units(struct collect *c, const struct part *p, struct buf *b, struct err *e)
{
	struct strv paths;
	const int r = written(c, &paths, e);

	(void)p;
	if (r < 0)
		return r;
	for (size_t i = 0; i < paths.n; i++) {
		const char *text = str_has_prefix(paths.v[i], plan_unit_dir)
					   ? io_text(c->arena, c->root_fd, paths.v[i], UNIT_MAX)
					   : NULL;

		if (!text)
			continue;
		(void)buf_addf(b, "# %s\n", redact_line(c->redact, c->arena, paths.v[i]));
		redact_unit(c->redact, text, b);
	}
	return 0;
}

/* Returns how many of the map's keys the schema has. */
static size_t known_in(const struct schema *s, const struct tree *map)
{
	size_t n = 0;

	for (size_t i = 0; s && i < map->n; i++)
		for (size_t k = 0; k < s->n; k++)
			n += str_eq(s->fields[k].key, map->items[i].key);
	return n;
}

/* Finds the table of the most of a document's keys; NULL: none has half of them. If two have as many, the table of
 * a --conf counts, as more of its rows are secret. */
static const struct schema *schema_of(const struct tree *map)
{
	const struct schema *best = NULL, *all[3];
	size_t most = 0;

	for (size_t k = 0; k < ARRAY_LEN(all); k++)
		for (size_t i = 0; dialects[i]; i++) {
			all[0] = dialects[i]->document;
			all[1] = dialects[i]->cluster;
			all[2] = dialects[i]->group;
			if (known_in(all[k], map) > most) {
				most = known_in(all[k], map);
				best = all[k];
			}
		}
	return 2 * most >= map->n ? best : NULL;
}

/* Appends a document. s: its table; NULL: the table that knows its keys. */
static int add_document(struct collect *c, const struct user_data_file *f, const struct schema *s,
			struct buf *b, struct err *e)
{
	const char *name = redact_line(c->redact, c->arena, location_shown(c->arena, f->name));
	const struct tree *map = NULL;
	struct err ignored;
	struct tree *t;
	int r;

	if (yaml_parse(c->arena, f->name, f->text, f->n, &t, &ignored) < 0)
		t = NULL;
	if (t && t->kind == TREE_MAP) {
		/* an object of kops has its keys in its spec */
		map = tree_get(t, "spec");
		map = map && map->kind == TREE_MAP ? map : t;
		s = s ? s : schema_of(map);
	}
	(void)buf_addf(b, "---\n# %s: %zu bytes%s\n", name, f->n - f->padding,
		       map && s ? "" : ", of no table's keys");
	if (map && s) {
		r = yaml_render(redact_fields(c->redact, c->arena, s, map), b, e);
		/* the documents behind it teach, too */
		return b->overflow ? 0 : r;
	}
	if (t)
		redact_learn_document(c->redact, t);
	else if (strlen(f->text) == f->n)
		redact_learn(c->redact, f->text);
	return 0;
}

static int learn_part(void *arg, const struct mime_part *part, struct err *e)
{
	struct collect *c = arg;
	struct err ignored;
	char *text;

	(void)e;
	if (enc_gunzip(c->arena, part->text, part->n, USER_DATA_MAX, &text, &ignored) < 0)
		text = arena_strn(c->arena, part->text, part->n);
	redact_learn(c->redact, text);
	return 0;
}

/* Appends a document, or the documents that user data bring. Learns all of the user data. */
static int add_given(struct collect *c, const char *location, const char *text, size_t n,
		     struct buf *b, struct err *e)
{
	const struct user_data_file f = { .name = location, .text = text, .n = n };
	struct user_data data = { 0 };
	struct err ignored;
	int r = user_data_read(c->arena, location, &f, false, &data, &ignored);

	if (data.whole && mime_is_message(data.whole, data.whole_n) &&
	    mime_walk(c->arena, location, data.whole, data.whole_n, learn_part, c, &ignored) < 0)
		redact_learn(c->redact, data.whole);
	if (r < 0 || !data.script)
		return add_document(c, data.whole ? &data.conf : &f, NULL, b, e);
	redact_learn(c->redact, data.whole);
	r = add_document(c, &data.conf, NULL, b, e);
	for (size_t i = 0; r >= 0 && i < data.n_others; i++)
		r = add_document(c, &data.others[i], NULL, b, e);
	return r;
}

/* Learns the files that nodeup put where none but their owner reads them. */
static int learn_private_files(struct collect *c, struct err *e)
{
	struct strv paths;
	int r = written(c, &paths, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < paths.n; i++) {
		autobuf struct buf text = BUF_INIT(DOCUMENT_MAX);
		struct err gone;
		struct stat st;

		if (io_stat(c->root_fd, paths.v[i], &st, &gone) < 0 || !S_ISREG(st.st_mode) ||
		    (st.st_mode & 077) || st.st_size > DOCUMENT_MAX)
			continue;
		r = io_read(c->root_fd, paths.v[i], &text, e);
		if (r < 0)
			return r;
		redact_learn(c->redact, buf_str(&text));
	}
	return 0;
}

/* Appends a document of this machine, unless its bytes are the kept ones. */
static int add_file(struct collect *c, const char *location, const struct store_text *kept,
		    struct buf *b, struct err *e)
{
	autobuf struct buf text = BUF_INIT(DOCUMENT_MAX);
	struct err why;
	int r = io_read(c->root_fd, location_path(location), &text, &why);

	c->is_unsure |= r < 0 && !(kept && r == -ENOENT);
	if (r < 0 ||
	    (kept && kept->n == text.len && memcmp(kept->text, buf_str(&text), text.len) == 0))
		return 0;
	return add_given(c, location, arena_strn(c->arena, buf_str(&text), text.len), text.len, b,
			 e);
}

/* Learns the documents of earlier runs, which journals may quote as well. */
static void learn_earlier(struct collect *c)
{
	const struct strv sets = walk_list(c->arena, c->root_fd, OWN_KEPT_DIR, ".json");

	for (size_t i = 0; i < sets.n; i++) {
		const char *path = arena_printf(c->arena, OWN_KEPT_DIR "/%s", sets.v[i]);
		autobuf struct buf unshown = BUF_INIT(DOCUMENT_MAX);
		struct store_texts kept;
		struct err ignored;
		int r = store_kept_texts(c->arena, c->root_fd, path, NULL, &kept, &ignored);

		for (size_t k = 0; r >= 0 && k < kept.n; k++)
			r = add_given(c, kept.v[k].location, kept.v[k].text, kept.v[k].n, &unshown,
				      &ignored);
		c->is_unsure |= r < 0 || kept.is_damaged;
	}
}

/* Appends the documents that the last good run kept, those of the last run if they are others, and the settings. */
static int add_documents(struct collect *c, const struct part *p, struct buf *b, struct err *e)
{
	struct strv settings = { 0 };
	const char *conf = tree_says(c->health.status, "conf");
	struct store_texts kept;
	struct err why, gone;
	int lacks = store_kept_texts(c->arena, c->root_fd, OWN_DOCUMENTS, NULL, &kept, &why), r = 0;

	(void)p;
	c->is_unsure |= kept.is_damaged ||
			(lacks == -ENOENT && io_is_there(c->root_fd, OWN_DOCUMENTS));
	learn_earlier(c);
	if (lacks == -ENOENT)
		c->is_unsure |= learn_private_files(c, &why) < 0;
	if (*conf)
		conf = loader_conf_name(c->arena, location_document(c->arena, conf));
	for (size_t i = 0; r >= 0 && i < kept.n; i++) {
		const struct store_text *k = &kept.v[i];

		r = add_given(c, k->location, k->text, k->n, b, e);
		if (r >= 0 && !k->issued && location_path(k->location))
			r = add_file(c, k->location, k, b, e);
		if (str_eq(k->location, conf))
			conf = "";
	}
	if (r >= 0 && *conf && location_path(conf))
		r = add_file(c, conf, NULL, b, e);
	if (walk_names_at(c->arena, c->root_fd, OWN_SETTINGS_DIR, &settings, &gone) < 0)
		c->is_unsure |= gone.errnum != ENOENT && gone.errnum != ENOTDIR;
	for (size_t i = 0; r >= 0 && i < settings.n; i++) {
		const char *path = arena_printf(c->arena, OWN_SETTINGS_DIR "/%s", settings.v[i]);
		const char *text = io_text(c->arena, c->root_fd, path, DOCUMENT_MAX);

		if (!str_has_suffix(path, ".yaml"))
			continue;
		c->is_unsure |= !text;
		if (text)
			r = add_document(c, &(struct user_data_file){ path, text, strlen(text), 0 },
					 &settings_schema, b, e);
	}
	if (r >= 0 && lacks < 0 && lacks != -ENOENT) {
		*e = why;
		return lacks;
	}
	return r;
}

/* Lines of a journal, the newest first. */
struct newest {
	struct arena *arena;
	struct strv lines;
	size_t room;
	bool is_cut;
};

static bool take_line(void *arg, const struct journal_line *l)
{
	struct newest *n = arg;
	char *line = arena_printf(n->arena, "%s %s%s", dur_date(n->arena, l->wall_ns),
				  l->of_manager ? "systemd: " : "",
				  *l->message ? l->message : "<not shown: a long line>");
	const size_t shown = strlen(line) + 1, len = shown < LINE_LEAST ? LINE_LEAST : shown;

	n->is_cut = len > n->room;
	if (n->is_cut)
		return false;
	n->room -= len;
	strv_add(n->arena, &n->lines, line);
	return true;
}

static int add_journal(struct collect *c, const struct part *p, struct buf *b, struct err *e)
{
	/* what takes a secret's place may be longer */
	struct newest n = { .arena = c->arena, .room = p->most - p->most / 8 };
	const int r = journal_each(p->unit, p->program, take_line, &n, e);

	for (size_t i = n.lines.n; i-- > 0;) {
		autoarena struct arena *a = arena_new_empty();
		const char *line = n.lines.v[i];

		(void)buf_addf(b, "%.*s%s\n", DATE, line,
			       show_clean(arena_str(a, redact_line(c->redact, a, line + DATE))));
	}
	c->is_cut = n.is_cut;
	return r;
}

#define JOURNAL(of, bound, ...)                                                              \
	{                                                                                    \
		"journal/" of ".txt", (bound), add_journal, of, __VA_ARGS__, .is_free = true \
	}
/* clang-format off */
static const struct part parts[] = {
	{ "boot.txt",       64 * KIB,  add_boot, .teaches = true },
	{ "units.txt",      512 * KIB, add_units, .teaches = true },
	{ "documents.yaml", 2 * MIB,   add_documents, .teaches = true },
	{ "status.txt",     512 * KIB, add_status, .is_free = true },
	{ "status.json",    1 * MIB,   add_status_json, .is_free = true },
	{ "runs.json",      2 * MIB,   add_runs, .is_free = true },
	{ "timeline.txt",   256 * KIB, add_timeline, .is_free = true },
	{ "applied.txt",    1 * MIB,   add_applied },
	JOURNAL("kops-configuration.service", 2 * MIB, "nodeup"),
	JOURNAL("kubelet.service", 3 * MIB, NULL),
	JOURNAL("containerd.service", 1 * MIB, NULL),
	JOURNAL("docker.service", 1 * MIB, NULL),
	JOURNAL("protokube.service", 1 * MIB, NULL),
};
/* clang-format on */

/* Makes one part. Appends the line about it for people. */
static void make(struct collect *c, const struct part *p, struct buf *b, struct arena *a,
		 struct strv *lines)
{
	autoarena struct arena *scratch = arena_new_empty();
	char most[STR_SIZE_MAX], size[STR_SIZE_MAX];
	struct err why = { 0 };
	struct strv said = { 0 };
	int r = 0;

	c->arena = scratch;
	c->is_cut = false;
	*b = BUF_INIT(p->most);
	redact_begin(c->redact);
	if (p->is_free && c->is_unsure)
		strv_add(scratch, &said, "left out: not all secrets are known");
	else
		r = p->add(c, p, b, &why);
	c->is_unsure |= p->teaches && r < 0 && r != -ENOENT;
	c->lacks += r == -EACCES;
	if (c->is_cut || b->overflow)
		strv_add(scratch, &said, c->is_cut ? "older ones are left out" : "cut at its end");
	if (redact_hidden(c->redact))
		strv_addf(scratch, &said, "%zu lines not shown", redact_hidden(c->redact));
	if (r < 0)
		strv_add(scratch, &said,
			 r == -ENOENT ? "there is none" : redact_line(c->redact, scratch, why.msg));
	strv_addf(a, lines, "%-40s %10s of at most %-8s%s%s", p->name, str_size(size, b->len),
		  str_size(most, p->most), said.n ? "  " : "", strv_join(scratch, &said, "; "));
}

/* Learns the secrets before anything is shown. Of two parts that hold one secret, the first does not know it yet. */
static void learn(struct collect *c)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv unused = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].teaches) {
			autobuf struct buf b = BUF_INIT(0);

			make(c, &parts[i], &b, a, &unused);
		}
	c->lacks = 0;
}

/* Makes all parts, and adds them to the archive; NULL: none is made. */
static int make_all(struct collect *c, struct pack *to, struct arena *a, struct strv *lines,
		    struct err *e)
{
	const char *contents;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		autobuf struct buf b = BUF_INIT(0);

		make(c, &parts[i], &b, a, lines);
		if (to && b.len && pack_add(to, parts[i].name, buf_str(&b), b.len, e) < 0)
			return err_code(e);
	}
	contents = arena_printf(a, "nodeup %s\n%s\n", cli_version(), strv_join(a, lines, "\n"));
	return to ? pack_add(to, "contents.txt", contents, strlen(contents), e) : 0;
}

static int write_archive(struct collect *c, const char *path, struct arena *a, struct strv *lines,
			 struct err *e)
{
	autostage struct io_stage s = IO_STAGE_INIT;
	struct pack *to = NULL;
	int r;

	if (io_is_there(c->root_fd, path))
		return io_say_taken(path, e);
	/* of a call that was killed here */
	(void)io_stage_sweep(c->root_fd, location_beside(a, path, ""));
	r = io_stage_open(c->root_fd, path, &s, e);
	if (r >= 0)
		r = pack_new(s.fd, path, &to, e);
	if (r >= 0)
		r = make_all(c, to, a, lines, e);
	if (r >= 0)
		r = pack_end(to, e);
	pack_free(to);
	return r < 0 ? r : io_stage_commit_new(&s, path, e);
}

/* Returns "nodeup-HOST-DATE.tar.zst". */
static const char *usual_name(struct arena *a)
{
	struct utsname host = { 0 };

	(void)uname(&host);
	for (char *p = host.nodename; *p; p++)
		if (!str_has_only((const char[]){ *p, '\0' }, ".-"))
			*p = '-';
	return arena_printf(a, "nodeup-%s-%s.tar.zst", host.nodename,
			    dur_utc(a, dur_wall() / DUR_SEC, "%Y%m%d-%H%M%S"));
}

int cmd_collect_logs(struct cli *cli, struct err *e)
{
	autoclose int root = -1;
	struct arena *a = cli->arena;
	struct collect c = { .redact = redact_new(a) };
	const char *path =
		location_absolute(a, cli->output_file ? cli->output_file : usual_name(a));
	struct strv lines = { 0 };
	int r = io_open_root("/", &root, e);

	c.root_fd = root;
	if (r >= 0)
		r = status_read(a, root, &c.health, e);
	if (r < 0)
		return r;
	learn(&c);
	r = cli->list ? make_all(&c, NULL, a, &lines, e) : write_archive(&c, path, a, &lines, e);
	for (size_t i = 0; r >= 0 && i < lines.n; i++)
		show_line(stdout, "%s", lines.v[i]);
	if (r >= 0 && c.lacks)
		show_line(stdout, "%zu of these only root may read: run as root", c.lacks);
	if (r >= 0 && !cli->list)
		show_line(stdout, "wrote %s; look at it before you send it", path);
	return r;
}
