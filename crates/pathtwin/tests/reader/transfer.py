"""A transfer whose receiver throws away what it gets, on the ends of a lab path.

server: transfer.py send BYTES
client: transfer.py receive HOW CHUNK PAUSE_MS

HOW is `served` or `woken`. The lab's kernel never serves a socket with O_ASYNC (patch 0016), and
without an owner to signal O_ASYNC does nothing else: so `woken` is the reader of other kernels. The client prints what it saw as JSON.
"""
import fcntl, json, mmap, os, resource, socket, struct, sys, time

PORT = 5000


def send(size):
    listener = socket.create_server(("", PORT), family=socket.AF_INET)
    connection, _ = listener.accept()
    piece = bytes(1 << 18)
    while size > 0:
        size -= connection.send(piece[:size])
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    # struct tcp_info of linux/tcp.h: tcpi_total_retrans is the 32-bit word at byte 100.
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    print(json.dumps({"retransmitted": struct.unpack_from("I", info, 100)[0]}))


def receive(how, chunk, pause_ms):
    room = mmap.mmap(-1, chunk)
    for _ in range(100):
        try:
            connection = socket.create_connection(("server", PORT))
            break
        except ConnectionRefusedError:
            time.sleep(0.01)
    if how == "woken":
        fcntl.fcntl(connection, fcntl.F_SETFL, os.O_RDWR | os.O_ASYNC)
    begun = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
    size = 0
    while n := connection.recv_into(room, len(room), socket.MSG_TRUNC | socket.MSG_WAITALL):
        size += n
        if pause_ms:
            time.sleep(pause_ms / 1000)
    ended = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    print(json.dumps({
        "bytes": size,
        "seconds": (ended - begun) / 1e9,
        "buffer": connection.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
        "switches": resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - switches,
    }))


if sys.argv[1] == "send":
    send(int(sys.argv[2]))
else:
    receive(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
