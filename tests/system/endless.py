"""A mirror that sends without an end, and says of no length."""

import http.server
import threading
import time

PIECE = b"\xa5" * (1 << 20)


class Endless(http.server.ThreadingHTTPServer):
    """One object that never ends: chunked, or until the connection closes."""

    daemon_threads = True

    def __init__(self, chunked, pause=0.0):
        super().__init__(("127.0.0.1", 0), EndlessAnswer)
        self.chunked, self.pause, self.asked, self.sent = chunked, pause, 0, 0
        self.url = f"http://127.0.0.1:{self.server_port}/kubelet"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class EndlessAnswer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        server.asked += 1
        self.close_connection = True
        self.send_response(200)
        if server.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Connection", "close")
        self.end_headers()
        piece = b"%x\r\n%s\r\n" % (len(PIECE), PIECE) if server.chunked else PIECE
        try:
            while True:
                self.wfile.write(piece)
                server.sent += len(PIECE)
                time.sleep(server.pause)
        except OSError:
            pass

    def log_message(self, *args):
        pass
