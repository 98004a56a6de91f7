#include "assets/cache/signed.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/dir.h"

enum { RECORDS_MAX = 64 * 1024 };

/* What the record says: of all that the verdict depends on but the bytes. */
static const char *record_of(const struct asset *as, char hex[static DIGEST_TEXT_MAX])
{
	const struct signature *s = as->signature;
	autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);
	struct digest d;

	digest_update(c, &s->prehashed, sizeof(s->prehashed));
	digest_update(c, s->bytes, sizeof(s->bytes));
	digest_update(c, s->global, sizeof(s->global));
	digest_update(c, s->comment ? s->comment : "", s->comment ? strlen(s->comment) : 0);
	for (size_t i = 0; i < as->keys->n; i++)
		if (memcmp(as->keys->v[i].id, s->id, SIGNATURE_ID) == 0)
			digest_update(c, as->keys->v[i].bytes, SIGNATURE_KEY);
	digest_final(c, &d);
	return digest_hex(&d, hex);
}

static bool wants_signature(const struct asset *as)
{
	for (const struct asset *twin = as; twin; twin = asset_next(as, twin))
		if (twin->signature)
			return true;
	return false;
}

/* Whether the records have those of all signatures. */
static bool has_records(const struct asset *as, const char *records)
{
	char hex[DIGEST_TEXT_MAX];

	for (const struct asset *twin = as; twin; twin = asset_next(as, twin))
		if (twin->signature && !strstr(records, record_of(twin, hex)))
			return false;
	return true;
}

bool cache_is_signed(struct cache *c, const struct asset *as)
{
	char name[CACHE_NAME_MAX];
	autobuf struct buf records = BUF_INIT(RECORDS_MAX);
	autoclose int fd = -1;
	struct err ignored;

	if (!wants_signature(as))
		return true;
	if (!cache_has_records(c))
		return false;
	fd = io_open_at(c->dir_fd, cache_side_name("signed", &as->digest, name), O_NOFOLLOW);
	return fd >= 0 && io_read_fd(fd, name, &records, &ignored) >= 0 &&
	       has_records(as, buf_str(&records));
}

int cache_check_signature(struct cache *c, const struct asset *as, struct err *e)
{
	char name[CACHE_NAME_MAX], hex[DIGEST_TEXT_MAX];
	autobuf struct buf records = BUF_INIT(RECORDS_MAX);
	autoclose int fd = -1;
	int r;

	if (!wants_signature(as))
		return 0;
	r = cache_open(c, &as->digest, &fd, e);
	if (r < 0)
		return r;
	for (const struct asset *twin = as; twin; twin = asset_next(as, twin)) {
		if (!twin->signature)
			continue;
		r = signature_check_fd(twin->signature, twin->keys, fd, twin->name, e);
		if (r < 0)
			return err_wrap(e, "%s", twin->where);
		(void)buf_addf(&records, "%s\n", record_of(twin, hex));
	}
	/* without a record it is checked again */
	if (c->writable)
		(void)cache_put(c, cache_side_name("signed", &as->digest, name), buf_str(&records),
				records.len);
	return 0;
}
