"""Reads clocks in the guest, by the C library and by system calls; prints ns of each read."""
import ctypes
import json
import time

CLOCK_GETTIME = 228  # arch/x86/entry/syscalls/syscall_64.tbl
CLOCKS = {"realtime": 0, "monotonic": 1, "boottime": 7}
libc = ctypes.CDLL(None)


class Timespec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def by_system_call(clock):
    at = Timespec()
    libc.syscall(CLOCK_GETTIME, clock, ctypes.byref(at))
    return at.s * 1_000_000_000 + at.ns


def by_library(clock):
    return time.clock_gettime_ns(clock)


# 30 ms of virtual time, so that many timer interrupts fall between two reads.
many = [by_library(1) for _ in range(120_000)]
# Both ways in turn, of each clock.
turns = {name: [read(clock) for _ in range(200) for read in (by_library, by_system_call)]
         for name, clock in CLOCKS.items()}
before = by_library(1)
time.sleep(0.005)
slept = by_library(1) - before
with open("/proc/self/maps") as file:
    page = [line.split()[1] for line in file if line.rstrip().endswith("[vvar]")]
print(json.dumps({"steps": sorted({b - a for a, b in zip(many, many[1:])}), "turns": {
    name: sorted({b - a for a, b in zip(reads, reads[1:])}) for name, reads in turns.items()},
    "slept": slept, "page": page}))
