#include "assets/signature.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "assets/digest.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"

enum { ALGORITHM = 2 };

static const char trusted[] = "trusted comment: ", untrusted[] = "untrusted comment:";

/* Returns all lines except blank lines and the untrusted comment. */
static struct strv lines_of(struct arena *a, const char *text)
{
	struct strv all = strv_split(a, text, '\n'), lines = { 0 };

	for (size_t i = 0; i < all.n; i++) {
		/* a trusted comment is signed with its spaces, so only the line's end is cut */
		char *line = arena_strn(a, all.v[i], strcspn(all.v[i], "\r"));

		if (line[strspn(line, " \t")])
			strv_add(a, &lines, line);
	}
	if (lines.n && str_has_prefix(lines.v[0], untrusted)) {
		lines.v++;
		lines.n--;
	}
	return lines;
}

/* Decodes a line of exactly n bytes. */
static bool decode_line(struct arena *a, const char *line, uint8_t *out, size_t n)
{
	struct err ignored;
	char *data;
	size_t got;

	if (enc_unbase64(a, line, &data, &got, &ignored) < 0 || got != n)
		return false;
	memcpy(out, data, n);
	return true;
}

int signature_parse_key(struct arena *a, const char *text, struct signature_key *ret, struct err *e)
{
	uint8_t raw[ALGORITHM + SIGNATURE_ID + SIGNATURE_KEY];
	struct strv lines = lines_of(a, text);

	if (lines.n != 1 || !decode_line(a, lines.v[0], raw, sizeof(raw)) ||
	    memcmp(raw, "Ed", 2) != 0)
		return err_config(e, "not a public key of minisign: wanted a line like RWQ...");
	memcpy(ret->id, raw + ALGORITHM, SIGNATURE_ID);
	memcpy(ret->bytes, raw + ALGORITHM + SIGNATURE_ID, SIGNATURE_KEY);
	return 0;
}

int signature_parse(struct arena *a, const char *text, struct signature *ret, struct err *e)
{
	uint8_t raw[ALGORITHM + SIGNATURE_ID + SIGNATURE_SIZE];
	struct strv lines = lines_of(a, text);
	struct signature s = { 0 };

	if ((lines.n != 1 && lines.n != 3) || !decode_line(a, lines.v[0], raw, sizeof(raw)) ||
	    (memcmp(raw, "Ed", 2) != 0 && memcmp(raw, "ED", 2) != 0))
		return err_config(e, "not a signature of minisign: wanted the text of a .minisig");
	s.prehashed = raw[1] == 'D';
	memcpy(s.id, raw + ALGORITHM, SIGNATURE_ID);
	memcpy(s.bytes, raw + ALGORITHM + SIGNATURE_ID, SIGNATURE_SIZE);
	if (lines.n == 3) {
		if (!str_has_prefix(lines.v[1], trusted) ||
		    !decode_line(a, lines.v[2], s.global, sizeof(s.global)))
			return err_config(e, "not a signature of minisign: its trusted comment, or "
					     "what signs that, is broken");
		s.comment = lines.v[1] + strlen(trusted);
	}
	*ret = s;
	return 0;
}

const char *signature_id(const uint8_t id[static SIGNATURE_ID], struct arena *a)
{
	char text[2 * SIGNATURE_ID + 1];

	/* a little-endian number */
	for (size_t i = 0; i < SIGNATURE_ID; i++)
		(void)print_to(text + 2 * i, 3, "%02X", id[SIGNATURE_ID - 1 - i]);
	return arena_str(a, text);
}

static bool verify_bytes(const struct signature_key *key, const uint8_t sig[static SIGNATURE_SIZE],
			 const void *data, size_t n)
{
	EVP_PKEY *pkey;
	EVP_MD_CTX *c;
	bool right;
	struct digest ignored;

	/* must come first: it sets OpenSSL up without the host's configuration (digest.c) */
	digest_of(DIGEST_SHA256, "", 0, &ignored);
	pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->bytes, SIGNATURE_KEY);
	c = EVP_MD_CTX_new();
	if (!pkey || !c || EVP_DigestVerifyInit(c, NULL, NULL, NULL, pkey) != 1)
		abort();
	right = EVP_DigestVerify(c, sig, SIGNATURE_SIZE, data, n) == 1;
	EVP_MD_CTX_free(c);
	EVP_PKEY_free(pkey);
	return right;
}

