#!/usr/bin/python3
"""S3 as a client without or with a key sees it: GET and HEAD of objects, both listings, over TLS.

usage: s3.py ADDRESS PORT ROOT CERT KEY REGION [LOG [KEYS.json]]

KEYS.json maps the id of an access key to its [secret, session token or null].  With it only signed
requests are answered, and the signature is computed again.

ROOT/<bucket>/<key> are the objects of buckets that live in REGION.  Both ways to name a bucket work
(bucket.s3[.region].amazonaws.com/key and s3[.region].amazonaws.com/bucket/key).  What the real one
refuses is refused with its error document: a key that is not there, a bucket of another region, a
signature of nobody, a method for writing, a bad parameter.
"""
import calendar
import email.utils
import hashlib
import hmac
import json
import os
import re
import secrets
import ssl
import sys
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

HOST = re.compile(r"^(?:(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\.)?"
                  r"s3(?:[.-](?:dualstack\.)?(?P<region>[a-z]{2}(?:-[a-z]+)+-\d))?\.amazonaws\.com$")
AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=([A-Z0-9]+)/(\d{8})/([a-z0-9-]+)/s3/aws4_request, "
                           r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$")
XMLNS = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
MESSAGES = {
    "AccessDenied": (403, "Access Denied"),
    "AuthorizationHeaderMalformed": (400, "The authorization header is malformed."),
    "ExpiredToken": (400, "The provided token has expired."),
    "InvalidAccessKeyId": (403, "The AWS Access Key Id you provided does not exist in our records."),
    "InvalidArgument": (400, "Invalid Argument"),
    "InvalidRange": (416, "The requested range is not satisfiable"),
    "InvalidToken": (400, "The provided token is malformed or otherwise invalid."),
    "RequestTimeTooSkewed": (403, "The difference between the request time and the current time is "
                                  "too large."),
    "SignatureDoesNotMatch": (403, "The request signature we calculated does not match the signature "
                                   "you provided. Check your key and signing method."),
    "XAmzContentSHA256Mismatch": (400, "The provided 'x-amz-content-sha256' header does not match what "
                                       "was computed."),
    "InvalidRequest": (400, "Missing required header for this request: Host"),
    "MethodNotAllowed": (405, "The specified method is not allowed against this resource."),
    "NoSuchBucket": (404, "The specified bucket does not exist"),
    "NoSuchKey": (404, "The specified key does not exist."),
    "PermanentRedirect": (301, "The bucket you are attempting to access must be addressed using the "
                               "specified endpoint. Please send all future requests to this endpoint."),
}


