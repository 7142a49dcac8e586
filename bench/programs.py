"""Two ends of a measurement, by this program and by those it is compared with."""
import contextlib, json, os, signal, subprocess

from figures import percentile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATHTWIN = os.environ.get("PATHTWIN", f"{ROOT}/target/release/pathtwin")
PORT = "25301"


class Process:
    """A program, and in the end the processor time it took, s."""

    def __init__(self, command, ready=None):
        self.command, self.cpu_s = command, None
        said = subprocess.PIPE if ready else subprocess.DEVNULL
        both = subprocess.STDOUT if ready else subprocess.DEVNULL
        self.child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said if ready else subprocess.PIPE, stderr=both)
        while ready:
            line = self.child.stdout.readline().decode()
            if not line:
                raise RuntimeError(f"{command} ended before it was ready")
            if ready in line:
                break

    def end(self, ask=False):
        """Waits for its end, for which it is asked if it would not end by itself; gives what it printed."""
        if ask:
            self.child.send_signal(signal.SIGINT)
        printed = self.child.stdout.read()
        _, status, used = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = used.ru_utime + used.ru_stime
        # measure ends with 4 where the processors, not the path, set the pace, and prints the run.
        measured = self.child.returncode == 4 and printed
        if self.child.returncode and not ask and not measured:
            raise RuntimeError(f"{self.command} failed with {self.child.returncode}")
        return printed


@contextlib.contextmanager
def served(command, ready):
    server = Process(command, ready)
    try:
        yield server
    finally:
        if server.child.returncode is None:
            server.end(ask=True)


def own_server(place, pin, program=PATHTWIN):
    command = [*place.server, *pin, program, "serve", "--open", "--listen", place.address, "--port", PORT]
    return served(command, "on the other host")


def own_client(place, pin, plan, program=PATHTWIN):
    return Process([*place.client, *pin, program, "measure", f"{place.address}:{PORT}", "--open",
                    "--no-store", "--plan", plan, "--output", "json"])


def own_flow(place, seconds, folder, direction, program=PATHTWIN):
    """Payload bytes of a TCP flow, and the processor time of both ends, which are of one build."""
    plan = f"{folder}/tcp.toml"
    with open(plan, "w") as file:
        file.write(f'[[step]]\nkind = "tcp"\ndirection = "{direction}"\nflows = 1\ncc = ["cubic"]\n'
                   f'warmup_s = 0\nduration_s = {seconds}\n')
    with own_server(place, [], program) as server:
        client = own_client(place, [], plan, program)
        run = json.loads(client.end())
    [sample] = run["samples"]
    return sample["tcp"]["bytes"], client.cpu_s + server.cpu_s


def iperf3_flow(place, seconds, _, direction, *options):
    """The same by iperf3, with options of its client."""
    listen = [*place.server, "iperf3", "-s", "-1", "-B", place.address, "-p", PORT, "--forceflush"]
    with served(listen, "Server listening") as server:
        reverse = ["-R"] if direction == "down" else []
        client = Process([*place.client, "iperf3", "-c", place.address, "-p", PORT, "-C", "cubic",
                          "-t", str(seconds), "-J", *options, *reverse])
        result = json.loads(client.end())
        server.end()
    return result["end"]["sum_received"]["bytes"], client.cpu_s + server.cpu_s


def own_probes(place, seconds, folder, interval_ms, pin):
    """Round trips of probes, µs."""
    plan = f"{folder}/idle.toml"
    with open(plan, "w") as file:
        file.write(f'probe_ms = {interval_ms}\n[[step]]\nkind = "idle"\nduration_s = {seconds}\n')
    with own_server(place, pin):
        run = json.loads(own_client(place, pin, plan).end())
    [sample] = run["samples"]
    series = sample["probes"]["series"]
    probes = zip(series["at_us"], series["columns"]["rtt_ns"])
    return [rtt / 1e3 for at, rtt in probes if at >= 0 and rtt is not None]


def irtt_probes(place, seconds, folder, interval_ms, pin):
    """The same by irtt: the round trip less the time at the far end, both by its own clocks."""
    address, file = f"{place.address}:{PORT}", f"{folder}/irtt.json"
    server = [*place.server, *pin, "irtt", "server", "-b", address]
    with served(server, "listener") as _:
        Process([*place.client, *pin, "irtt", "client", "-i", f"{interval_ms}ms", "-d", f"{seconds}s",
                 "-Q", "-o", file, address]).end()
    with open(file) as text:
        trips = json.load(text)["round_trips"]
    return [t["delay"]["rtt"] / 1e3 for t in trips if t["lost"] == "false"]


def jitter(rtts):
    """What a program adds where the path adds nothing: how far the 99th percentile is above the median."""
    middle = percentile(rtts, 0.5)
    return middle, percentile(rtts, 0.99) - middle
