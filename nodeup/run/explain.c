#include "nodeup/run/explain.h"

#include "nodeup/base/print.h"
#include "nodeup/base/str.h"

/* A published id never changes: journals on disk and other people's filters contain it. */
const struct explanation explanations[] = {
	{ 64, "usage", "471e4184d94640da8d3ce26b5127f296",
	  "nodeup cannot do what its command line says",
	  "A command, flag or topic does not exist or does not fit, or nodeup was not started by root.\n"
	  "Nothing was done. The line names the word, and the nearest one that there is;\n"
	  "nodeup help COMMAND lists a command's flags.\n",
	  "correct the command line, or run it as root" },
	{ 65, "integrity", "fe20c34d87d34f06bdbbb0ea0bd23c88",
	  "Wrong bytes: a hash, a signature or an archive",
	  "What was fetched is not what the documents name, or an archive holds what it must not.\n"
	  "None of it was used; what is installed stays as it was. If all mirrors sent the same bytes,\n"
	  "the hash of the document is probably stale; if they differ, one of the mirrors is broken.\n",
	  "see nodeup help asset-hash" },
	{ 69, "network", "e9d6714aff1d4b34bfd09d23d7cc2a33",
	  "A server could not be reached, or did not give what it should",
	  "All mirrors were tried, more than once. The lines below the error name each address and what\n"
	  "was met there. What is done stays, and a later run goes on from there without fetching it again;\n"
	  "nodeup's own unit does so by itself. Routes, security groups, DNS, the clock and the instance's\n"
	  "role are the usual causes; nodeup check asks all of them at once.\n",
	  "see that the address above can be reached, then nodeup repair" },
	{ 71, "system", "0516c1a2e1974c73a8fe63eaadba0f2a",
	  "The kernel, a tool or a service of this machine refused",
	  "The error names the file, tool or unit, and the lines below it its last words. Each file is\n"
	  "either as it was or as it is to be, never half. What does not depend on it was done.\n",
	  "correct what the lines above name, then nodeup repair" },
	{ 73, "refused", "2594a17717ac4aea82b867141dc514b0",
	  "A disk is not proven blank, and was not formatted",
	  "nodeup formats a disk on which it finds nothing: no signature, no data, and no error of reading.\n"
	  "This one has something, which is untouched. There is no flag that formats it all the same.\n",
	  "name the right disk; see nodeup help disks" },
	{ 75, "busy", "7afb54a3601f40e2ab3a4fc4bbfe9e00",
	  "It took too long, or another nodeup is at work",
	  "The lines name what was waited for, since when, and the last error met, or the other process\n"
	  "and what it does. What is done stays.\n",
	  "see to what is waited for, then nodeup repair" },
	{ 78, "configuration", "cf964019ae68417bb923aacd698ed336",
	  "A document is wrong, or is not there",
	  "The line begins with the file, line and column. Nothing was changed because of it. All that is\n"
	  "wrong is told by nodeup validate; every key by nodeup help kube_env, cluster and instancegroup;\n"
	  "nodeup example writes documents to begin with. With --offline, it is what was not kept.\n"
	  "At boot, what the last run that ended well had started is started all the same.\n",
	  "correct the document, then nodeup apply" },
	{ 0 },
};

const struct explanation *explain_status(int64_t status)
{
	for (const struct explanation *x = explanations; x->name; x++)
		if (x->status == status)
			return x;
	return NULL;
}

const struct explanation *explain_find(const char *word)
{
	for (const struct explanation *x = explanations; x->name; x++) {
		char number[16];

		(void)print_to(number, sizeof(number), "%d", x->status);
		if (str_eq(word, x->name) || str_eq(word, number))
			return x;
	}
	return NULL;
}

void explain_show(const struct explanation *x, struct buf *b)
{
	(void)buf_addf(b, "%s (%d): %s\n\n%s\nTo do: %s.\n", x->name, x->status, x->subject,
		       x->text, x->remedy);
}

void explain_catalog(struct buf *b)
{
	for (const struct explanation *x = explanations; x->name; x++)
		(void)buf_addf(b,
			       "%s-- %s\nSubject: %s\nDefined-By: nodeup\n"
			       "Documentation: man:nodeup(8)\n\n%s\nTo do: %s.\n",
			       x == explanations ? "" : "\n", x->id, x->subject, x->text,
			       x->remedy);
}
