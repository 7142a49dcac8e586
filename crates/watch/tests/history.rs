//! A history that fails for a while: no run is lost.

#![allow(clippy::expect_used)]

mod postgres;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use model::{
    history::{HOST, Kind},
    text::Text,
};
use postgres::Server;
use store::{Document, Filter, Place, Store};
use watch::history::{History, Kept};

/// Longer than an answer takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);
/// Time after which a server counts as one that hangs.
const SHORT: Duration = Duration::from_secs(5);

/// A small Run, by its id.
fn run(id: &str) -> Document {
    let end = r#"{"program": "0", "facts": {"schema": 1}}"#;
    let body = format!(
        r#"{{"schema": 1, "id": "{id}", "program": "0", "started_us": 1795392000000000,
         "took_s": 1.0, "plan": {{"step": []}}, "near": {end}, "far": {end},
         "layers": [], "samples": [], "figures": [], "ratios": []}}"#
    );
    let mut document = Document::of_run(body.into_bytes(), "a test").expect("a run");
    document.label("path", "office");
    document
}

fn ids(place: &Place) -> Vec<String> {
    let mut store = Store::open(place).expect("open the history");
    let filter = Filter {
        kind: Some(Kind::Run),
        path: Some("office".to_owned()),
        ..Filter::default()
    };
    let listed = store.list(&filter).expect("list it");
    let mut ids: Vec<String> = listed.into_iter().map(|entry| entry.id).collect();
    ids.sort();
    ids
}

fn files(state: &Path) -> usize {
    fs::read_dir(state.join("unsaved")).map_or(0, Iterator::count)
}

/// A log, and what was kept with it.
struct Watch {
    history: History,
    said: Vec<String>,
}

impl Watch {
    fn of(place: &Place, state: &Path) -> Self {
        let history = History::new(place.clone(), state).within(LONG);
        Self {
            history,
            said: Vec::new(),
        }
    }

    fn keep(&mut self, id: &str) -> Kept {
        let mut log = |line: &Text| self.said.push(line.to_string());
        self.history.keep(run(id), &mut log).0
    }

    fn retry(&mut self) {
        let mut log = |line: &Text| self.said.push(line.to_string());
        self.history.retry(&mut log);
    }

    fn end(&mut self) {
        let mut log = |line: &Text| self.said.push(line.to_string());
        self.history.end(&mut log);
    }

    fn lost(&self) -> Vec<&String> {
        let lines = self.said.iter();
        lines.filter(|line| line.contains("is lost")).collect()
    }
}

/// The rows of runs that were kept are there without another run: the watch tries hourly.
#[test]
fn a_run_of_the_time_without_a_server_is_saved_when_it_is_back() {
    let mut server = Server::start();
    let place = server.place();
    let state = tempfile::tempdir().expect("a folder");
    let mut watch = Watch::of(&place, state.path());
    assert_eq!(watch.keep("a"), Kept::History);
    server.stop();
    assert_eq!(watch.keep("b"), Kept::File);
    assert_eq!(watch.keep("c"), Kept::File);
    assert_eq!(files(state.path()), 4);
    assert_eq!(watch.said.len(), 1, "said once: {:?}", watch.said);
    watch.retry();
    assert_eq!(files(state.path()), 4);
    server.run();
    watch.retry();
    assert_eq!(files(state.path()), 0);
    assert_eq!(ids(&place), ["a", "b", "c"]);
    let said = watch.said.last().expect("a line");
    assert_eq!(said, "runs of before are in the history now: 2");
}

/// A history that several hosts share has the changes of all of them.
#[test]
fn a_change_that_another_host_made_is_not_one_of_this_hosts_paths() {
    let folder = tempfile::tempdir().expect("make a folder");
    let place = Place::File(folder.path().join("h.db"));
    let first = run("0000000000000001");
    let change = |id: &str, host: Option<String>| {
        let at_us = first.created_us - 1_000_000;
        let mut document = Document::new(Kind::Change, id, at_us, "office", b"{}".to_vec());
        if let Some(host) = host {
            document.label(HOST, &host);
        }
        document
    };
    let mut store = Store::open(&place).expect("open the history");
    for document in [
        change("own", Some(sys::machine::host_name())),
        change("another", Some("another-host".to_owned())),
        change("older", None),
    ] {
        store.save(&document).expect("save a change");
    }
    drop(store);
    let mut watch = Watch::of(&place, folder.path());
    let (_, changes) = watch.history.keep(first, &mut |_| {});
    let mut ids: Vec<String> = changes.into_iter().map(|(_, id)| id).collect();
    ids.sort();
    assert_eq!(ids, ["older", "own"]);
}

