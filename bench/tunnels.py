"""Two hosts and a router between them as network namespaces, with shapers and a userspace tunnel.

    a 198.18.1.2, fd77:1::2 --veth-- r --veth-- b 198.18.2.2, fd77:2::2

Each host has its own /run, where WireGuard's processes keep their sockets. Nothing has a route out of
this machine. The hosts are processes that sleep: when they end, the kernel removes all that was made.
They, and all that runs in them, end with the program that made them, also if that is killed.
"""
import contextlib, os, subprocess, time

LIFETIME_S = 1800
UNDERLAY = {4: {"a": "198.18.1.2", "b": "198.18.2.2"}, 6: {"a": "fd77:1::2", "b": "fd77:2::2"}}
TUNNEL = {"a": "198.19.0.1", "b": "198.19.0.2"}
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
    """The hosts a, r and b, and the processes in them."""

    def __init__(self):
        self.holders, self.started = {}, []

    def enter(self, host, *words):
        """The command line that runs a command in a host."""
        return ["nsenter", "-t", str(self.holders[host].pid), "-n", "-m", "--", *words]

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

    def open(self):
        for host in "rab":
            holder = subprocess.Popen([*BOUND, "unshare", "-n", "-m", "sh", "-c", HOST], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, text=True)
            self.holders[host] = holder
            if holder.stdout.readline().strip() != "ready":
                raise RuntimeError("cannot make a network namespace: root is needed")
        for number, host in enumerate("ab", 1):
            pid = str(self.holders[host].pid)
            self.on("r", "ip", "link", "add", f"r-{host}", "type", "veth", "peer", "name", "eth0", "netns", pid)
            for at, device, last in ((host, "eth0", 2), ("r", f"r-{host}", 1)):
                self.on(at, "ip", "address", "add", f"198.18.{number}.{last}/24", "dev", device)
                self.on(at, "ip", "address", "add", f"fd77:{number}::{last}/64", "dev", device, "nodad")
                self.on(at, "ip", "link", "set", device, "up")
            self.on(host, "ip", "route", "add", "default", "via", f"198.18.{number}.1")
            self.on(host, "ip", "-6", "route", "add", "default", "via", f"fd77:{number}::1")
        self.on("r", "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        self.await_("the path", "a", "ping", "-c1", "-W1", UNDERLAY[4]["b"])
        self.await_("the path", "a", "ping", "-c1", "-W1", UNDERLAY[6]["b"])

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
def hosts():
    made = Hosts()
    try:
        made.open()
        yield made
    finally:
        made.close()
