#include "nodeup/plan/questions.h"

#include <string.h>
#include "nodeup/plan/tasklist.h"

bool plan_has_flag(const struct strv *flags, const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < flags->n; i++)
		if (strncmp(flags->v[i], "--", 2) == 0 && strncmp(flags->v[i] + 2, name, n) == 0 &&
		    flags->v[i][2 + n] == '=')
			return true;
	return false;
}

void plan_warn_flags(struct plan *p, const char *component, const struct schema *schema,
		     const struct strv *flags)
{
	const struct version *v = &p->req->node->kubernetes;

	for (size_t i = 0; i < schema->n; i++) {
		const struct field *f = &schema->fields[i];

		if (f->schema)
			plan_warn_flags(p, component, f->schema, flags);
		if ((v->minor >= f->since && (!f->until || v->minor <= f->until)) ||
		    !plan_has_flag(flags, f->flag))
			continue;
		plan_warn(p,
			  "%s of Kubernetes %d.%d has no flag --%s, which the documents "
			  "ask for: it will not start",
			  component, v->major, v->minor, f->flag);
	}
}
