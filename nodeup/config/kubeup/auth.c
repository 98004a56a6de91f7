#include "nodeup/config/kubeup/states.h"

#include <string.h>
#include "assets/digest.h"
#include "nodeup/base/enc.h"

static const char pki[] = "/etc/kubernetes/pki/";
static const char srv[] = "/srv/kubernetes/";
/* The script writes these files here, on a master's volume, and Salt copies them. */
static const char overlay[] = "/srv/salt-overlay/salt/kube-apiserver/";

struct auth {
	struct arena *arena;
	const struct documents *documents;
	const struct kubeup_env *env;
	struct kubeup_node *node;
};

static struct kubeup_made *add(struct auth *u, const char *path, unsigned int mode,
			       const char *text)
{
	const struct kubeup_made made = {
		.path = path, .mode = mode, .text = text, .secret = true
	};

	arena_push(u->arena, u->node->made.v, u->node->made.n, made);
	return &u->node->made.v[u->node->made.n - 1];
}

/* Decodes a value that was found right when the document was read; empty if there is none. */
static const char *decoded_of(struct auth *u, const char *base64, bool is_zipped)
{
	const char *text = base64 ? kubeup_pem(u->arena, base64, is_zipped) : NULL;

	return text ? text : "";
}

static const char *decoded(struct auth *u, const char *base64)
{
	return decoded_of(u, base64, false);
}

/* From 1.5.6 on kube-up writes its keys into files. No key of the document tells 1.5.6 from 1.5.5, but the tarball
 * of 1.5.6 has a newer addon manager. source: cluster/gce/configure-vm.sh create-node-pki, v1.5.5 and v1.5.6 */
static bool has_pki(const struct auth *u)
{
	return u->env->kubernetes.minor == KUBEUP_NEWEST &&
	       kubeup_says(u->documents, "kube-addons/kube-addon-manager.yaml",
			   "kube-addon-manager:v6.1.");
}

static void add_pki(struct auth *u)
{
	const struct kubeup_env *v = u->env;
	struct kubeup_made *ca = add(u, arena_printf(u->arena, "%sca-certificates.crt", pki), 0644,
				     decoded(u, v->ca_cert));

	ca->secret = false;
	if (!str_is_empty(v->kubelet_cert)) {
		(void)add(u, arena_printf(u->arena, "%skubelet.crt", pki), 0644,
			  decoded(u, v->kubelet_cert));
		(void)add(u, arena_printf(u->arena, "%skubelet.key", pki), 0600,
			  decoded(u, v->kubelet_key));
	}
	arena_push(u->arena, u->node->made.v, u->node->made.n,
		   (struct kubeup_made){
			   .path = "/etc/kubernetes/ca.crt",
			   .target = arena_printf(u->arena, "%sca-certificates.crt", pki) });
}

/* Writes a kubeconfig as the script does; `user` and `cluster` are lines in it. */
static const char *kubeconfig(struct auth *u, const char *name, const char *user,
			      const char *cluster)
{
	return arena_printf(u->arena,
			    "apiVersion: v1\n"
			    "kind: Config\n"
			    "users:\n"
			    "- name: %s\n"
			    "  user:\n"
			    "%s"
			    "clusters:\n"
			    "- name: local\n"
			    "  cluster:\n"
			    "%s"
			    "contexts:\n"
			    "- context:\n"
			    "    cluster: local\n"
			    "    user: %s\n"
			    "  name: service-account-context\n"
			    "current-context: service-account-context\n",
			    name, user, cluster, name);
}

/* The server is a name that resolves only in another cloud. kubelet's --api-servers overrides that name. */
static const char *kubelet_config(struct auth *u)
{
	const struct kubeup_env *v = u->env;
	const char *server = v->kubernetes.minor >= 4 ? "    server: https://kubernetes-master\n"
						      : "";
	const char *user, *cluster;

	if (has_pki(u)) {
		user = arena_printf(u->arena,
				    "    client-certificate: %skubelet.crt\n"
				    "    client-key: %skubelet.key\n",
				    pki, pki);
		cluster = arena_printf(u->arena,
				       "%s    certificate-authority: %sca-certificates.crt\n",
				       server, pki);
	} else {
		user = arena_printf(u->arena,
				    "    client-certificate-data: %s\n"
				    "    client-key-data: %s\n",
				    v->kubelet_cert, v->kubelet_key);
		cluster = arena_printf(u->arena, "%s    certificate-authority-data: %s\n", server,
				       v->ca_cert);
	}
	return kubeconfig(u, "kubelet", user, cluster);
}

