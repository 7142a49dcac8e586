#![allow(clippy::unwrap_used)]

use super::*;
use crate::testutil::netns;

const KEY: &str = "net.ipv4.ip_default_ttl";

/// On this thread and on another one, since namespaces belong to threads.
#[test]
fn values_belong_to_the_namespace_of_the_thread() {
    let outside = read(KEY).unwrap();
    let Some(ns) = netns() else { return };
    ns.run(|| write(KEY, "33")).unwrap().unwrap();
    assert_eq!(read(KEY).unwrap(), outside);
    assert_eq!(ns.run(|| read(KEY)).unwrap().unwrap(), "33");
    let other = std::thread::scope(|s| s.spawn(|| ns.run(|| read(KEY)).unwrap().unwrap()).join());
    assert_eq!(other.unwrap(), "33");
    assert_eq!(read(KEY).unwrap(), outside);
}

#[test]
fn errors_name_key_and_value() {
    let error = write("net.ipv4.no_such_thing", "1")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("net.ipv4.no_such_thing") && error.contains("\"1\""),
        "{error}"
    );
    assert!(!exists("net.ipv4.no_such_thing"));
    assert!(read("..").is_err());
    assert!(read("../etc/passwd").is_err());
}
