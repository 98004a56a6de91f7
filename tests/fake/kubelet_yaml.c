#include "tests/fake/kubelet.h"

#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ynode_die(struct yfile *y, const yaml_node_t *n, const char *where, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("%s:%zu: %s: %s", y->path, n ? n->start_mark.line + 1 : 1, where, text);
}

void yfile_open(struct yfile *y, const char *path)
{
	yaml_parser_t p;
	FILE *f = fopen(path, "re");

	if (!f)
		die("%s: %m", path);
	if (!yaml_parser_initialize(&p))
		abort();
	yaml_parser_set_input_file(&p, f);
	if (!yaml_parser_load(&p, &y->doc))
		die("%s:%zu: %s", path, p.problem_mark.line + 1, p.problem ? p.problem : "invalid");
	y->path = path;
	y->root = yaml_document_get_root_node(&y->doc);
	if (!y->root || y->root->type != YAML_MAPPING_NODE)
		die("%s: not an object", path);
	yaml_parser_delete(&p);
	(void)fclose(f);
}

void yfile_close(struct yfile *y)
{
	yaml_document_delete(&y->doc);
}

const char *ynode_text(const yaml_node_t *n)
{
	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

static bool matches(const char *pattern, const char *s)
{
	regex_t re;
	int r;

	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
		abort();
	r = regexec(&re, s, 0, NULL, 0);
	regfree(&re);
	return r == 0;
}

char ynode_kind(const yaml_node_t *n)
{
	const char *s = ynode_text(n);

	if (!s)
		return 0;
	if (n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return 's';
	if (matches("^(|~|null|Null|NULL)$", s))
		return 'n';
	if (matches("^(y|n|yes|no|on|off|true|false)$", s) ||
	    matches("^(True|False|Yes|No|On|Off)$", s))
		return 'b';
	if (matches("^[-+]?(0|[1-9][0-9_]*|0x[0-9a-fA-F]+|0[0-7]+)$", s))
		return 'i';
	if (matches("^[-+]?([0-9]+\\.[0-9]*|\\.[0-9]+|[0-9]+)([eE][-+]?[0-9]+)?$", s))
		return 'f';
	return 's';
}

yaml_node_t *ynode_get(struct yfile *y, yaml_node_t *map, const char *key)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const char *k = ynode_text(yaml_document_get_node(&y->doc, p->key));
		yaml_node_t *v = yaml_document_get_node(&y->doc, p->value);

		if (k && strcmp(k, key) == 0)
			return ynode_kind(v) == 'n' ? NULL : v;
	}
	return NULL;
}

bool is_quantity(const char *s)
{
	return matches("^[-+]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)"
		       "([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$",
		       s);
}

bool is_dns_name(const char *s, size_t max, bool dots)
{
	const char *label = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
	const char *names = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

	return strlen(s) <= max && matches(dots ? names : label, s);
}

static bool one_of(const char *list, const char *s)
{
	size_t n = strlen(s);

	for (const char *p = list; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
		if (strncmp(p, s, n) == 0 && (p[n] == '|' || p[n] == '\0'))
			return true;
	return false;
}

static void check_scalar(struct yfile *y, yaml_node_t *n, const char *where, char kind)
{
	char got = ynode_kind(n);
	const char *names[] = { ['s'] = "a string", ['i'] = "an integer", ['b'] = "a boolean" };

	if (kind == 'q') {
		if ((got != 's' && got != 'i' && got != 'f') || !is_quantity(ynode_text(n)))
			ynode_die(y, n, where, "quantities must match the regular expression");
		return;
	}
	if (got != kind)
		ynode_die(y, n, where, "not %s", names[(unsigned char)kind]);
}

static void check_map(struct yfile *y, yaml_node_t *n, const char *where, char kind)
{
	if (n->type != YAML_MAPPING_NODE)
		ynode_die(y, n, where, "not a map");
	for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top;
	     p++) {
		yaml_node_t *key = yaml_document_get_node(&y->doc, p->key);

		if (ynode_kind(key) != 's')
			ynode_die(y, key, where, "a key is not a string");
		check_scalar(y, yaml_document_get_node(&y->doc, p->value), where,
			     kind == 'M' ? 'q' : 's');
	}
}

static void check_value(struct yfile *y, yaml_node_t *n, const char *where, const struct yfield *f)
{
	switch (f->kind) {
	case '*':
		return;
	case 'm':
	case 'M':
		check_map(y, n, where, f->kind);
		return;
	case 'o':
		yobject_check(y, n, where, f->sub);
		return;
	case 'l':
	case 'O':
		if (n->type != YAML_SEQUENCE_NODE)
			ynode_die(y, n, where, "not a list");
		for (yaml_node_item_t *i = n->data.sequence.items.start;
		     i < n->data.sequence.items.top; i++) {
			yaml_node_t *item = yaml_document_get_node(&y->doc, *i);

			if (f->kind == 'l')
				check_scalar(y, item, where, 's');
			else
				yobject_check(y, item, where, f->sub);
		}
		return;
	default:
		check_scalar(y, n, where, f->kind);
		if (f->oneof && !one_of(f->oneof, ynode_text(n)))
			ynode_die(y, n, where, "unsupported value \"%s\": one of %s", ynode_text(n),
				  f->oneof);
	}
}

static void check_keys(struct yfile *y, yaml_node_t *n, const char *where,
		       const struct yfield *fields)
{
	for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top;
	     p++) {
		yaml_node_t *key = yaml_document_get_node(&y->doc, p->key);
		const char *name = ynode_text(key);
		const struct yfield *f = fields;

		while (name && f->name && strcmp(f->name, name) != 0)
			f++;
		if (!name || !f->name)
			ynode_die(y, key, where, "unknown field \"%s\"", name ? name : "");
		for (yaml_node_pair_t *q = n->data.mapping.pairs.start; q < p; q++)
			if (strcmp(ynode_text(yaml_document_get_node(&y->doc, q->key)), name) == 0)
				ynode_die(y, key, where, "field \"%s\" is given twice", name);
	}
}

void yobject_check(struct yfile *y, yaml_node_t *n, const char *where, const struct yfield *fields)
{
	if (!n || n->type != YAML_MAPPING_NODE)
		ynode_die(y, n, where, "not an object");
	check_keys(y, n, where, fields);
	for (const struct yfield *f = fields; f->name; f++) {
		yaml_node_t *v = ynode_get(y, n, f->name);
		char path[256];

		(void)snprintf(path, sizeof(path), "%s.%s", where, f->name);
		if (v)
			check_value(y, v, path, f);
		else if (f->required)
			ynode_die(y, n, path, "required value");
	}
}
