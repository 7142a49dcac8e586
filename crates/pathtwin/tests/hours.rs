//! Hours of `pathtwin watch` in the lab's virtual time: what a day of an operator brings.

#![cfg(feature = "history")]
#![allow(clippy::expect_used)]

mod common;

use std::path::{Path, PathBuf};

use common::{pathtwin, spec, text};
use serde_json::Value;

const PATH: &str = r#"
[path]
rtt = "20ms"
rate = "8mbit"
"#;

/// Runs a shell script on the client of a path whose server serves; returns what it said.
fn on_the_client(script: &str, hours: u64) -> String {
    let (_folder, path) = spec(PATH);
    let program = pathtwin().get_program().to_owned();
    let program = program.to_str().expect("a path in UTF-8");
    let output = pathtwin()
        .args(["lab", "exec", "--wall-limit", "3600", "--limit"])
        .arg((hours * 3600).to_string())
        .arg(&path)
        .args(["--on", "server", "--", program])
        .args(["serve", "--open", "--user", "root"])
        .args(["--on", "client", "--", "sh", "-euc", script, "sh", program])
        .output()
        .expect("run pathtwin");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    out
}

/// Starts a watch in /tmp/watch with a load every ten minutes; `$1` is the program.
fn watch(store: &str) -> String {
    watch_in("/tmp/watch", store, "")
}

/// The same in another folder, with `more` keys of the path.
fn watch_in(folder: &str, store: &str, more: &str) -> String {
    format!(
        "mkdir -p {folder}; cat > {folder}/watch.toml <<END
state = \"{folder}/state\"
store = \"{store}\"
[budget]
month = \"40GB\"
[[path]]
name = \"line\"
host = \"server\"
open = true
load = \"10m\"
full = \"never\"
load_bytes = \"9MB\"
{more}
END
\"$1\" watch --config {folder}/watch.toml 2> {folder}/log &
WATCH=$!
WATCHES=\"${{WATCHES:-}} $!\"
"
    )
}

/// The ids of the runs that the watch says it has measured.
const MEASURED: &str = "sed -n 's/.*short load measured: //p' /tmp/watch/log";

