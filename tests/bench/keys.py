"""RSA keys: those that a node has, and what one costs."""

import base64
import re
import statistics

import data
from data import MB, ROOT
from measure import COLUMNS, load, measure, say, table

PEM = re.compile(rb"-----BEGIN (?:RSA |EC )?PRIVATE KEY-----.*?-----END (?:RSA |EC )?PRIVATE KEY-----", re.S)
# in base64: of a kubeconfig, and of a keyset in a store
CODED = re.compile(rb"(?:client-key-data|privateMaterial): (\S+)")
KEYS = 100


def find(paths):
    """The private keys that are there, in files, kubeconfigs and keysets."""
    found = set()
    for path in paths:
        if path.is_file() and not path.is_symlink() and path.stat().st_size < MB:
            text = path.read_bytes()
            for whole in [text, *(base64.b64decode(coded) for coded in CODED.findall(text))]:
                found |= set(PEM.findall(whole))
    return found


def tell():
    """How long it takes to find a prime is chance: means of many, each in turn, and without a certificate."""
    library = ROOT / "build/gcc-release/libnodeup.a"
    ways = {"nodeup": [data.helper("keys", f"-I{ROOT}", library, "-lcrypto"), "1"],
            "openssl genrsa": ["openssl", "genrsa", "-out", "/dev/null", "2048"]}
    runs = {name: [] for name in ways}
    for _ in range(KEYS):
        for name, argv in ways.items():
            runs[name].append(measure(argv))
    print(f"\nkeys: {KEYS} of 2048 bits each, each by a process of its own, with its start; by the key generator of {library.relative_to(ROOT)}")
    table("keys", {name: [{column: run[column] for column in COLUMNS[:1]} for run in made] for name, made in runs.items()})
    own, other = ([run["CPU s"] for run in made] for made in runs.values())
    ratio = statistics.mean(own) / statistics.mean(other)
    error = ratio * sum((statistics.stdev(v) / statistics.mean(v)) ** 2 / KEYS for v in (own, other)) ** 0.5
    say("keys", f"CPU of a key, to openssl genrsa, means (standard error {error:.3f})", ratio, 0.21, "x")
    load("then")
