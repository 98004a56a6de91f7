#!/usr/bin/python3
"""kops-controller as a node sees it: POST /bootstrap over TLS, and nothing else.

usage: kops_controller.py ADDRESS PORT DIR

DIR holds tls.crt and tls.key (its own), ca.crt and ca.key (kubernetes-ca, whose serial number is its id), nodeupconfig.yaml,
and control.json: {"region", "keys": {id: [secret, token]}, "node": name, "hosts": [...], "secrets": {name: base64},
"faults": [status or "not-json" or "huge" (100 MB) or "deep" (a million brackets) or "other-key" or "drop" or {...}, which is
its nodeConfig ...], of which each answer
takes one, "delay": seconds before each answer, "after": [files that there have to be before the first answer is given], "before_certificates": [the same for an answer with certificates], "clock": seconds that its clock is ahead}.  Prints its port once it listens.  What the
real one refuses is refused: a header map that is not Go's to the byte, another host of STS, a signature of nobody, a proof for
another body or of another hour, a public key that is not PKIX under PKCS#1's name, an id of another CA.  requests.log has a line for each request: its status, and the names that were asked for.
"""
import base64
import calendar
import concurrent.futures
import contextlib
import functools
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import time

QUESTION = b"Action=GetCallerIdentity&Version=2011-06-15"
FORM = "application/x-www-form-urlencoded; charset=utf-8"
VERSION = "bootstrap.kops.k8s.io/v1alpha1"
NAMES = ("Authorization", "Content-Type", "X-Amz-Date", "X-Amz-Security-Token", "X-Kops-Request-Sha")
SKEW = 15 * 60
RSA_OID = bytes.fromhex("06092a864886f70d010101")
SUBJECTS = {"kubelet": ("/O=system:nodes/CN=system:node:{node}", "clientAuth", False),
            "kubelet-server": ("/CN={node}", "serverAuth", True), "kube-proxy": ("/CN=system:kube-proxy", "clientAuth", False),
            "kube-router": ("/CN=system:kube-router", "clientAuth", False), "etcd-client-cilium": ("/CN=cilium", "clientAuth", False)}
# made when asked for: 100 MB take longer than an answer
FAULTY = {"not-json": lambda: b"<html>", "huge": lambda: b" " * 100_000_000, "deep": lambda: b"[" * 1_000_000}


class Refused(Exception):
    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def domain(region):
    return "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"


def check_proof(header, body, control):
    """403 for whatever STS would not take; the node is told no more than that, as by the real one."""
    if not header.startswith("x-aws-sts "):
        raise Refused(403, "no token")
    text = base64.b64decode(header[len("x-aws-sts "):], validate=True).decode()
    headers = json.loads(text)
    names = [n for n in NAMES if n in headers]
    if compact({n: headers[n] for n in names}) != text or set(headers) - set(NAMES) or any(len(v) != 1 for v in headers.values()):
        raise Refused(403, "not Go's header map")
    sha = base64.b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")
    if headers["X-Kops-Request-Sha"] != [sha] or headers["Content-Type"] != [FORM]:
        raise Refused(403, "a proof for another request")
    stamp = headers["X-Amz-Date"][0]
    if abs(calendar.timegm(time.strptime(stamp, "%Y%m%dT%H%M%SZ")) - time.time() - control.get("clock", 0)) > SKEW:
        raise Refused(403, "a proof of another hour")
    match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8}/[a-z0-9-]+/sts/aws4_request), SignedHeaders=([a-z0-9;-]+), "
                         r"Signature=([0-9a-f]{64})", headers["Authorization"][0])
    if not match or match[1] not in control["keys"]:
        raise Refused(403, "a key of nobody")
    secret, token = control["keys"][match[1]]
    signed = {"content-length": str(len(QUESTION)), "content-type": FORM, "host": f"sts.{control['region']}.{domain(control['region'])}",
              "x-amz-date": stamp, "x-kops-request-sha": sha}
    if token:
        signed["x-amz-security-token"] = token
    if headers.get("X-Amz-Security-Token", [None]) != [token] or match[3] != ";".join(sorted(signed)):
        raise Refused(403, "not the headers that are to be signed")
    if match[2] != f"{stamp[:8]}/{control['region']}/sts/aws4_request":
        raise Refused(403, "another scope")
    canonical = "\n".join(["POST", "/", "", *(f"{k}:{signed[k]}" for k in sorted(signed)), "", match[3], hashlib.sha256(QUESTION).hexdigest()])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, match[2], hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in match[2].split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), match[4]):
        raise Refused(403, "a wrong signature")


