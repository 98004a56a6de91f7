/* completion.c - prints a shell's completion script, from the tables of commands and flags
 * Each shell has a row with one function, which prints a script that the shell reads once. The script never runs
 * nodeup. */
#include "nodeup/cmd/cli.h"

#include <string.h>
#include "nodeup/base/show.h"
#include "userdata/script.h"

enum { SCRIPT_MAX = 256 << 10 };

/* Kinds of a flag's value or an argument: paths, or words. */
static bool is_dir(const struct cli_flag *f)
{
	return str_eq(f->metavar, "DIR");
}

static bool is_file(const struct cli_flag *f)
{
	return str_eq(f->metavar, "PATH") || str_eq(f->metavar, "FILE");
}

static const char *words_of(struct arena *a, const struct cli_command *c)
{
	struct strv words = { 0 };

	if (c->words)
		c->words(a, &words);
	return strv_join(a, &words, " ");
}

/* Returns a copy with a backslash before each character of `special`. */
static const char *escape(struct arena *a, const char *text, const char *special)
{
	autobuf struct buf b = BUF_INIT(SCRIPT_MAX);

	for (; *text; text++) {
		if (strchr(special, *text))
			(void)buf_addc(&b, '\\');
		(void)buf_addc(&b, *text);
	}
	return arena_str(a, buf_str(&b));
}

/* bash: one function that knows the words before the cursor. bash splits --flag=value into three words. */

static const char bash_head[] =
	"# bash completion of nodeup, written by nodeup completion bash\n"
	"_nodeup()\n"
	"{\n"
	"	local command=apply commands flag='' equals='' flags='' words='' args='' kind=''\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} IFS=$' \\t\\n'\n"
	"\n"
	"	COMPREPLY=()\n"
	"	if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} != -* ]]; then\n"
	"		command=${COMP_WORDS[1]}\n"
	"	fi\n"
	"	if [[ $cur == '=' ]]; then\n"
	"		equals=1 cur='' flag=$before\n"
	"	elif [[ $before == '=' ]]; then\n"
	"		equals=1 flag=${COMP_WORDS[COMP_CWORD-2]}\n"
	"	elif [[ $before == -* ]]; then\n"
	"		flag=$before\n"
	"	fi\n"
	"	flag=${flag#-}\n";

static const char bash_tail[] =
	"	esac\n"
	"	if [[ -n $equals && -z $kind ]]; then\n"
	"		return\n"
	"	fi\n"
	"	if [[ -z $kind && $cur == -* ]]; then\n"
	"		kind=words words=$flags\n"
	"	elif [[ -z $kind ]] && ((COMP_CWORD == 1)); then\n"
	"		kind=words words=$commands\n"
	"	elif [[ -z $kind && ( $args != words || $before == \"$command\" ) ]]; then\n"
	"		kind=$args\n"
	"	fi\n"
	"	case $kind in\n"
	"	words) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
	"	files) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
	"	dirs) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
	"	esac\n"
	"	if [[ $kind == files || $kind == dirs ]]; then\n"
	"		compopt -o filenames\n"
	"	elif [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then\n"
	"		compopt -o nospace\n"
	"	fi\n"
	"}\n"
	"complete -F _nodeup nodeup\n";

/* Returns the completion of a flag's value. */
static const char *bash_value(struct arena *a, const struct cli_flag *f)
{
	if (f->values)
		return arena_printf(a, "kind=words words=%s", userdata_quote(a, f->values));
	return is_dir(f) ? "kind=dirs" : is_file(f) ? "kind=files" : "kind=nothing";
}

static void bash_command(struct arena *a, const struct cli_command *c, struct buf *b)
{
	struct strv flags = { 0 };
	const char *words = words_of(a, c);
	struct cli_flag f;

	for (size_t i = 0; cli_flag_nth(c, i, &f); i++)
		strv_addf(a, &flags, "%s%s%s", f.name[1] ? "--" : "-", f.name,
			  f.metavar && f.name[1] && !f.is_optional ? "=" : "");
	(void)buf_addf(b, "	%s)\n		flags=%s\n", c->name,
		       userdata_quote(a, strv_join(a, &flags, " ")));
	if (*words)
		(void)buf_addf(b, "		args=words words=%s\n", userdata_quote(a, words));
	else if (c->max_args && !c->words)
		(void)buf_adds(b, "		args=files\n");
	(void)buf_adds(b, "		case $flag in\n");
	for (size_t i = 0; cli_flag_nth(c, i, &f); i++)
		if (f.metavar && !f.is_optional)
			(void)buf_addf(b, "		%s | -%s) %s ;;\n", f.name, f.name,
				       bash_value(a, &f));
	(void)buf_adds(b, "		esac\n		;;\n");
}

static void bash_script(struct arena *a, struct buf *b)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < cli_n_commands; i++)
		strv_add(a, &names, cli_commands[i].name);
	(void)buf_addf(b, "%s	commands=%s\n	case $command in\n", bash_head,
		       userdata_quote(a, strv_join(a, &names, " ")));
	for (size_t i = 0; i < cli_n_commands; i++)
		bash_command(a, &cli_commands[i], b);
	(void)buf_adds(b, bash_tail);
}

/* zsh: a specification of each flag for _arguments. */

static const char *zsh_value(struct arena *a, const struct cli_flag *f)
{
	const char *meta = escape(a, f->metavar, ":");

	if (f->values)
		return arena_printf(a, ":%s:(%s)", meta, f->values);
	return arena_printf(a, "%s:%s:%s", f->is_optional ? ":" : "", meta,
			    is_dir(f)    ? "_files -/"
			    : is_file(f) ? "_files"
					 : " ");
}

