#!/usr/bin/python3
"""EC2's Query API as far as an instance needs it, strict: what the real one refuses is refused with its
error document.

usage: ec2.py ADDRESS PORT STATE.json [LOG [--stay]]

STATE.json: {"region": R, "keys": {id: [secret, session token or null]},
             "volumes": {id: {"state", "instance", "device", "attachment", "multiAttachEnabled",
                              "others": [instances that have it as well]}},
             "types": {name: {"enis", "ips", "gpus": [counts], "maker"}}, "interfaces": {id: [prefixes]},
             "tags": {instance: {key: value}}}
It ends with its standard input, unless it is to stay.  A list of volumes has two a page.  LOG gets a line for each action: its name and parameters.

    /__put              body: another state, or parts of it
    /__get              the state
    /__log              actions so far, as JSON
    /__fault?action=A&times=N&code=C[&status=S][&message=M]
                        the next N requests for A get that; hang=1: no answer
"""
import collections
import hashlib
import hmac
import json
import re
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

PAGE = 2
AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=([A-Za-z0-9]+)/(\d{8})/([a-z0-9-]+)/([a-z0-9]+)/aws4_request, "
                           r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$")


class Refused(Exception):
    def __init__(self, code, message="As asked", status=400):
        super().__init__(code)
        self.code, self.message, self.status = code, message, status


def xml(name, value):
    if isinstance(value, dict):
        value = "".join(xml(k, v) for k, v in value.items())
    elif isinstance(value, list):
        value = "".join(xml("item", v) for v in value)
    else:
        value = escape(str(value))
    return f"<{name}>{value}</{name}>"


