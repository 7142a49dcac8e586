//! Kills during a write, full disks and other versions: no document that was reported as saved is
//! lost.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use common::*;
use model::history::{Kind, Named, SeriesName};
use store::{Filter, Place, Retention, Store, StoreError};

const CHILD: &str = "PATHTWIN_STORE_TEST";

/// This test program again, to run only `child`.
fn child(child: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        child,
        "--nocapture",
        "--ignored",
        "--test-threads=1",
    ]);
    command.env(CHILD, folder);
    command
}

fn folder_of_child() -> Option<Place> {
    std::env::var_os(CHILD).map(|folder| file(Path::new(&folder)))
}

#[test]
#[ignore = "a part of the tests that kill it"]
fn writes_until_killed() {
    let Some(place) = folder_of_child() else {
        return;
    };
    let mut store = Store::open(&place).unwrap();
    let from = store.list(&Filter::default()).unwrap().len() as u64;
    println!("ready");
    let mut number = from;
    loop {
        // Some fit in a page, some take many.
        let document = noise(number, 50 << (number % 12));
        store.save(&document).unwrap();
        println!("saved {number}");
        number += 1;
    }
}

/// Kills a writer at different times, and checks each time that everything is stored.
fn kill(times: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = stats::Random::new(times);
    let mut saved = 0;
    let mut busy = 0;
    for round in 0..times {
        let mut child = child("writes_until_killed", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.find(|line| line.as_ref().is_ok_and(|line| line.ends_with("ready")));
        assert!(ready.is_some(), "round {round}: the history did not open");
        let before = saved;
        // After some documents, however long this machine takes for them, and then at any moment of
        // the next ones.
        let some: Vec<_> = lines.by_ref().take(random.below(8)).collect();
        std::thread::sleep(Duration::from_micros(random.below(3000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        for line in some.into_iter().chain(lines) {
            if let Some(number) = line.unwrap().strip_prefix("saved ") {
                saved = number.parse::<u64>().unwrap() + 1;
            }
        }
        busy += u64::from(saved > before);
        let mut store = Store::open(&file(folder.path())).unwrap();
        let there = store.list(&Filter::default()).unwrap().len() as u64;
        // One more may exist: saved, but not reported before the kill.
        assert!(
            there == saved || there == saved + 1,
            "round {round}: {there} of {saved}"
        );
        saved = there;
        check_last(&mut store, there);
    }
    assert!(
        busy > times / 2,
        "only {busy} of {times} were killed while writing"
    );
    let connection = rusqlite::Connection::open(folder.path().join("history.db")).unwrap();
    let sound: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
}

/// The last documents are the ones that were written.
fn check_last(store: &mut Store, there: u64) {
    for number in there.saturating_sub(5)..there {
        let expected = noise(number, 50 << (number % 12));
        assert_eq!(
            store.body(Kind::Advice, &expected.id).unwrap(),
            expected.body
        );
    }
}

#[test]
fn saved_documents_survive_a_kill() {
    kill(12);
}

#[test]
#[ignore = "takes a minute; the short form runs always"]
fn saved_documents_survive_two_hundred_kills() {
    kill(200);
}

#[test]
#[ignore = "a part of the test with a small disk"]
fn writes_until_full() {
    let Some(place) = folder_of_child() else {
        return;
    };
    let mut store = Store::open(&place).unwrap();
    // Frees space later; deleting documents needs some itself.
    let filler = place.file().unwrap().with_file_name("filler");
    fs::write(&filler, vec![1; 1_000_000]).unwrap();
    let mut saved = 0;
    let error = loop {
        match store.save(&noise(saved, 100_000)) {
            Ok(_) => saved += 1,
            Err(error) => break error,
        }
    };
    assert!(saved > 5, "{saved}: {error}");
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.starts_with("no room left to save a document in the history"),
        "{message}"
    );
    // Also for a store opened now, while the disk is full.
    for mut store in [store, Store::open(&place).unwrap()] {
        assert_eq!(store.list(&Filter::default()).unwrap().len() as u64, saved);
        check_full(&mut store, saved);
    }
    fs::remove_file(filler).unwrap();
    let mut store = Store::open(&place).unwrap();
    store.save(&noise(saved, 100_000)).unwrap();
    let half = Retention {
        most_bytes: Some(400_000),
        ..Retention::default()
    };
    store.prune(&half, false).unwrap();
    // The file has shrunk.
    let size = fs::metadata(place.file().unwrap()).unwrap().len();
    assert!(size < 500_000, "{size}");
    println!("went well");
}

fn check_full(store: &mut Store, saved: u64) {
    for number in 0..saved {
        let expected = noise(number, 100_000);
        assert_eq!(
            store.body(Kind::Advice, &expected.id).unwrap(),
            expected.body
        );
    }
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    let namespaces = ["--user", "--map-root-user", "--mount"];
    let tried = Command::new("unshare")
        .args(namespaces)
        .arg("true")
        .status();
    if !tried.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no user namespaces here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let command = child("writes_until_full", folder.path());
    // A small disk that only this process sees.
    let output = Command::new("unshare")
        .args(namespaces)
        .args(["sh", "-c"])
        .arg("mount -t tmpfs -o size=4m none \"$0\" && exec \"$@\"")
        .arg(folder.path())
        .arg(command.get_program())
        .args(command.get_args())
        .env(CHILD, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("went well"),
        "{output:?}"
    );
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let place = file(folder.path());
    Store::open(&place)
        .unwrap()
        .save(&run(1, 94e6, "6.1"))
        .unwrap();
    let path = place.file().unwrap();
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch("UPDATE pathtwin_schema SET version = 99; DROP TABLE figure;")
        .unwrap();
    drop(connection);
    let before = fs::read(path).unwrap();
    let error = Store::open(&place).err().unwrap();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("update pathtwin"), "{error}");
    assert_eq!(fs::read(path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_not_a_history_is_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let place = file(folder.path());
    fs::write(place.file().unwrap(), "notes of mine\n".repeat(100)).unwrap();
    let error = Store::open(&place).err().unwrap().to_string();
    assert!(error.contains("it is not a file of SQLite"), "{error}");
    assert_eq!(fs::read(place.file().unwrap()).unwrap().len(), 1400);
    let below = Place::File(place.file().unwrap().join("x/history.db"));
    let error = Store::open(&below).err().unwrap().to_string();
    assert!(error.contains("cannot make the folder"), "{error}");
}

/// Files of every version stay readable: each was written by the program that introduced it.
#[test]
fn files_of_all_versions_stay_readable() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for version in 1..=store::SCHEMA {
        let folder = tempfile::tempdir().unwrap();
        let place = file(folder.path());
        fs::copy(
            data.join(format!("history-{version}.db")),
            place.file().unwrap(),
        )
        .unwrap();
        let mut store = Store::open(&place).unwrap();
        let runs = store
            .list(&Filter {
                kind: Some(Kind::Run),
                ..Filter::default()
            })
            .unwrap();
        assert_eq!(runs.len(), 3);
        for entry in runs {
            let body = store.body(entry.kind, &entry.id).unwrap();
            model::run::Run::parse(&body).unwrap();
        }
        let names = store.series_names(None).unwrap();
        let points = store.series(&names[0], &Filter::default()).unwrap();
        assert_eq!(points.len(), 3);
        store.save(&run(100, 94e6, "6.1")).unwrap();
    }
}

/// Version 1 named a load in both directions `opposed`: its points are in the same series as those
/// of later runs.
#[test]
fn a_series_of_version_1_has_the_name_of_later_runs() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let folder = tempfile::tempdir().unwrap();
    let place = file(folder.path());
    fs::copy(data.join("history-1.db"), place.file().unwrap()).unwrap();
    let old = "UPDATE series SET step = 'underlay/v4 tcp down opposed x1 cubic' WHERE id =
        (SELECT MIN(id) FROM series)";
    rusqlite::Connection::open(place.file().unwrap())
        .unwrap()
        .execute_batch(old)
        .unwrap();
    let mut store = Store::open(&place).unwrap();
    let names = store.series_names(None).unwrap();
    let renamed = "underlay/v4 tcp down bidirectional x1 cubic";
    let series = names
        .iter()
        .find(|name| name.step == renamed.into())
        .unwrap();
    assert_eq!(store.series(series, &Filter::default()).unwrap().len(), 3);
    assert!(
        !names
            .iter()
            .any(|name| name.step.to_string().contains("opposed"))
    );
}

/// A newer version measures figures unknown to this one: their series are listed, read and moved
/// with their document under the names that it gave them.
#[test]
fn series_of_a_newer_version_keep_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let place = file(folder.path());
    let mut store = Store::open(&place).unwrap();
    store.save(&run(1, 94e6, "6.1")).unwrap();
    drop(store);
    let newer = "UPDATE series SET step = 'underlay/v7 teleport down', figure = 'luck'
        WHERE figure = 'rtt_p50_us'";
    rusqlite::Connection::open(place.file().unwrap())
        .unwrap()
        .execute_batch(newer)
        .unwrap();
    let mut store = Store::open(&place).unwrap();
    let unknown = |path: &str| SeriesName {
        path: path.to_owned(),
        step: Named::Unknown("underlay/v7 teleport down".to_owned()),
        figure: Named::Unknown("luck".to_owned()),
    };
    let names = store.series_names(None).unwrap();
    assert!(names.contains(&unknown("192.0.2.2")), "{names:?}");
    store.label(Kind::Run, "0", "path", Some("office")).unwrap();
    let points = store.series(&unknown("office"), &Filter::default());
    assert_eq!(points.unwrap().len(), 1);
    let latest = store.latest().unwrap();
    let figures: Vec<String> = latest[0]
        .figures
        .iter()
        .map(|(step, figure, _)| format!("{step} {figure}"))
        .collect();
    let expected = [
        "underlay/v4 tcp down x1 goodput_bps",
        "underlay/v7 teleport down luck",
    ];
    assert_eq!(figures, expected);
    let shown = serde_json::to_string(&unknown("office")).unwrap();
    let text = r#"{"path":"office","step":"underlay/v7 teleport down","figure":"luck"}"#;
    assert_eq!(shown, text);
}

#[test]
#[ignore = "writes the file of this version, once, when the version is new"]
fn write_the_file_of_this_version() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    fs::create_dir_all(&data).unwrap();
    let path = data.join(format!("history-{}.db", store::SCHEMA));
    assert!(!path.exists(), "it is there: {}", path.display());
    let mut store = Store::open(&Place::File(path)).unwrap();
    for number in 1..=3 {
        store.save(&run(number, 94e6, "6.1")).unwrap();
    }
    store.save(&noise(4, 100)).unwrap();
}
