#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/enc.h"
#include "nodeup/documents/user_data.h"

#define DOCUMENT "ClusterName: x\n"
#define SCRIPT "#!/bin/bash\ncat > kube_env.yaml << '__EOF_KUBE_ENV'\n" DOCUMENT "__EOF_KUBE_ENV\n"
#define OTHER "#!/bin/sh\necho hello\n"
#define HEAD "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n"
#define PART(type) "--B\nContent-Type: " type "\n\n"
#define END "\n--B--\n"

struct bytes {
	const char *text;
	size_t n;
};

static struct bytes bytes(const char *text)
{
	return (struct bytes){ text, strlen(text) };
}

static struct bytes zipped(struct arena *a, struct bytes b)
{
	size_t n;
	const char *text = enc_gzip(a, b.text, b.n, &n);

	return (struct bytes){ text, n };
}

/* In lines, as base64(1) and MIME have it. */
static struct bytes base64(struct arena *a, struct bytes b)
{
	const char *text = enc_base64(a, b.text, b.n);
	autobuf struct buf out = BUF_INIT(1 << 20);
	size_t left = strlen(text);

	while (left) {
		const size_t n = left < 76 ? left : 76;

		(void)buf_addf(&out, "%.*s\n", (int)n, text);
		text += n;
		left -= n;
	}
	return bytes(arena_str(a, buf_str(&out)));
}

static struct bytes joined(struct arena *a, const char *before, struct bytes b, const char *after)
{
	char *text = arena_alloc(a, strlen(before) + b.n + strlen(after) + 1);

	memcpy(text, before, strlen(before));
	memcpy(text + strlen(before), b.text, b.n);
	memcpy(text + strlen(before) + b.n, after, strlen(after));
	return (struct bytes){ text, strlen(before) + b.n + strlen(after) };
}

/* Each line break made a carriage return and one. */
static struct bytes crlf(struct arena *a, const char *text)
{
	autobuf struct buf out = BUF_INIT(1 << 20);

	for (; *text; text++)
		(void)(*text == '\n' ? buf_adds(&out, "\r\n") : buf_addc(&out, *text));
	return bytes(arena_str(a, buf_str(&out)));
}

static int read_as(struct arena *a, struct bytes b, bool raw, struct user_data *ret, struct err *e)
{
	const struct user_data_file f = { NULL, b.text, b.n, 0 };

	*e = (struct err){ 0 };
	return user_data_read(a, "u", &f, raw, ret, e);
}

static void expect(struct arena *a, const char *form, struct bytes b, const char *file,
		   size_t before)
{
	struct user_data u;
	struct err e;

	if (read_as(a, b, false, &u, &e) < 0)
		fail_msg("%s: %s", form, e.msg);
	assert_string_equal(u.file, file);
	if (strcmp(u.conf.text + u.conf.padding, DOCUMENT) != 0 || u.conf.padding != before ||
	    u.conf.n != before + strlen(DOCUMENT) || strspn(u.conf.text, "\n") != before)
		fail_msg("%s: %zu: %s", form, u.conf.padding, u.conf.text);
}

