//! A watch killed at many moments: nothing that it had saved is lost, and the next one continues.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::Child,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use super::{
    common::{pathtwin, server::Server},
    config, make_a_load_due, start, state, until,
};

/// How often a watch is killed; `PATHTWIN_WATCH_KILLS=200` for more.
fn kills() -> u64 {
    let given = std::env::var("PATHTWIN_WATCH_KILLS").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(20)
}

/// What a watch that does not run has saved: its values, and the documents of its history.
#[derive(Default)]
struct Kept {
    values: BTreeSet<String>,
    documents: BTreeSet<String>,
    messages: u64,
}

impl Kept {
    fn read(folder: &Path, state: &Value) -> Self {
        let values = fs::read(folder.join("state/watch-values.json")).unwrap_or_default();
        let values: Value = match values.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&values).expect("values are whole at any time"),
        };
        let mut all = BTreeSet::new();
        for track in values["paths"]["loop"].as_array().into_iter().flatten() {
            let of_track = track[1]["values"].as_array().into_iter().flatten();
            all.extend(of_track.map(|value| format!("{} {value}", track[0])));
        }
        let mut list = pathtwin();
        list.args(["history", "list", "--output", "json", "--store"]);
        let list = list.arg(folder.join("history.db")).output();
        let list = list.expect("list the history").stdout;
        let list: Value = serde_json::from_slice(&list).expect("a list");
        let list = list.as_array().expect("documents");
        Self {
            values: all,
            documents: list.iter().map(|one| one["id"].to_string()).collect(),
            messages: state["next_message"].as_u64().expect("a number"),
        }
    }

    /// Whether nothing of `before` is lost.
    fn has_all_of(&self, before: &Self) -> bool {
        self.values.is_superset(&before.values)
            && self.documents.is_superset(&before.documents)
            && self.messages >= before.messages
    }
}

#[test]
fn a_killed_watch_leaves_a_complete_state_and_the_next_continues() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let config = config(folder.path(), &server, &key, "");
    let socket = folder.path().join("none");
    let state_folder = folder.path().join("state");
    let (mut charged, mut loaded, mut in_load) = (0, Value::Null, 0);
    // Values of a day before: a watch has its own ones only after an hour.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time");
    let hours: Vec<_> = (1..25)
        .rev()
        .map(|hour| (now.as_secs() - 3600 * hour, 2e-5))
        .collect();
    let rtt = json!({"kind": "rtt", "layer": "underlay", "family": "v4"});
    let values = json!({"schema": 1, "paths": {"loop": [[rtt, {"values": hours, "starts": []}]]}});
    fs::create_dir(&state_folder).expect("make it");
    fs::write(state_folder.join("watch-values.json"), values.to_string()).expect("write them");
    let mut kept = finish_a_load(folder.path(), &config);
    assert_eq!(kept.values.len(), 24);
    for round in 0..kills() {
        let is_due = round % 3 == 2 && make_a_load_due(&state_folder);
        let mut watch = start(&config, &socket);
        // Times spread over the first 1.2 s, in which it opens, charges and probes; and where a
        // load is due, over the second and more after the two in which it watches the line.
        let ms = match is_due {
            true => 2000 + 83 * (round / 3 % 19),
            false => 20 + 97 * (round % 12) + 5 * (round / 12),
        };
        std::thread::sleep(Duration::from_millis(ms));
        stop(&mut watch);
        let Some(state) = state(&state_folder) else {
            continue;
        };
        let all: u64 = state["ledger"].as_object().map_or(0, |months| {
            months
                .values()
                .filter_map(|month| month["all"].as_u64())
                .sum()
        });
        assert!(all >= charged, "{all} bytes charged, and {charged} before");
        let of_last = state["paths"]["loop"]["load_us"].clone();
        // Its bytes were charged, and it did not end.
        in_load += u64::from(all - charged > 10_000_000 && of_last == loaded);
        (charged, loaded) = (all, of_last);
        let now = Kept::read(folder.path(), &state);
        assert!(now.has_all_of(&kept), "round {round}: saved data is lost");
        kept = now;
    }
    let last = finish_a_load(folder.path(), &config);
    assert!(last.has_all_of(&kept) && last.documents.len() > kept.documents.len());
    println!(
        "{} values and {} documents are kept",
        last.values.len(),
        last.documents.len()
    );
    println!("{} kills, {in_load} of them during a load", kills());
    assert!(in_load > 0, "no load was interrupted");
    assert!(!state_folder.join("watch.damaged").exists());
}

/// Runs a watch until a load has ended, asks it to end, by which values are saved, and returns what
/// it saved.
fn finish_a_load(folder: &Path, config: &Path) -> Kept {
    let (state_folder, socket) = (folder.join("state"), folder.join("none"));
    if state(&state_folder).is_none() {
        let mut watch = start(config, &socket);
        until("a state", || state(&state_folder).is_some());
        stop(&mut watch);
    }
    let kept = || Kept::read(folder, &state(&state_folder).expect("a state"));
    let before = kept();
    assert!(make_a_load_due(&state_folder));
    let mut watch = start(config, &socket);
    until("a load that ends", || {
        kept().documents.len() > before.documents.len()
    });
    let pid = rustix::process::Pid::from_child(&watch);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("ask it to end");
    watch.wait().expect("it ends");
    kept()
}

/// Kills a watch.
fn stop(watch: &mut Child) {
    watch.kill().expect("kill it");
    watch.wait().expect("it is gone");
}