class Refused(Exception):
    def __init__(self, code, **extra):
        super().__init__(code)
        self.code = code
        self.extra = extra


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # one segment a reply: the second of two would wait 40 ms for an ACK
    disable_nagle_algorithm = True
    server_version = "AmazonS3"
    sys_version = ""

    def log_message(self, fmt, *args):
        if self.server.log:
            self.server.log.write("%s %s\n" % (self.headers.get("Host"), fmt % args))
            self.server.log.flush()

    def reply(self, status, body=b"", headers=()):
        self.send_response(status)
        self.send_header("x-amz-request-id", self.request_id)
        self.send_header("x-amz-id-2", self.host_id)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, refused):
        status, message = MESSAGES[refused.code]
        fields = "".join("<%s>%s</%s>" % (k, escape(v), k) for k, v in refused.extra.items())
        body = ('<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%s</Code><Message>%s</Message>%s'
                "<RequestId>%s</RequestId><HostId>%s</HostId></Error>"
                % (refused.code, message, fields, self.request_id, self.host_id))
        headers = [("Content-Type", "application/xml")]
        if refused.code in ("PermanentRedirect", "AccessDenied"):
            headers.append(("x-amz-bucket-region", self.server.region))
        self.reply(status, body.encode(), headers)

    def do_GET(self):
        self.request_id = secrets.token_hex(8).upper()
        self.host_id = secrets.token_urlsafe(48)
        try:
            if self.command not in ("GET", "HEAD"):
                raise Refused("MethodNotAllowed", Method=self.command, ResourceType="OBJECT")
            self.serve()
        except Refused as refused:
            self.refuse(refused)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET

    def serve(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        bucket, key, region = self.address(url.path)
        if self.headers.get("Authorization") or "X-Amz-Signature" in query:
            self.check_signature(query)
        elif self.server.keys:
            raise Refused("AccessDenied")
        if not bucket:
            raise Refused("AccessDenied")
        root = os.path.join(self.server.root, bucket)
        if not os.path.isdir(root):
            raise Refused("NoSuchBucket", BucketName=bucket)
        if region and region != self.server.region:
            raise Refused("PermanentRedirect", Bucket=bucket,
                          Endpoint="%s.s3.%s.amazonaws.com" % (bucket, self.server.region))
        if key:
            self.get_object(root, key)
        else:
            self.list_objects(root, bucket, query)

    def address(self, path):
        """The bucket, key and region that Host and path name."""
        host = re.sub(r":\d+$", "", self.headers.get("Host") or "")
        match = HOST.match(host)
        if not match:
            raise Refused("InvalidRequest")
        path = urllib.parse.unquote(path)[1:]
        if match["bucket"]:
            return match["bucket"], path, match["region"]
        bucket, _, key = path.partition("/")
        return bucket, key, match["region"]

    def check_signature(self, query):
        """By the rules of Signature Version 4, from what arrived."""
        header = self.headers.get("Authorization") or query.get("X-Amz-Credential", "")
        match = AUTHORIZATION.match(header)
        if not match:
            raise Refused("AuthorizationHeaderMalformed")
        key_id, day, region, names, signature = match.groups()
        if key_id not in self.server.keys:
            raise Refused("InvalidAccessKeyId", AWSAccessKeyId=key_id)
        secret, token = self.server.keys[key_id]
        if self.headers.get("X-Amz-Security-Token") != token:
            raise Refused("InvalidToken")
        if region != self.server.region:
            raise Refused("AuthorizationHeaderMalformed", Region=self.server.region)
        stamp = self.headers.get("X-Amz-Date", "")
        if not stamp.startswith(day + "T"):
            raise Refused("AuthorizationHeaderMalformed")
        sent = calendar.timegm(time.strptime(stamp, "%Y%m%dT%H%M%SZ"))
        if abs(sent - self.clock()) > 900:
            raise Refused("RequestTimeTooSkewed", RequestTime=stamp)
        if self.headers.get("X-Amz-Content-Sha256") != hashlib.sha256(b"").hexdigest():
            raise Refused("XAmzContentSHA256Mismatch")
        wanted = {"host", *(n.lower() for n in self.headers if n.lower().startswith("x-amz-"))}
        if not wanted <= set(names.split(";")):
            raise Refused("AccessDenied")
        if not hmac.compare_digest(signature, self.signature(secret, stamp, region, names)):
            raise Refused("SignatureDoesNotMatch")

    def signature(self, secret, stamp, region, names):
        path, _, query = self.path.partition("?")
        parameters = sorted(tuple((p + "=").split("=")[:2]) for p in query.split("&") if p)
        lines = [self.command, path, "&".join("=".join(p) for p in parameters)]
        lines += ["%s:%s" % (n, " ".join(self.headers[n].split())) for n in names.split(";")]
        lines += ["", names, self.headers["X-Amz-Content-Sha256"]]
        scope = "%s/%s/s3/aws4_request" % (stamp[:8], region)
        text = "AWS4-HMAC-SHA256\n%s\n%s\n%s" % (
            stamp, scope, hashlib.sha256("\n".join(lines).encode()).hexdigest())
        key = b"AWS4" + secret.encode()
        for part in (*scope.split("/"), text):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key.hex()

    def clock(self):
        return time.time()

    def get_object(self, root, key):
        path = os.path.join(root, key)
        if ".." in key.split("/") or not os.path.isfile(path):
            raise Refused("NoSuchKey", Key=key)
        with open(path, "rb") as f:
            data = f.read()
        headers = [("ETag", '"%s"' % hashlib.md5(data).hexdigest()), ("Accept-Ranges", "bytes"),
                   ("Last-Modified", email.utils.formatdate(os.path.getmtime(path), usegmt=True)),
                   ("Content-Type", "binary/octet-stream")]
        wanted = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range") or "")
        if not wanted:
            return self.reply(200, data, headers)
        first, last = int(wanted[1]), min(int(wanted[2] or len(data)), len(data) - 1)
        if first > last:
            raise Refused("InvalidRange", RangeRequested=self.headers["Range"])
        headers.append(("Content-Range", "bytes %d-%d/%d" % (first, last, len(data))))
        return self.reply(206, data[first:last + 1], headers)

    def list_objects(self, root, bucket, query):
        v2 = query.get("list-type") == "2"
        if "list-type" in query and not v2:
            raise Refused("InvalidArgument", ArgumentName="list-type",
                          ArgumentValue=query["list-type"])
        limit = query.get("max-keys", "1000")
        if not limit.isdigit():
            raise Refused("InvalidArgument", ArgumentName="max-keys", ArgumentValue=limit)
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("marker", "") if not v2 else query.get(
            "continuation-token", query.get("start-after", ""))
        entries = self.entries(root, prefix, delimiter, after)
        page, more = entries[:int(limit)], len(entries) > int(limit)
        encode = urllib.parse.quote if query.get("encoding-type") == "url" else (lambda s: s)
        body = ["<Name>%s</Name><Prefix>%s</Prefix><MaxKeys>%s</MaxKeys><IsTruncated>%s</IsTruncated>"
                % (bucket, escape(encode(prefix)), limit, str(more).lower())]
        if delimiter:
            body.append("<Delimiter>%s</Delimiter>" % escape(delimiter))
        if v2:
            body.append("<KeyCount>%d</KeyCount>" % len(page))
        if more:
            tag = "NextContinuationToken" if v2 else "NextMarker" if delimiter else None
            body.append("<%s>%s</%s>" % (tag, escape(encode(page[-1][0])), tag) if tag else "")
        for name, path in page:
            body.append(self.entry(encode(name), path))
        xml = '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult %s>%s</ListBucketResult>' % (
            XMLNS, "".join(body))
        self.reply(200, xml.encode(), [("Content-Type", "application/xml"),
                                       ("x-amz-bucket-region", self.server.region)])

    @staticmethod
    def entry(name, path):
        if not path:
            return "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>" % escape(name)
        with open(path, "rb") as f:
            etag = hashlib.md5(f.read()).hexdigest()
        return ("<Contents><Key>%s</Key><LastModified>2018-02-11T00:00:00.000Z</LastModified>"
                "<ETag>&quot;%s&quot;</ETag><Size>%d</Size><StorageClass>STANDARD</StorageClass>"
                "</Contents>" % (escape(name), etag, os.path.getsize(path)))

    @staticmethod
    def entries(root, prefix, delimiter, after):
        """Sorted (key, file) below prefix; (common prefix, None) where the delimiter cuts."""
        found = {}
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                key = os.path.relpath(path, root)
                cut = key.find(delimiter, len(prefix)) if delimiter else -1
                if not key.startswith(prefix):
                    continue
                if cut >= 0:
                    found[key[:cut + len(delimiter)]] = None
                else:
                    found[key] = path
        return sorted((k, v) for k, v in found.items() if k > after)


def main():
    address, port, root, cert, key, region = sys.argv[1:7]
    # python's default of 5 costs the seventh client at once a second: its SYN is dropped
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer((address, int(port)), Handler)
    server.root, server.region = root, region
    server.log = open(sys.argv[7], "a") if len(sys.argv) > 7 else None
    server.keys = {}
    if len(sys.argv) > 8:
        with open(sys.argv[8]) as f:
            server.keys = json.load(f)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert, key)
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()


if __name__ == "__main__":
    main()
