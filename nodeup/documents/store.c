#include "nodeup/documents/store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/aside.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/walk.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/op.h"

int store_new(struct arena *a, const struct store_req *req, struct store **ret, struct err *e)
{
	struct s3_session *s3;
	struct store *s;
	int r = s3_session_new(req->region, req->imds, &s3, e);

	if (r < 0)
		return r;
	s = xcalloc(1, sizeof(*s));
	s->arena = a;
	s->http = req->http;
	s->pipe_ns = req->pipe_ns;
	s->patience = req->patience;
	s->s3 = s3;
	*ret = s;
	return 0;
}

void store_free(struct store *s)
{
	if (s)
		s3_session_free(s->s3);
	free(s);
}

void store_set_patience(struct store *s, int64_t ns)
{
	s->patience.ns = ns;
}

void store_use_dual_stack(struct store *s)
{
	s3_session_use_dual_stack(s->s3);
}

const char *store_region(const struct store *s)
{
	return s3_session_region(s->s3);
}

bool store_clock_agrees(const struct store *s)
{
	return s->clock_agrees;
}

int64_t store_clock_off(const struct store *s)
{
	return creds_clock_off(s3_session_creds(s->s3));
}

static char *without_slash(struct arena *a, const char *location)
{
	size_t n = strlen(location);

	while (n > 1 && location[n - 1] == '/' && location[n - 2] != '/')
		n--;
	return arena_strn(a, location, n);
}

static struct store_entry *find_entry(struct store *s, const char *location, bool listing)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->entries[i].listing == listing && str_eq(s->entries[i].location, location))
			return &s->entries[i];
	return NULL;
}

void store_remember(struct store *s, const struct store_entry *entry)
{
	arena_push(s->arena, s->entries, s->n, *entry);
}

/* Returns whether the file or folder is open. If the file or folder is missing, notes that in the entry. For other
 * errors returns < 0. */
static int is_open(struct store *s, int fd, const char *path, struct store_entry *entry,
		   struct err *e)
{
	if (fd >= 0)
		return 1;
	if (errno != ENOENT && errno != ENOTDIR)
		return err_sys(e, "open '%s'", path);
	entry->missing = true;
	entry->why = arena_printf(s->arena, "open '%s': %s", path, strerror(errno));
	return 0;
}

static int read_local(struct store *s, const char *path, struct store_entry *entry, struct err *e)
{
	autobuf struct buf b = BUF_INIT(STORE_DOCUMENT_MAX);
	int r = io_read_given(path, s->pipe_ns, &b, e);

	if (r == -ENOENT || r == -ENOTDIR)
		return is_open(s, -1, path, entry, e);
	if (r < 0)
		return r;
	entry->text = arena_strn(s->arena, buf_str(&b), b.len);
	entry->n = b.len;
	return 0;
}

/* Lists a folder of this machine, without files that were set aside as damaged. */
static int list_local(struct store *s, const char *path, struct store_entry *entry, struct err *e)
{
	autoclose int fd = io_open_at(AT_FDCWD, path, O_DIRECTORY);
	struct strv names = { 0 };
	int r = is_open(s, fd < 0 ? -1 : 0, path, entry, e);

	if (r <= 0)
		return r;
	if (walk_names(s->arena, fd, &names) < 0)
		return err_sys(e, "list '%s'", path);
	for (size_t i = 0; i < names.n; i++)
		if (!aside_is(names.v[i]))
			strv_add(s->arena, &entry->names, names.v[i]);
	return 0;
}

/* Returns the location that is really read: rewrites apply to remote locations. */
static const char *target_of(struct store *s, const char *location)
{
	return s->http && location_is_remote(location) ? http_rewritten(s->http, s->arena, location)
						       : location;
}

static int prepare_op(struct store *s, const char *location, bool listing, struct store_op *ret,
		      struct err *e)
{
	struct store_op op = { .entry = { .location = arena_str(s->arena, location),
					  .listing = listing } };
	int r;

	op.target = target_of(s, op.entry.location);
	if (str_has_prefix(op.target, "s3://")) {
		op.s3.location = op.target;
		op.s3.listing = listing;
		r = s3_parse(s->arena, op.target, &op.s3.loc, e);
		if (r < 0)
			return r;
	} else if (!str_has_prefix(op.target, "https://") &&
		   !str_has_prefix(op.target, "http://")) {
		return err_config(e, "'%s': wanted a path, or an " LOCATION_SCHEMES " URL",
				  op.target);
	}
	op.shown = location_shown(s->arena, op.target);
	*ret = op;
	return 0;
}

/* Fails if a remote location may not be asked. */
static int check_reachable(struct store *s, const char *location, struct err *e)
{
	location = location_shown(s->arena, location);
	if (s->replaying)
		return err_fail(e, ERR_NET, ENODATA, "%s: not among the documents kept on %s",
				location, s->kept);
	if (!s->http)
		return err_fail(e, ERR_NET, ENETDOWN, "%s: not read, we are offline", location);
	return 0;
}

