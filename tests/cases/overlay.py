"""A case that says only in what it differs from another: CASE/case.yaml.

  base: seed-worker          the case it lies over; that may be one of these itself
  like: distro-x-worker      the changes of another case are made first, and those of what that one lies over
  args: [--flag]             more flags for `nodeup apply`
  documents:                 by path below the documents' folder
    state/cluster.spec:      laid over the base's, key by key; a null takes a key away
      spec: {kubernetesVersion: 1.9.3}
    cluster_spec.yaml: null  an empty document
    kube_env.yaml: [[a, b]]  or every text a replaced by b; @DIR@ is the documents' folder
  copy: {to: from}           documents that are copies of others of the base
  drop: [path]               documents that are not there
  root: {path: text}         below the root before; null: the base's file is not there
  expect:
    replace: {a: b}          in every file
    add:                     by path: a file more, as a text or as a copy of another file of the tree
      etc/x: {mode: "0644", text: "..."}
      var/y: {mode: "0400", same: etc/x}
      srv/z: {mode: "0644", text: "@issued/ca@"}   the seed's certificate, and @private/ca@ its key;
                             @LICENSE@ that of this tree
    flags:                   by path: the command line in it, word by word; the rest is sorted by bytes,
      etc/sysconfig/kubelet: ["- --old=1", "+ --new=1"]    as kops does
    edit:                    by path: old text, which stands there once, and new
      etc/hosts: [[a, b]]
    mode: {path: "0600"}
    dirs: {path: "0755"}     directories more
    links: {path: target}    symbolic links more
    drop: [path]             files, links and directories/ less

The expectation is written by hand from what kops 1.8.1 does; nothing writes it anew."""

import functools
import pathlib
import re
import shutil

import yaml

PKI = pathlib.Path(__file__).resolve().parents[1] / "data/seed-cluster/state/jdurbin-kops/abc.joshdurbin.net/pki"

# What kops appends behind kubelet's sorted flags, in this order.
LATE = ("--cloud-config=", "--cni-bin-dir=", "--cni-conf-dir=", "--network-plugin-dir=", "--experimental-mounter-path=")


def load(text):
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@functools.lru_cache(None)
def read(case):
    path = case / "case.yaml"
    return load(path.read_text()) if path.exists() else None


def chain(case):
    """The case and those below it, the lowest (a plain one) first."""
    spec = read(case)
    if not spec:
        return [case]
    like = chain(case.parent / spec["like"])[1:] if "like" in spec else []
    return [*chain(case.parent / spec["base"]), *like, case]


def laid_over(old, new):
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    out = {k: v for k, v in old.items() if k not in new}
    for key, value in new.items():
        if value is not None:
            out[key] = laid_over(old.get(key), value)
    return out


def change_documents(spec, documents):
    for target, source in spec.get("copy", {}).items():
        (documents / target).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (documents / source).is_dir() else shutil.copyfile)(documents / source, documents / target)
    for name, new in spec.get("documents", {}).items():
        path = documents / name
        if isinstance(new, list):
            text = path.read_text()
            for old, other in new:
                assert old in text, f"{name}: no {old!r}"
                text = text.replace(old, other)
        elif isinstance(new, dict):
            text = yaml.safe_dump(laid_over(load(path.read_text()), new))
        else:
            text = new or "{}\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("@DIR@", str(documents)))
    for name in spec.get("drop", []):
        path = documents / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def packages(case):
    """What is to be installed, None where no case says."""
    for path in reversed(chain(case)[1:]):
        if "packages" in read(path):
            return read(path)["packages"]
    return None


def flag_line(text):
    """(before, words, after) of the one command line in a unit's environment or a pod's command."""
    for start, end in (('DAEMON_ARGS="', '"\n'), ("DOCKER_OPTS=", "\n"), ("/usr/local/bin/kube-", " 2>&1")):
        if start in text:
            head, _, rest = text.partition(start)
            line, found, tail = rest.partition(end)
            words = line.split(" ")
            first = 1 if start.endswith("kube-") else 0
            assert found, text
            return head + start + "".join(w + " " for w in words[:first]), words[first:], end + tail
    raise AssertionError("no command line in\n" + text)


def change_flags(text, changes):
    before, words, after = flag_line(text)
    for change in changes:
        sign, _, word = change.partition(" ")
        if sign == "-":
            words.remove(word)
        else:
            assert sign == "+" and word not in words, change
            words.append(word)
    kubelet = "DAEMON_ARGS" in before
    late = [w for w in words if kubelet and w.startswith(LATE)]
    sorted_words = sorted((w for w in words if w not in late), key=str.encode)
    return before + " ".join(sorted_words + sorted(late, key=lambda w: [w.startswith(p) for p in LATE].index(True))) + after


def change_root(spec, root):
    for name, text in spec.get("root", {}).items():
        if text is None:
            (root / name).unlink()
            continue
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def with_keys(text):
    def pem(match):
        return next((PKI / match[1]).iterdir()).read_text()
    text = text.replace("@LICENSE@", (PKI.parents[6] / "LICENSE").read_text())
    return re.sub(r"@((?:issued|private)/[a-z-]+)@", pem, text).encode()


class Tree:
    """Expected files by path, and the lines of expect.modes by path."""

    def __init__(self, case):
        self.files = {str(p.relative_to(case / "expect")): p.read_bytes()
                      for p in (case / "expect").rglob("*") if p.is_file()}
        self.modes = {}
        for line in (case / "expect.modes").read_text().splitlines():
            self.modes[line.split(" ")[1]] = line

    def set_mode(self, path, mode):
        self.modes[path] = "%s %s" % (mode, path)

    def change(self, want):
        for old, new in want.get("replace", {}).items():
            self.files = {p: data.replace(old.encode(), new.encode()) for p, data in self.files.items()}
        before = dict(self.files)
        for path in want.get("drop", []):
            del self.modes[path]
            self.files.pop(path, None)
        for path, what in want.get("add", {}).items():
            assert path not in self.files, path
            same = {**before, **self.files}.get(what.get("same"))
            self.files[path] = with_keys(what["text"]) if same is None else same
            self.set_mode(path, what["mode"])
        for path, changes in want.get("flags", {}).items():
            self.files[path] = change_flags(self.files[path].decode(), changes).encode()
        for path, pairs in want.get("edit", {}).items():
            for old, new in pairs:
                text = self.files[path].decode()
                assert text.count(old) == 1, f"{path}: {text.count(old)} times {old!r}"
                self.files[path] = text.replace(old, new).encode()
        for path, mode in {**want.get("mode", {}), **want.get("dirs", {})}.items():
            self.set_mode(path, mode)
        for path, target in want.get("links", {}).items():
            self.modes[path] = "link %s -> %s" % (path, target)


def expected(case):
    lowest, *overlays = chain(case)
    tree = Tree(lowest)
    for overlay in overlays:
        tree.change(read(overlay).get("expect", {}))
    return tree