fn number(out: &str, name: &str) -> u64 {
    let line = out.lines().find_map(|line| line.strip_prefix(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {out}"));
    line.trim().parse().expect("a number")
}

/// The clock of the host is set back by ten years for an hour, and ahead by ten for another.
#[test]
fn a_watch_whose_clock_is_set_by_years_goes_on_and_keeps_all_runs() {
    let script = format!(
        "{}
sleep 3600
date -s '2013-11-15 00:00' > /dev/null; sleep 3600
date -s '2033-11-15 00:00' > /dev/null; sleep 3600
date -s '2023-11-15 02:00' > /dev/null; sleep 3600
kill $WATCH; wait $WATCH
echo measured $({MEASURED} | sort -u | wc -l)
echo kept $(\"$1\" history list --store /tmp/watch/history.db --output json | grep -c '\"id\"')
echo values $(grep -o '\\[1[0-9]*,' /tmp/watch/state/watch-values.json | wc -l)
grep -c 'failed\\|no probes' /tmp/watch/log | sed 's/^/failed /'
",
        watch("/tmp/watch/history.db")
    );
    let out = on_the_client(&script, 5);
    let measured = number(&out, "measured ");
    // Four hours of exponential waits with a mean of ten minutes.
    assert!((10..=45).contains(&measured), "{out}");
    assert_eq!(number(&out, "kept "), measured, "{out}");
    // Two goodputs and two added delays of each.
    assert!(number(&out, "values ") >= 4 * measured, "{out}");
    assert_eq!(number(&out, "failed "), 0, "{out}");
}

/// When the loads of the exported runs of a watch began and ended, µs since 1970.
fn loads(out: &str, watch: &str) -> Vec<(u64, u64)> {
    let lines = out.lines().filter_map(|line| line.strip_prefix(watch));
    let archived = lines.map(|line| serde_json::from_str::<Value>(line).expect("a document"));
    let mut loads = Vec::new();
    for document in archived {
        let run = &document["body"];
        let us = |value: &Value| value.as_u64().expect("a time");
        for sample in run["samples"].as_array().expect("samples") {
            if sample["key"]["step"]
                .as_str()
                .is_some_and(|step| step.starts_with("tcp"))
            {
                let from = us(&run["started_us"]) + us(&sample["at_us"]);
                loads.push((from, from + us(&sample["took_us"])));
            }
        }
    }
    loads
}

/// They know of each other by the server alone, which grants one slot.
#[test]
fn watches_of_one_far_end_never_load_it_at_once() {
    const NAMES: [&str; 4] = ["one", "two", "three", "four"];
    let start = |name: &&str| {
        let folder = format!("/tmp/{name}");
        // They are on one host, so that each would see the others' traffic on its line.
        watch_in(
            &folder,
            &format!("{folder}/history.db"),
            "rate = \"10gbit\"",
        )
    };
    let script = format!(
        "{}
sleep 21600
kill $WATCHES; wait $WATCHES
for name in {}; do
    \"$1\" history export --store /tmp/$name/history.db | sed \"s/^/$name /\"
done
echo refused $(cat /tmp/*/log | grep -c 'another watch loads the far end')
",
        NAMES.iter().map(start).collect::<String>(),
        NAMES.join(" "),
    );
    let out = on_the_client(&script, 7);
    let each = NAMES.map(|name| loads(&out, &format!("{name} ")));
    let mut all: Vec<_> = each.concat();
    all.sort_unstable();
    assert!(each.iter().all(|loads| loads.len() >= 30), "{all:?}");
    let overlap = all.windows(2).find(|pair| pair[1].0 < pair[0].1);
    assert_eq!(overlap, None);
    // Some would have met without it.
    assert!(
        number(&out, "refused ") >= 1,
        "no loads met, so that this shows nothing"
    );
}

/// The newest PostgreSQL of Debian's package.
fn postgres() -> Option<PathBuf> {
    let all = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = all.flatten().map(|entry| entry.path().join("bin"));
    folders.filter(|bin| bin.join("initdb").exists()).max()
}

/// The real server is gone for an hour, in which the watch goes on measuring.
#[test]
fn a_watch_whose_postgresql_is_gone_for_an_hour_loses_no_run() {
    let Some(bin) = postgres() else {
        eprintln!("skipped: no PostgreSQL; run: scripts/setup test");
        return;
    };
    let bin = Path::new(&bin).display();
    let script = format!(
        "mkdir -p /tmp/pg; chown nobody /tmp/pg; cd /tmp/pg
as() {{ setpriv --reuid=nobody --clear-groups env LC_ALL=C \"$@\"; }}
as {bin}/initdb -D /tmp/pg/data -U pathtwin --auth=trust --no-sync > /tmp/pg/init 2>&1
start() {{ as {bin}/pg_ctl -D /tmp/pg/data -w -l /tmp/pg/log -o '-k /tmp/pg -c listen_addresses=127.0.0.1 -c fsync=off' start > /dev/null; }}
start
as {bin}/createdb -h 127.0.0.1 -U pathtwin history
{}
sleep 3600
as {bin}/pg_ctl -D /tmp/pg/data -m immediate stop > /dev/null
sleep 3600
echo waiting $(ls /tmp/watch/state/unsaved | grep -c json)
start
sleep 3600
kill $WATCH; wait $WATCH
echo measured $(grep -c 'short load measured' /tmp/watch/log)
echo kept $(as {bin}/psql -h 127.0.0.1 -U pathtwin -At -c 'select count(distinct id) from document' history)
echo left $(ls /tmp/watch/state/unsaved | wc -l)
as {bin}/pg_ctl -D /tmp/pg/data -m immediate stop > /dev/null
",
        watch("postgresql://pathtwin@127.0.0.1/history?sslmode=disable")
    );
    let out = on_the_client(&script, 4);
    let (measured, waiting) = (number(&out, "measured "), number(&out, "waiting "));
    assert!(waiting >= 1 && measured > waiting, "{out}");
    assert_eq!(number(&out, "kept "), measured, "{out}");
    assert_eq!(number(&out, "left "), 0, "{out}");
}
