#include "nodeup/base/field.h"

const char *field_usual(const struct schema *s, size_t offset)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->fields[i].offset == offset && s->fields[i].usual)
			return s->fields[i].usual;
	return NULL;
}

void field_fill(const struct schema *s, void *obj)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];
		void *place = (char *)obj + f->offset;
		const char **value = place;

		if (f->usual && f->kind == FIELD_STRING && str_is_empty(*value))
			*value = f->usual;
	}
}
