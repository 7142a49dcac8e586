#!/usr/bin/env python3
"""A line with a rate, a queue, a delay and random loss in each direction, as a process between two devices.

usage: bench/line.py DEVICE DEVICE --mbit N --delay MS [--queue MS] [--loss SHARE] [--seed N]
       bench/line.py --plain DEVICE

For hosts whose kernel has no netem. Every frame that one device receives leaves by the other: after the
queue of its direction, at the rate, and after the delay. Frames that find the queue full, and a share of
all others, are dropped. The ends must send frames of at most one segment with complete checksums:
`--plain` sets a device of theirs so. Prints `ready` and runs until it is killed.
"""
import argparse, collections, ctypes, fcntl, random, select, socket, struct, subprocess, sys, time

ETH_P_ALL, PACKET_OUTGOING, LARGEST = 3, 4, 65536
# linux/sockios.h and linux/ethtool.h
SIOCETHTOOL, ETHTOOL_STXCSUM, ETHTOOL_SGSO, ETHTOOL_STSO, ETHTOOL_SGRO = 0x8946, 0x17, 0x24, 0x1F, 0x2C


def plain(device):
    """Frames of a device are as they would be on a wire."""
    subprocess.run(["ip", "link", "set", "dev", device, "gso_max_segs", "1"], check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in (ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO, ETHTOOL_STXCSUM):
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP16x", device.encode(), ctypes.addressof(value))
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)


def open_device(name):
    # Before `bind`, which fails later on a device that is down.
    subprocess.run(["ip", "link", "set", "dev", name, "promisc", "on", "up"], check=True)
    device = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    device.bind((name, 0))
    device.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    device.setblocking(False)
    return device


class Way:
    """One direction: what is on the way, with the time at which it arrives."""

    def __init__(self, out, line, seed):
        self.out, self.line, self.random = out, line, random.Random(seed)
        self.free_at, self.on_the_way = 0.0, collections.deque()

    def take(self, frame, now):
        begin = max(now, self.free_at)
        if begin - now > self.line.queue / 1e3 or self.random.random() < self.line.loss:
            return
        self.free_at = begin + len(frame) * 8 / (self.line.mbit * 1e6)
        self.on_the_way.append((self.free_at + self.line.delay / 1e3, frame))

    def deliver(self, now):
        """Sends what has arrived; the time until the next one does."""
        while self.on_the_way and self.on_the_way[0][0] <= now:
            try:
                self.out.send(self.on_the_way.popleft()[1])
            except (BlockingIOError, OSError):
                pass
        return self.on_the_way[0][0] - now if self.on_the_way else 1.0


def main():
    if sys.argv[1:2] == ["--plain"]:
        return plain(sys.argv[2])
    parser = argparse.ArgumentParser()
    parser.add_argument("devices", nargs=2)
    parser.add_argument("--mbit", type=float, required=True)
    parser.add_argument("--delay", type=float, required=True, help="one way, ms")
    parser.add_argument("--queue", type=float, default=50, help="ms at the rate")
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    line = parser.parse_args()
    ends = [open_device(name) for name in line.devices]
    ways = {ends[0]: Way(ends[1], line, line.seed), ends[1]: Way(ends[0], line, line.seed + 1)}
    print("ready", flush=True)
    rest = 1.0
    while True:
        readable, _, _ = select.select(ends, [], [], max(0.0, min(rest, 1.0)))
        now = time.monotonic()
        for end in readable:
            for _ in range(64):
                try:
                    frame, address = end.recvfrom(LARGEST)
                except BlockingIOError:
                    break
                if address[2] != PACKET_OUTGOING:
                    ways[end].take(frame, now)
        rest = min(way.deliver(time.monotonic()) for way in ways.values())


if __name__ == "__main__":
    main()
