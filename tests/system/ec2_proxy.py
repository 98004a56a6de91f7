"""A proxy in front of an emulator of EC2 that injects errors."""

import collections
import http.client
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

ERROR = ('<?xml version="1.0"?>\n<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors>'
         "<RequestID>REQ7</RequestID></Response>")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, fmt, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        form = dict(urllib.parse.parse_qsl(body.decode()))
        proxy = self.server.proxy
        with proxy.lock:
            fault = proxy.take(form)
            answer = None
            if not fault:
                answer = proxy.forward(self.headers, body)
        if fault and fault["code"]:
            answer = fault["status"], (ERROR % (fault["code"], escape(fault["message"]))).encode()
        elif fault:
            self.close_connection = True
            return
        self.send_response(answer[0])
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(answer[1])))
        self.end_headers()
        self.wfile.write(answer[1])


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client may go away."""


class Proxy:
    def __init__(self, target):
        self.target = urllib.parse.urlsplit(target).netloc
        self.lock, self.faults, self.forms = threading.Lock(), collections.deque(), []
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.proxy = self
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def fault(self, action, code=None, status=400, message="As asked", times=1):
        """The next requests for it get this error, or no answer."""
        self.faults.append({"action": action, "code": code, "status": status, "message": message, "times": times})

    def take(self, form):
        self.forms.append(form)
        for fault in self.faults:
            if fault["action"] == form["Action"] and fault["times"] > 0:
                fault["times"] -= 1
                return fault
        return None

    def forward(self, headers, body):
        connection = http.client.HTTPConnection(self.target, timeout=60)
        connection.request("POST", "/", body, dict(headers))
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def count(self, action):
        return sum(form["Action"] == action for form in self.forms)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
