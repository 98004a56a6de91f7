#include "nodeup/config/kops/model.h"

#include <arpa/inet.h>
#include <string.h>
#include "nodeup/config/parsed_files.h"
#include "nodeup/config/values.h"

char *kops_name_inside(struct arena *a, const char *service, const char *cluster)
{
	return arena_printf(a, "%s.internal.%s", service, cluster);
}

/* Returns the name that EC2 forms of the instance's id: "i-0abc.eu-west-1.compute.internal". */
static const char *name_in_region(struct arena *a, const char *host, const char *region)
{
	return str_eq(region, "us-east-1")
		       ? arena_printf(a, "%s.ec2.internal", host)
		       : arena_printf(a, "%s.%s.compute.internal", host, region);
}

/* Returns the name that EC2 forms of the address: "ip-10-0-0-7.eu-west-1.compute.internal". source: kops 1.37
 * pkg/bootstrap/awsbootstrap PrivateDNSName */
static const char *name_of_address(struct arena *a, const char *ipv4, const char *region)
{
	char *host = arena_printf(a, "ip-%s", ipv4);

	for (char *at = host; *at; at++)
		if (*at == '.')
			*at = '-';
	return name_in_region(a, host, region);
}

/* Finds the node's name. Documents may be checked on any machine: then there are no facts, and values that come from
 * facts stay empty. */
static int find_name(const struct reading *in, const struct kops_config *c, const char **ret)
{
	const struct facts *f = in->facts;
	const bool no_host = in->opts->no_host;
	struct in_addr ignored;

	*ret = "";
	if (!f->instance_id && no_host)
		return 0;
	if (!f->instance_id) {
		(void)err_config(in->err, "the node's name: the id of this instance is not known");
		return facts_note(in->err, "instanceID");
	}
	*ret = f->instance_id;
	if (!c->use_ip_based_node_names)
		return 0;
	if (f->local_hostname && str_has_prefix(f->local_hostname, f->instance_id))
		return err_config(
			in->err,
			"useIPBasedNodeNames: instance %s has a name of its id, %s: its subnet "
			"must give names of addresses",
			f->instance_id, f->local_hostname);
	if (!f->local_ipv4 || !f->region || inet_pton(AF_INET, f->local_ipv4, &ignored) != 1)
		return no_host ? 0
			       : err_config(
					 in->err,
					 "useIPBasedNodeNames: the instance's IPv4 address is '%s'",
					 f->local_ipv4 ? f->local_ipv4 : "");
	*ret = name_of_address(in->arena, f->local_ipv4, f->region);
	return 0;
}

/* source: kops 1.37 upup/pkg/fi/nodeup/command.go evaluateSpec */
static int fill_names(const struct reading *in, struct kops_config *c, const char *name)
{
	struct kops_kube_proxy *proxy = &c->kube_proxy;
	struct in6_addr ignored;

	c->kubelet.hostname_override = name;
	if (!c->has_kube_proxy)
		return 0;
	proxy->hostname_override = name;
	if (str_eq(proxy->bind_address, "@aws")) {
		if (!in->facts->local_ipv4 && !in->opts->no_host) {
			(void)err_config(
				in->err,
				"KubeProxy.bindAddress '@aws': this instance's address is not known");
			return facts_note(in->err, "localIPv4");
		}
		proxy->bind_address = in->facts->local_ipv4;
	} else if (!str_is_empty(proxy->bind_address) &&
		   inet_pton(strchr(proxy->bind_address, ':') ? AF_INET6 : AF_INET,
			     proxy->bind_address, &ignored) != 1)
		return err_config(in->err, "KubeProxy.bindAddress: '%s' is not an address",
				  proxy->bind_address);
	return 0;
}

/* Finds all names and addresses of the node; without facts there are none. source: kops 1.37
 * nodeup/pkg/model/kubelet.go kubeletNames; of names_of_ec2, upup/pkg/fi/cloudup/awsup GetInstanceCertificateNames */
static void find_names(struct arena *a, const struct facts *f, struct kops_node *own)
{
	const char *const all[] = { own->name,     f->instance_id, f->local_hostname,
				    f->local_ipv4, f->public_ipv4, f->ipv6 };

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (!str_is_empty(all[i]) && !strv_has(&own->names, all[i]))
			strv_add(a, &own->names, all[i]);
	own->address = f->local_ipv4 ? f->local_ipv4 : f->ipv6;
	if (f->region && f->instance_id)
		strv_add(a, &own->names_of_ec2, name_in_region(a, f->instance_id, f->region));
	if (f->region && f->local_ipv4)
		strv_add(a, &own->names_of_ec2, name_of_address(a, f->local_ipv4, f->region));
}

