"""A terminal as far as nodeup's progress goes: a pseudo-terminal, and what a screen would show."""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time

PART = re.compile(r"\x1b\[(\d*)([A-Za-z])|\r|\n|[^\x1b\r\n]+")


class Screen:
    """Lines without an end; one that is too long goes on in the next."""

    def __init__(self, columns):
        self.columns, self.lines, self.row, self.column = columns, [""], 0, 0
        self.most, self.coloured, self.erased, self.left = 0, False, 0, ""

    def feed(self, text):
        """What cannot be understood yet (half a sequence) waits for the rest."""
        text = self.left + text
        cut = text.rfind("\x1b")
        self.left = text[cut:] if cut >= 0 and not PART.match(text, cut) else ""
        text = text[:len(text) - len(self.left)]
        end = 0
        for part in PART.finditer(text):
            assert part.start() == end, f"what is {text[end:end + 20]!r}?"
            end = part.end()
            self.one(part.group(), part.group(1), part.group(2))
        assert end == len(text), f"what is {text[end:end + 20]!r}?"

    def one(self, text, number, command):
        if text == "\r":
            self.column = 0
        elif text == "\n":
            self.row += 1
            self.column = 0  # the pty makes \r\n of it
        elif command == "A":
            self.row -= int(number or 1)
            assert self.row >= 0, "above the first line"
        elif command == "J":
            assert self.column == 0
            del self.lines[self.row:]
            self.erased += 1
        elif command == "m":
            self.coloured = True
        elif command:
            raise AssertionError(f"what is {text!r}?")
        else:
            self.print(text)
        while self.row >= len(self.lines):
            self.lines.append("")

    def print(self, text):
        line = self.lines[self.row]
        self.lines[self.row] = line[:self.column] + text + line[self.column + len(text):]
        self.column += len(text)
        self.most = max(self.most, self.column)

    def text(self):
        return "\n".join(self.lines)


def set_size(fd, columns, rows=24):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Run:
    """A command whose stderr is a terminal."""

    def __init__(self, argv, env, columns, cwd):
        self.master, terminal = os.openpty()
        set_size(self.master, columns)
        self.screen = Screen(columns)
        self.process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=terminal)
        os.close(terminal)

    def read(self):
        """Whatever has come; False at the end."""
        if not select.select([self.master], [], [], 60)[0]:
            raise AssertionError(f"nothing for a minute:\n{self.screen.text()}")
        try:
            data = os.read(self.master, 65536)
        except OSError:  # nobody has it open any more
            data = b""
        self.screen.feed(data.decode(errors="replace"))
        return bool(data)

    def until(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition(self.screen):
            assert self.read() and time.monotonic() < deadline, f"never seen:\n{self.screen.text()}"

    def finish(self):
        while self.read():
            pass
        code = self.process.wait(60)
        os.close(self.master)
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
