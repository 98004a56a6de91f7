#include "nodeup/config/kubeup/states.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "assets/asset.h"
#include "nodeup/base/dur.h"
#include "nodeup/config/storage_docker.h"

/* The machine to assume if documents are checked without a machine. */
static const char any_host[] = "any-host.ec2.internal";
static const char usual_registry[] = "gcr.io/google_containers";

#define PD_TIMEOUT_NS (600 * DUR_SEC)

struct build {
	const struct reading *in;
	const struct documents *documents;
	const struct kubeup_env *env;
	struct kubeup_node *own; /* the part of the node that only kube-up has */
};

static const char *where(struct build *b, const char *key)
{
	return tree_place(b->in->arena, b->env->tree, key);
}

static struct tree_pos pos_of(const struct build *b, const char *key)
{
	const struct tree *t = tree_get(b->env->tree, key);

	return t ? t->pos : b->env->tree->pos;
}

/* source: cluster/saltbase/pillar/systemd.sls: releases without systemd had sysvinit or upstart */
static int check_release(const struct facts *f, struct err *e)
{
	static const struct {
		const char *distribution, *version, *name;
	} old[] = {
		{ "ubuntu", "14.04", "trusty" },
		{ "ubuntu", "12.04", "precise" },
		{ "debian", "7", "wheezy" },
	};

	for (size_t i = 0; i < ARRAY_LEN(old); i++)
		if (str_eq(f->distribution, old[i].distribution) &&
		    (str_eq(f->codename, old[i].name) ||
		     (f->version && str_has_prefix(f->version, old[i].version))))
			return err_config(
				e,
				"%s %s has no systemd: nodeup makes kube-up's nodes where "
				"there is one",
				old[i].distribution, old[i].name);
	return 0;
}

/* Sets where docker stores its data, and on a master the volume that outlives the instance.
 * source: cluster/aws/templates/format-disks.sh; cluster/aws/util.sh attaches the volume as /dev/sdb */
static int set_disks(struct build *b)
{
	const struct storage_docker docker = {
		.arena = b->in->arena,
		.facts = b->in->facts,
		.opts = b->in->opts,
		.docker_storage = b->env->docker_storage,
		.kube_aws_storage = b->env->kube_aws_storage,
		.root = b->documents->docker_root,
		.where = where(b, "DOCKER_STORAGE"),
		.driver_where = where(b, "DOCKER_STORAGE"),
		.pos = pos_of(b, "DOCKER_STORAGE"),
		.node = b->in->node,
		.err = b->in->err,
	};
	struct node_volume pd = {
		.name = node_master_pd,
		.path = node_master_pd,
		.filesystem = "ext4",
		.disks = NODE_DISKS_PATHS,
		.persist = true,
		.device_timeout_ns = PD_TIMEOUT_NS,
		.pos = pos_of(b, "KUBERNETES_MASTER"),
	};
	int r = storage_kube_up(&docker);

	if (r == 0)
		r = storage_driver(&docker);
	if (r < 0 || !b->env->is_master)
		return r;
	strv_add(b->in->arena, &pd.devices, "/dev/xvdb");
	strv_add(b->in->arena, &pd.mount_options, "noatime");
	storage_master_pd(b->in->arena, &pd);
	arena_push(b->in->arena, pd.binds.v, pd.binds.n,
		   (struct node_bind){ "srv/salt-overlay", "/srv/salt-overlay",
				       strv_split(b->in->arena, "kubelet.service", ' '), pd.pos });
	arena_push(b->in->arena, b->in->node->volumes.v, b->in->node->volumes.n, pd);
	return volumes_check(b->in->arena, &b->in->node->volumes, b->in->err);
}

