//! The power is cut at points of a command that changes the host.
//!
//! A point is a system call that writes: to the kernel's settings, to a journal, to a file of the
//! system. strace stops the process at that call, and the disk is carried on as it is then.

use std::process::Command;

use super::{APPLY, LEFT, PERSIST, UNDO, machine, machine::Machine};

/// Cuts of each command. `PATHTWIN_POWER_CUTS` sets their number.
const CUTS: usize = 3;

/// Runs `$ACT` until its first process makes the call `$CALL` for the `$TIME`th time, and stops all
/// of its processes there. Prints the calls of the first.
const CUT: &str = r#"
calls=write,fsync,rename,renameat,renameat2,unlink,unlinkat,symlink,symlinkat,mkdir,sendto
eval "strace -f -o /tmp/calls -e trace=$calls -e inject=$CALL:signal=SIGSTOP:when=$TIME $ACT" &
is_stopped() {
    grep -qs 'stopped by SIGSTOP' /tmp/calls
}
# Its keeper is traced too, and goes on after it.
until [ -s /tmp/calls ]; do
    sleep 0.01
done
first=$(head -n 1 /tmp/calls | cut -d' ' -f1)
is_over() {
    grep -q "^$first .*+++ exited" /tmp/calls
}
until is_stopped || is_over; do
    sleep 0.01
done
for process in /proc/[0-9]*; do
    [ "$(cat $process/comm 2>/dev/null)" != pathtwin ] || kill -STOP ${process#/proc/}
done
is_stopped && echo cut || echo complete
sed -n "s/^$first *\([a-z0-9]*\)(.*/call \1/p" /tmp/calls
"#;

/// The next start of any command, which completes or undoes what it finds.
const NEXT: &str = "\"$PATHTWIN\" tune status >/dev/null 2>&1 || true";

/// Boots, runs `before`, and `act` until a call is made for the `time`th time; returns what it
/// printed.
fn run(machine: &mut Machine, before: &str, act: &str, call: &str, time: usize) -> String {
    let act = act.trim().replace('\'', "'\\''");
    let set = format!("CALL={call}\nTIME={time}\nACT='{act}'");
    machine.boot(&format!("{before}\n{set}\n{CUT}"))
}

/// The settings and the files after a boot, without the id of the change in their names.
fn left(machine: &mut Machine, before: &str) -> String {
    let left = machine.boot(&format!("{before}\n{LEFT}"));
    let lines = left.lines().map(|line| match line.split_once("pathtwin-") {
        Some((start, rest)) => format!("{start}pathtwin-ID{}\n", rest.get(8..).unwrap_or("")),
        None => format!("{line}\n"),
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines.concat()
}

/// The calls of a command that is not cut.
fn calls(before: &str, act: &str) -> Vec<String> {
    let (_folder, mut machine) = machine().expect("as above");
    let out = run(&mut machine, before, act, "write", 60_000);
    let calls = out.lines().filter_map(|line| line.strip_prefix("call "));
    calls.map(str::to_owned).collect()
}

#[test]
fn a_power_cut_at_any_point_ends_in_the_old_state_or_in_the_new_one() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: needs strace; run: scripts/setup test");
        return;
    }
    let Some((_folder, mut reference)) = machine() else {
        return;
    };
    let old = left(&mut reference, "");
    reference.boot(&format!("{APPLY}{PERSIST}"));
    let new = left(&mut reference, "");
    assert_ne!(old, new);

    let count = std::env::var("PATHTWIN_POWER_CUTS").ok();
    let count = count.and_then(|c| c.parse().ok()).unwrap_or(CUTS);
    let prepared = format!("{APPLY}{PERSIST}");
    let mut failed = Vec::new();
    for (before, act) in [("", APPLY), (APPLY, PERSIST), (&prepared, UNDO)] {
        let calls = calls(before, act);
        for number in 0..count {
            let at = (number * 2 + 1) * calls.len() / (2 * count);
            let time = calls[..=at].iter().filter(|c| **c == calls[at]).count();
            let (_folder, mut machine) = machine().expect("as above");
            let out = run(&mut machine, before, act, &calls[at], time);
            let first = left(&mut machine, NEXT);
            let next = left(&mut machine, "");
            let end = match (first == old, first == new, first == next) {
                (true, _, true) => "old",
                (_, true, true) => "new",
                _ => {
                    failed.push(format!("{act}{at}:\n{first}after another boot:\n{next}"));
                    "neither"
                }
            };
            let how = out.lines().find(|line| ["cut", "complete"].contains(line));
            println!(
                "{end}: {how:?} at {at} of {}, {} {time}: {act}",
                calls.len(),
                calls[at]
            );
            assert_eq!(how, Some("cut"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
