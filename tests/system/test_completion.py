"""What a shell completes, and what `make install` puts where shells and the journal look for it."""

import os
import pty
import re
import subprocess

import pytest

from test_cli import COMMANDS, nodeup
from world import ROOT

PROMPT = "ready> "


class Bash:
    """An interactive bash on a terminal. Its nodeup prints its arguments, so that a line says what was completed."""

    def __init__(self, script, home):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.chdir(home)
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"],
                      {"HOME": str(home), "PATH": "/usr/bin:/bin", "PS1": PROMPT, "TERM": "dumb", "LC_ALL": "C", "INPUTRC": "/dev/null"})
        self.pid = pid
        self.answer()
        for line in ("stty -echo", "bind 'set bell-style none'", "nodeup() { printf '<%s>\\n' \"$@\"; }", f"source {script}"):
            assert "<" not in self.run(line), line

    def answer(self):
        """All that comes before the next prompt."""
        text = ""
        while not text.endswith(PROMPT):
            text += os.read(self.fd, 1 << 16).decode()
        return text

    def run(self, line):
        os.write(self.fd, f"{line}\n".encode())
        return self.answer()

    def complete(self, line, key="\x1b*"):
        """The arguments after all completions were put into the line (ESC *), or after a TAB."""
        return re.findall(r"(?m)^<(.*)>\r$", self.run(line + key))

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    (folder / "documents").mkdir()
    (folder / "kube_env.yaml").touch()
    (folder / "two words").touch()
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(["make", "-s", "-o", "build/nodeup", "install", f"DESTDIR={folder}"], cwd=ROOT, check=True)
    return folder / "usr/local"


@pytest.fixture(scope="module")
def bash(installed, home):
    shell = Bash(installed / "share/bash-completion/completions/nodeup", home)
    yield shell
    shell.close()


def flags(command):
    """As help has them: {flag: whether it takes a value}"""
    return dict(re.findall(r"(?m)^  (-[\w-]+)(\S*) ", nodeup("help", command).stdout.split("flags:")[1]))


def test_bash_knows_the_commands(bash):
    assert sorted(bash.complete("nodeup ")) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_knows_the_flags(bash, command):
    want = {flag + ("=" if value and flag != "--wait" else "") for flag, value in flags(command).items()}
    assert len(want) >= 2 and set(bash.complete(f"nodeup {command} -")) == {command, *want}


def test_bash_knows_the_flags_of_apply_without_its_name(bash):
    assert "--install-systemd-unit" in bash.complete("nodeup -") and "--diff" not in bash.complete("nodeup -")


@pytest.mark.parametrize("line,then", [
    ("nodeup stat", ["status"]),
    ("nodeup plan --dif", ["plan", "--diff"]),
    ("nodeup plan -o j", ["plan", "-o", "json"]),
    ("nodeup validate -o g", ["validate", "-o", "github"]),
    ("nodeup --target=dry", ["--target=dryrun"]),
    ("nodeup --target dry", ["--target", "dryrun"]),
    ("nodeup -target dry", ["-target", "dryrun"]),
    ("nodeup --conf=kube", ["--conf=kube_env.yaml"]),
    ("nodeup plan --conf kube", ["plan", "--conf", "kube_env.yaml"]),
    ("nodeup plan --conf=two", ["plan", "--conf=two words"]),
    ("nodeup bake --root=doc", ["bake", "--root=documents/"]),
    ("nodeup bake --root=kube", ["bake", "--root=kube"]),
    ("nodeup why kube", ["why", "kube_env.yaml"]),
    ("nodeup diff documents kube", ["diff", "documents", "kube_env.yaml"]),
    ("nodeup help integ", ["help", "integrity"]),
    ("nodeup help exit", ["help", "exit-status"]),
    ("nodeup example mas", ["example", "master"]),
    ("nodeup example master wor", ["example", "master", "wor"]),
    ("nodeup completion f", ["completion", "fish"]),
    ("nodeup plan --retries=kube", ["plan", "--retries=kube"]),
    ("nodeup status --wait=kube", ["status", "--wait=kube"]),
    ("nodeup nonsense -", ["nonsense", "-"]),
])
def test_bash_completes(bash, line, then):
    assert bash.complete(line, "\t") == then


def test_a_flag_with_a_value_is_completed_up_to_it(bash):
    assert bash.complete("nodeup --con\tkube", "\t") == ["--conf=kube_env.yaml"]


def test_each_choice_is_one_that_the_command_takes(bash):
    for command in COMMANDS:
        for choice in bash.complete(f"nodeup {command} -o ")[2:]:
            done = nodeup(command, "-o", choice, *(["facts"] if command == "help" else ["--conf=/none"] if command == "validate" else []))
            assert "-o" not in done.stderr, done


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_each_command_and_flag(shell):
    text = nodeup("completion", shell).stdout
    for command in COMMANDS:
        block = re.search(rf"(?ms)^\t{command}\)$(.*?);;", text)[1] if shell == "zsh" else \
            "\n".join(re.findall(rf"(?m)^complete .*'__nodeup_is {command}' (.*)$", text))
        for flag in flags(command):
            form = rf"^\t\t\t'\*?{flag}[=[-]" if shell == "zsh" else rf"^-{'ls'[len(flag) == 2]} {flag.lstrip('-')} "
            assert re.search(form, block, re.M), (command, flag)


@pytest.mark.parametrize("argv,says", [((), "completion wants a shell: bash, zsh, fish"), (("bsh",), "did you mean bash?")])
def test_no_such_shell(argv, says):
    done = nodeup("completion", *argv)
    assert done.returncode == 64 and says in done.stderr and not done.stdout, done


# What is installed

def test_what_is_installed(installed):
    files = {str(path.relative_to(installed)): path for path in installed.rglob("*") if path.is_file()}
    printed = {"lib/systemd/catalog/nodeup.catalog": ("help", "catalog"), "share/bash-completion/completions/nodeup": ("completion", "bash"),
               "share/zsh/site-functions/_nodeup": ("completion", "zsh"),
               "share/fish/vendor_completions.d/nodeup.fish": ("completion", "fish")}
    assert set(files) == {"bin/nodeup", "share/man/man8/nodeup.8", *printed}
    for name, argv in printed.items():
        assert files[name].read_text() == nodeup(*argv).stdout and files[name].stat().st_mode & 0o777 == 0o644, name
    assert files["bin/nodeup"].stat().st_mode & 0o777 == 0o755


def test_the_journal_finds_the_installed_catalog(installed):
    root = installed.parent.parent
    (root / "var/lib/systemd/catalog").mkdir(parents=True)
    done = subprocess.run(["journalctl", f"--root={root}", "--update-catalog"], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done
    shown = subprocess.run(["journalctl", f"--root={root}", "--dump-catalog"], capture_output=True, text=True).stdout
    assert len(re.findall("(?m)^Defined-By: nodeup$", shown)) == nodeup("help", "catalog").stdout.count("Defined-By: nodeup") > 5
