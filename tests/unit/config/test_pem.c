#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/config/pem_block.h"
#include "nodeup/config/pem.h"
#include "nodeup/base/str.h"

enum { NOW = 1800000000, DAY = 86400 };

/* What is made; its fields are what a row changes. */
struct wish {
	const char *name, *usage, *hosts;
	long serial, from, to;
	const char *organization, *second_name, *key_usage;
	bool ca;
	bool nameless; /* a name without a letter stands behind its hosts */
};

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *x;

	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	assert_non_null(x);
	(void)X509_add_ext(cert, x, -1);
	X509_EXTENSION_free(x);
}

static void add_to_subject(X509 *cert, const char *what, const char *text)
{
	if (text)
		(void)X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), what, MBSTRING_ASC,
						 (const unsigned char *)text, -1, -1, 0);
}

static void add_empty_name(X509 *cert)
{
	GENERAL_NAMES *all = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	GENERAL_NAME *name = GENERAL_NAME_new();
	ASN1_IA5STRING *text = ASN1_IA5STRING_new();

	assert_int_equal(ASN1_STRING_set(text, "", 0), 1);
	GENERAL_NAME_set0_value(name, GEN_DNS, text);
	assert_true(sk_GENERAL_NAME_push(all, name) > 0);
	assert_int_equal(X509_add1_ext_i2d(cert, NID_subject_alt_name, all, 0, X509V3_ADD_REPLACE),
			 1);
	GENERAL_NAMES_free(all);
}

/* issuer NULL: a CA of its own. */
static X509 *make(const struct wish *w, EVP_PKEY *key, X509 *issuer, EVP_PKEY *signer)
{
	X509 *cert = X509_new();

	(void)X509_set_version(cert, 2);
	(void)ASN1_INTEGER_set(X509_get_serialNumber(cert), w->serial);
	(void)ASN1_TIME_set(X509_getm_notBefore(cert), w->from);
	(void)ASN1_TIME_set(X509_getm_notAfter(cert), w->to);
	add_to_subject(cert, "O", w->organization);
	add_to_subject(cert, "CN", w->name);
	add_to_subject(cert, "CN", w->second_name);
	(void)X509_set_issuer_name(cert, X509_get_subject_name(issuer ? issuer : cert));
	(void)X509_set_pubkey(cert, key);
	add_extension(cert, issuer ? issuer : cert, NID_basic_constraints,
		      issuer && !w->ca ? "critical,CA:FALSE" : "critical,CA:TRUE");
	if (w->key_usage)
		add_extension(cert, issuer, NID_key_usage, w->key_usage);
	if (w->usage)
		add_extension(cert, issuer, NID_ext_key_usage, w->usage);
	if (w->hosts)
		add_extension(cert, issuer, NID_subject_alt_name, w->hosts);
	if (w->nameless)
		add_empty_name(cert);
	assert_true(X509_sign(cert, signer, EVP_sha256()) > 0);
	return cert;
}

static const char *pem_of(struct arena *a, X509 *cert)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *p;
	const char *text;
	long n;

	(void)PEM_write_bio_X509(bio, cert);
	n = BIO_get_mem_data(bio, &p);
	text = arena_strn(a, p, (size_t)n);
	BIO_free(bio);
	return text;
}

static EVP_PKEY *key_of(const char *text)
{
	BIO *bio = BIO_new_mem_buf(text, -1);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

	BIO_free(bio);
	return key;
}

/* Two generations of a CA of one name, and a key of ours. */
struct world {
	struct arena *arena;
	const char *key, *other, *pool;
	EVP_PKEY *ours, *ca_keys[2];
	X509 *cas[2];
};