#[test]
fn on_flash_runs_wait_in_memory_until_a_day_is_over_or_another_program_was_there() {
    let state = tempfile::tempdir().expect("a folder");
    let memory = tempfile::tempdir().expect("a folder");
    let place = Place::File(state.path().join("history.db"));
    let mut watch = Watch::of(&place, state.path());
    // One of the time before `flash`.
    fs::create_dir(state.path().join("history.db")).expect("no history");
    assert_eq!(watch.keep("a"), Kept::File);
    fs::remove_dir(state.path().join("history.db")).expect("a history");
    watch.history = watch.history.once_a_day(memory.path());
    assert_eq!(watch.keep("b"), Kept::File);
    assert_eq!((files(state.path()), files(memory.path())), (2, 2));
    watch.retry();
    assert_eq!((files(state.path()), files(memory.path())), (0, 0));
    let written = place.written();
    assert_eq!(watch.keep("c"), Kept::File);
    assert_eq!(watch.keep("d"), Kept::File);
    assert_eq!(place.written(), written);
    // Changes of `tune` are wanted at once.
    let mut store = Store::open(&place).expect("open the history");
    store.save(&run("other")).expect("save it");
    drop(store);
    assert_eq!(watch.keep("e"), Kept::History);
    assert_eq!(watch.keep("f"), Kept::File);
    assert_eq!(ids(&place), ["a", "b", "c", "d", "e", "other"]);
}

/// What is in memory is gone when the service has ended.
#[test]
fn on_flash_runs_are_on_disk_when_the_watch_ends_without_a_history() {
    let state = tempfile::tempdir().expect("a folder");
    let memory = tempfile::tempdir().expect("a folder");
    let file = state.path().join("history.db");
    let place = Place::File(file.clone());
    let mut watch = Watch::of(&place, state.path());
    watch.history = watch.history.once_a_day(memory.path());
    assert_eq!(watch.keep("a"), Kept::File);
    assert_eq!(files(state.path()), 0);
    fs::create_dir(&file).expect("no history");
    watch.end();
    assert_eq!(files(state.path()), 2);
    fs::remove_dir(&file).expect("a history");
    let mut again = Watch::of(&place, state.path());
    again.retry();
    assert_eq!(ids(&place), ["a"]);
}

/// A run that the history refuses each time kept all others out of it.
#[test]
fn a_run_that_is_refused_for_itself_holds_up_no_other() {
    let state = tempfile::tempdir().expect("a folder");
    let blocked = state.path().join("history.db");
    fs::create_dir(&blocked).expect("no history");
    let place = Place::File(blocked.clone());
    let mut watch = Watch::of(&place, state.path());
    for id in ["a", "b", "c"] {
        assert_eq!(watch.keep(id), Kept::File);
    }
    fs::remove_dir(&blocked).expect("a history");
    // Another run has the id of the second.
    let mut other = run("b");
    other.body.splice(..1, *b"{\"other\": 1,");
    let mut store = Store::open(&place).expect("open the history");
    store.save(&other).expect("save it");
    watch.said.clear();
    watch.retry();
    assert_eq!(ids(&place), ["a", "b", "c"]);
    assert_eq!(files(state.path()), 2);
    assert!(state.path().join("unsaved/b.json").exists());
    watch.retry();
    assert_eq!(watch.keep("d"), Kept::History);
    let refused = |line: &&String| line.contains("another document with this id");
    let count = watch.said.iter().filter(refused).count();
    assert_eq!(count, 1, "said once: {:?}", watch.said);
    assert_eq!(watch.said.len(), 2, "{:?}", watch.said);
}