struct kops_node *kops_unknown_node(struct arena *a, const struct kops_boot *boot,
				    const struct facts *f)
{
	const bool has_address = f->local_ipv4 && f->region;
	const char *const names[] = {
		f->instance_id ? f->instance_id : "",
		has_address ? name_of_address(a, f->local_ipv4, f->region) : NULL,
	};
	struct kops_node *n = arena_alloc(a, ARRAY_LEN(names) * sizeof(*n));

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		n[i] = (struct kops_node){ .boot = boot, .name = names[i] };
		find_names(a, f, &n[i]);
	}
	n->otherwise = has_address ? &n[1] : NULL;
	return n;
}

/* source: kops 1.37 upup/pkg/fi/cloudup/components WellKnownServiceIP */
static int find_service_ip(struct arena *a, const char *range, const char **ret, struct err *e)
{
	const char *slash = range ? strchr(range, '/') : NULL;
	const char *ip = slash ? arena_strn(a, range, (size_t)(slash - range)) : "";
	const int family = strchr(ip, ':') ? AF_INET6 : AF_INET;
	const size_t n = family == AF_INET6 ? 16 : 4;
	char text[INET6_ADDRSTRLEN];
	unsigned char bytes[16];

	*ret = NULL;
	if (inet_pton(family, ip, bytes) != 1)
		return err_config(e,
				  "Networking.serviceClusterIPRange: '%s': expected a range of "
				  "addresses, like 100.64.0.0/13",
				  range ? range : "");
	for (size_t i = n; i > 0 && ++bytes[i - 1] == 0; i--)
		;
	*ret = arena_str(a, inet_ntop(family, bytes, text, sizeof(text)));
	return 0;
}

/* Returns the instance type to ask EC2 about. NULL: there is nothing to ask, as neither the number of pods nor the
 * use of GPUs depends on EC2, or the facts have the answer. */
static const char *asked_type(const struct kops_config *c, const struct facts *f)
{
	if ((!kops_wants_max_pods(c) || (f->enis.set && f->ips_per_eni.set)) &&
	    (!kops_wants_gpus(c) || f->gpus.set))
		return NULL;
	return f->instance_type ? f->instance_type : c->default_machine_type;
}

/* Refuses files of the documents that the API server would refuse. */
static int check_files(const struct reading *in, const struct kops_node *own)
{
	const struct kops_apiserver_config *c = &own->config->apiserver;
	struct kops_kube_apiserver s = c->kube_apiserver;
	struct values v = { .arena = in->arena,
			    .opts = in->opts,
			    .minor = in->node->kubernetes.minor,
			    .accept = own->boot->settings.accept };

	/* the secret replaces the file */
	if (!str_is_empty(c->encryption_config_secret_hash))
		s.encryption_provider_config = NULL;
	if (own->boot->role->serves_api)
		parsed_files_check(in->arena, &kops_kube_apiserver_schema, &s, in->node, &v.found);
	return values_judge(&v, in->err);
}

int kops_node(const struct reading *in, const struct kops_boot *boot, struct kops_config *config)
{
	struct arena *a = in->arena;
	const struct facts *f = in->facts;
	const struct dialect_opts *o = in->opts;
	const char *range = config->networking.service_cluster_ip_range;
	struct kops_node *own = arena_new(a, struct kops_node);
	int r;

	*own = (struct kops_node){
		.boot = boot,
		.config = config,
		.arch = f->arch ? f->arch : "amd64",
		.api_server =
			boot->role->serves_api
				? "https://127.0.0.1"
				: arena_printf(a, "https://%s",
					       kops_name_inside(a, "api", boot->cluster_name)),
	};
	*in->node = (struct node){
		.own = own,
		.cluster_name = boot->cluster_name,
		.instance_group = boot->instance_group_name,
		.kubernetes = config->kubernetes,
		.cloud_provider = boot->cloud_provider,
		.title = boot->role->title,
		.is_master = boot->role->is_control_plane,
		.packages = config->packages,
		.asked_type = asked_type(config, f),
		.refuses_swap = !config->kubelet.fail_swap_on.set || config->kubelet.fail_swap_on.v,
		.may_be_warmed = config->warm_pool_images.n > 0,
	};
	if (boot->config_server.servers.n)
		strmap_set(a, &config->cas, KOPS_CA, boot->config_server.ca_certificates);
	r = find_name(in, config, &own->name);
	if (r == 0)
		r = fill_names(in, config, own->name);
	find_names(a, f, own);
	if (r == 0 && boot->role->serves_api)
		r = find_service_ip(a, range, &own->service_ip, in->err);
	/* a part that could not be read may only seem to be missing */
	if (errs_any(o->errors) &&
	    ((r < 0 && str_is_empty(range)) || !strmap_get(&config->cas, KOPS_CA))) {
		o->errors->is_vital = true;
		return 0;
	}
	if (r == 0)
		r = kops_assets(a, config, own->arch, o, &in->node->assets, in->err);
	if (r == 0)
		r = kops_images(a, config, own->arch, o, &in->node->images, in->err);
	if (r == 0)
		r = kops_extras(in, config);
	return r < 0 ? r : check_files(in, own);
}
