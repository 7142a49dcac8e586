"""Figures of the benchmarks and their tables, kept between marks in a document."""
import glob, math, os, statistics, subprocess, sys, tempfile, time


def say(text):
    print(text, file=sys.stderr, flush=True)


def spread(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g}, n = {len(values)})"


def interval(values, confidence=0.95):
    """Interval of the median by order statistics: no assumption but that the values are independent.
    None where there are too few."""
    ordered, n = sorted(values), len(values)
    for rank in range(n // 2, 0, -1):
        outside = 2 * sum(math.comb(n, k) for k in range(rank)) / 2**n
        if 1 - outside >= confidence:
            return ordered[rank - 1], ordered[n - rank]
    return None


def with_interval(values):
    between = interval(values)
    bounds = "no interval" if between is None else f"{between[0]:.3g} to {between[1]:.3g}"
    return f"{statistics.median(values):.3g} ({bounds}, n = {len(values)})"


def percentile(values, share):
    """Between the two nearest ranks, as numpy's default does it."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def table(head, rows):
    return "".join("| " + " | ".join(row) + " |\n" for row in [head, ("---",) * len(head), *rows])


def write(path, mark, text):
    """Replaces what is between `<!-- mark -->` and the next `<!-- end -->`; the file stays whole."""
    start, end = f"<!-- {mark} -->\n", "<!-- end -->"
    document = open(path).read() if os.path.exists(path) else ""
    if start not in document:
        document += f"{start}{end}\n"
    before, rest = document.split(start, 1)
    after = rest.split(end, 1)[1]
    with open(f"{path}.new", "w") as file:
        file.write(before + start + text + end + after)
    os.replace(f"{path}.new", path)


def guest_memory(command, environment=None):
    """Runs a command with one guest. The largest proportional set size of all processes of that guest, in
    MB, and what the command printed. A guest keeps what it has used, so that is all memory it touched."""
    with tempfile.TemporaryFile("w+") as printed:
        child = subprocess.Popen(command, stdout=printed, env=environment)
        peak = 0
        while child.poll() is None:
            peak = max(peak, sum(pss(folder) for folder in glob.glob("/proc/[0-9]*")))
            time.sleep(0.02)
        if child.returncode:
            raise subprocess.CalledProcessError(child.returncode, command)
        printed.seek(0)
        return peak / 1024, printed.read()


def pss(folder):
    """Proportional set size of a process if it belongs to a guest, in kB."""
    try:
        with open(f"{folder}/comm") as file:
            if file.read().strip() not in ("linux", "uml-userspace", "init", "pathtwin-guest"):
                return 0
        with open(f"{folder}/smaps_rollup") as file:
            return int(file.read().split("\nPss:")[1].split()[0])
    except (OSError, IndexError):
        return 0
