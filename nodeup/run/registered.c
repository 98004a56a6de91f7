#include "nodeup/run/registered.h"

#include <string.h>
#include <time.h>
#include <unistd.h>
#include "assets/http/http.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/yaml.h"
#include "nodeup/config/pem.h"
#include "nodeup/host/process.h"
#include "units/bus.h"

#define LIMIT_NS DUR_SEC

enum { FILE_MAX = 1 << 20, NODE_MAX = 4 << 20, NAME_SIZE = 256 };

static const char kubeconfig[] = "/var/lib/kubelet/kubeconfig";

/* Returns the first item of a list in the kubeconfig; NULL: there is none. */
static const struct tree *first(const struct tree *t, const char *list, const char *key)
{
	const struct tree *items = tree_get(t, list);

	return items && items->kind == TREE_SEQ && items->n ? tree_get(items->items[0].value, key)
							    : NULL;
}

/* Returns a text of the kubeconfig, which stands in it or in a file; NULL: there is none. */
static const char *pem_at(struct arena *a, int root_fd, const struct tree *t, const char *key)
{
	const char *data = tree_text(t, arena_printf(a, "%s-data", key)), *path = tree_text(t, key);

	return data ? enc_text(a, data) : path ? io_text(a, root_fd, path, FILE_MAX) : NULL;
}

/* Returns the node's name: as its certificate has it, as kubelet was told, or this machine's own. */
static const char *name_of(struct arena *a, int root_fd, const char *cert)
{
	static const char user[] = "system:node:";
	const char *name = cert ? pem_name(a, cert) : NULL;
	char host[NAME_SIZE] = "";
	struct bus *bus;
	struct bus_unit u;
	struct err ignored;

	if (name && str_has_prefix(name, user))
		return name + strlen(user);
	name = NULL;
	if (bus_open(&bus, &ignored) == 0) {
		if (bus_get(bus, a, "kubelet.service", &u, &ignored) == 0)
			name = process_flag(a, root_fd, u.main_pid, "hostname-override");
		bus_close(bus);
	}
	(void)gethostname(host, sizeof(host) - 1);
	return str_is_empty(name) ? arena_str(a, host) : name;
}

/* Returns the node's object; NULL: the API server does not give it. */
static struct tree *ask(struct arena *a, int root_fd, const struct tree *config)
{
	const struct tree *cluster = first(config, "clusters", "cluster"),
			  *user = first(config, "users", "user");
	const char *server = tree_says(cluster, "server"), *token = tree_text(user, "token"),
		   *ca = pem_at(a, root_fd, cluster, "certificate-authority");
	struct http_opts opts = { .root_fd = root_fd,
				  .cert = pem_at(a, root_fd, user, "client-certificate"),
				  .key = pem_at(a, root_fd, user, "client-key") };
	const char *name = name_of(a, root_fd, opts.cert);
	struct http_req req = {
		.no_proxy = true, .no_redirect = true, .max_bytes = NODE_MAX, .timeout_ns = LIMIT_NS
	};
	autobuf struct buf b = BUF_INIT(NODE_MAX);
	struct http *http = NULL;
	struct tree *node = NULL;
	struct err ignored;

	if (!str_has_prefix(server, "https://") || !str_has_only(name, "-.") || !ca ||
	    pem_check_certificate(ca, &ignored) < 0)
		return NULL;
	req.url = arena_printf(a, "%s/api/v1/nodes/%s", server, name);
	if (token)
		strv_addf(a, &req.headers, "Authorization: Bearer %s", token);
	opts.roots = pem_roots(ca);
	if (http_new(&opts, &http, &ignored) < 0 || http_get(http, &req, &b, NULL, &ignored) < 0 ||
	    json_parse(a, "node", buf_str(&b), b.len, &node, &ignored) < 0)
		node = NULL;
	http_free(http);
	pem_free_roots(opts.roots);
	return node;
}

static int64_t time_of(const char *text)
{
	struct tm tm = { 0 };
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

	return end && !*end ? timegm(&tm) : -1;
}

struct registered registered_ask(struct arena *a, int root_fd)
{
	struct registered found = { -1, -1 };
	const char *text = io_text(a, root_fd, kubeconfig, FILE_MAX);
	const struct tree *node, *conditions;
	struct tree *config;
	struct err ignored;

	if (!text || yaml_parse(a, kubeconfig, text, strlen(text), &config, &ignored) < 0)
		return found;
	node = ask(a, root_fd, config);
	found.registered_s = time_of(tree_text(tree_get(node, "metadata"), "creationTimestamp"));
	conditions = tree_get(tree_get(node, "status"), "conditions");
	for (size_t i = 0; conditions && i < conditions->n; i++) {
		const struct tree *c = conditions->items[i].value;

		if (str_eq(tree_text(c, "type"), "Ready") && str_eq(tree_text(c, "status"), "True"))
			found.ready_s = time_of(tree_text(c, "lastTransitionTime"));
	}
	return found;
}
