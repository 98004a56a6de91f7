/* kinds.c - recognises and names wrong kinds of files that people hand to --conf
 * One table has the signs of each kind: cluster specs, templates, other agents' documents, archives. No document
 * that a dialect reads has any of these signs. */
#include "nodeup/documents/dialects.h"

#include <string.h>
#include "nodeup/base/yaml.h"

/* The first bytes of files that are no documents. */
static const struct {
	const char *name, *bytes;
	size_t at;
} starts[] = {
	{ "a program", "\x7f"
		       "ELF" },
	{ "an archive (zip)", "PK\3\4" },
	{ "an archive (xz)", "\xfd"
			     "7zXZ" },
	{ "an archive (zstd)", "\x28\xb5\x2f\xfd" },
	{ "an archive (bzip2)", "BZh" },
	{ "an archive (tar)", "ustar", 257 },
	{ "an archive (gzip) in another", "\x1f\x8b" },
	{ "a certificate or a key (PEM)", "-----BEGIN " },
	{ "a page of HTML", "<!DOCTYPE" },
	{ "a page of HTML", "<html" },
	{ "XML", "<?xml" },
	{ "user data of Windows", "<powershell>" },
	{ "a cloud-config of cloud-init", "#cloud-config" },
	{ "settings of Bottlerocket", "[settings." },
	{ "a unit of systemd", "[Unit]" },
	{ "a file of Terraform", "locals {" },
	{ "a file of Terraform", "resource \"" },
	{ "a file of Terraform", "terraform {" },
	{ "a file of Terraform", "provider \"" },
};

/* Signs of a kind: a map that has the key `has`, and the key `also` if it is given, but not the key `lacks`. The
 * value of `has` contains `part`. */
static const struct {
	const char *name, *has;
	enum tree_kind shape;
	const char *also, *lacks, *part;
} signs[] = {
	{ "Ignition's configuration", "ignition", TREE_MAP },
	{ "Butane's configuration", "variant", TREE_SCALAR, "version" },
	{ "a template of CloudFormation", "AWSTemplateFormatVersion", TREE_SCALAR },
	{ "a template of CloudFormation", "Resources", TREE_MAP },
	{ "a configuration of Terraform", "terraform", TREE_MAP },
	{ "a configuration of Terraform", "resource", TREE_MAP },
	{ "a machine configuration of Talos", "machine", TREE_MAP, "cluster" },
	{ "a configuration of k3s or RKE2", "token", TREE_SCALAR, "server" },
	{ "a configuration of k3s or RKE2", "cluster-init", TREE_SCALAR },
	{ "an answer of EC2 with user data in it", "UserData", TREE_MAP },
	{ "an answer of EC2 with user data in it", "LaunchTemplateVersions", TREE_SEQ },
	{ "facts, which --facts takes", "distribution", TREE_SCALAR, .lacks = "ClusterName" },
	{ "the kube-env of a node of GKE or GCE", "KUBE_MANIFESTS_TAR_URL", TREE_SCALAR },
	{ "the kube-env of a node of GKE or GCE", "KUBELET_ARGS", TREE_SCALAR,
	  .part = "--cloud-provider=gce" },
	{ "the kube-env of a node of GKE", "SERVER_BINARY_TAR_URL", TREE_SCALAR,
	  .part = "/kubernetes-release-gke/" },
	{ "the kube-env of a node of GKE", "SALT_TAR_URL", TREE_SCALAR,
	  .part = "/kubernetes-release-gke/" },
	{ "a cluster spec of kops", "kubeAPIServer", TREE_MAP, .lacks = "ClusterName" },
	{ "a cluster spec of kops", "kubeProxy", TREE_MAP, .lacks = "ClusterName" },
	{ "a NodeupConfig of kops (nodeupconfig.yaml)", "Assets", TREE_MAP,
	  .lacks = "InstanceGroupName" },
	{ "a NodeupConfig of kops (nodeupconfig.yaml)", "KeypairIDs", TREE_MAP,
	  .lacks = "InstanceGroupName" },
	{ "a NodeupConfig of kops (nodeupconfig.yaml)", "KubeletConfig", TREE_MAP,
	  .lacks = "InstanceGroupName" },
};

/* Objects of Kubernetes' form, by the beginning of apiVersion. kind NULL: objects of any kind; the object's own kind
 * is added to the name. */
static const struct {
	const char *api, *kind, *name;
} objects[] = {
	{ "kops.k8s.io/", "Cluster", "a cluster spec of kops" },
	{ "kops/", "Cluster", "a cluster spec of kops" },
	{ "kops.k8s.io/", "InstanceGroup", "an instance group of kops" },
	{ "kops/", "InstanceGroup", "an instance group of kops" },
	{ "kops.k8s.io/", NULL, "kops'" },
	{ "kops/", NULL, "kops'" },
	{ "node.eks.aws/", NULL, "nodeadm's" },
	{ "kubeadm.k8s.io/", NULL, "kubeadm's" },
	{ "kubelet.config.k8s.io/", NULL, "kubelet's" },
	{ "kubeproxy.config.k8s.io/", NULL, "kube-proxy's" },
	{ "eksctl.io/", NULL, "eksctl's" },
	{ "karpenter.", NULL, "Karpenter's" },
	{ "k0s.k0sproject.io/", NULL, "k0s'" },
	{ "v1", "Config", "a kubeconfig" },
};

