#include "nodeup/config/kubeup/kubeup.h"

#include <string.h>
#include "nodeup/config/heredoc.h"

/* The marks that end the here-document, of a master and of a node.
 * source: cluster/aws/util.sh start-master, start-minions */
static const char *const marks[] = { "__EOF_MASTER_KUBE_ENV_YAML", "__EOF_KUBE_ENV_YAML", NULL };

/* Refuses user data of these versions: there a salt-master gives the node values that the document lacks. */
static int refuse_old(struct arena *a, const char *file, unsigned int line, const char *text,
		      struct err *e)
{
	const struct tree_pos pos = { file, line, 1 };
	const bool master = strstr(text, "\nreadonly SALT_TAR_URL=") != NULL;

	(void)err_config(
		e, "%s: this is user data of %s of kube-up 1.0 or 1.1; nodeup reads 1.2 to 1.5",
		tree_where(a, &pos), master ? "a master" : "a node");
	err_note(e, "ruled out", "%s",
		 master ? "making this master: its certificates come from no document"
			: "making this node: its tokens and programs come from the salt-master");
	err_note(e, "do", "bring the cluster to Kubernetes 1.2 or later");
	return err_code(e);
}

/* Returns the number of the line before `end` that only those old versions write; 0: there is none. */
static unsigned int find_old(const char *text, const char *end)
{
	unsigned int number = 1;

	for (const char *line = text; line < end; number++) {
		if (str_has_prefix(line, "readonly SALT_MASTER=") ||
		    str_has_prefix(line, "SALT_MASTER="))
			return number;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return 0;
}

int kubeup_script(struct arena *a, const char *file, const char *text, const char **ret,
		  struct err *e)
{
	struct heredoc h = { 0 };
	int r = heredoc_find(a, file, text, marks, &h, e);
	const unsigned int old = find_old(text, h.text ? h.text : text + strlen(text));

	if (old)
		return refuse_old(a, file, old, text, e);
	return r < 0 ? r : heredoc_take(a, file, &h, "/etc/kubernetes/kube_env.yaml", ret, e);
}