/* The kubelet of a master that does not register gets an empty file. */
static void add_kubelet(struct auth *u)
{
	const struct kubeup_env *v = u->env;
	const bool registers = !v->is_master ||
			       (!str_is_empty(v->kubelet_apiserver) &&
				!str_is_empty(v->kubelet_cert) && !str_is_empty(v->kubelet_key));

	(void)add(u, "/var/lib/kubelet/kubeconfig", 0400, registers ? kubelet_config(u) : "");
}

static void add_proxy(struct auth *u)
{
	const char *user = arena_printf(u->arena, "    token: %s\n", u->env->kube_proxy_token);
	const char *cluster =
		arena_printf(u->arena, "    certificate-authority-data: %s\n", u->env->ca_cert);

	(void)add(u, "/var/lib/kube-proxy/kubeconfig", 0400,
		  kubeconfig(u, "kube-proxy", user, cluster));
}

/* kube-up 1.2 makes these tokens at random. Here the tokens are derived from a token with more rights, so that each
 * plan has the same tokens. source: cluster/gce/configure-vm.sh of v1.2.0, create-salt-master-auth */
static const char *service_tokens(struct auth *u)
{
	static const char *const accounts[] = { "system:scheduler", "system:controller_manager",
						"system:logging", "system:monitoring",
						"system:dns" };
	enum { TOKEN_BYTES = 16 };
	const char *lines = "";

	for (size_t i = 0; u->env->kubernetes.minor == 2 && i < ARRAY_LEN(accounts); i++) {
		const char *from =
			arena_printf(u->arena, "%s %s", accounts[i], u->env->kube_bearer_token);
		struct digest d;

		digest_of(DIGEST_SHA256, from, strlen(from), &d);
		lines = arena_printf(u->arena, "%s%s,%s,%s\n", lines,
				     enc_hex(u->arena, d.bytes, TOKEN_BYTES), accounts[i],
				     accounts[i]);
	}
	return lines;
}

/* Files on a master's volume stay: the cluster knows their tokens. */
static void add_logins(struct auth *u)
{
	const struct kubeup_env *v = u->env;
	const struct {
		const char *name, *text, *other;
	} all[] = {
		{ "basic_auth.csv",
		  arena_printf(u->arena, "%s,%s,admin\n", v->kube_password, v->kube_user),
		  "the password on the volume stays, and the document has another" },
		{ "known_tokens.csv",
		  arena_printf(u->arena,
			       "%s,admin,admin\n"
			       "%s,kubelet,kubelet\n"
			       "%s,kube_proxy,kube_proxy\n"
			       "%s",
			       v->kube_bearer_token, v->kubelet_token, v->kube_proxy_token,
			       service_tokens(u)),
		  "the tokens on the volume stay, and the document has others" },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct kubeup_made *m = add(u, arena_printf(u->arena, "%s%s", overlay, all[i].name),
					    0600, all[i].text);

		m->if_absent = true;
		m = add(u, arena_printf(u->arena, "%s%s", srv, all[i].name), 0600, all[i].text);
		m->if_absent = true;
		m->other = all[i].other;
	}
}

static void add_keys(struct auth *u)
{
	const struct kubeup_env *v = u->env;
	const struct {
		const char *name, *base64;
	} all[] = {
		{ "server.cert", v->master_cert },  { "server.key", v->master_key },
		{ "kubecfg.crt", v->kubecfg_cert }, { "kubecfg.key", v->kubecfg_key },
		{ "ca.crt", v->ca_cert },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		add(u, arena_printf(u->arena, "%s%s", srv, all[i].name), 0600,
		    decoded(u, all[i].base64))
			->if_absent = true;
}

/* Both certificates are gzip inside base64.
 * source: cluster/gce/configure-vm.sh create-salt-master-etcd-auth */
static void add_etcd(struct auth *u)
{
	const struct kubeup_env *v = u->env;
	const struct {
		const char *name, *base64;
		bool is_zipped;
	} all[] = {
		{ "etcd-ca.crt", v->etcd_ca_cert, true },
		{ "etcd-peer.key", v->etcd_peer_key, false },
		{ "etcd-peer.crt", v->etcd_peer_cert, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (str_is_empty(all[i].base64) || v->kubernetes.minor < 5)
			return;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		(void)add(u, arena_printf(u->arena, "%s%s", srv, all[i].name), 0600,
			  decoded_of(u, all[i].base64, all[i].is_zipped));
}

void kubeup_auth(struct arena *a, const struct documents *d, const struct kubeup_env *env,
		 struct kubeup_node *ret)
{
	struct auth u = { a, d, env, ret };

	if (has_pki(&u))
		add_pki(&u);
	add_kubelet(&u);
	if (!env->is_master) {
		add_proxy(&u);
		return;
	}
	add_keys(&u);
	add_logins(&u);
	add_etcd(&u);
}