static int set_up(void **state)
{
	struct arena *a = arena_new_empty();
	struct world *w = arena_new(a, struct world);
	const char *public;
	struct err e;

	w->arena = a;
	assert_int_equal(pem_new_key(a, &w->key, &public, &e), 0);
	assert_int_equal(pem_new_key(a, &w->other, &public, &e), 0);
	w->ours = key_of(w->key);
	w->pool = "";
	for (int i = 0; i < 2; i++) {
		const struct wish ca = {
			"kubernetes-ca", NULL, NULL, 100 + i, NOW - DAY, NOW + DAY
		};

		w->ca_keys[i] = EVP_RSA_gen(2048);
		w->cas[i] = make(&ca, w->ca_keys[i], NULL, w->ca_keys[i]);
		w->pool = arena_printf(a, "%s%s", w->pool, pem_of(a, w->cas[i]));
	}
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 2; i++) {
		EVP_PKEY_free(w->ca_keys[i]);
		X509_free(w->cas[i]);
	}
	EVP_PKEY_free(w->ours);
	arena_free(w->arena);
	return 0;
}

static const char *const hosts[] = { "i-0", "172.20.32.11", NULL };
/* beside them, as EC2 names an instance */
static const char *const others[] = { "", "ip-172-20-32-11.internal", "2001:db8::1", NULL };
static const char *const none[] = { NULL };

/* What comes of it, with what is wanted of a server or a client; "" it is right. */
static const char *judge(struct world *w, const struct wish *wish, int ca, bool serves,
			 const char *key)
{
	X509 *cert = make(wish, w->ours, w->cas[ca], w->ca_keys[ca]);
	const struct pem_wanted want = {
		.key = key,
		.pool = w->pool,
		.issuer_id = "101",
		.name = "i-0",
		.organization = wish->organization ? "system:nodes" : NULL,
		.hosts = serves ? hosts : NULL,
		.others = serves ? others : none,
		.serves = serves,
		.time = NOW,
	};
	struct err e = { 0 };
	struct pem_life life;

	(void)!pem_check_issued(pem_of(w->arena, cert), &want, &life, &e);
	X509_free(cert);
	return arena_str(w->arena, e.msg);
}

static const struct wish client = { "i-0", "clientAuth", NULL, 7, NOW - DAY, NOW + DAY };
static const struct wish server = { "i-0", "serverAuth", "DNS:i-0,IP:172.20.32.11",
				    8,     NOW - DAY,    NOW + DAY };

static void what_was_asked_for_is_taken(void **state)
{
	struct world *w = *state;

	assert_string_equal(judge(w, &client, 1, false, w->key), "");
	assert_string_equal(judge(w, &server, 1, true, w->key), "");
}

static void anything_else_is_refused(void **state)
{
	struct world *w = *state;
	struct wish of = client, late = client, early = client, short_one = server;
	const char *said;

	of.name = "i-1";
	late.to = NOW - 1;
	early.from = NOW + 1;
	short_one.hosts = "DNS:i-0";
	assert_non_null(strstr(judge(w, &client, 1, false, w->other), "another key than ours"));
	assert_non_null(
		strstr(judge(w, &client, 0, false, w->key), "not signed by the CA of id 101"));
	assert_non_null(strstr(judge(w, &of, 1, false, w->key), "not for 'i-0'"));
	assert_non_null(strstr(judge(w, &late, 1, false, w->key), "certificate has expired"));
	assert_non_null(strstr(judge(w, &early, 1, false, w->key), "not yet valid"));
	assert_non_null(
		strstr(judge(w, &short_one, 1, true, w->key), "does not have '172.20.32.11'"));
	said = judge(w, &client, 1, true, w->key);
	assert_non_null(strstr(said, "does not hold: "));
	assert_non_null(strstr(judge(w, &server, 1, false, w->key), "does not hold: "));
}

