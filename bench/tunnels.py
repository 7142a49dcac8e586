"""Two hosts and a router between them as network namespaces, with shapers and a userspace tunnel.

    a 198.18.1.2, fd77:1::2 --veth-- r --veth-- b 198.18.2.2, fd77:2::2

With a line there is a fourth, l, between r and b, where `line.py` adds delay and loss. Each host
has its own /run, where WireGuard's processes keep their sockets. Nothing has a route out of this
machine. The hosts are processes that sleep: when they end, the kernel removes all that was made.
They, and all that runs in them, end with the program that made them, also if that is killed.
"""
import contextlib, os, subprocess, sys, time

LIFETIME_S = 1800
LINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "line.py")
UNDERLAY = {4: {"a": "198.18.1.2", "b": "198.18.2.2"}, 6: {"a": "fd77:1::2", "b": "fd77:2::2"}}
TUNNEL = {"a": "198.19.0.1", "b": "198.19.0.2"}
# Real-time processes are stopped for 50 ms in a second where they take all of a processor
# (sched_rt_runtime_us), which a line must not show; those with a deadline are not.
DEADLINE = ["chrt", "-d", "--sched-runtime", "4000000", "--sched-deadline", "5000000",
            "--sched-period", "5000000", "-p", "0"]
# A child dies with its parent.
BOUND = ["setpriv", "--pdeathsig", "KILL", "--"]
HOST = ("mount -t tmpfs none /run && mkdir -p /run/wireguard && ip link set lo up && echo ready && "
        f"exec sleep {LIFETIME_S}")
PORT = 51820


