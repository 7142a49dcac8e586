"""A tailnet of the two hosts of `tunnels`: two tailscaled, and on the router between them the
coordination server, relay and STUN server of `control`. Nothing of it leaves this machine."""
import contextlib, http.client, json, os, re, socket, subprocess, threading, time

from tunnels import UNDERLAY

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "control/go.mod"), encoding="utf-8") as module:
    VERSION = re.search(r"tailscale\.com v(\S+)", module.read())[1]
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")),
                     f"pathtwin/real/tailscale-{VERSION}")
PROGRAMS = ("tailscaled", "tailscale", "pathtwin-control")
SERVER = "198.18.1.1"
PORT = 41641
SOCKET = "/run/tailscale/tailscaled.sock"
WATCH_S = 0.2
# Tailscale's own port only, so that measurements beside the tunnel still pass.
DROPPED = (f"table inet direct {{ chain forward {{ type filter hook forward priority 0; "
           f"udp sport {PORT} drop; udp dport {PORT} drop; }}; }}")
# The file system is that of all hosts, and tailscaled writes this file.
OWN_RESOLV_CONF = ("file=$(readlink -m /etc/resolv.conf); case $file in /run/*) ;; "
                   "*) : >/run/resolv.conf; mount --bind /run/resolv.conf \"$file\" ;; esac; mkdir /run/tailscale")
# A peer is idle 45 s after the last packet (wgengine/magicsock, `sessionActiveTimeout`).
IDLE_S = 45


class Tailnet:
    """`netstack`: a host without a tun device, whose TCP/IP stack is in tailscaled, or None."""

    def __init__(self, hosts, folder, netstack=None):
        self.hosts = hosts
        self.env = {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "TS_NO_LOGS_NO_SUPPORT": "true",
                    "PATH": f"{CACHE}:{os.environ['PATH']}"}
        self.addresses = {}
        hosts.start("r", f"{CACHE}/pathtwin-control", "-ip", SERVER, env=self.env)
        for host in "ab":
            hosts.await_("the coordination server", host, "bash", "-c", f"exec 3<>/dev/tcp/{SERVER}/8080")
            self.join(host, "userspace-networking" if host == netstack else "tailscale0", folder)

    def join(self, host, tun, folder):
        hosts = self.hosts
        hosts.on(host, "sh", "-c", OWN_RESOLV_CONF)
        hosts.start(host, f"{CACHE}/tailscaled", f"--tun={tun}", "--state=mem:", f"--statedir={folder}/{host}",
                    f"--socket={SOCKET}", f"--port={PORT}", "--no-logs-no-support", env=self.env)
        hosts.await_("tailscaled", host, "test", "-S", SOCKET, seconds=30)
        self.on(host, "tailscale", "up", f"--login-server=http://{SERVER}:8080", "--accept-dns=false",
                "--netfilter-mode=off", f"--hostname={host}", "--timeout=60s")
        self.addresses[host] = self.on(host, "tailscale", "ip", "-4").strip()

    def on(self, host, *words, seconds=60):
        """The output of a command in a host, also if it fails after it."""
        done = subprocess.run(self.hosts.enter(host, *words), env=self.env, capture_output=True, text=True,
                              timeout=seconds, check=False)
        if done.returncode and not done.stdout:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()[-300:] or done.returncode}")
        return done.stdout

    def status(self, host):
        """The whole status of a host, and that of its peer."""
        status = json.loads(self.on(host, "tailscale", "status", "--json"))
        [peer] = status["Peer"].values()
        return status, peer

    @contextlib.contextmanager
    def watched(self):
        """All that a host's tailscaled says of the way to its peer meanwhile, each change once."""
        ways, ended = {"a": [], "b": []}, threading.Event()
        def watch():
            while not ended.wait(WATCH_S):
                for host, said in ways.items():
                    way = way_of(self.asked(host))
                    if said[-1:] != [way]:
                        said.append(way)
        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield ways
        finally:
            ended.set()
            thread.join()

    def asked(self, host):
        """The status of a peer as the command gets it, without a process for it."""
        asked = http.client.HTTPConnection("local-tailscaled.sock", timeout=10)
        asked.sock = socket.socket(socket.AF_UNIX)
        asked.sock.connect(f"/proc/{self.hosts.holders[host].pid}/root{SOCKET}")
        with contextlib.closing(asked):
            asked.request("GET", "/localapi/v0/status")
            [peer] = json.load(asked.getresponse())["Peer"].values()
        return peer

    def wake(self, host):
        """How a host reaches its peer, by the answer to a packet that wakes both: an endpoint, or DERP."""
        to = self.addresses["b" if host == "a" else "a"]
        said = self.on(host, "tailscale", "ping", "--c", "1", "--timeout", "5s", "--until-direct=false", to)
        found = re.search(r" via (\S+) in ", said)
        return found and found[1]

    def await_way(self, relayed, seconds=90):
        """Sends packets until both hosts reach each other in this way."""
        end = time.monotonic() + seconds
        wanted = (lambda way: way.startswith("DERP")) if relayed else (lambda way: way.endswith(f":{PORT}"))
        while not all((way := self.wake(host)) and wanted(way) for host in "ab"):
            if time.monotonic() > end:
                raise RuntimeError(f"tailscale: not {'relayed' if relayed else 'direct'} within {seconds} s")
            time.sleep(1)

    def relay(self):
        """Drops what goes from host to host, and waits until packets pass the relay."""
        self.hosts.on("r", "nft", "-f", "-", given=DROPPED)
        self.await_way(relayed=True)

    def await_idle(self):
        """Sends nothing until both hosts say that their peer is idle."""
        for _ in range(3 * IDLE_S):
            if not any(self.status(host)[1]["Active"] for host in "ab"):
                return
            time.sleep(1)
        raise RuntimeError(f"tailscale: not idle within {3 * IDLE_S} s")


def way_of(peer):
    """Idle, an endpoint or DERP by the status of a peer. If an endpoint has not answered for 6.5 s, packets
    are sent to it and by DERP, and it is not named (wgengine/magicsock/endpoint.go, addrForSendLocked)."""
    return (peer["CurAddr"] or f"DERP({peer['Relay']})") if peer["Active"] else "idle"


def endpoint(host):
    """Where packets of its peer go to it directly."""
    return f"{UNDERLAY[4][host]}:{PORT}"