/* What a signer that is not ours to judge may put there beside our key. */
static void what_is_not_wanted_of_it_is_refused(void **state)
{
	static const struct wish *const base[] = { &client, &server };
	static const struct {
		bool serves;
		struct wish change;
		const char *says; /* "" it is right */
	} rows[] = {
		{ false, { .organization = "system:nodes" }, "" },
		{ false, { .organization = "system:masters" }, "not for 'i-0' of system:nodes" },
		{ false, { .organization = "System:Nodes" }, "not for 'i-0' of system:nodes" },
		{ false, { .second_name = "i-1" }, "not for 'i-0'" },
		{ false, { .name = "I-0" }, "not for 'i-0'" },
		{ false, { .ca = true }, "it is that of a CA" },
		{ false, { .key_usage = "critical,digitalSignature" }, "" },
		{ true, { .key_usage = "critical,digitalSignature,keyEncipherment" }, "" },
		{ false,
		  { .key_usage = "critical,digitalSignature,keyCertSign" },
		  "it may sign others" },
		{ true,
		  { .key_usage = "critical,digitalSignature,cRLSign" },
		  "it may sign others" },
		{ false, { .usage = "clientAuth,serverAuth" }, "it is not for a client alone" },
		{ true, { .usage = "serverAuth,clientAuth" }, "it is not for a server alone" },
		{ false, { .usage = "" }, "it is not for a client alone" },
		{ false, { .hosts = "DNS:i-0" }, "has 'i-0', which is not this one's" },
		{ true, { .hosts = "" }, "does not have 'i-0'" },
		{ true, { .hosts = "DNS:i-0" }, "does not have '172.20.32.11'" },
		{ true, { .hosts = "DNS:*,IP:172.20.32.11" }, "does not have 'i-0'" },
		{ true, { .hosts = "DNS:i-0,IP:172.20.32.11,DNS:*" }, "has '*'" },
		{ true,
		  { .hosts =
			    "DNS:i-0,IP:172.20.32.11,IP:2001:DB8:0:0::1,DNS:ip-172-20-32-11.internal" },
		  "" },
		{ true,
		  { .hosts = "DNS:i-0,IP:172.20.32.11,DNS:kubernetes.default.svc" },
		  "has 'kubernetes.default.svc', which is not this one's" },
		{ true, { .hosts = "DNS:i-0,IP:172.20.32.11,IP:10.0.0.1" }, "has '10.0.0.1'" },
		{ true,
		  { .hosts = "DNS:i-0,IP:172.20.32.11,URI:spiffe://a/b" },
		  "has 'neither a name nor an address'" },
		{ true, { .nameless = true }, "the certificate has an empty name" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct wish *change = &rows[i].change;
		struct wish wish = *base[rows[i].serves];
		const char *said;

		wish.organization = change->organization;
		wish.second_name = change->second_name;
		wish.key_usage = change->key_usage;
		wish.ca = change->ca;
		wish.nameless = change->nameless;
		if (change->name)
			wish.name = change->name;
		if (change->usage)
			wish.usage = *change->usage ? change->usage : NULL;
		if (change->hosts)
			wish.hosts = *change->hosts ? change->hosts : NULL;
		said = judge(*state, &wish, 1, rows[i].serves, ((struct world *)*state)->key);
		if (*rows[i].says ? !strstr(said, rows[i].says) : *said)
			fail_msg("row %zu: '%s'", i, said);
	}
}

/* One block is looked at, and that one is written anew. */
static void what_stands_around_it_is_not_taken(void **state)
{
	struct world *w = *state;
	X509 *cert = make(&client, w->ours, w->cas[1], w->ca_keys[1]);
	const char *text = pem_of(w->arena, cert);
	const char *const kinds[] = { "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "PUBLIC KEY" };

	assert_string_equal(
		pem_first(w->arena, arena_printf(w->arena, "text\n%s%s", text, w->pool)), text);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const char *body = text + strlen("-----BEGIN CERTIFICATE-----"),
			   *end = strstr(body, "-----END");
		const char *other = arena_printf(w->arena,
						 "-----BEGIN %s-----%.*s-----END %s-----\n",
						 kinds[i], (int)(end - body), body, kinds[i]);

		assert_null(pem_first(w->arena, other));
		assert_string_equal(
			pem_first(w->arena, arena_printf(w->arena, "%s%s", other, text)), text);
	}
	assert_null(pem_first(w->arena, "none"));
	X509_free(cert);
}

static void it_says_until_when_it_holds(void **state)
{
	struct world *w = *state;
	X509 *cert = make(&client, w->ours, w->cas[1], w->ca_keys[1]);
	const struct pem_wanted want = {
		.key = w->key, .pool = w->pool, .issuer_id = "101", .name = "i-0", .time = NOW
	};
	struct pem_life life = { 0 };
	struct err e;

	assert_int_equal(pem_check_issued(pem_of(w->arena, cert), &want, &life, &e), 0);
	assert_int_equal(life.until, NOW + DAY);
	X509_free(cert);
}

/* To the second, of the certificate and of its CA, which has the longer or the shorter life. */
static void what_holds_by_its_dates_is_what_the_check_takes(void **state)
{
	struct world *w = *state;
	const struct wish lives[] = {
		{ "i-0", "clientAuth", NULL, 7, NOW - DAY / 2, NOW + DAY / 2 },
		{ "i-0", "clientAuth", NULL, 7, NOW - 2 * DAY, NOW + 2 * DAY },
	};
	size_t n_held = 0;

	for (size_t i = 0; i < ARRAY_LEN(lives); i++) {
		X509 *cert = make(&lives[i], w->ours, w->cas[1], w->ca_keys[1]);
		const char *text = pem_of(w->arena, cert);
		struct pem_wanted want = { .key = w->key,
					   .pool = w->pool,
					   .issuer_id = "101",
					   .name = "i-0",
					   .time = NOW };
		struct pem_life life, ignored;
		struct err e;

		X509_free(cert);
		assert_int_equal(pem_check_issued(text, &want, &life, &e), 0);
		for (int64_t at = NOW - 2 * DAY; at <= NOW + 2 * DAY; at += DAY / 12)
			for (int off = -1; off < 2; off++)
				for (int fresh = 0; fresh < 2; fresh++) {
					bool held;

					want.time = at + off;
					want.fresh = fresh;
					held = pem_check_issued(text, &want, &ignored, &e) == 0;
					assert_int_equal(pem_still_holds(&life, &want), held);
					n_held += held;
				}
		want.time = 0;
		assert_true(pem_still_holds(&life, &want));
	}
	assert_true(n_held > 50);
}

static const char *key_text(struct world *w, EVP_PKEY *key, bool by_algorithm)
{
	BIO *bio = BIO_new(BIO_s_mem());
	const char *text;
	char *p;
	long n;

	if (by_algorithm)
		(void)PEM_write_bio_PrivateKey_traditional(bio, key, NULL, NULL, 0, NULL, NULL);
	else
		(void)PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
	n = BIO_get_mem_data(bio, &p);
	text = arena_strn(w->arena, p, (size_t)n);
	BIO_free(bio);
	return text;
}

/* As kops, openssl and Go write them. */
static void each_form_of_a_key_is_read(void **state)
{
	struct world *w = *state;
	EVP_PKEY *keys[] = { EVP_RSA_gen(2048), EVP_EC_gen("P-256") };
	static const char *const labels[] = { "BEGIN RSA PRIVATE KEY", "BEGIN EC PRIVATE KEY" };
	struct err e;

	for (size_t i = 0; i < 2; i++) {
		X509 *cert = make(&client, keys[i], w->cas[1], w->ca_keys[1]);
		const char *text = pem_of(w->arena, cert), *own = key_text(w, keys[i], true),
			   *wrapped = key_text(w, keys[i], false);

		assert_non_null(strstr(own, labels[i]));
		assert_non_null(strstr(wrapped, "BEGIN PRIVATE KEY"));
		assert_int_equal(pem_check_key(own, text, &e), 0);
		assert_int_equal(pem_check_key(wrapped, text, &e), 0);
		assert_true(pem_check_key(w->other, text, &e) < 0);
		X509_free(cert);
		EVP_PKEY_free(keys[i]);
	}
}

static const char *block_of(struct world *w, const unsigned char *der, long n)
{
	BIO *bio = BIO_new(BIO_s_mem());
	const char *text;
	char *p;

	assert_true(PEM_write_bio(bio, PEM_STRING_RSA, "", der, n) > 0);
	n = BIO_get_mem_data(bio, &p);
	text = arena_strn(w->arena, p, (size_t)n);
	BIO_free(bio);
	return text;
}

/* Sequences that are none of an RSA key's: of nine words that are no numbers, and of one number. */
static void a_key_of_other_numbers_is_damaged(void **state)
{
	struct world *w = *state;
	X509 *cert = make(&client, w->ours, w->cas[1], w->ca_keys[1]);
	const char *of = pem_of(w->arena, cert);
	unsigned char *der = NULL;
	const int n = i2d_PrivateKey(w->ours, &der);
	const unsigned char version[] = { 0x30, 3, 2, 1, 0 };
	unsigned char words[2 + 9 * 3] = { 0x30, 9 * 3 };
	struct err e;

	for (int i = 0; i < 9; i++)
		memcpy(words + 2 + 3 * i, (unsigned char[]){ V_ASN1_BOOLEAN, 1, 255 }, 3);
	assert_int_equal(pem_check_key(block_of(w, der, n), of, &e), 0);
	assert_true(pem_check_key(block_of(w, der, n - 1), of, &e) < 0);
	assert_non_null(strstr(e.msg, "damaged"));
	assert_true(pem_check_key(block_of(w, version, sizeof(version)), of, &e) < 0);
	assert_non_null(strstr(e.msg, "damaged"));
	assert_true(pem_check_key(block_of(w, words, sizeof(words)), of, &e) < 0);
	assert_non_null(strstr(e.msg, "damaged"));
	OPENSSL_free(der);
	X509_free(cert);
}

/* Its bytes are what tells it from others, with those behind it. */
static void a_certificate_is_parsed_once(void **state)
{
	struct world *w = *state;
	X509 *cert = make(&client, w->ours, w->cas[1], w->ca_keys[1]), *found[4];
	const int n = i2d_X509(cert, NULL);
	unsigned char *der = calloc(1, (size_t)n + 1), *end = der;
	bool whole[4];

	assert_int_equal(i2d_X509(cert, &end), n);
	for (int i = 0; i < 4; i++)
		found[i] = certificate_of(der, n + i % 2, &whole[i]);
	assert_ptr_equal(found[0], found[2]);
	assert_ptr_equal(found[1], found[3]);
	assert_int_equal(X509_cmp(found[0], cert), 0);
	assert_true(whole[0] && whole[2] && !whole[1] && !whole[3]);
	assert_null(certificate_of(der, n - 1, &whole[0]));
	for (int i = 0; i < 4; i++)
		X509_free(found[i]);
	/* of another signature */
	der[n - 1] ^= 1;
	found[0] = certificate_of(der, n, &whole[0]);
	assert_int_not_equal(X509_cmp(found[0], cert), 0);
	X509_free(found[0]);
	X509_free(cert);
	free(der);
}

static void a_text_that_is_none(void **state)
{
	struct world *w = *state;
	const struct pem_wanted want = {
		.key = w->key, .pool = w->pool, .issuer_id = "101", .time = NOW
	};
	struct pem_life life;
	struct err e;

	assert_true(pem_check_issued("", &want, &life, &e) < 0);
	assert_non_null(strstr(e.msg, "no certificate"));
}

/* The text with each `what` replaced. */
static const char *with(struct world *w, const char *text, const char *what, const char *by)
{
	const char *at = strstr(text, what);

	if (!at)
		return text;
	return arena_printf(w->arena, "%.*s%s%s", (int)(at - text), text, by,
			    with(w, at + strlen(what), what, by));
}

static const char *public_key(struct world *w, const char *label)
{
	BIO *bio = BIO_new(BIO_s_mem());
	const char *text;
	char *p;
	long n;

	(void)PEM_write_bio_PUBKEY(bio, w->ours);
	n = BIO_get_mem_data(bio, &p);
	text = arena_strn(w->arena, p, (size_t)n);
	BIO_free(bio);
	return with(w, text, "PUBLIC KEY", label);
}

/* As the programs that use it: Go passes over what is no block, and over a block of another name. */
static void certificates_are_read_to_the_last(void **state)
{
	struct world *w = *state;
	const char *one = pem_of(w->arena, w->cas[0]), *two = w->pool;
	const char *behind = arena_printf(w->arena, "%s%s", one, "-----BEGIN CERTIFICATE-----\n");
	const struct {
		const char *text, *says; /* NULL: it is right */
	} all[] = {
		{ one, NULL },
		{ two, NULL },
		{ arena_printf(w->arena, "Subject: x\n%s\n# the older\n%s\n\n", one, one), NULL },
		{ with(w, one, "\n", "\r\n"), NULL },
		{ arena_printf(w->arena, "%s%s", one, public_key(w, "PUBLIC KEY")), NULL },
		{ arena_strn(w->arena, one, strlen(one) - 1), NULL },
		{ "", "no PEM certificate" },
		{ "garbage", "no PEM certificate" },
		{ w->key, "no PEM certificate" },
		{ public_key(w, "PUBLIC KEY"), "no PEM certificate" },
		{ "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", "damaged" },
		{ "-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n", "damaged" },
		{ "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "damaged" },
		{ arena_strn(w->arena, one, strlen(one) / 2), "damaged" },
		{ with(w, one, "END CERTIFICATE", "END CERTIFICAT"), "damaged" },
		{ with(w, one, "BEGIN CERTIFICATE", "BEGIN CERTIFICAT"), "damaged" },
		{ with(w, one, "CERTIFICATE", "CERTIFICAT"), "called 'CERTIFICAT'" },
		{ with(w, one, "CERTIFICATE", "X509 CERTIFICATE"), "called 'X509 CERTIFICATE'" },
		{ with(w, one, "CERTIFICATE", "TRUSTED CERTIFICATE"), "called 'TRUSTED" },
		{ with(w, one, "CERTIFICATE-----\n", "CERTIFICATE-----\nA: b\n\n"), "damaged" },
		{ behind, "behind the first 1 is damaged" },
		{ arena_printf(w->arena, "%s%s", behind, two), "damaged" },
		{ arena_printf(w->arena, "%s%s", one, with(w, one, "CERTIFICATE", "CERT")),
		  "called 'CERT'" },
		{ arena_printf(w->arena, "%s-----BEGIN CERTIFICATE----\n", one), "damaged" },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct err e = { 0 };

		(void)!pem_check_certificate(all[i].text, &e);
		if (all[i].says ? !strstr(e.msg, all[i].says) : *e.msg != '\0')
			fail_msg("%zu: '%s' of\n%s", i, e.msg, all[i].text);
	}
}

static void public_keys_are_read_in_each_form(void **state)
{
	struct world *w = *state;
	const char *one = public_key(w, "PUBLIC KEY"), *of_kops = public_key(w, "RSA PUBLIC KEY");
	const struct {
		const char *text, *says;
	} all[] = {
		{ one, NULL },
		{ of_kops, NULL },
		{ arena_printf(w->arena, "%s%s%s", one, of_kops, w->pool), NULL },
		{ w->key, NULL },
		{ w->pool, NULL },
		{ "", "no PEM public key" },
		{ "garbage", "no PEM public key" },
		{ "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "damaged" },
		{ arena_strn(w->arena, one, strlen(one) / 2), "damaged" },
		{ arena_printf(w->arena, "%s-----BEGIN PUBLIC KEY-----\n", one),
		  "behind the first 1" },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct err e = { 0 };

		(void)!pem_check_public_keys(all[i].text, &e);
		if (all[i].says ? !strstr(e.msg, all[i].says) : *e.msg != '\0')
			fail_msg("%zu: '%s' of\n%s", i, e.msg, all[i].text);
	}
}

/* as kops does, an empty one is passed over */
static const char *const issued_hosts[] = { "10.0.0.1", "kubernetes", "",
					    "fd00::1",  "kubernetes", NULL };

static const char *issue(struct world *w, int64_t from, int64_t until)
{
	const char *cert = NULL;
	BIO *bio = BIO_new(BIO_s_mem());
	struct pem_order o = { .key = w->key,
			       .signer = pem_of(w->arena, w->cas[1]),
			       .name = "kubecfg",
			       .organization = "system:masters",
			       .hosts = issued_hosts,
			       .serves = true,
			       .from = from,
			       .until = until };
	struct err e;
	char *p;
	long n;

	(void)PEM_write_bio_PrivateKey(bio, w->ca_keys[1], NULL, NULL, 0, NULL, NULL);
	n = BIO_get_mem_data(bio, &p);
	o.signer_key = arena_strn(w->arena, p, (size_t)n);
	BIO_free(bio);
	assert_int_equal(pem_issue(w->arena, &o, &cert, &e), 0);
	return cert;
}

static const char *judge_issued(struct world *w, const char *cert, const char *organization,
				const char *const *names)
{
	const struct pem_wanted want = { .key = w->key,
					 .pool = w->pool,
					 .issuer_id = "101",
					 .name = "kubecfg",
					 .organization = organization,
					 .hosts = names,
					 .others = none,
					 .serves = true,
					 .fresh = true,
					 .time = NOW };
	struct err e = { 0 };
	struct pem_life life;

	(void)!pem_check_issued(cert, &want, &life, &e);
	return arena_str(w->arena, e.msg);
}

static void what_is_issued_is_what_was_ordered(void **state)
{
	static const char *const fewer[] = { "10.0.0.1", "kubernetes", NULL };
	static const char *const more[] = { "10.0.0.1", "kubernetes", "fd00::1", "other", NULL };
	struct world *w = *state;
	const char *cert = issue(w, NOW - DAY, NOW + DAY), *org = "system:masters";

	assert_string_equal(judge_issued(w, cert, org, issued_hosts), "");
	assert_non_null(strstr(judge_issued(w, cert, NULL, issued_hosts), "not for 'kubecfg'"));
	assert_non_null(strstr(judge_issued(w, cert, "x", issued_hosts), "not for 'kubecfg' of x"));
	assert_non_null(strstr(judge_issued(w, cert, org, fewer), "has 'fd00::1'"));
	assert_non_null(strstr(judge_issued(w, cert, org, more), "does not have 'other'"));
	assert_string_not_equal(cert, issue(w, NOW - DAY, NOW + DAY));
}

static void it_is_renewed_in_the_last_third_of_its_life(void **state)
{
	struct world *w = *state;
	const char *org = "system:masters";

	assert_string_equal(
		judge_issued(w, issue(w, NOW - 2 * DAY + 60, NOW + DAY), org, issued_hosts), "");
	assert_non_null(
		strstr(judge_issued(w, issue(w, NOW - 2 * DAY - 60, NOW + DAY), org, issued_hosts),
		       "less than a third"));
}

static void it_has_the_extensions_of_a_leaf(void **state)
{
	struct world *w = *state;
	const char *text = issue(w, NOW - DAY, NOW + DAY);
	BIO *bio = BIO_new_mem_buf(text, -1);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	const int at = X509_get_ext_by_NID(cert, NID_basic_constraints, -1);

	assert_int_equal(X509_get_extension_flags(cert) & EXFLAG_CA, 0);
	assert_true(at >= 0 && X509_EXTENSION_get_critical(X509_get_ext(cert, at)));
	assert_int_equal(X509_get_key_usage(cert), KU_DIGITAL_SIGNATURE | KU_KEY_ENCIPHERMENT);
	assert_int_equal(X509_get_extended_key_usage(cert), XKU_SSL_SERVER);
	assert_true(ASN1_STRING_length(X509_get0_serialNumber(cert)) > 8);
	X509_free(cert);
	BIO_free(bio);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_issued_is_what_was_ordered),
		cmocka_unit_test(it_is_renewed_in_the_last_third_of_its_life),
		cmocka_unit_test(it_has_the_extensions_of_a_leaf),
		cmocka_unit_test(what_was_asked_for_is_taken),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(what_is_not_wanted_of_it_is_refused),
		cmocka_unit_test(what_stands_around_it_is_not_taken),
		cmocka_unit_test(it_says_until_when_it_holds),
		cmocka_unit_test(what_holds_by_its_dates_is_what_the_check_takes),
		cmocka_unit_test(each_form_of_a_key_is_read),
		cmocka_unit_test(a_key_of_other_numbers_is_damaged),
		cmocka_unit_test(a_certificate_is_parsed_once),
		cmocka_unit_test(a_text_that_is_none),
		cmocka_unit_test(certificates_are_read_to_the_last),
		cmocka_unit_test(public_keys_are_read_in_each_form),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
