"""Disturbs an array job: kills a worker in its middle, and every task that runs a certain seed.

usage: chaos.py RESULTS CELLS SEED WORKER     (RESULTS: the folder of --out)

It sees the processes of the whole cluster, as it runs in the namespaces of scripts/slurm.
"""
import glob, os, signal, sys, time

results, cells, seed, worker = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]


def environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def name(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_task_of_seed():
    """As a cell does whose guest takes all memory: its whole task ends."""
    wanted = f"PATHTWIN_SEED={seed}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if wanted not in environment(pid):
            continue
        try:
            above = parent(pid)
            while name(above) not in ("pathtwin", ""):
                above = parent(above)
        except OSError:
            continue
        # A guest whose task has just ended has none above it; 0 would be this whole group.
        if above <= 1:
            continue
        kill(above)
        print(f"chaos: killed the task of seed {seed}", flush=True)


def kill_worker():
    """As a host does that loses power: the daemon and everything it started."""
    with open(f"{os.environ['SLURM_LAB']}/{worker}.pid") as file:
        kill(int(file.read()))
    mark = f"SLURMD_NODENAME={worker}".encode()
    killed = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if mark in environment(pid) or f"-N {worker}".encode() in b" ".join(command(pid)):
            kill(int(pid))
            killed += 1
    print(f"chaos: killed {worker} and {killed} processes", flush=True)


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def ended():
    lines = 0
    for path in glob.glob(f"{results}/task-*.jsonl"):
        with open(path, "rb") as file:
            lines += max(0, file.read().count(b"\n") - 1)
    return lines


alive, asked = True, 0.0
while True:
    kill_task_of_seed()
    if alive and time.monotonic() > asked + 1:
        asked = time.monotonic()
        if ended() >= cells * 0.4:
            kill_worker()
            alive = False
    time.sleep(0.02)