def numbered(form, prefix):
    """The values of Prefix.1, Prefix.2..."""
    found = []
    while f"{prefix}.{len(found) + 1}" in form:
        found.append(form[f"{prefix}.{len(found) + 1}"])
    return found


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    service, version = "ec2", "2016-11-15"
    disable_nagle_algorithm = True

    def log_message(self, fmt, *args):
        pass

    def send(self, status, body, kind="text/xml"):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

    def control(self):
        url, server = urllib.parse.urlsplit(self.path), self.server
        query = dict(urllib.parse.parse_qsl(url.query))
        answer = {}
        with server.lock:
            if url.path == "/__put":
                server.state.update(json.loads(self.body()))
            elif url.path == "/__get":
                answer = server.state
            elif url.path == "/__log":
                answer = server.actions
            elif url.path == "/__fault":
                server.faults[query["action"]] = [int(query.get("times", "1")), query]
        self.send(200, json.dumps(answer), "application/json")

    def do_GET(self):
        self.control()

    def do_POST(self):
        if self.path.startswith("/__"):
            self.control()
            return
        text = self.body()
        form = dict(urllib.parse.parse_qsl(text, keep_blank_values=True))
        action = form.get("Action", "")
        try:
            with self.server.lock:
                self.server.actions.append(form)
                if self.server.log:
                    print(json.dumps(form), file=self.server.log, flush=True)
            self.fault(action)
            self.check_signature(text)
            if form.get("Version") != self.version:
                raise Refused("InvalidParameterValue", "version")
            method = getattr(self, action, None)
            if not method or not action[:1].isupper():
                raise Refused("InvalidAction", "The action %s is not valid" % action)
            with self.server.lock:
                answer = method(form, self.server.state)
            self.send(200, '<?xml version="1.0"?>\n' + self.success(action, answer))
        except Refused as e:
            self.send(e.status, '<?xml version="1.0"?>\n' + self.failure(e.code, escape(e.message)))

    def success(self, action, answer):
        return xml(action + "Response", {"requestId": "REQ1", **answer})

    def failure(self, code, message):
        return f"<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors><RequestID>REQ1</RequestID></Response>"

    def fault(self, action):
        with self.server.lock:
            left = self.server.faults.get(action, [0])
            left[0] -= 1
        if left[0] < 0:
            return
        if "hang" in left[1]:
            threading.Event().wait(60)
        raise Refused(left[1]["code"], left[1].get("message", "As asked"), int(left[1].get("status", "400")))

    def check_signature(self, text):
        match = AUTHORIZATION.match(self.headers.get("Authorization") or "")
        if not match:
            raise Refused("MissingAuthenticationToken", "unsigned", 403)
        key, day, region, service, names, signature = match.groups()
        if key not in self.server.state["keys"]:
            raise Refused("AuthFailure", "AWS was not able to validate the provided access credentials", 401)
        secret, token = self.server.state["keys"][key]
        if (self.headers.get("X-Amz-Security-Token") or None) != token:
            raise Refused("AuthFailure", "AWS was not able to validate the provided access credentials", 401)
        if region != self.server.state["region"] or service != self.service or not {"host", "x-amz-date", "content-type"} <= set(names.split(";")):
            raise Refused("SignatureDoesNotMatch", "scope", 403)
        headers = "".join(f"{n}:{' '.join(self.headers[n].split())}\n" for n in names.split(";"))
        canonical = "\n".join(["POST", self.path, "", headers, names, hashlib.sha256(text.encode()).hexdigest()])
        scope = f"{day}/{region}/{service}/aws4_request"
        to_sign = "\n".join(["AWS4-HMAC-SHA256", self.headers["X-Amz-Date"], scope,
                             hashlib.sha256(canonical.encode()).hexdigest()])
        mac = ("AWS4" + secret).encode()
        for part in (day, region, service, "aws4_request", to_sign):
            mac = hmac.new(mac, part.encode(), hashlib.sha256).digest()
        if mac.hex() != signature:
            raise Refused("SignatureDoesNotMatch", "The request signature we calculated does not match", 403)

    def DescribeInstanceTypes(self, form, state):
        names = numbered(form, "InstanceType")
        unknown = [n for n in names if n not in state.get("types", {})]
        if unknown:
            raise Refused("InvalidInstanceType", f"The following supplied instance types do not exist: [{unknown[0]}]")
        return {"instanceTypeSet": [self.instance_type(n, state["types"][n]) for n in names]}

    def instance_type(self, name, t):
        answer = {"instanceType": name, "networkInfo": {"maximumNetworkInterfaces": t["enis"], "ipv4AddressesPerInterface": t["ips"]}}
        if t.get("gpus"):
            answer["gpuInfo"] = {"gpus": [{"count": n, "manufacturer": t.get("maker", "NVIDIA")} for n in t["gpus"]]}
        return answer

    def AssignIpv6Addresses(self, form, state):
        interface = form.get("NetworkInterfaceId")
        if set(form) != {"Action", "Version", "NetworkInterfaceId", "Ipv6PrefixCount"} or form["Ipv6PrefixCount"] != "1":
            raise Refused("InvalidParameterCombination", "one prefix is what a node takes")
        if interface not in state.get("interfaces", {}):
            raise Refused("InvalidNetworkInterfaceID.NotFound", f"The networkInterface ID '{interface}' does not exist")
        prefixes = state["interfaces"][interface]
        prefixes.append(f"2001:db8:0:{len(prefixes)}::/80")
        return {"networkInterfaceId": interface, "assignedIpv6PrefixSet": prefixes[-1:]}

    def CreateTags(self, form, state):
        if set(form) != {"Action", "Version", "ResourceId.1", "Tag.1.Key", "Tag.1.Value"}:
            raise Refused("InvalidParameterCombination", "one tag is what a node takes")
        if form["ResourceId.1"] not in state.get("tags", {}):
            raise Refused("InvalidInstanceID.NotFound", f"The instance ID '{form['ResourceId.1']}' does not exist")
        state["tags"][form["ResourceId.1"]][form["Tag.1.Key"]] = form["Tag.1.Value"]
        return {"return": "true"}

    def DescribeVolumes(self, form, state):
        ids = numbered(form, "VolumeId") or sorted(state["volumes"])
        for v in ids:
            if v not in state["volumes"]:
                raise Refused("InvalidVolume.NotFound", f"The volume '{v}' does not exist.")
        filters = []
        while f"Filter.{len(filters) + 1}.Name" in form:
            at = f"Filter.{len(filters) + 1}"
            filters.append((form[at + ".Name"], numbered(form, at + ".Value")))
        found = [v for v in ids if all(self.passes(v, state["volumes"][v], *f) for f in filters)]
        first = int(form.get("NextToken", "0"))
        answer = {"volumeSet": [self.volume(v, state["volumes"][v]) for v in found[first:first + PAGE]]}
        if first + PAGE < len(found):
            answer["nextToken"] = first + PAGE
        return answer

    def passes(self, name, volume, key, values):
        if key == "volume-id":
            return name in values
        raise Refused("InvalidParameterValue", f"The filter '{key}' is invalid")

    def volume(self, name, v):
        answer = {"volumeId": name, "status": v.get("state", "in-use" if v.get("instance") else "available"),
                  "multiAttachEnabled": json.dumps(v.get("multiAttachEnabled", False)), "attachmentSet": []}
        if v.get("instance"):
            answer["attachmentSet"] = [{"volumeId": name, "instanceId": i, "device": v["device"],
                                        "status": v.get("attachment", "attached")} for i in [*v.get("others", []), v["instance"]]]
        return answer


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client may go away."""


def main(handler=Handler):
    address, port, path = sys.argv[1:4]
    server = Server((address, int(port)), handler)
    server.state = {"region": "us-west-2", "keys": {}, "volumes": {}}
    with open(path) as f:
        server.state.update(json.load(f))
    server.lock, server.faults, server.actions = threading.RLock(), collections.OrderedDict(), []
    server.log = open(sys.argv[4], "a") if len(sys.argv) > 4 else None
    print(server.server_address[1], flush=True)
    if sys.argv[5:] == ["--stay"]:
        server.serve_forever()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
