"""What ends a wait for data that is thrown away, on the ends of a lab path.

server: events.py server
client: events.py client HOW      (`served` or `woken`: see transfer.py)

Each case is a connection of its own. The client prints for each what its calls returned and when,
in milliseconds after the connection was made, as JSON.
"""
import ctypes, errno, fcntl, json, mmap, os, select, signal, socket, struct, sys, threading, time

PORT = 5001
DISCARD = socket.MSG_TRUNC | socket.MSG_WAITALL
MUCH = 1 << 24
ROOM = mmap.mmap(-1, MUCH)


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


# What the server does in each case; all data of one call come in one burst.

def end(c):
    c.sendall(bytes(100_000))
    time.sleep(0.5)


def reset(c):
    c.sendall(bytes(50_000))
    time.sleep(0.5)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def urgent(c):
    c.sendall(bytes(30_000))
    time.sleep(0.5)
    c.send(b"!", socket.MSG_OOB)
    time.sleep(0.5)
    c.sendall(bytes(20_000))
    time.sleep(0.5)


def little(c):
    c.sendall(bytes(10_000))
    time.sleep(1.5)


def two(c):
    c.sendall(bytes(12_000))
    time.sleep(0.5)
    c.sendall(bytes(12_000))
    time.sleep(0.5)


# What the client does; `do` notes what a call returns.

def read_to_end(c, do):
    while do(lambda: c.recv_into(ROOM, MUCH, DISCARD)) not in (0, "ECONNRESET"):
        pass


def read_past_mark(c, do):
    do(lambda: c.recv_into(ROOM, MUCH, DISCARD))
    do(lambda: c.recv(1, socket.MSG_OOB).decode())
    read_to_end(c, do)


def read_with_timeout(c, do):
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 300_000))
    do(lambda: c.recv_into(ROOM, MUCH, DISCARD))
    do(lambda: c.recv_into(ROOM, MUCH, DISCARD))


def read_with_signal(c, do):
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.4)
    do(lambda: c.recv_into(ROOM, MUCH, DISCARD))


def later(seconds, action):
    thread = threading.Thread(target=lambda: (time.sleep(seconds), action()))
    thread.start()
    return thread


def read_shut_by_another(c, do):
    thread = later(0.4, lambda: c.shutdown(socket.SHUT_RD))
    read_to_end(c, do)
    thread.join()


def read_disconnected_by_another(c, do):
    # connect(2) with AF_UNSPEC dissolves the association.
    nowhere = ctypes.create_string_buffer(16)
    libc = ctypes.CDLL(None)
    thread = later(0.4, lambda: libc.connect(c.fileno(), nowhere, 16))
    do(lambda: c.recv_into(ROOM, MUCH, DISCARD))
    thread.join()


def read_beside_poll(c, do):
    poll = select.poll()
    poll.register(c, select.POLLRDHUP)
    events = []
    thread = threading.Thread(target=lambda: events.extend(poll.poll(5000)))
    thread.start()
    read_to_end(c, do)
    thread.join()
    do(lambda: events[0][1] & select.POLLRDHUP == select.POLLRDHUP)


def read_in_parts(c, do):
    do(lambda: c.recv_into(ROOM, 5_000, DISCARD))
    do(lambda: c.recv_into(ROOM, 10_000, DISCARD))
    do(lambda: c.recv_into(ROOM, 9_000, DISCARD))
    read_to_end(c, do)


def read_asynchronous_later(c, do):
    """Another thread asks for O_ASYNC while the reader waits."""
    thread = later(0.2, lambda: fcntl.fcntl(c, fcntl.F_SETFL, os.O_RDWR | os.O_ASYNC))
    read_to_end(c, do)
    thread.join()


CASES = {
    "end": (end, read_to_end),
    "reset": (reset, read_to_end),
    "urgent": (urgent, read_past_mark),
    "timeout": (little, read_with_timeout),
    "signal": (little, read_with_signal),
    "shut": (little, read_shut_by_another),
    "disconnected": (little, read_disconnected_by_another),
    "polled": (two, read_beside_poll),
    "parts": (two, read_in_parts),
    "asynchronous": (two, read_asynchronous_later),
    "mptcp": (two, read_to_end),
}


def serve(connection, act):
    with connection:
        try:
            act(connection)
        except OSError:
            pass


def server():
    # Gives plain TCP to who does not ask for MPTCP (RFC 8684, section 3.1).
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    listener.bind(("", PORT))
    listener.listen()
    for act, _ in CASES.values():
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, act)).start()


def connected(protocol):
    for _ in range(100):
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
        try:
            connection.connect(("server", PORT))
            return connection
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise SystemExit("nobody listens")


def client(how):
    for name, (_, act) in CASES.items():
        connection = connected(socket.IPPROTO_MPTCP if name == "mptcp" else socket.IPPROTO_TCP)
        if how == "woken":
            fcntl.fcntl(connection, fcntl.F_SETFL, os.O_RDWR | os.O_ASYNC)
        begun, seen = now(), []

        def do(call):
            try:
                got = call()
            except OSError as error:
                got = errno.errorcode[error.errno]
            seen.append([got, round((now() - begun) / 1e6)])
            return got

        act(connection, do)
        connection.close()
        print(json.dumps({"case": name, "seen": seen}))


server() if sys.argv[1] == "server" else client(sys.argv[2])