static int find_host(struct build *b, struct kubeup_host *ret)
{
	const struct node_volumes *volumes = &b->in->node->volumes;
	const char *name = b->in->facts->local_hostname
				   ? str_trim(b->in->arena, b->in->facts->local_hostname)
				   : "";

	*ret = (struct kubeup_host){ .driver = b->in->node->docker_storage };
	for (size_t i = 0; i < volumes->n; i++)
		ret->on_store |= str_eq(volumes->v[i].path, storage_kube_up_name);
	if (*name)
		ret->name = arena_strn(b->in->arena, name, strcspn(name, " \t\r\n"));
	else if (b->in->opts->no_host)
		ret->name = any_host;
	if (ret->name)
		return 0;
	(void)err_config(b->in->err,
			 "%s: the node's name is that of its VPC, but the fact localHostname is "
			 "not known",
			 tree_where(b->in->arena, &b->env->tree->pos));
	return facts_note(b->in->err, "localHostname");
}

/* Returns whether a file contains a secret of the document. */
static bool is_secret(const struct kubeup_env *v, const char *text)
{
	const char *const secrets[] = {
		v->extra_docker_opts,   v->docker_registry_mirror_url,
		v->manifest_url,        v->manifest_url_header,
		v->kubelet_test_args,   v->apiserver_test_args,
		v->scheduler_test_args, v->controller_manager_test_args,
		v->kubeproxy_test_args,
	};

	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		if (!str_is_empty(secrets[i]) && strstr(text, secrets[i]))
			return true;
	return false;
}

/* Removes $DAEMON_ARGS from its own value. The word is meant for scripts of init; systemd would pass it to kubelet
 * unchanged. */
static const char *without_itself(struct arena *a, const char *path, const char *text)
{
	static const char word[] = "DAEMON_ARGS=\"$DAEMON_ARGS ";
	const char *at = strcmp(path, "/etc/sysconfig/kubelet") == 0 ? strstr(text, word) : NULL;

	return at ? arena_printf(a, "%.*sDAEMON_ARGS=\"%s", (int)(at - text), text,
				 at + strlen(word))
		  : text;
}

static int add_states(struct build *b, const struct kubeup_host *host)
{
	struct kubeup_node *s = b->own;
	const struct tree_pos archive = pos_of(b, "SALT_TAR_URL");
	struct kubeup_files files;
	int r = kubeup_render(b->in->arena, b->documents, b->env, host, &files, b->in->opts->errors,
			      b->in->err);

	for (size_t i = 0; r == 0 && i < files.n; i++) {
		const struct kubeup_file *f = &files.v[i];
		const struct kubeup_made made = {
			.path = f->path,
			.text = without_itself(b->in->arena, f->path, f->text),
			.mode = f->state->mode,
			.secret = is_secret(b->env, f->text) || !(f->state->mode & 044),
			.if_absent = !f->state->source,
			.template = f->template ? arena_printf(b->in->arena, "%s, %s",
							       tree_where(b->in->arena, &archive),
							       f->template)
						: NULL,
		};

		arena_push(b->in->arena, s->made.v, s->made.n, made);
	}
	return r;
}

static bool has_cni(const struct kubeup_env *v)
{
	return str_eq(v->network_provider, "kubenet") || str_eq(v->network_provider, "cni");
}

static void add_dir(struct build *b, const char *path, unsigned int mode, const char *owner)
{
	struct kubeup_node *s = b->own;

	arena_push(b->in->arena, s->made.v, s->made.n,
		   (struct kubeup_made){ .path = path, .mode = mode, .owner = owner });
}

static void add_member(struct build *b, const struct kubeup_member *m)
{
	struct kubeup_node *s = b->own;

	arena_push(b->in->arena, s->members.v, s->members.n, *m);
}

static void add_asset(struct build *b, const char *key, const char *text)
{
	arena_push(b->in->arena, b->in->node->assets.v, b->in->node->assets.n,
		   (struct node_text){ .text = text, .pos = pos_of(b, key) });
}

/* Adds the CNI plugins. kube-up names the archive only by its md5, kops 1.8 names the same archive by its sha1.
 * source: cluster/saltbase/salt/cni/init.sls; kops 1.8.1 upup/pkg/fi/cloudup/networking.go */
