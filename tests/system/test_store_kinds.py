"""The state store as a folder, in S3 and over https: the same node comes of each, with its serials, pools and stores
elsewhere; and what is wrong in it is one line with its address and nothing of its content."""
import base64
import contextlib
import functools
import http.server
import json
import pathlib
import re
import ssl
import threading
import urllib.parse
from xml.sax.saxutils import escape

import pytest
import yaml

from world import CONFIG, OK, tree

KINDS = ("folder", "s3", "https")
BUCKET = "kops-state"
KEYS = {"S3_ACCESS_KEY_ID": "AKIDSTORE", "S3_SECRET_ACCESS_KEY": "store-s3cr3t", "S3_REGION": "us-west-2"}


class Handler(http.server.SimpleHTTPRequestHandler):
    """A folder as a web server shows it, and as S3 does where it is asked so."""

    def do_GET(self):
        split = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(split.query))
        self.server.asked.append(self.path)
        if "list-type" in query:
            return self.answer(self.listing(query["prefix"]), "application/xml")
        path = pathlib.Path(self.directory + urllib.parse.unquote(split.path))
        if self.server.is_s3 and not path.is_file():
            return self.answer("<Error><Code>NoSuchKey</Code></Error>", "application/xml", 404)
        return super().do_GET()

    def listing(self, prefix):
        top = pathlib.Path(self.directory, BUCKET)
        assert prefix.endswith("/"), prefix
        folder = top / prefix
        keys = sorted(str(p.relative_to(top)) for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []
        return ("<?xml version='1.0'?><ListBucketResult><IsTruncated>false</IsTruncated>%s</ListBucketResult>" %
                "".join("<Contents><Key>%s</Key></Contents>" % escape(k) for k in keys))

    def answer(self, text, kind, status=200):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(folder, tls=None):
    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.asked, server.is_s3 = [], tls is None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls / "cert.pem", tls / "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


class Store:
    """A world's store, below SERVED/kops-state/prod, seen as one of the kinds."""

    def __init__(self, world, kind, server):
        self.world, self.kind, self.server = world, kind, server
        self.top = world.folder / "served" / BUCKET
        self.top.mkdir(parents=True)
        world.store = world.store.rename(self.top / "prod")
        self.path = world.store
        self.was = world.config_base
        self.base = self.address("prod")
        world.config_base = self.base
        world.edit_store("cluster.spec", lambda text: text.replace(self.was, self.base))

    def address(self, name):
        """Of a folder or file beside the store."""
        return {"folder": str(self.top / name), "s3": "s3://%s/%s" % (BUCKET, name),
                "https": "https://127.0.0.1:%d/%s/%s" % (self.server.server_address[1] if self.server else 0, BUCKET, name),
                }[self.kind]

    def env(self):
        if self.kind == "s3":
            return {**KEYS, "S3_ENDPOINT": "http://127.0.0.1:%d" % self.server.server_address[1]}
        return {"SSL_CERT_FILE": str(self.world.origin.ca)} if self.kind == "https" else {}

    def spec(self, **changes):
        path = self.path / "cluster.spec"
        cluster = yaml.safe_load(path.read_text())
        cluster["spec"].update(changes)
        path.write_text(yaml.safe_dump(cluster))

    def converge(self):
        return self.world.converge(env=self.env())

    def refuse(self, *patterns, command="apply", code=CONFIG):
        result = self.world.run(command, env=self.env())
        assert result.code == code, result
        for pattern in patterns:
            assert re.search(pattern, result.failure), "%s\nhas no %s" % (result, pattern)
        assert KEYS["S3_SECRET_ACCESS_KEY"] not in result.err
        assert not (self.world.root / "etc/kubernetes").exists(), "something was written"
        return result


@pytest.fixture
def make_store(make_world, origin):
    with contextlib.ExitStack() as stack:
        def make(kind, role="nodes", name="w"):
            world = make_world(name, role)
            folder = world.folder / "served"
            folder.mkdir()
            server = None
            if kind != "folder":
                server = stack.enter_context(serving(folder, origin.ca.parent if kind == "https" else None))
            return Store(world, kind, server)
        yield make



def read(store, path):
    return (store.world.root / path).read_text()


def key_folder(store, where, name):
    return store.path / "pki" / where / name


def add_serial(store, name, serial, of):
    """A pair more: that of another name, under this serial."""
    for where, suffix in (("issued", "crt"), ("private", "key")):
        source = next(key_folder(store, where, of).iterdir())
        (key_folder(store, where, name) / ("%s.%s" % (serial, suffix))).write_text(source.read_text())


@pytest.mark.parametrize("role", ["nodes", "master"])
def test_the_same_node_of_each(make_store, role):
    trees = []
    for kind in KINDS:
        store = make_store(kind, role, kind)
        store.converge()
        found = tree(store.world.root)
        assert len(found) > 40
        # where the documents are is told to protokube, and to protokube alone
        trees.append({path: entry for path, entry in found.items() if "protokube" not in path})
        if store.server:
            assert any(path.startswith("/" + BUCKET) for path in store.server.asked)
        # a run more finds nothing to do
        assert store.world.plan(env=store.env()).code == OK
    assert trees[0] == trees[1] == trees[2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_highest_serial_wins_by_number(make_store, kind):
    store = make_store(kind)
    old = next(key_folder(store, "issued", "kubelet").iterdir()).stem
    # higher by number and lower by letters
    higher, lower = "1" + "0" * len(old), "2"
    assert higher < old and int(higher) > int(old)
    add_serial(store, "kubelet", higher, "kops")
    add_serial(store, "kubelet", lower, "kube-proxy")
    first = next(key_folder(store, "issued", "ca").iterdir())
    (key_folder(store, "issued", "ca") / "3.crt").write_text(next(key_folder(store, "issued", "kops").iterdir()).read_text())
    (key_folder(store, "issued", "ca") / "keyset.yaml").write_text("no certificate\n")
    store.converge()
    user = yaml.safe_load(read(store, "var/lib/kubelet/kubeconfig"))["users"][0]["user"]
    for field, where in (("client-certificate-data", "issued"), ("client-key-data", "private")):
        want = next(key_folder(store, where, "kops").iterdir()).read_text()
        assert base64.b64decode(user[field]).decode().strip() == want.strip(), field
    pool = read(store, "srv/kubernetes/ca.crt")
    assert pool.count("BEGIN CERTIFICATE") == 2 and pool.startswith(first.read_text().strip())


@pytest.mark.parametrize("kind", KINDS)
def test_keys_and_secrets_elsewhere(make_store, kind):
    store = make_store(kind, "master")
    (store.path / "pki").rename(store.top / "keys")
    (store.path / "secrets").rename(store.top / "vault")
    store.spec(keyStore=store.address("keys"), secretStore=store.address("vault"))
    store.converge()
    want = next((store.top / "keys/issued/master").iterdir()).read_text()
    assert read(store, "srv/kubernetes/server.cert").strip() == want.strip()
    password = base64.b64decode(json.loads((store.top / "vault/kube").read_text())["Data"]).decode()
    assert read(store, "srv/kubernetes/basic_auth.csv").startswith(password + ",")


def test_keys_in_a_folder_and_the_rest_in_s3(make_store):
    store = make_store("s3", "master")
    (store.path / "pki").rename(store.world.folder / "keys")
    store.spec(keyStore="file://%s/keys" % store.world.folder)
    store.converge()
    want = next((store.world.folder / "keys/issued/master").iterdir()).read_text()
    assert read(store, "srv/kubernetes/server.cert").strip() == want.strip()
    assert not [path for path in store.server.asked if "/pki/" in path]


@pytest.mark.parametrize("kind", KINDS)
def test_a_rewrite_leads_to_documents(make_store, kind):
    """The bucket that documents name is gone; what takes its place may be of any kind."""
    plain, store = make_store(kind, "master", "plain"), make_store(kind, "master", "w")
    plain.converge()
    there = store.address("x").removesuffix("/x")
    store.was, store.base = store.base, "s3://gone/prod"
    store.world.config_base = store.base
    store.world.edit_store("cluster.spec", lambda text: text.replace(store.was, store.base))
    rewrite = "--rewrite=s3://gone=%s%s" % ("file://" if kind == "folder" else "", there)
    store.world.converge(rewrite, env=store.env())
    expected, found = ({path: entry for path, entry in tree(s.world.root).items() if "protokube" not in path}
                       for s in (plain, store))
    assert expected == found
    (store.path / "cluster.spec").unlink()
    for command in ("validate", "plan"):
        result = store.world.run(command, rewrite, env=store.env())
        assert result.code == CONFIG and "s3://gone" not in result.failure, result
        assert re.search("%s/prod/cluster.spec" % re.escape(there), result.failure), result


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_that_is_not_there(make_store, kind):
    """It is named where it stands, with those that are there."""
    store = make_store(kind)
    world = store.world
    world.write_documents()
    text = world.conf.read_text()
    world.conf.write_text(text.replace("InstanceGroupName: nodes", "InstanceGroupName: node"))
    line = 1 + text.splitlines().index("InstanceGroupName: nodes")
    for command in ("validate", "plan"):
        result = world.run(command, env=store.env(), write=False)
        assert result.code == CONFIG and f"{world.conf}:{line}:20: instance group: " in result.failure, result
        assert re.search("there is +master-us-west-2a, nodes", result.notes), result
        assert "did you mean InstanceGroupName: nodes?" in result.notes, result


# What is wrong: one line, with its address.

def address_of(store, path):
    return re.escape("%s/%s" % (store.base, path.relative_to(store.path)))


@pytest.mark.parametrize("command", ["apply", "plan"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_value_of_the_wrong_type(make_store, kind, command):
    store = make_store(kind)
    store.spec(kubelet={"networkPluginMTU": "s3cr3t-word"})
    result = store.refuse(address_of(store, store.path / "cluster.spec") + r":\d+:\d+: ", "networkPluginMTU", command=command)
    assert len(result.failure.splitlines()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_network(make_store, kind):
    store = make_store(kind)
    store.spec(networking={"cilium": {}})
    result = store.refuse(address_of(store, store.path / "cluster.spec") + r":\d+:\d+: ", "unknown network 'cilium'")
    assert "weave" in result.notes


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_that_is_not_base64(make_store, kind):
    store = make_store(kind, "master")
    path = store.path / "secrets/kube"
    path.write_text('{"Data": "!!!no-base64-s3cr3t!!!"}')
    result = store.refuse(address_of(store, path))
    assert "s3cr3t" not in result.err, result


BAD_PAIRS = {
    "certificate-no-pem": ("issued", lambda store: "no PEM but s3cr3t\n", "no certificate|not PEM|PEM"),
    "certificate-damaged": ("issued", lambda store: "-----BEGIN CERTIFICATE-----\nczNjcjN0\n-----END CERTIFICATE-----\n",
                            "damaged"),
    "key-no-pem": ("private", lambda store: "no PEM but s3cr3t\n", "no private key|not PEM|PEM"),
    "key-of-another": ("private", lambda store: next(key_folder(store, "private", "kops").iterdir()).read_text(),
                       "not the certificate's"),
}


@pytest.mark.parametrize("fault", BAD_PAIRS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_that_is_none(make_store, kind, fault):
    store = make_store(kind)
    where, change, why = BAD_PAIRS[fault]
    path = next(key_folder(store, where, "kubelet").iterdir())
    text = change(store)
    path.write_text(text)
    result = store.refuse(address_of(store, path), why)
    words = {w for w in text.split() if len(w) > 20} | {"s3cr3t", "czNjcjN0"}
    assert not [w for w in words if w in result.err], result


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_missing(make_store, kind):
    store = make_store(kind)
    folder = key_folder(store, "private", "kubelet")
    for path in folder.iterdir():
        path.unlink()
    store.refuse(address_of(store, folder), "kubelet")