static const struct signature_key *find_key(const struct signature *s,
					    const struct signature_keys *keys, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	for (size_t i = 0; i < keys->n; i++)
		if (memcmp(keys->v[i].id, s->id, SIGNATURE_ID) == 0)
			return &keys->v[i];
	(void)err_fail(e, ERR_INTEGRITY, ENOKEY, "signed with key %s, which is not known here",
		       signature_id(s->id, a));
	for (size_t i = 0; i < keys->n; i++)
		err_note(e, "known", "key %s of %s", signature_id(keys->v[i].id, a),
			 keys->v[i].from);
	return NULL;
}

/* A second signature covers the first one and the trusted comment. */
static bool is_comment_right(const struct signature *s, const struct signature_key *key)
{
	autoarena struct arena *a = arena_new_empty();
	size_t n;
	char *both;

	if (!s->comment)
		return true;
	n = strlen(s->comment);
	both = arena_alloc(a, SIGNATURE_SIZE + n);
	memcpy(both, s->bytes, SIGNATURE_SIZE);
	memcpy(both + SIGNATURE_SIZE, s->comment, n);
	return verify_bytes(key, s->global, both, SIGNATURE_SIZE + n);
}

static int check_bytes(const struct signature *s, const struct signature_key *key, const void *data,
		       size_t n, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	if (!verify_bytes(key, s->bytes, data, n)) {
		(void)err_fail(e, ERR_INTEGRITY, EBADMSG, "the signature is wrong");
		err_note(e, "key", "%s of %s", signature_id(key->id, a), key->from);
		return -EBADMSG;
	}
	if (!is_comment_right(s, key))
		return err_fail(e, ERR_INTEGRITY, EBADMSG,
				"the signature's trusted comment is not the one that was signed");
	return 0;
}

int signature_check(const struct signature *s, const struct signature_keys *keys, const void *data,
		    size_t n, struct err *e)
{
	const struct signature_key *key = find_key(s, keys, e);
	struct digest d;

	if (!key)
		return -ENOKEY;
	if (!s->prehashed)
		return check_bytes(s, key, data, n, e);
	digest_of(DIGEST_BLAKE2B, data, n, &d);
	return check_bytes(s, key, d.bytes, digest_size(d.algo), e);
}

/* Maps the file, since the older algorithm needs the data in one piece. */
static int check_mapped(const struct signature *s, const struct signature_key *key, int fd,
			const char *name, struct err *e)
{
	struct digest ignored;
	struct stat st;
	void *data;
	int r;

	/* hashes the file first: if the disk cannot read a page, read(2) only fails, but a process that has mapped
	 * the page is killed */
	r = digest_of_fd(DIGEST_SHA256, fd, name, &ignored, e);
	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "look at '%s'", name);
	if (st.st_size == 0)
		return check_bytes(s, key, "", 0, e);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return err_sys(e, "map '%s'", name);
	r = check_bytes(s, key, data, (size_t)st.st_size, e);
	(void)munmap(data, (size_t)st.st_size);
	return r;
}

int signature_check_fd(const struct signature *s, const struct signature_keys *keys, int fd,
		       const char *name, struct err *e)
{
	const struct signature_key *key = find_key(s, keys, e);
	struct digest d;
	int r;

	if (!key)
		return -ENOKEY;
	if (!s->prehashed)
		return check_mapped(s, key, fd, name, e);
	r = digest_of_fd(DIGEST_BLAKE2B, fd, name, &d, e);
	return r < 0 ? r : check_bytes(s, key, d.bytes, digest_size(d.algo), e);
}