static int add_plugins(struct build *b)
{
	static const struct {
		const char *name;
		bool optional; /* nothing uses the plugin */
	} all[] = {
		{ "bridge", false },   { "cnitool", true },     { "dhcp", false },
		{ "flannel", false },  { "host-local", false }, { "ipvlan", false },
		{ "loopback", false }, { "macvlan", false },    { "noop", true },
		{ "ptp", false },      { "tuning", false },
	};

	if (!has_cni(b->env))
		return 0;
	if (b->env->kubernetes.minor < 4)
		return err_config(
			b->in->err,
			"%sNETWORK_PROVIDER: the plugins of '%s' are known by their md5 "
			"alone in kube-up 1.%d, which nodeup does not take: it knows none",
			where(b, "NETWORK_PROVIDER"), b->env->network_provider,
			b->env->kubernetes.minor);
	add_dir(b, "/etc/cni/net.d", 0755, NULL);
	add_dir(b, "/opt/cni", 0755, NULL);
	add_asset(b, "NETWORK_PROVIDER",
		  "19d49f7b2b99cd2493d5ae0ace896c64e289ccbb@https://storage.googleapis.com/"
		  "kubernetes-release/network-plugins/"
		  "cni-07a8a28637e97b22eb8dfe710eeae1344f69d16e.tar.gz");
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		add_member(b, &(struct kubeup_member){ .name = all[i].name,
						       .path = arena_printf(b->in->arena,
									    "/opt/cni/bin/%s",
									    all[i].name),
						       .mode = 0755,
						       .optional = all[i].optional });
	return 0;
}

/* source: cluster/saltbase/salt/calico/node.sls */
static void add_calico(struct build *b)
{
	static const char *const modules[] = { "ip6_tables", "xt_set" };

	if (!str_eq(b->env->network_policy_provider, "calico") || b->env->is_master ||
	    b->env->kubernetes.minor < 4)
		return;
	add_member(b, &(struct kubeup_member){
			      .name = "calico",
			      .path = "/opt/cni/bin/calico",
			      .mode = 0744,
			      .known = "ac05cb9254b5aaa5822cf10325983431bd25489147f2edf9dec7e43d99"
				       "c43e77@https://github.com/projectcalico/calico-cni/"
				       "releases/download/v1.3.1/calico" });
	for (size_t i = 0; i < ARRAY_LEN(modules); i++)
		strv_add(b->in->arena, &b->own->modules, modules[i]);
}

/* Adds programs and images out of the archive that the document names. */
static void add_programs(struct build *b)
{
	static const char *const of_master[] = { "kube-apiserver", "kube-controller-manager",
						 "kube-scheduler" };
	static const char *const of_node[] = { "kube-proxy" };
	/* source: build/common.sh KUBE_ADDON_PATHS, v1.2.0 to v1.2.7 */
	static const char *const of_addons[] = {
		"gcr.io~google_containers~pause:2.0.tar",
		"gcr.io~google_containers~kube-registry-proxy:0.3.tar",
	};
	const struct kubeup_env *v = b->env;
	const char *const *images = v->is_master ? of_master : of_node;
	const size_t n = v->is_master ? ARRAY_LEN(of_master) : ARRAY_LEN(of_node);
	const struct node_text archive = {
		.text = arena_printf(b->in->arena, "%s@%s", v->server_binary_tar_hash,
				     v->server_binary_tar_url),
		.pos = pos_of(b, "SERVER_BINARY_TAR_URL"),
	};
	/* since: the minor version from which on the archive has the file */
	static const struct {
		struct kubeup_member file;
		int since;
	} members[] = {
		{ { .name = "kubelet", .path = "/usr/local/bin/kubelet", .mode = 0755 }, 2 },
		{ { .name = "kubectl", .path = "/usr/local/bin/kubectl", .mode = 0755 }, 2 },
		{ { .name = "LICENSES",
		    .path = "/usr/local/share/doc/kubernetes/LICENSES",
		    .mode = 0644,
		    .optional = true },
		  2 },
		{ { .name = "kubernetes-src.tar.gz",
		    .path = "/usr/local/share/doc/kubernetes/kubernetes-src.tar.gz",
		    .mode = 0644,
		    .optional = true },
		  3 },
	};

	add_asset(b, "SERVER_BINARY_TAR_URL", archive.text);
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (v->kubernetes.minor >= members[i].since)
			add_member(b, &members[i].file);
	/* the script that makes the addons of 1.2 loads every image there, and waits until it is loaded */
	for (size_t i = 0; i < ARRAY_LEN(of_addons) && v->is_master && v->kubernetes.minor == 2;
	     i++)
		add_member(b, &(struct kubeup_member){
				      .name = of_addons[i],
				      .path = arena_printf(b->in->arena,
							   "/srv/salt/kube-addons-images/%s",
							   of_addons[i]),
				      .mode = 0644 });
	/* if the document gives the tag, the pods' images are pulled */
	for (size_t i = 0; i < n && str_is_empty(v->kube_image_tag); i++) {
		struct kubeup_node *s = b->own;
		const struct node_member_image image = {
			.name = arena_printf(b->in->arena, "%s/%s:%s", v->kube_docker_registry,
					     images[i], kubeup_tag(b->in->arena, v)),
			.member = arena_printf(b->in->arena, "%s.tar", images[i]),
			.tag = arena_printf(b->in->arena, "%s.docker_tag", images[i]),
			.loaded_as = arena_printf(b->in->arena, "%s/%s", usual_registry, images[i]),
			.archive = archive,
		};

		arena_push(b->in->arena, s->images.v, s->images.n, image);
	}
}

