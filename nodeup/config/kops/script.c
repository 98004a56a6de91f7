#include "nodeup/config/kops/kops.h"

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/config/heredoc.h"

enum { DOCUMENT_MAX = 1 << 20 };

/* Say where the document begins in the script: as it is, or compressed if the instance group says so. source: kops
 * 1.37 pkg/model/resources/nodeup.go */
static const char *const marks[] = { "__EOF_KUBE_ENV", NULL };
static const char packed_end[] = "\" | base64 -d | gzip -d > conf/kube_env.yaml";

static const char *line_of(struct arena *a, const char *file, const char *text, const char *at)
{
	struct tree_pos pos = { file, 1, 1 };

	for (; text < at; text++)
		pos.line += *text == '\n';
	return tree_where(a, &pos);
}

/* Unpacks a compressed document. The lines of the result count from 1, as the script has the whole document in one
 * line. */
static int unpack(struct arena *a, const char *file, const char *text, const char *end,
		  const char **ret, struct err *e)
{
	static const char echo[] = "echo \"";
	const char *line = end;
	struct err why = { 0 };
	char *bytes, *out;
	size_t n;

	while (line > text && line[-1] != '\n')
		line--;
	if (!str_has_prefix(line, echo))
		return -ENOENT;
	line += strlen(echo);
	if (enc_unbase64(a, arena_strn(a, line, (size_t)(end - line)), &bytes, &n, &why) < 0 ||
	    enc_gunzip(a, bytes, n, DOCUMENT_MAX, &out, &why) < 0)
		return err_config(e, "%s: the document that is packed here: %s",
				  line_of(a, file, text, line), why.msg);
	*ret = out;
	return 0;
}

int kops_script(struct arena *a, const char *file, const char *text, const char **ret,
		struct err *e)
{
	const char *packed = strstr(text, packed_end);
	struct heredoc h = { 0 };
	int r = heredoc_find(a, file, text, marks, &h, e);

	if (r == -ENOENT && packed)
		return unpack(a, file, text, packed, ret, e);
	return r < 0 ? r : heredoc_take(a, file, &h, "/opt/kops/conf/kube_env.yaml", ret, e);
}
