"""Paths between namespaces: shapers of the kernel at a router, and a line with delay and loss."""
import dataclasses, os, shutil

import tunnels

WAYS = ("down", "up")
# Of the line itself, as a multiple of the largest rate, so that it never is the bottleneck.
WIDER, LINE_QUEUE_MS = 3, 20
MTU = 1420
# Only these can be the default of a namespace (net/ipv4/tcp_cong.c, Linux 6.18).
ALLOWED = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
DEVICES = {"down": "r-a", "up": "r-b"}


@dataclasses.dataclass(frozen=True)
class Setting:
    """Rates in Mbit/s and queues in ms, down and up; `rtt` in ms; `loss` of each direction."""
    name: str
    shaper: str
    mbit: tuple
    queue: tuple
    rtt: float = 0
    loss: float = 0
    tunnel: bool = False

    def line(self):
        """Options of the line, if there is one."""
        if not self.rtt and not self.loss:
            return None
        return ["--mbit", str(WIDER * max(self.mbit)), "--delay", str(self.rtt / 2),
                "--queue", str(LINE_QUEUE_MS), "--loss", str(self.loss)]

    def apply(self, hosts, cc):
        for mbit, queue, way in zip(self.mbit, self.queue, WAYS):
            shape = hosts.shape if self.shaper == "tbf" else hosts.shape_htb
            shape("r", DEVICES[way], mbit, queue)
        for host in "ab":
            hosts.on(host, "sysctl", "-qw", f"net.ipv4.tcp_congestion_control={cc}")
        if self.tunnel:
            hosts.tunnel(shutil.which("wireguard-go"), 4, MTU)


EVERY = (
    Setting("short-20m", "tbf", (20, 20), (30, 30), rtt=20),
    Setting("bloat-up-10m", "htb", (30, 10), (20, 400), rtt=30),
    Setting("bloat-down-20m", "tbf", (20, 20), (300, 20), rtt=20),
    Setting("bloat-both-5m", "htb", (5, 5), (300, 300), rtt=20),
    Setting("loss-20m", "tbf", (20, 20), (40, 40), rtt=40, loss=0.01),
    Setting("loss-60m", "htb", (60, 60), (40, 40), rtt=30, loss=0.01),
    Setting("loss-10m-far", "tbf", (10, 10), (100, 100), rtt=100, loss=0.02),
    Setting("shallow-40m", "tbf", (40, 40), (5, 5), rtt=50),
    Setting("loss-30m-wireguard", "htb", (30, 30), (40, 40), rtt=40, loss=0.01, tunnel=True),
    Setting("bloat-up-20m-wireguard", "tbf", (20, 20), (20, 300), rtt=30, tunnel=True),
    Setting("short-30m-no-line", "htb", (30, 30), (30, 30)),
    Setting("slow-up-40m-5m", "htb", (40, 5), (40, 100), rtt=15),
)


def lacking(settings, cc):
    """What is missing to run these settings, or nothing."""
    if os.geteuid() != 0:
        return "namespaces and shapers need root"
    needed = ["ip", "tc", "nsenter", "unshare", "ping", "setpriv", "chrt", "sysctl"]
    needed += ["wg", "wireguard-go"] if any(s.tunnel for s in settings) else []
    missing = [name for name in needed if not shutil.which(name)]
    if missing:
        return f"not found: {', '.join(missing)}: run scripts/setup real"
    with open(ALLOWED, encoding="ascii") as file:
        allowed = file.read().split()
    if cc not in allowed:
        return (f"namespaces may not have {cc} as their default: sysctl -w "
                f"net.ipv4.tcp_allowed_congestion_control='{' '.join([*allowed, cc])}', or --cc {allowed[0]}")
    return None


def ends(setting):
    """The address of each host as the other one reaches it, without and with the tunnel."""
    return tunnels.UNDERLAY[4], tunnels.TUNNEL if setting.tunnel else None
