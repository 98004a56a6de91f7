#include "nodeup/config/signals.h"

#include <string.h>

#define FIRST "<first>"
#define SECOND "<second>"
#define INSTANCE "<instance>"
#define TOLD "<told>"

const char *const signal_words[] = { "-", "failed", "untold", "ready", "late" };

/* clang-format off */
static const struct signal_row rows[] = {
	/* signal_of_hook() returns the first row */
	{ "lifecycleHook", "GROUP:HOOK", "autoscaling", "CompleteLifecycleAction",
	  { { "AutoScalingGroupName", FIRST }, { "InstanceId", INSTANCE },
	    { "LifecycleHookName", SECOND }, { "LifecycleActionResult", TOLD } },
	  "CONTINUE", "ABANDON", .is_of_hook = true, .right = "autoscaling:CompleteLifecycleAction" },
	{ "instanceHealth", NULL, "autoscaling", "SetInstanceHealth",
	  { { "HealthStatus", TOLD }, { "InstanceId", INSTANCE }, { "ShouldRespectGracePeriod", "false" } },
	  NULL, "Unhealthy", .right = "autoscaling:SetInstanceHealth" },
	{ "stackSignal", "STACK:RESOURCE", "cloudformation", "SignalResource",
	  { { "LogicalResourceId", SECOND }, { "StackName", FIRST }, { "Status", TOLD }, { "UniqueId", INSTANCE } },
	  "SUCCESS", "FAILURE", .right = "cloudformation:SignalResource" },
	{ "tag", "KEY", "ec2", "CreateTags",
	  { { "ResourceId.1", INSTANCE }, { "Tag.1.Key", FIRST }, { "Tag.1.Value", TOLD } },
	  "ready", "failed", .is_harmless = true, .right = "ec2:CreateTags" },
};
/* clang-format on */

const char *signal_forms(struct arena *a)
{
	struct strv all = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		strv_addf(a, &all, "%s%s%s", rows[i].name, rows[i].form ? "=" : "",
			  rows[i].form ? rows[i].form : "");
	return strv_join(a, &all, ", ");
}

struct signal signal_of_hook(const char *group, const char *hook)
{
	return (struct signal){ .row = rows, .first = group, .second = hook };
}

/* Splits a value by its row's form. Only the first part may have a colon: the id of a stack does. */
static bool parse_value(struct arena *a, const char *value, struct signal *s)
{
	const bool has_two = strchr(s->row->form, ':') != NULL;
	const char *colon = has_two ? strrchr(value, ':') : NULL;

	s->first = colon ? arena_strn(a, value, (size_t)(colon - value)) : value;
	s->second = colon ? colon + 1 : NULL;
	return *s->first && str_is_line(value) && (!has_two || (colon && colon[1]));
}

bool signal_parse(struct arena *a, const char *text, struct signal *ret)
{
	const size_t n = strcspn(text, "=");

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strlen(rows[i].name) != n || strncmp(text, rows[i].name, n) != 0)
			continue;
		*ret = (struct signal){ .row = &rows[i] };
		return !text[n] == !rows[i].form && (!text[n] || parse_value(a, text + n + 1, ret));
	}
	return false;
}

bool signal_may_be_sent(const struct signal_row *row, const struct signal_moment *m)
{
	if (!m->failed && row->is_harmless)
		return m->word != SIGNAL_READY;
	if (!m->failed)
		return row->success && m->word <= SIGNAL_UNTOLD;
	return row->is_harmless ||
	       (m->by_boot_unit && m->is_first_boot && m->word == SIGNAL_NOTHING);
}

enum signal_word signal_after(const struct signal_moment *m, bool heard)
{
	if (!m->failed)
		return heard ? SIGNAL_READY : m->word == SIGNAL_LATE ? SIGNAL_LATE : SIGNAL_UNTOLD;
	if (m->word == SIGNAL_READY)
		return SIGNAL_LATE;
	return m->word == SIGNAL_NOTHING && m->by_boot_unit && m->is_first_boot ? SIGNAL_FAILED
										: m->word;
}

struct strmap signal_parameters(struct arena *a, const struct signal *s, const char *instance,
				bool failed)
{
	const struct {
		const char *name, *value;
	} parts[] = { { FIRST, s->first },
		      { SECOND, s->second },
		      { INSTANCE, instance },
		      { TOLD, failed ? s->row->failure : s->row->success } };
	struct strmap all = { 0 };

	for (size_t i = 0; i < SIGNAL_PARAMETERS && s->row->parameters[i].key; i++) {
		const char *value = s->row->parameters[i].value;

		for (size_t k = 0; k < ARRAY_LEN(parts); k++)
			if (strcmp(parts[k].name, s->row->parameters[i].value) == 0)
				value = parts[k].value;
		strmap_set(a, &all, s->row->parameters[i].key, value);
	}
	return all;
}