def openssl(*argv, **kw):
    return subprocess.run(["openssl", *argv], check=True, capture_output=True, text=True, **kw).stdout


@functools.lru_cache
def serial(certificate, written):  # of another certificate under the same name it is another
    """The real one does not start a program for it: an answer without certificates takes next to nothing."""
    return int(openssl("x509", "-in", certificate, "-noout", "-serial").strip().split("=")[1], 16)


def backdated(folder, certificate):
    """As the real one's, valid from two days ago. openssl x509 knows only now, so the time is replaced and the whole signed anew."""
    body = certificate.split("-----")[2]
    whole = base64.b64decode(body)
    # SEQUENCE {TBSCertificate, algorithm, BIT STRING}, each of two bytes of length
    signed = whole[4:8 + int.from_bytes(whole[6:8], "big")]
    start = time.strftime("%y%m%d%H%M%SZ", time.gmtime(time.time() - 48 * 3600)).encode()
    dated = re.sub(rb"\x17\x0d\d{12}Z", lambda _: b"\x17\x0d" + start, signed, count=1)
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", folder / "ca.key"], input=dated, check=True, capture_output=True).stdout
    made = whole[:4] + dated + whole[4 + len(signed):-len(signature)] + signature
    return certificate.replace(body, "\n" + base64.encodebytes(made).decode())


def issue(folder, control, name, public, key_of_another):
    """As the real one: the public key alone says for whom it is."""
    lie = control.get("lies", {}).get(name, {})
    subject, usage, hosts = SUBJECTS[name]
    subject, usage = lie.get("subject", subject), lie.get("usage", usage)
    hosts = lie.get("hosts", control["hosts"] if hosts else [])
    lines = public.strip().splitlines()
    if lines[0] != "-----BEGIN RSA PUBLIC KEY-----" or lines[-1] != "-----END RSA PUBLIC KEY-----":
        raise Refused(400, f"failed to parse public key of {name}")
    # openssl takes PKCS#1's bytes as well
    if RSA_OID not in base64.b64decode("".join(lines[1:-1]))[:32]:
        raise Refused(400, f"failed to parse public key of {name}: not PKIX")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "key.pem").write_text("\n".join(["-----BEGIN PUBLIC KEY-----", *lines[1:-1], "-----END PUBLIC KEY-----", ""]))
        try:
            told = openssl("pkey", "-pubin", "-in", work / "key.pem", "-noout", "-text")
        except subprocess.CalledProcessError:
            raise Refused(400, f"failed to parse public key of {name}: not PKIX") from None
        if "(2048 bit)" not in told:
            raise Refused(400, f"key of {name} does not have 2048 bits")
        # a request for another key: the one in the certificate is forced
        openssl("req", "-new", "-key", folder / "tls.key", "-out", work / "csr", "-subj", subject.format(node=control["node"]))
        extensions = (f"basicConstraints=critical,{lie.get('basic', 'CA:FALSE')}\nextendedKeyUsage={usage}\n"
                      f"keyUsage=critical,{lie.get('key_usage', 'digitalSignature,keyEncipherment')}\n")
        if hosts:
            extensions += "subjectAltName=" + ",".join(("IP:" if re.fullmatch(r"[\d.]+|.*:.*", h) else "DNS:") + h for h in hosts) + "\n"
        (work / "ext").write_text(extensions)
        forced = [] if key_of_another else ["-force_pubkey", work / "key.pem"]
        text = openssl("x509", "-req", "-in", work / "csr", *forced, "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key", "-days", "400",
                       "-set_serial", str(int.from_bytes(os.urandom(15), "big")), "-extfile", work / "ext")
        text = backdated(folder, text)
        return lie.get("before", "") + text.replace("CERTIFICATE", lie.get("label", "CERTIFICATE")) + lie.get("behind", "")


