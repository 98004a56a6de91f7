"""moto, the emulator of AWS, as a server on loopback that checks signatures, tokens and policies.

It lives in a Debian trixie tree of its own (bookworm has none), made once and kept in build/lab."""

import base64
import fcntl
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

from world import ENV, ROOT

sys.path.append(str(ROOT / "tests/e2e"))
import labhost  # noqa: E402

TREE = ROOT / "build/lab/moto-tree"
PACKAGES = ["python3-moto", "python3-flask", "python3-flask-cors", "python3-boto3"]
REGION = "us-west-2"

# moto computes a signature from a path and query that its server has decoded: as it is, AWS's own client
# may list no prefix with a slash.  Encoded again as AWS says, it refuses what is wrong and nothing else.
SERVER = """
import sys
from urllib.parse import quote, unquote
from botocore.auth import S3SigV4Auth
def again(text, safe=""):
    return quote(unquote(text), safe=safe + "-_.~")
def query(self, parts):
    pairs = sorted(tuple(map(again, p.partition("=")[::2])) for p in parts.query.split("&") if p)
    return "&".join("=".join(p) for p in pairs)
S3SigV4Auth._canonical_query_string_url = query
S3SigV4Auth._normalize_url_path = lambda self, path: again(path, "/")
from moto.server import main
main(["-H", "127.0.0.1", "-p", sys.argv[1]])
"""

# An object, as its owner finds it; stdin: endpoint, key and name.
READ = """
import boto3, json, sys
given = json.load(sys.stdin)
s3 = boto3.client("s3", endpoint_url=given["endpoint"], region_name="us-west-2", aws_access_key_id=given["key"]["AccessKeyId"],
                  aws_secret_access_key=given["key"]["SecretAccessKey"])
bucket, _, key = given["path"].partition("/")
sys.stdout.buffer.write(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
"""

# What an account holds, made from within the tree by AWS's own client.  stdin: endpoint and objects.
SET_UP = """
import base64, boto3, json, sys
given = json.load(sys.stdin)
def client(name):
    return boto3.client(name, endpoint_url=given["endpoint"], region_name="us-west-2",
                        aws_access_key_id="setup", aws_secret_access_key="setup")
s3, iam, sts = client("s3"), client("iam"), client("sts")
for bucket in given["buckets"]:
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
for path, data in given["objects"].items():
    bucket, _, key = path.partition("/")
    s3.put_object(Bucket=bucket, Key=key, Body=base64.b64decode(data))
def policy(bucket, *more):
    return json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": ["s3:GetObject", *more], "Resource": "arn:aws:s3:::%s/*" % bucket},
        {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::" + bucket}]})
out = {"roles": {}}
for role, bucket in given["roles"].items():
    arn = iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    iam.put_role_policy(RoleName=role, PolicyName="store", PolicyDocument=policy(bucket))
    out["roles"][role] = sts.assume_role(RoleArn=arn, RoleSessionName="i-0123456789abcdef0")["Credentials"]
iam.create_user(UserName="admin")
iam.put_user_policy(UserName="admin", PolicyName="store", PolicyDocument=policy(given["buckets"][0], "s3:PutObject"))
out["user"] = iam.create_access_key(UserName="admin")["AccessKey"]
print(json.dumps(out, default=lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ")))
"""


def ensure_tree():
    """The tree, made by the first who wants it."""
    TREE.parent.mkdir(parents=True, exist_ok=True)
    with open(TREE.parent / "moto-lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if TREE.is_dir():
            return
        labhost.host_packages()
        making = str(TREE) + ".new"
        shutil.rmtree(making, ignore_errors=True)
        labhost.run("debootstrap", "--variant=minbase", "trixie", making, labhost.apt_site())
        labhost.install(making, PACKAGES)
        os.rename(making, TREE)


# Each process of the tests has its own: of two servers that were given one port, the first answers for both. The kernel
# gives these to no other socket.
PORTS = itertools.count(12000 + 2000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]))


def free_port():
    port = next(PORTS)
    with socket.socket() as s:
        return port if s.connect_ex(("127.0.0.1", port)) else free_port()


def listen(argv, port, log, env=None, keep_stdin=False):
    """A server that dies with us, once it listens; one that ends with its input gets one that does not."""
    with open(log, "w") as out:
        child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *map(str, argv)], env=env,
                                 stdin=subprocess.PIPE if keep_stdin else subprocess.DEVNULL, stdout=out, stderr=out)
    for _ in range(300):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return child
        assert child.poll() is None, open(log).read()
        time.sleep(0.1)
    child.kill()
    raise AssertionError(f"{argv[0]} does not listen:\n{open(log).read()}")


class Emulator:
    """buckets: names; objects: {"bucket/key": bytes}; roles: {name: the bucket it may read}.  roles[name]
    and user are credentials as STS and IAM have given them."""

    def __init__(self, folder, buckets, objects, roles):
        ensure_tree()
        port = free_port()
        self.url, self.folder = f"http://127.0.0.1:{port}", folder
        # all calls of the set-up are free: when it is over, the count starts again at none
        self.process = listen(["chroot", TREE, "python3", "-c", SERVER, port], port, folder / "moto.log",
                              {**ENV, "INITIAL_NO_AUTH_ACTION_COUNT": "100000"})
        made = self.set_up({"endpoint": self.url, "buckets": buckets, "roles": roles, "objects": {
            path: base64.b64encode(data).decode() for path, data in objects.items()}})
        self.roles, self.user = made["roles"], made["user"]
        urllib.request.urlopen(urllib.request.Request(
            self.url + "/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"}))

    def set_up(self, given):
        done = subprocess.run(["chroot", TREE, "python3", "-c", SET_UP], input=json.dumps(given), text=True,
                              capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def read(self, path):
        """Of "bucket/key" by the user; None: AWS's own client does not find it."""
        done = subprocess.run(["chroot", TREE, "python3", "-c", READ], capture_output=True, timeout=60,
                              input=json.dumps({"endpoint": self.url, "key": self.user, "path": path}).encode())
        assert done.returncode == 0 or b"NoSuchKey" in done.stderr, done
        return done.stdout if done.returncode == 0 else None

    def close(self):
        self.process.kill()
        self.process.wait(10)


class Imds:
    """tests/fake/imds.py of an instance with this role, and with what more is to be told of it."""

    def __init__(self, folder, role=None, credentials=None, **more):
        facts = {"http-tokens": "optional", "instance-id": "i-0123456789abcdef0", "placement/region": REGION, **more}
        if role:
            facts[f"iam/security-credentials/{role}"] = json.dumps({
                "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": credentials["AccessKeyId"],
                "SecretAccessKey": credentials["SecretAccessKey"], "Token": credentials["SessionToken"],
                "Expiration": credentials["Expiration"]})
        (folder / "imds.json").write_text(json.dumps(facts))
        port = free_port()
        self.url, self.log = f"http://127.0.0.1:{port}", folder / "imds.requests"
        self.process = listen([sys.executable, ROOT / "tests/fake/imds.py", "127.0.0.1", port,
                               folder / "imds.json", self.log], port, folder / "imds.log")

    def close(self):
        self.process.kill()
        self.process.wait(10)
