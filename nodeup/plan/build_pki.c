#include "nodeup/plan/builders.h"

#include "nodeup/plan/pieces.h"

int build_pki(struct plan *p, struct err *e)
{
	const struct node_keypair *ca = plan_keypair(p, "ca", false, e);
	const char *login = strmap_get(&p->req->node->secrets, "dockerconfig");

	if (!ca || !plan_file(p, "/srv/kubernetes/ca.crt", 0644, ca->cert, e))
		return -EINVAL;
	if (!login)
		return 0;
	/* kubelet's HOME is /root */
	if (!plan_dir(p, "/root/.docker", 0700, e) ||
	    !plan_secret(p, "/root/.docker/config.json", 0600, login, e))
		return -EINVAL;
	return 0;
}