/* Reads this instance's user data. Locations beside the user data do not exist. */
static int read_imds(struct store *s, struct store_entry *entry, struct err *e)
{
	const int64_t since = dur_now();
	unsigned int attempt = 0;
	struct imds *imds;
	int r;

	entry->missing = !str_eq(entry->location, LOCATION_IMDS);
	r = entry->missing ? 0 : check_reachable(s, entry->location, e);
	if (r < 0 || entry->missing)
		return r;
	imds = imds_new(s->http);
	do
		r = imds_user_data(imds, s->arena, &entry->text, &entry->n, e);
	while (r < 0 && r != -ENOENT && e->kind == ERR_NET &&
	       wait_again(&s->patience, LOCATION_IMDS, since, ++attempt, e));
	imds_free(imds);
	if (r != -ENOENT)
		return r;
	entry->missing = true;
	entry->why = arena_str(s->arena, e->msg);
	return 0;
}

static int read_remote(struct store *s, const char *location, bool listing,
		       struct store_entry *entry, struct err *e)
{
	struct store_op op;
	int r;

	r = prepare_op(s, location, listing, &op, e);
	if (r >= 0)
		r = check_reachable(s, location, e);
	if (r >= 0)
		r = store_run(s, &op, 1, e);
	if (r < 0)
		return r;
	*entry = op.entry;
	return 0;
}

/* Answers from memory. If the location is not known yet, reads it now. */
static int look_up(struct store *s, const char *location, bool listing, struct store_entry **ret,
		   struct err *e)
{
	struct store_entry entry = { .location = arena_str(s->arena, location),
				     .listing = listing };
	const char *path = s->replaying ? location_path(location)
					: location_path(target_of(s, location));
	int r;

	*ret = find_entry(s, location, listing);
	if (*ret)
		return 0;
	if (location_is_imds(location))
		r = read_imds(s, &entry, e);
	else if (!path)
		r = read_remote(s, location, listing, &entry, e);
	else
		r = listing ? list_local(s, path, &entry, e) : read_local(s, path, &entry, e);
	if (r < 0)
		return r;
	store_remember(s, &entry);
	*ret = &s->entries[s->n - 1];
	return 0;
}

int store_get(struct store *s, const char *location, const char **ret_text, size_t *ret_n,
	      struct err *e)
{
	struct store_entry *entry;
	int r = look_up(s, location, false, &entry, e);

	if (r < 0)
		return r;
	if (entry->missing)
		return err_fail(e, location_is_remote(location) ? ERR_NET : ERR_SYSTEM, ENOENT,
				"%s",
				entry->why ? entry->why
					   : arena_printf(s->arena, "%s: not there",
							  location_shown(s->arena, location)));
	*ret_text = entry->text;
	*ret_n = entry->n;
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(((const struct digest *)a)->bytes, ((const struct digest *)b)->bytes,
		      sizeof(((const struct digest *)a)->bytes));
}

/* Adds only the contents: not the locations, nor which documents are missing. */
void store_digest(const struct store *s, struct digest_ctx *c)
{
	struct digest *all = xcalloc(s->n + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct store_entry *entry = &s->entries[i];
		const char *names = entry->listing ? strv_join(s->arena, &entry->names, "/") : NULL;

		if (entry->issued || entry->missing)
			continue;
		digest_of(DIGEST_SHA256, names ? names : entry->text,
			  names ? strlen(names) : entry->n, &all[n++]);
	}
	qsort(all, n, sizeof(*all), by_bytes);
	for (size_t i = 0; i < n; i++)
		digest_update(c, all[i].bytes, digest_size(DIGEST_SHA256));
	free(all);
}

void store_forget(struct store *s, const char *location)
{
	struct store_entry *entry = find_entry(s, location, false);

	if (entry)
		*entry = s->entries[--s->n];
}

int store_list(struct store *s, const char *location, struct strv *ret, struct err *e)
{
	struct store_entry *entry;
	int r = look_up(s, without_slash(s->arena, location), true, &entry, e);

	if (r < 0)
		return r;
	*ret = entry->names;
	return 0;
}

/* Adds an operation for each location that is remote, not known, and not in ops yet. */
static int add_ops(struct store *s, const struct strv *locations, bool listing,
		   struct store_op *ops, size_t *n, struct err *e)
{
	for (size_t i = 0; locations && i < locations->n; i++) {
		const char *location = locations->v[i];
		bool known = false;
		int r;

		if (listing)
			location = without_slash(s->arena, location);
		for (size_t k = 0; k < *n; k++)
			known = known || (ops[k].entry.listing == listing &&
					  str_eq(ops[k].entry.location, location));
		if (known || location_is_imds(location) ||
		    !location_is_remote(target_of(s, location)) || find_entry(s, location, listing))
			continue;
		r = prepare_op(s, location, listing, &ops[*n], e);
		if (r < 0)
			return r;
		(*n)++;
	}
	return 0;
}

int store_prefetch(struct store *s, const struct strv *documents, const struct strv *folders,
		   struct err *e)
{
	size_t max = (documents ? documents->n : 0) + (folders ? folders->n : 0), n = 0;
	autofree struct store_op *ops = xcalloc(max, sizeof(*ops));
	int r;

	r = add_ops(s, documents, false, ops, &n, e);
	if (r >= 0)
		r = add_ops(s, folders, true, ops, &n, e);
	if (r < 0)
		return r;
	/* a location that cannot be reached is an error only when it is needed */
	if (n == 0 || s->replaying || !s->http)
		return 0;
	r = store_run(s, ops, n, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		store_remember(s, &ops[i].entry);
	return 0;
}
