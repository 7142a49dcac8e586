//! The files of a history are readable for their owner only.

#![allow(clippy::expect_used)]

use std::{fs, os::unix::fs::MetadataExt};

use store::{Place, Store};

#[test]
fn a_history_and_its_additional_files_are_private() {
    let folder = tempfile::tempdir().expect("make a folder");
    let place = folder.path().join("new").join("history.db");
    // The write-ahead log and its index exist as long as the store is open.
    let store = Store::open(&Place::File(place.clone())).expect("open it");
    let mut modes = Vec::new();
    for entry in fs::read_dir(place.parent().expect("its folder")).expect("list") {
        let entry = entry.expect("a file");
        let mode = entry.metadata().expect("stat it").mode() & 0o7777;
        modes.push((entry.file_name().into_string().expect("a name"), mode));
    }
    drop(store);
    modes.sort();
    let all = ["history.db", "history.db-shm", "history.db-wal"];
    assert_eq!(modes, all.map(|name| (name.to_owned(), 0o600)));
    let own = fs::metadata(place.parent().expect("its folder")).expect("stat it");
    assert_eq!(own.mode() & 0o7777, 0o700);
}
