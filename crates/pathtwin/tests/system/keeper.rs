//! The keeper of a change as a service of the real systemd.

use crate::machine::{Devices, System};

/// Waits until a command prints what is expected.
const FUNCTIONS: &str = r#"
ecn() { cat /proc/sys/net/ipv4/tcp_ecn; }
units() { systemctl list-units --all --no-legend --plain 'pathtwin-keeper-*' | cut -d ' ' -f 1; }
until_is() { for n in $(seq 300); do [ "$($1)" = "$2" ] && return; sleep 0.1; done; echo "late: $1"; }
apply="pathtwin tune apply --set net.ipv4.tcp_ecn=1"
set="$apply --window 4s"
old=$(ecn)
"#;

/// The session is a control group, all of which is killed, as at a logout with
/// `KillUserProcesses=yes`; the controller in it still observes the connections.
const SESSION: &str = r#"
systemd-run --quiet --collect --scope --unit=session sh -c "$set --observe 2s" >/var/said 2>&1 &
until_is ecn 1
for pid in $(cat /sys/fs/cgroup/system.slice/session.scope/cgroup.procs); do
    tr '\0' ' ' <"/proc/$pid/cmdline"; echo
done
unit=$(units)
echo "unit $unit"
cat "/proc/$(systemctl show --property=MainPID --value "$unit")/cgroup"
systemctl kill --signal=KILL session.scope
wait
echo "after the kill $(ecn)"
until_is ecn "$old"
until_is units ""
pathtwin tune status
cat /var/said
systemctl list-units --failed --no-legend --plain
"#;

#[test]
fn a_keeper_is_a_service_that_undoes_a_change_whose_session_was_killed() {
    let Some(system) = System::new(Devices::Udev) else {
        return;
    };
    let said = system.boot(&format!("{FUNCTIONS}{SESSION}"));
    for part in [
        "pathtwin tune apply --set",
        "unit pathtwin-keeper-",
        "0::/system.slice/pathtwin-keeper-",
        "after the kill 1\n",
        "not confirmed before its deadline",
    ] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    let no = ["tune keep", "late: ", "note: the keeper", "failed"];
    assert!(!no.iter().any(|no| said.contains(no)), "{said}");
}

const KILLED: &str = r#"
$set 2>&1
systemctl kill --signal=KILL "$(units)"
until_is ecn "$old"
until_is units ""
$apply 2>&1
pathtwin tune confirm 2>&1
until_is units ""
echo "kept $(ecn)"
"#;

/// No command is needed for it: the service starts again.
#[test]
fn a_keeper_that_is_killed_after_its_controller_still_undoes_at_the_deadline() {
    let Some(system) = System::new(Devices::Container) else {
        return;
    };
    let said = system.boot(&format!("{FUNCTIONS}{KILLED}"));
    assert!(said.contains("is confirmed"), "{said}");
    assert!(said.ends_with("kept 1\n"), "{said}");
    assert!(!said.contains("late: "), "{said}");
}

const FALLBACK: &str = r#"
mkdir /tmp/bin
printf '#!/bin/sh\necho no bus >&2; exit 1\n' >/tmp/bin/systemd-run
chmod 700 /tmp/bin/systemd-run
PATH=/tmp/bin:$PATH $set 2>&1
echo "units '$(units)' set $(ecn)"
until_is ecn "$old"
"#;

#[test]
fn where_no_service_can_be_started_the_keeper_is_a_process_and_that_is_said() {
    let Some(system) = System::new(Devices::Container) else {
        return;
    };
    let said = system.boot(&format!("{FUNCTIONS}{FALLBACK}"));
    assert!(said.contains("note: the keeper is no service"), "{said}");
    assert!(said.contains("no bus"), "{said}");
    assert!(said.contains("units '' set 1\n"), "{said}");
    assert!(!said.contains("late: "), "{said}");
}
