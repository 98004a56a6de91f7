#include "nodeup/aws/query_errors.h"

#include <ctype.h>
#include <string.h>
#include "nodeup/aws/xml.h"
#include "nodeup/base/show.h"

/* clang-format off */
static const struct meaning {
	const char *code, *text; /* the error's code, and a text that EC2's message must hold; NULL: any message */
	enum err_kind kind;
	int errnum;
	const char *means;
} meanings[] = {
	{ "RequestLimitExceeded",       NULL,             ERR_NET,    EAGAIN,      "too many requests of this account" },
	{ "Throttling",                 NULL,             ERR_NET,    EAGAIN,      "too many requests of this account" },
	{ "ThrottlingException",        NULL,             ERR_NET,    EAGAIN,      "too many requests of this account" },
	{ "InternalError",              NULL,             ERR_NET,    EAGAIN,      "trouble on its side" },
	{ "InternalFailure",            NULL,             ERR_NET,    EAGAIN,      "trouble on its side" },
	{ "Unavailable",                NULL,             ERR_NET,    EAGAIN,      "trouble on its side" },
	{ "ServiceUnavailable",         NULL,             ERR_NET,    EAGAIN,      "trouble on its side" },
	{ "InsufficientCapacity",       NULL,             ERR_NET,    EAGAIN,      "trouble on its side" },
	{ "UnauthorizedOperation",      NULL,             ERR_NET,    EACCES,      "the role may not do this" },
	{ "AccessDenied",               NULL,             ERR_NET,    EACCES,      "the role may not do this" },
	{ "AuthFailure",                NULL,             ERR_NET,    EKEYEXPIRED, "the credentials are not accepted" },
	{ "ExpiredToken",               NULL,             ERR_NET,    EKEYEXPIRED, "the credentials have expired" },
	{ "RequestExpired",             NULL,             ERR_NET,    EKEYEXPIRED, "the credentials or the clock: what was signed has expired" },
	{ "InvalidClientTokenId",       NULL,             ERR_NET,    EKEYEXPIRED, "the credentials are not known there" },
	{ "UnrecognizedClientException",NULL,             ERR_NET,    EKEYEXPIRED, "the credentials are not known there" },
	{ "SignatureDoesNotMatch",      NULL,             ERR_NET,    EKEYEXPIRED, "the signature is not accepted" },
	{ "MissingAuthenticationToken", NULL,             ERR_NET,    EKEYEXPIRED, "the request was not signed: no credentials" },
	{ "InvalidParameterValue",      NULL,             ERR_CONFIG, EINVAL,      "it is not taken" },
	{ "ValidationError",   "No active Lifecycle Action", ERR_BUSY, ESRCH,      "the instance waits for nothing there" },
	{ "ValidationError",   "cannot be signaled",         ERR_BUSY, ESRCH,      "the stack waits for nothing there" },
	{ "ValidationError",   "already exists",             ERR_BUSY, ESRCH,      "the stack has this signal already" },
	{ "ValidationError",            NULL,             ERR_CONFIG, EINVAL,      "it is not taken" },
	{ "ResourceContention",         NULL,             ERR_BUSY,   EAGAIN,      "a change of the group is under way" },
	{ "OptInRequired",              NULL,             ERR_CONFIG, EINVAL,      "the account has not subscribed to EC2" },
	{ "Blocked",                    NULL,             ERR_CONFIG, EINVAL,      "the account is blocked" },
};
/* clang-format on */

/* Returns a server's text, made fit for one line of ours. */
static char *one_line(struct arena *a, const char *text)
{
	return show_prose(str_trim(a, text));
}

/* Cuts the message here: the rest may hold encoded details of the account's permissions, or the signed text with the
 * session token. */
static const char *const unfit_to_show[] = {
	"encoded authorization failure message",
	"the canonical string",
	"the string-to-sign",
	"canonical string",
	"string-to-sign",
	"x-amz-",
};

static const char *without_secrets(struct arena *a, const char *message)
{
	size_t n = strlen(message);

	for (size_t i = 0; i < ARRAY_LEN(unfit_to_show); i++) {
		const char *at = strcasestr(message, unfit_to_show[i]);

		if (at && (size_t)(at - message) < n)
			n = (size_t)(at - message);
	}
	return str_trim(a, arena_strn(a, message, n));
}

static const struct meaning *find_meaning(const char *code, const char *message)
{
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
		if (str_eq(meanings[i].code, code) &&
		    (!meanings[i].text || strstr(message, meanings[i].text)))
			return &meanings[i];
	return NULL;
}

/* Judges an answer by its HTTP status, since its code is not in the table. */
static int by_status(const char *service, const char *action, int status, const char *said,
		     struct err *e)
{
	bool passes = status >= 500 || status == 408 || status == 429 || status < 300;

	return err_fail(e, ERR_NET,
			passes                           ? EAGAIN
			: status == 401 || status == 403 ? EACCES
							 : EPROTO,
			"%s: %s %d%s%s", action, service, status, *said ? " " : "", said);
}

int query_error(struct arena *a, const char *service, const char *action, int status,
		const char *body, size_t n, struct err *e)
{
	const struct xml *answer = xml_parse(a, body, n, NULL);
	const struct xml *errors = xml_get(answer, "Errors");
	/* EC2 has a list of errors and "RequestID"; other services have one error and "RequestId" */
	const struct xml *error = xml_get(errors ? errors : answer, "Error");
	const char *code = one_line(a, xml_text(error, "Code")), *message, *request;
	const struct meaning *m;
	int r;

	message = without_secrets(a, one_line(a, xml_text(error, "Message")));
	request = one_line(a, xml_text(answer, errors ? "RequestID" : "RequestId"));
	m = find_meaning(code, message);
	r = m ? err_fail(e, m->kind, m->errnum, "%s: %s %d %s: %s", action, service, status, code,
			 m->means)
	      : by_status(service, action, status, code, e);
	if (*message)
		err_note(e, "AWS says", "%s", message);
	if (*request)
		err_note(e, "request", "%s", request);
	return r;
}
