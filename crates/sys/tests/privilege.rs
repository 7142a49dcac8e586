//! Dropping of root privileges in child processes, without a test harness, which would start
//! threads.

#![allow(clippy::unwrap_used, missing_docs)]

use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::{env, fs, thread};

use rustix::net::sockopt::{set_socket_recv_buffer_size_force, set_tcp_congestion};
use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, configure_capability_in_ambient_set, set_capabilities,
    set_keep_capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};
use sys::privilege::{Identity, Keep, Left, PrivilegeError, give_up, has_net_admin};

/// Actions of a child, by name.
const TESTS: [(&str, fn()); 5] = [
    ("nothing_is_kept", nothing_is_kept),
    ("net_admin_is_kept_and_works", net_admin_is_kept_and_works),
    ("what_was_opened_stays_open", what_was_opened_stays_open),
    ("a_second_thread_is_refused", a_second_thread_is_refused),
    (
        "one_who_is_not_root_stays_who_he_is",
        one_who_is_not_root_stays,
    ),
];

fn main() {
    if let Ok(name) = env::var("PATHTWIN_PRIVILEGE_TEST") {
        let (_, test) = TESTS.iter().find(|(n, _)| *n == name).unwrap();
        return test();
    }
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root");
        return;
    }
    // A container's root may lack some: CAP_SETGID, CAP_SETUID, CAP_NET_ADMIN, CAP_SYS_ADMIN.
    let needed = [6, 7, 12, 21].iter().fold(0, |set, bit| set | 1u64 << bit);
    if capabilities()[2] & needed != needed {
        println!("skipped: this root lacks capabilities");
        return;
    }
    let own = env::current_exe().unwrap();
    for (name, _) in TESTS {
        let status = Command::new(&own)
            .env("PATHTWIN_PRIVILEGE_TEST", name)
            .status();
        assert!(status.unwrap().success(), "{name}");
        println!("test {name} ... ok");
    }
    println!("test result: ok. {} passed; 0 failed", TESTS.len());
}

const IDENTITY: Identity = Identity {
    uid: 4242,
    gid: 4343,
};

/// A line of /proc/self/status.
fn status(key: &str) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix(key)).unwrap();
    line.trim_start_matches(':')
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn capabilities() -> [u64; 4] {
    ["CapInh", "CapPrm", "CapEff", "CapAmb"].map(|k| u64::from_str_radix(&status(k), 16).unwrap())
}

fn assert_other() {
    assert_eq!(status("Uid"), "4242 4242 4242 4242");
    assert_eq!(status("Gid"), "4343 4343 4343 4343");
    assert_eq!(status("Groups"), "");
    assert_eq!(status("NoNewPrivs"), "1");
}

fn nothing_is_kept() {
    assert!(has_net_admin());
    let left = give_up(IDENTITY, Keep::Nothing).unwrap();
    assert_eq!(left, Left { net_admin: false });
    assert_other();
    assert_eq!(capabilities(), [0; 4]);
    assert!(!has_net_admin());
    assert!(fs::read("/etc/shadow").is_err());
    // Not by a program that is root's, either.
    let id = Command::new("sh")
        .args(["-c", "id -u; su root -c true && echo root"])
        .output();
    assert_eq!(String::from_utf8_lossy(&id.unwrap().stdout), "4242\n");
    // A second call has no effect.
    assert_eq!(
        give_up(IDENTITY, Keep::NetAdmin).unwrap(),
        Left { net_admin: false }
    );
}

/// An available congestion control that is not allowed to unprivileged users, if any.
fn restricted() -> Option<String> {
    let read = |name: &str| {
        let path = format!("/proc/sys/net/ipv4/tcp_{name}_congestion_control");
        fs::read_to_string(path).unwrap_or_default()
    };
    let allowed = read("allowed");
    let available = read("available");
    let mut names = available.split_whitespace();
    let restricted = names.find(|n| !allowed.split_whitespace().any(|a| a == *n));
    restricted.map(str::to_owned)
}

fn net_admin_is_kept_and_works() {
    let name = restricted();
    let left = give_up(IDENTITY, Keep::NetAdmin).unwrap();
    assert_eq!(left, Left { net_admin: true });
    assert_other();
    let net_admin = 1 << 12;
    assert_eq!(capabilities(), [0, net_admin, net_admin, 0]);
    assert!(has_net_admin());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    set_socket_recv_buffer_size_force(&stream, 64 << 20).unwrap();
    match name {
        Some(name) => set_tcp_congestion(&stream, &name).unwrap(),
        None => println!("privilege: every congestion control is allowed here"),
    }
    assert!(fs::read("/etc/shadow").is_err());
}

fn what_was_opened_stays_open() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let key = fs::File::open("/etc/shadow");
    give_up(IDENTITY, Keep::Nothing).unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let accepted = listener.accept().unwrap().0;
    assert_eq!(accepted.peer_addr().unwrap(), stream.local_addr().unwrap());
    if let Ok(key) = key {
        assert!(std::io::read_to_string(key).is_ok());
    }
    // Threads started now have no privileges to drop.
    let inside = thread::spawn(|| fs::read_to_string("/proc/thread-self/status").unwrap());
    let inside = inside.join().unwrap();
    assert!(inside.contains("CapPrm:\t0000000000000000"), "{inside}");
    if let Some(name) = restricted() {
        assert!(set_tcp_congestion(&stream, &name).is_err(), "{name}");
    }
}

fn a_second_thread_is_refused() {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let other = thread::spawn(move || wait.recv());
    let refused = give_up(IDENTITY, Keep::Nothing);
    assert!(
        matches!(refused, Err(PrivilegeError::Threads(2))),
        "{refused:?}"
    );
    assert!(rustix::process::geteuid().is_root());
    drop(done);
    let _ = other.join().unwrap();
}

/// Started as by a service manager: not root, with one capability.
fn one_who_is_not_root_stays() {
    let (uid, gid) = (Uid::from_raw(7777), Gid::from_raw(7777));
    set_keep_capabilities(true).unwrap();
    set_thread_groups(&[]).unwrap();
    set_thread_res_gid(gid, gid, gid).unwrap();
    set_thread_res_uid(uid, uid, uid).unwrap();
    let sets = CapabilitySet::NET_ADMIN | CapabilitySet::SYS_ADMIN;
    let sets = CapabilitySets {
        effective: sets,
        permitted: sets,
        inheritable: sets,
    };
    set_capabilities(None, sets).unwrap();
    configure_capability_in_ambient_set(CapabilitySet::NET_ADMIN, true).unwrap();
    let left = give_up(IDENTITY, Keep::NetAdmin).unwrap();
    assert_eq!(left, Left { net_admin: true });
    assert_eq!(status("Uid"), "7777 7777 7777 7777");
    assert_eq!(capabilities(), [0, 1 << 12, 1 << 12, 0]);
}