/* Words in other agents' user data. */
static const struct {
	const char *name, *part;
} scripts[] = {
	{ "nodeadm's NodeConfig", "apiVersion: node.eks.aws/" },
	{ "user data of a node of EKS", "/etc/eks/bootstrap.sh" },
	{ "user data of kubeadm", "\nkubeadm join " },
	{ "user data of kubeadm", "\nkubeadm init " },
};

static int refuse(const char *where, const char *what, struct err *e)
{
	return err_config(e,
			  "%s: this is %s; --conf wants a kube_env.yaml of kops or kube-up, or "
			  "the user data that bring it",
			  where, what);
}

static bool is_blank(const char *text, size_t n)
{
	return n == strspn(text, " \t\r\n");
}

static const char *start_of(const char *text, size_t n, size_t blanks)
{
	for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
		const size_t len = strlen(starts[i].bytes);
		const size_t at = starts[i].at ? starts[i].at : blanks;

		if (n >= at + len && memcmp(text + at, starts[i].bytes, len) == 0)
			return starts[i].name;
	}
	return NULL;
}

/* Finds the kind by the text's first bytes, before or after leading comments; NULL: unknown. */
static const char *kind_of_bytes(const char *text, size_t n)
{
	const size_t blanks = strspn(text, " \t\r\n");
	const char *kind = start_of(text, n, blanks), *p = text + blanks;

	while (*p == '#' || *p == '\n') {
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return kind ? kind : start_of(text, n, (size_t)(p - text));
}

/* Finds the kind of a text that cannot be parsed, by keys at the beginning of lines; NULL: unknown. */
static const char *kind_of_lines(const char *text)
{
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
			const size_t n = strlen(signs[i].has);

			if (!signs[i].also && !signs[i].lacks && !signs[i].part &&
			    strncmp(line, signs[i].has, n) == 0 && line[n] == ':')
				return signs[i].name;
		}
	return NULL;
}

/* Returns the first of several documents; NULL: there is only one. */
static const char *first_document(struct arena *a, const char *text)
{
	static const char mark[] = "---";
	const char *p = text;

	while (str_has_prefix(p, mark) || *p == '#' || *p == '\n') {
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	p = strstr(p, "\n---");
	return p ? arena_strn(a, text, (size_t)(p + 1 - text)) : NULL;
}

int kinds_parse(struct arena *a, const char *file, const char *text, size_t n, struct tree **ret,
		struct err *e)
{
	const char *kind = is_blank(text, n) ? "an empty file" : kind_of_bytes(text, n);
	const char *first;
	struct err ignored, other;
	struct tree *t;
	int r;

	if (kind)
		return refuse(file, kind, e);
	r = yaml_parse(a, file, text, n, ret, e);
	if (r == 0)
		return 0;
	first = first_document(a, text);
	if (first && yaml_parse(a, file, first, strlen(first), &t, &ignored) == 0 &&
	    kinds_check(a, t, &other) < 0)
		*e = other;
	else if ((kind = kind_of_lines(text)))
		return refuse(file, kind, e);
	return kinds_explain(file, text, e);
}

/* Returns the kind that an object names; NULL: the tree is no object. */
static const char *kind_of_object(struct arena *a, const struct tree *t)
{
	const char *api = tree_text(t, "apiVersion"), *kind = tree_text(t, "kind");

	if (!api && !(kind && (tree_get(t, "metadata") || tree_get(t, "spec"))))
		return NULL;
	for (size_t i = 0; api && i < ARRAY_LEN(objects); i++) {
		if (!str_has_prefix(api, objects[i].api))
			continue;
		if (objects[i].kind && !str_eq(objects[i].kind, kind))
			continue;
		return objects[i].kind
			       ? objects[i].name
			       : arena_printf(a, "%s %s", objects[i].name, kind ? kind : api);
	}
	return arena_printf(a, "an object of kind '%s'%s%s%s", kind ? kind : "",
			    api ? ", apiVersion '" : "", api ? api : "", api ? "'" : "");
}

int kinds_check(struct arena *a, const struct tree *t, struct err *e)
{
	const char *object;

	if (t->kind == TREE_NULL)
		return refuse(t->pos.file ? t->pos.file : "", "an empty document", e);
	/* several objects, as `kops get -o json` writes them */
	if (t->kind == TREE_SEQ && t->n && t->items[0].value->kind == TREE_MAP)
		return kinds_check(a, t->items[0].value, e);
	if (t->kind != TREE_MAP)
		return 0;
	object = kind_of_object(a, t);
	if (object)
		return refuse(tree_where(a, &t->pos), object, e);
	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		const struct tree *has = tree_get(t, signs[i].has);

		if (!has || has->kind != signs[i].shape ||
		    (signs[i].also && !tree_get(t, signs[i].also)) ||
		    (signs[i].lacks && tree_lookup(t, signs[i].lacks)) ||
		    (signs[i].part && !strstr(has->scalar, signs[i].part)))
			continue;
		return refuse(tree_where(a, &has->pos), signs[i].name, e);
	}
	return 0;
}

int kinds_explain(const char *file, const char *text, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		if (strstr(text, scripts[i].part))
			return refuse(file, scripts[i].name, e);
	return err_code(e);
}