static void zsh_command(struct arena *a, const struct cli_command *c, struct buf *b)
{
	const char *words = words_of(a, c);
	struct cli_flag f;

	(void)buf_addf(b, "	%s)\n		_arguments", c->name);
	for (size_t i = 0; cli_flag_nth(c, i, &f); i++) {
		const char *form = !f.metavar ? "" : f.is_optional ? "=-" : f.name[1] ? "=" : "";
		const char *spec = arena_printf(a, "%s%s%s%s[%s]%s", f.is_list ? "*" : "",
						f.name[1] ? "--" : "-", f.name, form,
						escape(a, f.help, "[]:\\"),
						f.metavar ? zsh_value(a, &f) : "");

		(void)buf_addf(b, " \\\n			%s", userdata_quote(a, spec));
	}
	if (c->max_args)
		(void)buf_addf(b, " \\\n			%s",
			       userdata_quote(a, *words     ? arena_printf(a, "1: :(%s)", words)
						 : c->words ? "1: : "
							    : "*: :_files"));
	(void)buf_adds(b, "\n		;;\n");
}

static void zsh_script(struct arena *a, struct buf *b)
{
	(void)buf_adds(b, "#compdef nodeup\n"
			  "# zsh completion of nodeup, written by nodeup completion zsh\n"
			  "_nodeup()\n{\n"
			  "	local command=apply\n"
			  "	local -a commands=(");
	for (size_t i = 0; i < cli_n_commands; i++)
		(void)buf_addf(b, "\n		%s",
			       userdata_quote(a, arena_printf(a, "%s:%s", cli_commands[i].name,
							      cli_commands[i].help)));
	(void)buf_adds(b, "\n	)\n\n"
			  "	if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
			  "		_describe command commands\n"
			  "		return\n"
			  "	fi\n"
			  "	if [[ $words[2] != -* ]]; then\n"
			  "		command=$words[2]\n"
			  "		shift words\n"
			  "		(( CURRENT-- ))\n"
			  "	fi\n"
			  "	case $command in\n");
	for (size_t i = 0; i < cli_n_commands; i++)
		zsh_command(a, &cli_commands[i], b);
	(void)buf_adds(b, "	esac\n}\n"
			  "if [[ $funcstack[1] == _nodeup ]]; then\n"
			  "	_nodeup \"$@\"\n"
			  "else\n"
			  "	compdef _nodeup nodeup\n"
			  "fi\n");
}

/* fish: a line for each flag, with the condition under which it applies. */

static void fish_command(struct arena *a, const struct cli_command *c, struct buf *b)
{
	const char *words = words_of(a, c), *seen = arena_printf(a, "'__nodeup_is %s'", c->name);
	const char *next = arena_printf(a, "'__nodeup_is %s 2'", c->name);
	struct cli_flag f;

	(void)buf_addf(b, "complete -c nodeup -n __nodeup_first -a %s -d %s\n", c->name,
		       userdata_quote(a, c->help));
	if (*words)
		(void)buf_addf(b, "complete -c nodeup -n %s -a %s\n", next,
			       userdata_quote(a, words));
	else if (c->max_args && !c->words)
		(void)buf_addf(b, "complete -c nodeup -n %s -F\n", seen);
	for (size_t i = 0; cli_flag_nth(c, i, &f); i++) {
		const char *value = "";

		if (f.values)
			value = arena_printf(a, " -x -a %s", userdata_quote(a, f.values));
		else if (is_dir(&f))
			value = " -x -a '(__fish_complete_directories)'";
		else if (is_file(&f))
			value = " -r -F";
		else if (f.metavar && !f.is_optional)
			value = " -x";
		(void)buf_addf(b, "complete -c nodeup -n %s -%s %s%s -d %s\n", seen,
			       f.name[1] ? "l" : "s", f.name, value, userdata_quote(a, f.help));
	}
}

static void fish_script(struct arena *a, struct buf *b)
{
	(void)buf_adds(b, "# fish completion of nodeup, written by nodeup completion fish\n"
			  "function __nodeup_first\n"
			  "	test (count (commandline -opc)) -eq 1\n"
			  "end\n"
			  "function __nodeup_is\n"
			  "	set -l words (commandline -opc)\n"
			  "	set -l command apply\n"
			  "	if set -q words[2]; and not string match -q -- '-*' $words[2]\n"
			  "		set command $words[2]\n"
			  "	end\n"
			  "	test $command = $argv[1]; or return\n"
			  "	not set -q argv[2]; or test (count $words) -eq $argv[2]\n"
			  "end\n"
			  "complete -c nodeup -f\n");
	for (size_t i = 0; i < cli_n_commands; i++)
		fish_command(a, &cli_commands[i], b);
}

static const struct {
	const char *name;
	void (*script)(struct arena *a, struct buf *b);
} shells[] = { { "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script } };

void completion_shells(struct arena *a, struct strv *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		strv_add(a, ret, shells[i].name);
}

int cmd_completion(struct cli *cli, struct err *e)
{
	const char *shell = cli->args.n ? cli->args.v[0] : "";
	autobuf struct buf b = BUF_INIT(SCRIPT_MAX);
	struct strv names = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
		if (!str_eq(shells[i].name, shell))
			continue;
		shells[i].script(cli->arena, &b);
		show_text(buf_str(&b), b.len);
		return 0;
	}
	completion_shells(cli->arena, &names);
	return err_fail(e, ERR_USAGE, 0, "completion wants a shell: %s",
			cli_meant(cli->arena, shell, &names, strv_join(cli->arena, &names, ", ")));
}
