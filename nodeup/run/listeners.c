#include "nodeup/run/pods.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/host/process.h"

enum { PORT_MAX = 65535 };

static const char here[] = "127.0.0.1";

/* clang-format off */
static const struct row {
	const char *container;
	const char *flag;  /* a flag with a port, or with URLs that each end in a port */
	const char *bind;  /* the flag with the address at which the program listens */
	const char *plain; /* a flag that turns the livenessProbe's port off if it is 0 */
} rows[] = {
	{ "kube-apiserver", "--secure-port", "--bind-address", "--insecure-port" },
	{ "etcd-manager", "--client-urls", NULL, NULL },
	{ "etcd-container", NULL, NULL, NULL },
};
/* clang-format on */

static void add_words(struct arena *a, const struct tree *list, struct strv *words)
{
	for (size_t i = 0; list && list->kind == TREE_SEQ && i < list->n; i++)
		if (list->items[i].value->kind == TREE_SCALAR)
			strv_add(a, words, list->items[i].value->scalar);
}

/* Returns the container's whole command line as one text: a shell may get the command as a single word. */
static const char *command_of(struct arena *a, const struct tree *container)
{
	struct strv words = { 0 };

	add_words(a, tree_get(container, "command"), &words);
	add_words(a, tree_get(container, "args"), &words);
	return strv_join(a, &words, " ");
}

/* Reads the port of "443" or "https://x:4001"; 0: none. */
static uint16_t port_in(const char *text)
{
	const char *colon = text ? strrchr(text, ':') : NULL;
	const long n = text ? strtol(colon ? colon + 1 : text, NULL, 10) : 0;

	return n > 0 && n <= PORT_MAX ? (uint16_t)n : 0;
}

static const char *address_in(const char *text)
{
	struct in_addr address;

	return text && inet_pton(AF_INET, text, &address) == 1 && address.s_addr != INADDR_ANY
		       ? text
		       : here;
}

static struct listener find(struct arena *a, const struct row *row, const struct tree *container)
{
	const char *command = command_of(a, container);
	const struct tree *probe = tree_get(container, "livenessProbe");
	const struct tree *http = tree_get(probe, "httpGet"), *tcp = tree_get(probe, "tcpSocket");
	struct listener l = { .container = row->container, .address = here };

	l.port = port_in(process_flag_in(a, command, row->flag));
	if (l.port) {
		l.address = address_in(process_flag_in(a, command, row->bind));
	} else if (!str_eq(process_flag_in(a, command, row->plain), "0")) {
		l.port = port_in(tree_text(http ? http : tcp, "port"));
		l.address = address_in(tree_text(http ? http : tcp, "host"));
	}
	return l;
}

struct listeners listeners_of(struct arena *a, const struct tree *pod)
{
	const struct tree *spec = tree_get(pod, "spec");
	const struct tree *list = tree_get(spec, "containers");
	struct listeners found = { 0 };

	if (!list || list->kind != TREE_SEQ || !str_eq(tree_text(spec, "hostNetwork"), "true"))
		return found;
	for (size_t i = 0; i < list->n; i++)
		for (size_t k = 0; k < ARRAY_LEN(rows); k++)
			if (str_eq(tree_text(list->items[i].value, "name"), rows[k].container))
				arena_push(a, found.v, found.n,
					   find(a, &rows[k], list->items[i].value));
	return found;
}