/* Adds Python 2 with its YAML, which the script that makes the addons of 1.2 needs to read them. The script skips
 * addons that it cannot read. source: cluster/aws/templates/configure-vm-aws.sh ensure-packages;
 * kube-addon-update.sh */
static void add_python(struct build *b)
{
	static const struct {
		const char *distribution;
		long newest;
	} all[] = { { "debian", 10 }, { "ubuntu", 18 } };
	const struct facts *f = b->in->facts;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (str_eq(f->distribution, all[i].distribution) && f->version &&
		    strtol(f->version, NULL, 10) <= all[i].newest) {
			strv_add(b->in->arena, &b->in->node->packages, "python-yaml");
			return;
		}
	if (!b->in->opts->no_host)
		dialect_warn(b->in->arena, b->in->opts,
			     "%sthe addons are not made unless there is a 'python' of "
			     "Python 2 with yaml: the script of kube-up 1.2 asks it, and "
			     "this release has no package of it",
			     where(b, "KUBERNETES_MASTER"));
}

/* Adds the packages that the states install, with two exceptions: python-apt, which only Salt needs, and ntp, if the
 * host keeps the time. source: cluster/saltbase/salt/base.sls, docker/init.sls, logrotate/init.sls,
 * debian-auto-upgrades/init.sls, generate-cert/init.sls */