static void refuse(struct arena *a, struct bytes b, const char *message)
{
	struct user_data u;
	struct err e;

	assert_true(read_as(a, b, false, &u, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	if (!strstr(e.msg, message))
		fail_msg("'%s' is not in: %s", message, e.msg);
}

static void the_whole_in_every_form(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct bytes script = bytes(SCRIPT),
			   mime = bytes(HEAD PART("text/x-shellscript") SCRIPT END);

	(void)state;
	expect(a, "a document", bytes(DOCUMENT), "u", 0);
	expect(a, "a script", script, "u", 2);
	expect(a, "gzip", zipped(a, script), "u", 2);
	expect(a, "base64", base64(a, script), "u", 2);
	expect(a, "base64 in one line", bytes(enc_base64(a, SCRIPT, strlen(SCRIPT))), "u", 2);
	expect(a, "base64 in quotes",
	       joined(a, "\"", bytes(enc_base64(a, SCRIPT, strlen(SCRIPT))), "\"\n"), "u", 2);
	expect(a, "base64 of gzip", base64(a, zipped(a, script)), "u", 2);
	expect(a, "MIME", mime, "u", 8);
	expect(a, "gzip of MIME", zipped(a, mime), "u", 8);
	expect(a, "base64 of gzip of MIME", base64(a, zipped(a, mime)), "u", 8);
	expect(a, "gzip of a document", zipped(a, bytes(DOCUMENT)), "u", 0);
	expect(a, "MIME of one part alone",
	       bytes("Content-Type: text/x-shellscript\nMIME-Version: 1.0\n\n" SCRIPT), "u", 5);
}

static void headers_in_any_order_case_and_fold(void **state)
{
	static const char *const heads[] = {
		"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n",
		"Content-Type: multipart/mixed; boundary=B\nMIME-Version: 1.0\n\n",
		"content-type: Multipart/Mixed;\n  charset=utf-8;\n\tBOUNDARY=\"\\B\"\nmime-version: 1.0\n\n",
		"Subject: a: b\nMime-Version: 1.0\nX-Empty:\nCONTENT-TYPE:multipart/mixed;boundary=\"B\" ; x=y\n\n",
		"MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=\"B\"\n\nwhat is before\n#!/bin/sh\n",
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		const char *text = arena_printf(a, "%s%s" SCRIPT END "behind\n--B\n\n#!/bin/sh\n",
						heads[i],
						PART("text/x-shellscript; charset=\"us-ascii\""));
		size_t lines = 0;

		for (const char *p = text; p < strstr(text, DOCUMENT); p++)
			lines += *p == '\n';
		expect(a, heads[i], bytes(text), "u", lines);
		expect(a, heads[i], crlf(a, text), "u", lines);
	}
	/* as Go and Terraform write it: the message's lines, not the script's */
	expect(a, "mixed",
	       bytes("Content-Type: multipart/mixed; boundary=\"B\"\nMIME-Version: 1.0\r\n\r\n--B\r\n"
		     "Content-Type: text/x-shellscript\r\nMime-Version: 1.0\r\n\r\n" SCRIPT
		     "\r\n--B--\r\n"),
	       "u", 9);
	expect(a, "no end", bytes(HEAD PART("text/x-shellscript") SCRIPT), "u", 8);
	expect(a, "a type by its beginning", bytes(HEAD "--B \n\n" SCRIPT END), "u", 7);
}

/* "=" and what is not ASCII, and lines of at most 76. */
#define QUOTED                                                                                   \
	"#!/bin/bash\n# =C3=A9 =\nand on\ncat > kube_env.yaml <<=\n '__EOF_KUBE_ENV'\n" DOCUMENT \
	"__EOF_KUBE_ENV\n"

static void a_part_in_every_encoding(void **state)
{
	static const char *const plain[] = { "7bit", "8BIT", "binary", "anything" };
	autoarena struct arena *a = arena_new_empty();
	const char *head = HEAD "--B\nContent-Type: %s\ncontent-transfer-encoding: %s\n\n";
	const struct bytes script = bytes(SCRIPT), zip = zipped(a, script);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		expect(a, plain[i],
		       joined(a, arena_printf(a, head, "text/x-shellscript", plain[i]), script,
			      END),
		       "u", 9);
	head = arena_printf(
		a, "%s",
		HEAD PART("text/cloud-config") "#cloud-config\n\n--B\nContent-Type: %s\n"
					       "Content-Transfer-Encoding: %s\n\n");
	expect(a, "base64",
	       joined(a, arena_printf(a, head, "text/x-shellscript", "base64"), base64(a, script),
		      END),
	       "u[part 2]", 2);
	expect(a, "quoted-printable",
	       joined(a, arena_printf(a, head, "text/plain", "quoted-printable"), bytes(QUOTED),
		      END),
	       "u[part 2]", 3);
	expect(a, "gzip", joined(a, arena_printf(a, head, "application/gzip", "binary"), zip, END),
	       "u[part 2]", 2);
	expect(a, "gzip in base64",
	       joined(a, arena_printf(a, head, "application/x-gzip", "BASE64"), base64(a, zip),
		      END),
	       "u[part 2]", 2);
}

static void parts_in_parts(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const char *inner = HEAD PART("text/x-shellscript") OTHER "\n" PART("text/x-shellscript")
		SCRIPT END;
	struct bytes deep = bytes(SCRIPT);

	(void)state;
	inner = arena_printf(a, "--A\n%s--A--\n", inner);
	inner = arena_printf(a, "%s%s",
			     "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=A\n\n",
			     inner);
	expect(a, "plain", bytes(inner), "u", 18);
	inner = HEAD
		"--B\nContent-Type: multipart/mixed; boundary=C\n\n--C\nContent-Transfer-Encoding: base64\n\n";
	expect(a, "decoded", joined(a, inner, base64(a, deep), "\n--C--\n--B--\n"), "u[part 1.1]",
	       2);
	for (int i = 0; i < 12; i++) {
		const char *head = arena_printf(
			a,
			"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b%d\n\n--b%d\n",
			i, i);

		deep = joined(a, head, deep, arena_printf(a, "\n--b%d--\n", i));
	}
	refuse(a, deep, "u: a MIME message of more than 100 parts, or 8 in each other");
}

/* Each is named, alone and as a part. */
static void what_is_no_script_is_called_what_it_is(void **state)
{
	static const struct {
		const char *text, *what;
	} rows[] = {
		{ "#cloud-config\nruncmd: []\n", "a cloud-config" },
		{ "#cloud-config-archive\n- x\n", "a cloud-config-archive" },
		{ "#cloud-config-jsonp\n[]\n", "a cloud-config-jsonp" },
		{ "#Cloud-Boothook\n#!/bin/sh\n", "a cloud-boothook" },
		{ "#include\nhttps://a.example/\n", "an #include, which lists URLs" },
		{ "#include-once https://a.example/\n", "an #include-once, which lists URLs" },
		{ "\n #part-handler\n", "a part-handler" },
		{ "#upstart-job\n", "an upstart-job" },
		{ "## template: jinja\n" SCRIPT, "a jinja template" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		refuse(a, bytes(rows[i].text),
		       arena_printf(a, "u: this is %s; --conf wants", rows[i].what));
		refuse(a, bytes(arena_printf(a, "%s%s" END, HEAD PART("text/plain"), rows[i].text)),
		       arena_printf(
			       a,
			       "u:1:1: a MIME message of which no part writes kube_env.yaml: part 1 is %s",
			       rows[i].what));
		expect(a, "beside it",
		       bytes(arena_printf(a, "%s" SCRIPT "\n%s%s" END,
					  HEAD PART("text/x-shellscript"),
					  PART("text/x-shellscript"), rows[i].text)),
		       "u", 8);
	}
	refuse(a,
	       bytes(HEAD PART("text/cloud-config") "runcmd: []\n\n" PART("image/png") "PNG\n" PART(
		       "text/plain") "hello\n" PART("text/x-shellscript") OTHER END),
	       "part 1 is a cloud-config; part 2 is of type image/png, of which cloud-init runs nothing; part 3 is a "
	       "text without a #!; part 4 is a script that writes no kube_env.yaml in a way that nodeup knows");
	refuse(a, bytes(HEAD), "no part writes kube_env.yaml: it has none");
	refuse(a, bytes(HEAD PART("text/plain") SCRIPT "\n" PART("text/plain") SCRIPT END),
	       "u: parts 1 and 2 both write kube_env.yaml");
}

#define MARK "\xef\xbb\xbf"

static void what_cloud_init_does_not_run_is_named(void **state)
{
	static const char utf16[] = "\xff\xfe#\0!\0/\0b\0\n", big[] = "\xfe\xff\0#\0!\0/\0b";
	autoarena struct arena *a = arena_new_empty();
	const struct bytes script = bytes(SCRIPT), once = base64(a, script);
	struct user_data u;
	struct err e;

	(void)state;
	refuse(a, bytes(MARK SCRIPT), "u: this is user data behind a byte order mark");
	refuse(a, bytes(MARK "#cloud-config\n"), "behind a byte order mark");
	refuse(a, bytes(MARK HEAD PART("text/plain") SCRIPT END), "behind a byte order mark");
	refuse(a, bytes(HEAD PART("text/x-shellscript") MARK SCRIPT END),
	       "part 1 is user data behind a byte order mark");
	refuse(a, (struct bytes){ utf16, sizeof(utf16) }, "user data in UTF-16");
	refuse(a, (struct bytes){ big, sizeof(big) - 1 }, "user data in UTF-16");
	refuse(a, crlf(a, SCRIPT), "u:1:1: a script with a carriage return at a line's end (CRLF)");
	refuse(a, bytes("#!/bin/sh\necho\r\n"), "u:2:1: a script with a carriage return");
	refuse(a, joined(a, HEAD PART("text/plain"), crlf(a, SCRIPT), END),
	       "(CRLF), which a shell takes for a part of a word, line 7");
	refuse(a, bytes("\n" SCRIPT), "u: a script with an empty line or a blank before its #!");
	refuse(a, bytes("\n" HEAD PART("text/plain") SCRIPT END),
	       "a MIME message with an empty line or a blank before its headers");
	refuse(a, bytes("Content-Type: multipart/mixed; boundary=B\n\n--B\n\n" SCRIPT END),
	       "has no MIME-Version in its first 4096 bytes");
	refuse(a, base64(a, once), "this is base64 once more: it was encoded twice");
	refuse(a, base64(a, zipped(a, once)), "encoded twice");
	refuse(a, zipped(a, zipped(a, script)), "gzip once more: it was packed twice");
	refuse(a, joined(a, HEAD PART("text/x-shellscript"), once, END),
	       "part 1 is base64 once more");
	refuse(a, joined(a, HEAD PART("text/x-shellscript"), zipped(a, script), END),
	       "part 1 is gzip of type text/x-shellscript, and cloud-init unpacks that of type application/gzip alone");
	refuse(a, bytes(HEAD PART("application/gzip") SCRIPT END), "part 1 is broken gzip");
	refuse(a, bytes(HEAD "--B\nContent-Transfer-Encoding: base64\n\nIyEv!\n" END),
	       "part 1 is in base64 that is cut off or damaged");
	refuse(a, (struct bytes){ once.text, once.n - 3 },
	       "this is base64 that is cut off or damaged");
	refuse(a, (struct bytes){ "#!/bin/sh\n\0", 11 }, "u: a script with a NUL byte in it");
	/* what an instance has is never base64 */
	assert_true(read_as(a, once, true, &u, &e) < 0);
	assert_non_null(strstr(e.msg, "encoded twice"));
	assert_int_equal(read_as(a, script, true, &u, &e), 0);
	/* a document may have both: YAML takes them */
	assert_int_equal(read_as(a, bytes(MARK "a: b\r\n"), false, &u, &e), 0);
}

static void what_is_unpacked_is_bounded_in_all(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	char *zeros = arena_alloc(a, USER_DATA_MAX + 2);
	struct bytes zip, all = bytes(HEAD);

	(void)state;
	memset(zeros, '#', USER_DATA_MAX + 1);
	refuse(a, zipped(a, (struct bytes){ zeros, USER_DATA_MAX + 1 }), "u: larger than");
	zip = zipped(a, (struct bytes){ zeros, USER_DATA_MAX / 2 + 1 });
	for (int i = 0; i < 2; i++)
		all = joined(
			a, arena_strn(a, all.text, all.n),
			joined(a,
			       "--B\nContent-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n",
			       base64(a, zip), "\n"),
			"");
	refuse(a, all, "u: larger than");
	all = bytes(HEAD);
	for (int i = 0; i < 101; i++)
		all = joined(a, all.text, bytes("--B\n\nx\n"), "");
	refuse(a, all, "more than 100 parts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_in_every_form),
		cmocka_unit_test(headers_in_any_order_case_and_fold),
		cmocka_unit_test(a_part_in_every_encoding),
		cmocka_unit_test(parts_in_parts),
		cmocka_unit_test(what_is_no_script_is_called_what_it_is),
		cmocka_unit_test(what_cloud_init_does_not_run_is_named),
		cmocka_unit_test(what_is_unpacked_is_bounded_in_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
