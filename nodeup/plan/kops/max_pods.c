#include "nodeup/plan/kops/kops.h"

#include <stdlib.h>
#include <string.h>

/* The default of kubelet, and the most that Kubernetes recommends. */
enum { PODS_MAX = 110 };

/* Lists families in which the limits depend only on the size. */
static const char usual[] =
	"c3 c4 c5 c5a c5ad c5d c5n c6a c6g c6gd c6gn c6i c6id c6in c7a c7g c7gd c7gn c7i c7i-flex c8g "
	"g5 g6 i3 i3en i4g i4i im4gn is4gen m3 m4 m5 m5a m5ad m5d m5n m5zn m6a m6g m6gd m6i m6id m6in "
	"m7a m7g m7gd m7i m7i-flex m8g r3 r4 r5 r5a r5ad r5b r5d r5n r6a r6g r6gd r6i r6id r6in r7a r7g "
	"r7gd r7i r7iz r8g x2gd z1d";

/* Lists network interfaces and addresses of the types that allow fewer pods than PODS_MAX. The first row that
 * matches counts. A larger size of a listed family allows enough pods. source: the limits of network interfaces in
 * the Amazon EC2 user guide */
static const struct {
	const char *families,
		*size; /* families: separated by blanks; size "": every larger size than in the rows before */
	int enis, ips;
} limits[] = {
	{ "t2 t3 t3a t4g", "nano", 2, 2 },
	{ "t2 t3 t3a t4g", "micro", 2, 2 },
	{ "t3a", "small", 2, 4 },
	{ "t2 t3 t4g", "small", 3, 4 },
	{ "t2 t3 t3a t4g", "medium", 3, 6 },
	{ "t2 t3 t3a t4g", "large", 3, 12 },
	{ "t2", "xlarge", 3, 15 },
	{ "t2", "2xlarge", 3, 15 },
	{ "t3 t3a t4g", "xlarge", 4, 15 },
	{ "t3 t3a t4g", "2xlarge", 4, 15 },
	{ "m3", "medium", 2, 6 },
	{ "m3", "2xlarge", 4, 30 },
	{ "m4", "large", 2, 10 },
	{ "g4dn", "xlarge", 3, 10 },
	{ "g4dn", "2xlarge", 3, 10 },
	{ "g4dn", "4xlarge", 3, 10 },
	{ "g4dn", "8xlarge", 4, 15 },
	{ "inf1", "xlarge", 4, 10 },
	{ "inf1", "2xlarge", 4, 10 },
	{ usual, "medium", 2, 4 },
	{ usual, "large", 3, 10 },
	{ usual, "xlarge", 4, 15 },
	{ usual, "2xlarge", 4, 15 },
	{ usual, "", 8, 30 },
};

static bool has_word(struct arena *a, const char *words, const char *word)
{
	const struct strv all = strv_split(a, words, ' ');

	return strv_has(&all, word);
}

/* source: kops 1.37 nodeup/pkg/model/kubelet.go buildKubeletConfigSpec */
static struct opt_int pods_of(int64_t enis, int64_t ips)
{
	const int64_t n = enis * (ips - 1) + 2;

	return (struct opt_int){ true, enis > 0 && ips > 0 && n < PODS_MAX ? n : PODS_MAX };
}

static struct opt_int find_limit(struct plan *p, const char *type)
{
	const char *dot = strchr(type, '.');
	const char *family = dot ? arena_strn(p->arena, type, (size_t)(dot - type)) : type;

	for (size_t i = 0; dot && i < ARRAY_LEN(limits); i++)
		if (has_word(p->arena, limits[i].families, family) &&
		    (!*limits[i].size || strcmp(limits[i].size, dot + 1) == 0))
			return pods_of(limits[i].enis, limits[i].ips);
	return (struct opt_int){ 0 };
}

struct opt_int kops_max_pods(struct plan *p)
{
	const struct facts *f = p->req->facts;
	const char *type = f->instance_type;
	struct opt_int n = { 0 };

	if (!kops_wants_max_pods(kops_of(p)->config))
		return n;
	if (f->enis.set && f->ips_per_eni.set)
		return pods_of(f->enis.v, f->ips_per_eni.v);
	if (!type)
		type = kops_of(p)->config->default_machine_type;
	if (type)
		n = find_limit(p, type);
	/* if only documents are checked, there is no instance */
	if (p->req->no_keys)
		return n;
	if (n.set)
		plan_warn(p,
			  "maxPods: EC2 did not say how many addresses %s has; nodeup's own "
			  "table is used: %lld pods",
			  type, (long long)n.v);
	else
		plan_lacks(p,
			   "maxPods: EC2 did not say how many addresses %s has, and nodeup's own "
			   "table does not have it; set kubelet.maxPods, or let the role call "
			   "ec2:DescribeInstanceTypes",
			   type ? type : "this instance");
	return n;
}