static void add_packages(struct build *b)
{
	static const struct {
		const char *name;
		enum kubeup_role role;
		int since;
	} all[] = {
		{ "curl", KUBEUP_BOTH, 2 },
		{ "ebtables", KUBEUP_BOTH, 4 },
		{ "apt-transport-https", KUBEUP_BOTH, 2 },
		{ "nfs-common", KUBEUP_BOTH, 2 },
		{ "socat", KUBEUP_BOTH, 2 },
		{ "bridge-utils", KUBEUP_BOTH, 2 },
		{ "libltdl7", KUBEUP_BOTH, 4 },
		{ "logrotate", KUBEUP_BOTH, 2 },
		{ "unattended-upgrades", KUBEUP_BOTH, 2 },
		{ "openssl", KUBEUP_MASTER, 2 },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (b->env->kubernetes.minor >= all[i].since &&
		    (all[i].role == KUBEUP_BOTH || b->env->is_master))
			strv_add(b->in->arena, &b->in->node->packages, all[i].name);
	if (b->env->kubernetes.minor == 2 && b->env->is_master)
		add_python(b);
	/* source: cluster/aws/templates/format-disks.sh */
	if (str_eq(b->in->node->docker_storage, "aufs"))
		strv_add(b->in->arena, &b->in->node->packages, "aufs-tools");
	if (str_eq(b->env->e2e_storage_test_environment, "true"))
		dialect_warn(b->in->arena, b->in->opts,
			     "%sE2E_STORAGE_TEST_ENVIRONMENT: the packages that tests of "
			     "storage take are left out",
			     where(b, "E2E_STORAGE_TEST_ENVIRONMENT"));
}

static void add_sysctl(struct build *b)
{
	struct strmap *values = &b->own->sysctl;
	const int minor = b->env->kubernetes.minor;

	strmap_set(b->in->arena, values, "net.ipv4.ip_forward", "1");
	if (minor >= 3)
		strmap_set(b->in->arena, values, "net.ipv4.neigh.default.gc_thresh1", "0");
	if (minor >= 5 && str_eq(b->env->softlockup_panic, "true")) {
		strmap_set(b->in->arena, values, "kernel.softlockup_panic", "1");
		strmap_set(b->in->arena, values, "kernel.softlockup_all_cpu_backtrace", "1");
	}
}

/* source: cluster/saltbase/salt/etcd/init.sls; cluster/gce/configure-vm.sh mount-master-pd */
static void add_master(struct build *b)
{
	struct kubeup_node *s = b->own;

	if (!b->env->is_master)
		return;
	strv_add(b->in->arena, &s->whole, "/etc/kubernetes/addons");
	if (b->env->kubernetes.minor == 2)
		strv_add(b->in->arena, &s->units, "kube-addons.service");
	s->user.name = "etcd";
	s->user.home = "/var/etcd";
	s->user.shell = "/sbin/nologin";
	add_dir(b, "/mnt/master-pd/var/etcd", 0700, "etcd");
	add_dir(b, "/srv/sshproxy", 0755, NULL);
}

static void set_names(struct build *b)
{
	const struct kubeup_env *v = b->env;
	struct node *n = b->in->node;

	*n = (struct node){
		.cluster_name = v->instance_prefix,
		.master_internal_name = str_is_empty(v->api_servers) ? "" : v->api_servers,
		.cloud_provider = "aws",
		.networking = str_is_empty(v->network_provider) ? "none" : v->network_provider,
		.non_masquerade_cidr = v->non_masquerade_cidr,
		.service_cluster_ip_range = v->service_cluster_ip_range,
		.cluster_dns_domain = v->dns_domain,
		.is_master = v->is_master,
		.auto_upgrades = str_eq(v->auto_upgrade, "true"),
		.keeps_time = true,
		.takes_host_name = true,
		.asks_version1 = true,
		/* the last version that kube-up installs */
		.docker_version = v->kubernetes.minor == 2 ? "1.9.1" : "1.11.2",
		.kubernetes = v->kubernetes,
		/* source: cluster/aws/util.sh start-minions */
		.replaces = { "/etc/rc.local", "#!/bin/sh -e\n/etc/kubernetes/bootstrap\n" },
		.own = b->own,
	};
}

int kubeup_node(const struct reading *in, const struct documents *d)
{
	struct node node;
	struct kubeup_node *own = arena_new(in->arena, struct kubeup_node);
	const struct reading inner = { in->arena, in->opts, in->facts, &node, in->err };
	const struct dialect_opts *o = in->opts;
	struct build b = { &inner, d, d->own, own };
	struct kubeup_host host;
	/* Documents may be read without the tarball, but only the tarball has the files. If values are wrong, the
	 * files would be wrong too. */
	const bool has_states = d->files.n && !(o->errors && errs_count(o->errors));
	int r = errs_keep(o->errors, check_release(in->facts, in->err), in->err);

	*own = (struct kubeup_node){ 0 };
	set_names(&b);
	if (r == 0)
		r = errs_keep_vital(o->errors, set_disks(&b), in->err);
	if (r == 0)
		r = find_host(&b, &host);
	if (r == 0 && has_states)
		r = add_states(&b, &host);
	if (r == 0 && has_states)
		kubeup_auth(in->arena, d, b.env, own);
	if (r == 0)
		r = add_plugins(&b);
	if (r < 0)
		return r;
	add_programs(&b);
	add_calico(&b);
	add_packages(&b);
	add_sysctl(&b);
	add_master(&b);
	node.dialect = d->dialect;
	*in->node = node;
	return 0;
}
