#include "nodeup/config/kops/changes.h"

#include <limits.h>

/* No change has more spans than this. */
enum { SPANS_MAX = 4 };

/* A range of versions of kops 1.x, including both ends. A range without bounds for Kubernetes holds for every
 * version of Kubernetes. */
struct span {
	int since_minor, since_patch;
	int until_minor, until_patch;
	int kubernetes_since, kubernetes_before; /* minor versions of 1.x; 0: no bound */
};

/* Means a version and all later versions. */
#define SINCE(minor, patch, ...)                            \
	{                                                   \
		minor, patch, INT_MAX, INT_MAX, __VA_ARGS__ \
	}
/* Means a patch and the later patches of its minor. */
#define WITHIN(minor, patch, ...)                         \
	{                                                 \
		minor, patch, minor, INT_MAX, __VA_ARGS__ \
	}
/* Means every version up to the last patch of a minor. */
#define UNTIL(minor, ...)                         \
	{                                         \
		0, 0, minor, INT_MAX, __VA_ARGS__ \
	}
/* Means all versions from a first patch to a last patch. */
#define BETWEEN(minor, patch, last_minor, last_patch, ...)        \
	{                                                         \
		minor, patch, last_minor, last_patch, __VA_ARGS__ \
	}

#define ROW(name, doc, ...) [KOPS_##name] = { __VA_ARGS__ },
static const struct span changes[KOPS_CHANGE_COUNT][SPANS_MAX] = { KOPS_CHANGES(ROW) };

static bool is_from(const struct version *v, int minor, int patch)
{
	return v->minor != minor ? v->minor > minor : v->patch >= patch;
}

static bool is_of(const struct span *s, const struct version *kops)
{
	return s->until_minor && is_from(kops, s->since_minor, s->since_patch) &&
	       !(kops->minor != s->until_minor ? kops->minor > s->until_minor
					       : kops->patch > s->until_patch);
}

static bool is_within(const struct span *s, const struct kops_config *c)
{
	return is_of(s, &c->kops) && c->kubernetes.minor >= s->kubernetes_since &&
	       (!s->kubernetes_before || c->kubernetes.minor < s->kubernetes_before);
}

bool kops_does(const struct kops_config *c, enum kops_change change)
{
	for (size_t i = 0; i < SPANS_MAX; i++)
		if (is_within(&changes[change][i], c))
			return true;
	return change == KOPS_ALWAYS;
}

bool kops_is_since(const struct version *kops, const struct version *since, size_t n)
{
	size_t last = 0;

	while (last + 1 < n && since[last + 1].minor)
		last++;
	for (size_t i = 0; i <= last; i++)
		if (is_from(kops, since[i].minor, since[i].patch) &&
		    (i == last || kops->minor == since[i].minor))
			return true;
	return false;
}

bool kops_is_same(const struct version *x, const struct version *y)
{
	for (size_t i = 0; i < KOPS_CHANGE_COUNT; i++)
		for (size_t k = 0; k < SPANS_MAX; k++)
			/* if a node has runc already, it does not matter where runc came from */
			if (i != KOPS_CONTAINERD_BUNDLE &&
			    is_of(&changes[i][k], x) != is_of(&changes[i][k], y))
				return false;
	return true;
}