def run(*words, given=None):
    done = subprocess.run(words, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


class Hosts:
    """The hosts and the processes in them, each of which begins with the words `first`."""

    def __init__(self, first=()):
        self.holders, self.started, self.first = {}, [], list(first)

    def enter(self, host, *words):
        """The command line that runs a command in a host."""
        return ["nsenter", "-t", str(self.holders[host].pid), "-n", "-m", "--", *self.first, *words]

    def on(self, host, *words, given=None):
        return run(*self.enter(host, *words), given=given)

    def start(self, host, *words, env=None):
        """A process in a host, which `close` ends."""
        child = subprocess.Popen([*BOUND, *self.enter(host, *words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env=env)
        self.started.append(child)
        return child

    def await_(self, what, host, *words, seconds=10):
        for _ in range(seconds * 10):
            done = subprocess.run(self.enter(host, *words), capture_output=True, check=False)
            if done.returncode == 0:
                return
            time.sleep(0.1)
        raise RuntimeError(f"{what}: not within {seconds} s")

    def open(self, line=False):
        for host in "rabl" if line else "rab":
            holder = subprocess.Popen([*BOUND, "unshare", "-n", "-m", "sh", "-c", HOST], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, text=True)
            self.holders[host] = holder
            if holder.stdout.readline().strip() != "ready":
                raise RuntimeError("cannot make a network namespace: root is needed")
        for number, host in enumerate("ab", 1):
            self.join("r", f"r-{host}", "l" if line and host == "b" else host)
            if line and host == "b":
                self.join("l", "l-b", "b")
            for at, device, last in ((host, "eth0", 2), ("r", f"r-{host}", 1)):
                self.on(at, "ip", "address", "add", f"198.18.{number}.{last}/24", "dev", device)
                self.on(at, "ip", "address", "add", f"fd77:{number}::{last}/64", "dev", device, "nodad")
                self.on(at, "ip", "link", "set", device, "up")
            self.on(host, "ip", "route", "add", "default", "via", f"198.18.{number}.1")
            self.on(host, "ip", "-6", "route", "add", "default", "via", f"fd77:{number}::1")
        self.on("r", "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        if not line:
            for family in (4, 6):
                self.await_("the path", "a", "ping", "-c1", "-W1", UNDERLAY[family]["b"])

    def join(self, one, device, other):
        """A cable from a device of a host to the device eth0 of another."""
        peer = str(self.holders[other].pid)
        self.on(one, "ip", "link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", peer)

    def line(self, *options):
        """Starts the line between r and b, for which all devices must send frames as on a wire."""
        for host, device in (("a", "eth0"), ("r", "r-a"), ("r", "r-b"), ("b", "eth0")):
            self.on(host, sys.executable, LINE, "--plain", device)
        line = self.start("l", sys.executable, LINE, "eth0", "l-b", *options)
        self.await_("the line", "a", "ping", "-c1", "-W1", UNDERLAY[4]["b"], seconds=60)
        # Only now, since a process with a deadline cannot start others; refused to one that may not
        # use all processors.
        if self.first:
            subprocess.run([*DEADLINE, str(line.pid)], capture_output=True, check=False)

    def close(self):
        for child in reversed(self.started):
            child.terminate()
        for child in [*self.started, *self.holders.values()]:
            child.kill()
            child.wait()

    def shape(self, host, device, mbit, latency_ms):
        """A token bucket in the way out of a device, with a FIFO of so long a delay."""
        self.on(host, "tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", f"{mbit}mbit",
                "burst", "16kb", "latency", f"{latency_ms}ms")

    def shape_htb(self, host, device, mbit, latency_ms):
        """The same by a class of a hierarchical token bucket."""
        limit = int(mbit * 1e6 / 8 * latency_ms / 1e3)
        for words in (("qdisc", "replace", "dev", device, "root", "handle", "1:", "htb", "default", "1"),
                      ("class", "replace", "dev", device, "parent", "1:", "classid", "1:1", "htb",
                       "rate", f"{mbit}mbit", "burst", "16kb", "cburst", "16kb"),
                      ("qdisc", "replace", "dev", device, "parent", "1:1", "bfifo", "limit", str(limit))):
            self.on(host, "tc", *words)

    def tunnel(self, program, family, mtu):
        """A WireGuard tunnel between a and b by a userspace program, over IPv4 or IPv6."""
        keys = {host: run("wg", "genkey").strip() for host in "ab"}
        public = {host: run("wg", "pubkey", given=keys[host]).strip() for host in "ab"}
        for host, peer in (("a", "b"), ("b", "a")):
            # Both stay in the foreground, and then do not give up root.
            options = {"wireguard-go": ["-f"], "boringtun-cli": ["-f", "--disable-drop-privileges"]}
            env = {**os.environ, "WG_PROCESS_FOREGROUND": "1", "WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD": "1"}
            self.start(host, program, *options[os.path.basename(program)], "wg0", env=env)
            self.await_(f"{program}'s socket", host, "test", "-S", "/run/wireguard/wg0.sock")
            end = UNDERLAY[family][peer]
            end = f"[{end}]" if family == 6 else end
            self.on(host, "wg", "setconf", "wg0", "/dev/stdin", given=(
                f"[Interface]\nPrivateKey={keys[host]}\nListenPort={PORT}\n"
                f"[Peer]\nPublicKey={public[peer]}\nAllowedIPs={TUNNEL[peer]}/32\nEndpoint={end}:{PORT}\n"))
            self.on(host, "ip", "address", "add", f"{TUNNEL[host]}/24", "dev", "wg0")
            self.on(host, "ip", "link", "set", "wg0", "mtu", str(mtu), "up")
        self.await_("the tunnel", "a", "ping", "-c1", "-W1", TUNNEL["b"])

    def busy(self):
        """Other work on this machine: one process that takes all it can get."""
        return self.start("r", "sh", "-c", f"ulimit -t {LIFETIME_S}; while :; do :; done")


@contextlib.contextmanager
def hosts(first=(), line=None):
    """The hosts, with the options of a line between r and b if there is one."""
    made = Hosts(first)
    try:
        made.open(line is not None)
        if line is not None:
            made.line(*line)
        yield made
    finally:
        made.close()