def answer(folder, control, body, fault):
    request = json.loads(body)
    if list(request) != ["apiVersion", "certs", "keypairIDs", "includeNodeConfig"] or compact(request) != body.decode():
        raise Refused(400, "not the request of a node")
    if request["apiVersion"] != VERSION:
        raise Refused(400, "unexpected APIVersion")
    told = {}
    if request["certs"] is not None:
        ca = folder / "ca.crt"
        if (request["keypairIDs"] or {}).get("kubernetes-ca") != str(serial(ca, ca.stat().st_mtime_ns)):
            raise Refused(400, "failed to issue: keypair mismatch")
        unknown = set(request["certs"]) - set(SUBJECTS)
        if unknown:
            raise Refused(400, f"failed to issue {sorted(unknown)[0]}")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            issued = pool.map(lambda asked: issue(folder, control, *asked, fault == "other-key"), request["certs"].items())
            told["Certs"] = dict(zip(request["certs"], issued))
    if request["includeNodeConfig"] and isinstance(fault, dict):
        told["nodeConfig"] = fault
    elif request["includeNodeConfig"]:
        told["nodeConfig"] = {"nodeupConfig": (folder / "nodeupconfig.yaml").read_text(), "nodeSecrets": control.get("secrets", {})}
    return compact(told).encode(), sorted(request["certs"] or ())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # as Go's server has it: the answer does not wait for the acknowledgement of what was sent before
    disable_nagle_algorithm = True
    folder, served, clock = None, 0, 0

    def date_time_string(self, timestamp=None):
        return super().date_time_string(time.time() + self.clock if timestamp is None else timestamp)

    def log_message(self, *args):
        pass

    def take_fault(self, control):
        faults = control.get("faults", [])
        Handler.served += 1
        return faults[Handler.served - 1] if Handler.served <= len(faults) else None

    def wait_for_files(self, files):
        """Within half a minute, whatever else happens meanwhile."""
        for _ in range(600):
            if all(map(os.path.exists, files)):
                return
            time.sleep(0.05)

    def do_POST(self):
        control = json.loads((self.folder / "control.json").read_text())
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault, names, status, self.clock = self.take_fault(control), [], 200, control.get("clock", 0)
        time.sleep(control.get("delay", 0))
        self.wait_for_files(control.get("after", []))
        if json.loads(body).get("certs"):
            self.wait_for_files(control.get("before_certificates", []))
        if fault == "drop":
            with (self.folder / "requests.log").open("a") as log:
                log.write("dropped\n")
            self.close_connection = True
            return
        try:
            if self.path != "/bootstrap":
                raise Refused(404, "not found")
            if isinstance(fault, int):
                raise Refused(fault, "as asked")
            try:
                check_proof(self.headers.get("Authorization", ""), body, control)
            except (ValueError, KeyError) as why:
                raise Refused(403, f"a token that cannot be read: {why}") from None
            text, names = answer(self.folder, control, body, fault)
            text = FAULTY[fault]() if isinstance(fault, str) and fault in FAULTY else text
        except Refused as why:
            status = why.status
            # who is not believed is not told why
            text = b"failed to verify token" if status == 403 else str(why).encode()
            names = [str(why)]
        with (self.folder / "requests.log").open("a") as log:
            log.write(f"{status} {' '.join(names)}\n")
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        # of what is too much not all is taken
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            self.wfile.write(text)

    def do_GET(self):
        self.send_error(405)

    do_HEAD = do_PUT = do_DELETE = do_GET


def main():
    address, port, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    Handler.folder = folder
    # as in s3.py: python's default of 5 costs the seventh client at once a second
    http.server.ThreadingHTTPServer.request_queue_size = 128
    server = http.server.ThreadingHTTPServer((address, port), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
