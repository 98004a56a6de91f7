#include "assets/cache_signed.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache_dir.h"

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

bool cache_is_signed(struct cache *c, const struct asset *as)
{
	char name[CACHE_NAME_MAX], want[DIGEST_TEXT_MAX], got[DIGEST_TEXT_MAX] = { 0 };
	autoclose int fd = -1;

	if (!as->signature)
		return true;
	if (c->dir_fd < 0)
		return false;
	fd = openat(c->dir_fd, cache_side_name("signed", &as->digest, name),
		    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && read(fd, got, sizeof(got) - 1) > 0 &&
	       strcmp(record_of(as, want), got) == 0;
}

int cache_check_signature(struct cache *c, const struct asset *as, struct err *e)
{
	char name[CACHE_NAME_MAX], record[DIGEST_TEXT_MAX];
	autoclose int fd = -1;
	int r;

	if (!as->signature)
		return 0;
	r = cache_open(c, &as->digest, &fd, e);
	if (r < 0)
		return r;
	r = signature_check_fd(as->signature, as->keys, fd, as->name, e);
	if (r < 0)
		return err_wrap(e, "%s", as->where);
	record_of(as, record);
	/* without a record it is checked again */
	if (c->writable)
		(void)cache_put(c, cache_side_name("signed", &as->digest, name), record,
				strlen(record));
	return 0;
}
