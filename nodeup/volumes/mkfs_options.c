#include "nodeup/volumes/mkfs.h"

#include <string.h>

enum form {
	FLAG,     /* no value */
	NUMBER,   /* "8192", "4k" */
	WORD,     /* "largefile" */
	FEATURES, /* "metadata_csum,^has_journal": any features except those in `keys` */
	KEYS,     /* "stride=16,stripe_width=32": only keys that are in `keys` */
};

/* Options that a document may give to a tool. None of these options chooses a device, a place on it, or a dry run. */
static const struct option {
	const char *fs, *flag;
	enum form form;
	const char *keys;
} options[] = {
	{ "ext4", "-b", NUMBER },
	{ "ext4", "-E", KEYS,
	  "stride stripe_width stripe-width lazy_itable_init lazy_journal_init packed_meta_blocks "
	  "num_backup_sb nodiscard discard root_owner" },
	{ "ext4", "-g", NUMBER },
	{ "ext4", "-G", NUMBER },
	{ "ext4", "-I", NUMBER },
	{ "ext4", "-i", NUMBER },
	{ "ext4", "-J", KEYS, "size fast_commit_size" },
	{ "ext4", "-m", NUMBER },
	{ "ext4", "-N", NUMBER },
	{ "ext4", "-O", FEATURES, "journal_dev" },
	{ "ext4", "-T", WORD },
	{ "xfs", "-K", FLAG },
	{ "xfs", "-b", KEYS, "size" },
	{ "xfs", "-d", KEYS, "agcount agsize su sw sunit swidth" },
	{ "xfs", "-i", KEYS, "size perblock maxpct align sparse attr projid32bit nrext64" },
	{ "xfs", "-l", KEYS, "size su sunit lazy-count version" },
	{ "xfs", "-m", KEYS, "crc finobt rmapbt reflink bigtime inobtcount" },
	{ "xfs", "-n", KEYS, "size ftype version" },
	{ "xfs", "-s", KEYS, "size" },
	{ "btrfs", "--csum", WORD },
	{ "btrfs", "--checksum", WORD },
	{ "btrfs", "--nodesize", NUMBER },
	{ "btrfs", "--sectorsize", NUMBER },
	{ "btrfs", "-K", FLAG },
	{ "btrfs", "-n", NUMBER },
	{ "btrfs", "-O", FEATURES, "zoned" },
	{ "btrfs", "-R", FEATURES, "" },
	{ "btrfs", "-s", NUMBER },
	{ "swap", "-p", NUMBER },
};

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

static bool is_in(const char *keys, const char *name, size_t n)
{
	for (const char *p = keys; *p; p += strspn(p, " ")) {
		const size_t len = strcspn(p, " ");

		if (len == n && memcmp(p, name, n) == 0)
			return true;
		p += len;
	}
	return false;
}

static bool is_number(const char *v)
{
	const size_t digits = strspn(v, "0123456789.");

	return digits > 0 &&
	       (v[digits] == '\0' || (strchr("kKmMgG", v[digits]) && v[digits + 1] == '\0'));
}

static bool is_feature(const char *v, size_t n, const char *denied)
{
	if (n > 0 && *v == '^') {
		v++;
		n--;
	}
	return n > 0 && *v != '-' && strspn(v, LETTERS) >= n && !is_in(denied, v, n);
}

/* key, or key=value */
static bool is_pair(const char *v, size_t n, const char *allowed)
{
	const char *eq = memchr(v, '=', n);
	const size_t key = eq ? (size_t)(eq - v) : n;

	return is_in(allowed, v, key) &&
	       (!eq || (key + 1 < n && strspn(eq + 1, LETTERS ":") >= n - key - 1));
}

static bool is_list(const struct option *o, const char *v)
{
	while (*v) {
		const size_t n = strcspn(v, ",");

		if (o->form == FEATURES ? !is_feature(v, n, o->keys) : !is_pair(v, n, o->keys))
			return false;
		v += n;
		if (*v == ',' && !*++v)
			return false;
	}
	return true;
}

static bool is_value(const struct option *o, const char *v)
{
	if (!*v)
		return false;
	switch (o->form) {
	case FLAG:
		return false;
	case NUMBER:
		return is_number(v);
	case WORD:
		return *v != '-' && strspn(v, LETTERS) == strlen(v);
	default:
		return is_list(o, v);
	}
}

/* Returns the row of "-i", "-i8192", "--csum" or "--csum=xxhash"; *ret_value NULL: the value is the next word. */
static const struct option *option_of(const char *fs, const char *arg, const char **ret_value)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const struct option *o = &options[i];
		const size_t n = strlen(o->flag);
		const bool is_long = o->flag[1] == '-';

		if (strcmp(o->fs, fs) != 0 || strncmp(arg, o->flag, n) != 0)
			continue;
		if (is_long && arg[n] != '\0' && arg[n] != '=')
			continue;
		*ret_value = arg[n] == '\0' ? NULL : arg + n + is_long;
		return o;
	}
	return NULL;
}

/* Options for which documents have their own keys. */
static const struct {
	const char *flag, *why;
} elsewhere[] = {
	{ "-U", "the UUID is derived, so that the mount unit knows it" },
	{ "--uuid", "the UUID is derived, so that the mount unit knows it" },
	{ "uuid=", "the UUID is derived, so that the mount unit knows it" },
	{ "-L", "there is label" },
	{ "--label", "there is label" },
	{ "-d", "there is raid" },
	{ "--data", "there is raid" },
};

static int not_allowed(struct err *e, const char *fs, const char *arg)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv flags = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++)
		if (str_has_prefix(arg, elsewhere[i].flag))
			return err_config(e, "formatOptions: '%s': %s", arg, elsewhere[i].why);
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (strcmp(options[i].fs, fs) == 0)
			strv_add(a, &flags, options[i].flag);
	return err_config(e, "formatOptions: '%s' is none that nodeup hands to the tool of %s (%s)",
			  arg, fs, strv_join(a, &flags, " "));
}

static struct strv words_of(struct arena *a, const struct strv *given)
{
	struct strv words = { 0 };

	for (size_t i = 0; i < given->n; i++) {
		const struct strv parts = strv_split(a, given->v[i], ' ');

		for (size_t k = 0; k < parts.n; k++)
			if (*parts.v[k])
				strv_add(a, &words, parts.v[k]);
	}
	return words;
}

int mkfs_options(struct arena *a, const char *fs, const struct strv *given, struct strv *ret,
		 struct err *e)
{
	const struct strv words = words_of(a, given);

	for (size_t i = 0; i < words.n; i++) {
		const char *arg = words.v[i], *value = NULL;
		const struct option *o = option_of(fs, arg, &value);

		if (!o)
			return not_allowed(e, fs, arg);
		if (o->form == FLAG && !value)
			continue;
		if (!value)
			value = i + 1 < words.n ? words.v[++i] : "";
		if (!is_value(o, value))
			return err_config(e, "formatOptions: '%s' of %s cannot be '%s'", o->flag,
					  fs, value);
	}
	*ret = words;
	return 0;
}
