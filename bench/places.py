"""Where two programs meet: over loopback, or over a veth pair between two network namespaces."""
import contextlib, os, subprocess

CLIENT, SERVER = "pathtwin-cost-a", "pathtwin-cost-b"


class Place:
    """What commands of either end begin with, and the server's address."""

    def __init__(self, name, address, client=(), server=()):
        self.name, self.address = name, address
        self.client, self.server = list(client), list(server)


LOOPBACK = Place("loopback", "127.0.0.1")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def remove():
    for name in (CLIENT, SERVER):
        subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)


@contextlib.contextmanager
def veth():
    """Two namespaces, joined by a veth pair; gone when it ends."""
    remove()
    try:
        for name in (CLIENT, SERVER):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", CLIENT, "link", "add", "veth0", "type", "veth", "peer", "name", "veth0", "netns", SERVER)
        for name, address in ((CLIENT, "192.0.2.1/24"), (SERVER, "192.0.2.2/24")):
            ip("-n", name, "address", "add", address, "dev", "veth0")
            ip("-n", name, "link", "set", "veth0", "up")
        yield Place("veth", "192.0.2.2", ["ip", "netns", "exec", CLIENT], ["ip", "netns", "exec", SERVER])
    finally:
        remove()


@contextlib.contextmanager
def every():
    """All places there can be: veth needs root."""
    if os.geteuid() != 0:
        yield [LOOPBACK]
        return
    with veth() as pair:
        yield [LOOPBACK, pair]
