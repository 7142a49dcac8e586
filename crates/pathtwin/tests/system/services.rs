//! The services of the packages, run by systemd as they are shipped, confinement included.

use std::{fs, path::Path};

use model::text;
use watch::undo::{REQUEST, REQUEST_SCHEMA, Request};

use crate::{
    APPLY, CONFIRM, SETTINGS,
    machine::{Devices, System},
};

const SHIPPED: [&str; 4] = [
    "pathtwin-serve.service",
    "pathtwin-watch.service",
    "pathtwin-undo.service",
    "pathtwin-undo.timer",
];

/// Only this differs: the place of the program, and shorter times.
fn install(system: &System) {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd");
    let read = |name: &str| fs::read_to_string(shipped.join(name)).expect("a shipped unit");
    for unit in SHIPPED {
        let text = read(unit).replace("/usr/bin/pathtwin", "/opt/pathtwin");
        system.file(&format!("etc/systemd/system/{unit}"), &text);
    }
    system.file("etc/sysusers.d/pathtwin.conf", &read("pathtwin.sysusers"));
    system.file(
        "etc/systemd/system/pathtwin-watch.service.d/times.conf",
        "[Service]\nWatchdogSec=10\nRestartSec=100ms\n",
    );
    system.file(
        "etc/pathtwin/watch.toml",
        "[[path]]\nname = \"loop\"\nhost = \"127.0.0.1\"\n\
         key = \"/etc/pathtwin/keys/loop\"\nprobe = \"10s\"\nload_bytes = \"40MB\"\nmetered = \"no\"\nrate = \"10gbit\"\n",
    );
}

const START: &str = "
timeout -s INT 1 pathtwin serve --key /etc/pathtwin/key >/dev/null 2>&1
install -d -o pathtwin -m 700 /etc/pathtwin/keys
install -o pathtwin -m 600 /etc/pathtwin/key /etc/pathtwin/keys/loop
systemctl start pathtwin-serve pathtwin-watch || journalctl -b -u 'pathtwin-*' --no-pager
get() { systemctl show --value -p \"$1\" pathtwin-watch; }
# Waits until a command succeeds.
until_is() {
    for attempt in $(seq 400); do
        ! \"$@\" 2>/dev/null || return 0
        sleep 0.1
    done
    echo \"never: $*\"
}
# The first group of probes is charged by the hour, and answered.
probed() {
    grep '\"ledger\":{\"' /run/pathtwin-watch/watch.json | grep -q '\"failures\":0'
}
# When the copy on disk was written.
on_disk() { stat -c %y /var/lib/pathtwin/watch/watch.json; }
restarted() { [ \"$(get NRestarts)\" = \"$1\" ] && [ \"$(get ActiveState)\" = active ]; }
until_is probed
";

#[test]
fn the_watch_is_confined_and_returns_when_it_is_killed_or_hangs() {
    let Some(system) = System::new(Devices::Udev) else {
        return;
    };
    install(&system);
    let said = system.boot(&format!(
        "{START}
systemctl is-active pathtwin-serve pathtwin-watch
stat -c '%U %a' /var/lib/pathtwin/watch/watch.json
first=$(on_disk)
grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/$(get MainPID)/status | tr -s '\\t' ' '
[ \"$(stat -c %u /proc/$(get MainPID))\" = \"$(id -u pathtwin)\" ] && echo own user
# Of the service's own mounts, only its state can be written.
nsenter -t $(get MainPID) -m sh -c 'touch /etc/x /opt/x /var/lib/pathtwin/x' 2>&1 |
    grep -c 'Read-only file system'
kill -9 $(get MainPID)
until_is restarted 1
kill -STOP $(get MainPID)
until_is restarted 2
journalctl -b -u pathtwin-watch --no-pager -o cat | grep -o 'Watchdog timeout' | sort -u
[ \"$(on_disk)\" = \"$first\" ] && echo written once
systemctl stop pathtwin-watch pathtwin-serve
[ \"$(on_disk)\" = \"$first\" ] || echo and at the end
[ -e /run/pathtwin-watch ] || echo nothing in memory
systemctl show --value -p Result pathtwin-watch pathtwin-serve | grep .
"
    ));
    assert!(!said.contains("never"), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    let expected = [
        "active",
        "active",
        "pathtwin 600",
        "CapEff: 0000000000000000",
        "CapBnd: 0000000000000000",
        "NoNewPrivs: 1",
        "Seccomp: 2",
        "own user",
        "3",
        "Watchdog timeout",
        "written once",
        "and at the end",
        "nothing in memory",
        "success",
        "success",
    ];
    assert_eq!(lines, expected, "{said}");
}

/// All kinds of settings that this kernel has, in files of all kinds, under the service's limits.
#[test]
fn the_confined_service_undoes_a_persisted_change_that_the_watch_asked_to_undo() {
    let Some(system) = System::new(Devices::Udev) else {
        return;
    };
    install(&system);
    let before = system.boot(SETTINGS);
    let request = Request {
        schema: REQUEST_SCHEMA,
        change: "0123456789abcdef0123456789abcdef".parse().expect("an id"),
        asked_us: 1,
        reason: text!("unknown"),
        figures: Vec::new(),
    };
    let request = serde_json::to_string(&request).expect("JSON");
    let said = system.boot(&format!(
        "{APPLY}{CONFIRM}
id=$(basename /var/lib/pathtwin/tune/*.json .json)
printf 'undo_when_useless = [\"%s\"]\\n' $id >>/etc/pathtwin/watch.toml
install -d -o pathtwin -m 700 /var/lib/pathtwin/watch
request=/var/lib/pathtwin/watch/{REQUEST}
echo '{request}' | sed \"s/0123456789abcdef0123456789abcdef/$id/\" >$request
chown pathtwin $request
chmod 600 $request
{SETTINGS}
echo UNDO
systemctl start pathtwin-undo.service || journalctl -b -u pathtwin-undo --no-pager -o cat
{SETTINGS}
echo LIST
pathtwin tune list"
    ));
    let (with, rest) = said.split_once("UNDO\n").expect("what was set");
    assert_ne!(with, before);
    let (after, list) = rest.split_once("LIST\n").expect("what is left");
    assert_eq!(after, before, "{said}");
    assert!(list.contains("undone"), "{list}");
    assert_eq!(system.boot(SETTINGS), before, "after a boot");
}