/// The loop waited for good, until its watchdog ended it.
#[test]
fn a_server_that_hangs_holds_nothing_up_for_longer_than_the_limit() {
    let server = Server::start();
    let place = server.place();
    let state = tempfile::tempdir().expect("a folder");
    let mut watch = Watch::of(&place, state.path());
    assert_eq!(watch.keep("a"), Kept::History);
    server.signal("STOP");
    // It answers nothing before CONT: this returns because of the limit alone.
    watch.history = watch.history.within(SHORT);
    let begun = Instant::now();
    assert_eq!(watch.keep("b"), Kept::File);
    assert!(begun.elapsed() >= SHORT);
    // The thread that waits is not joined by another, for which the limit would be waited again.
    let begun = Instant::now();
    assert_eq!(watch.keep("c"), Kept::File);
    assert!(begun.elapsed() < SHORT);
    assert!(
        watch.said[0].contains("does not answer within"),
        "{:?}",
        watch.said
    );
    server.signal("CONT");
    watch.history = watch.history.within(LONG);
    let end = Instant::now() + LONG;
    while files(state.path()) > 0 {
        assert!(Instant::now() < end, "{:?}", watch.said);
        std::thread::sleep(Duration::from_millis(100));
        watch.retry();
    }
    assert_eq!(ids(&place), ["a", "b", "c"]);
}

/// A run was lost without a word.
#[test]
fn a_run_that_neither_history_nor_disk_takes_stays_in_memory() {
    let root = tempfile::tempdir().expect("a folder");
    // Neither can be made: a file is where their folder should be.
    let blocked = root.path().join("disk");
    fs::write(&blocked, "").expect("write it");
    let place = Place::File(blocked.join("history.db"));
    let mut watch = Watch::of(&place, &blocked);
    assert_eq!(watch.keep("a"), Kept::Memory);
    assert_eq!(watch.keep("b"), Kept::Memory);
    assert_eq!(watch.said.len(), 1, "{:?}", watch.said);
    assert!(watch.said[0].starts_with("runs are kept in memory for now: "));
    // The disk has room again, the history is still away.
    fs::remove_file(&blocked).expect("make room");
    fs::create_dir(&blocked).expect("make room");
    fs::create_dir(blocked.join("history.db")).expect("no history");
    watch.retry();
    assert_eq!(files(&blocked), 4);
    assert!(watch.said[1].contains("unsaved"), "{:?}", watch.said);
    fs::remove_dir(blocked.join("history.db")).expect("a history");
    assert_eq!(watch.keep("c"), Kept::History);
    assert_eq!(files(&blocked), 0);
    assert_eq!(ids(&place), ["a", "b", "c"]);
}

#[test]
fn the_oldest_runs_in_memory_are_given_up_with_a_word() {
    let root = tempfile::tempdir().expect("a folder");
    let blocked = root.path().join("disk");
    fs::write(&blocked, "").expect("write it");
    let mut watch = Watch::of(&Place::File(blocked.join("history.db")), &blocked);
    for id in ["a", "b", "c"] {
        let mut large = run(id);
        large.body.resize(7 << 20, b' ');
        let mut log = |line: &Text| watch.said.push(line.to_string());
        watch.history.keep(large, &mut log);
    }
    let lost = watch.lost();
    assert_eq!(lost.len(), 1, "{:?}", watch.said);
    assert!(lost[0].starts_with("run a is lost"), "{lost:?}");
}

/// They were lost without a word.
#[test]
fn runs_that_are_in_memory_at_the_end_are_given_up_with_a_word() {
    let root = tempfile::tempdir().expect("a folder");
    let blocked = root.path().join("disk");
    fs::write(&blocked, "").expect("write it");
    let place = Place::File(root.path().join("history.db"));
    fs::create_dir(root.path().join("history.db")).expect("no history");
    let mut watch = Watch::of(&place, &blocked);
    for id in ["a", "b"] {
        assert_eq!(watch.keep(id), Kept::Memory);
    }
    watch.end();
    let lost = watch.lost();
    assert_eq!(lost.len(), 2, "{:?}", watch.said);
    assert!(lost[0].starts_with("run a is lost"), "{lost:?}");
    assert!(lost[1].starts_with("run b is lost"), "{lost:?}");
    // One that the history takes at last is not.
    assert_eq!(watch.keep("c"), Kept::Memory);
    fs::remove_dir(root.path().join("history.db")).expect("a history");
    watch.end();
    assert_eq!(watch.lost().len(), 2, "{:?}", watch.said);
    assert_eq!(ids(&place), ["c"]);
}
