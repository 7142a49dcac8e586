//! Hours of `pathtwin watch` in the lab's virtual time: what a day of an operator brings.

#![cfg(feature = "history")]
#![allow(clippy::expect_used)]

mod common;

use std::path::{Path, PathBuf};

use common::{pathtwin, spec, text};

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
    format!(
        "mkdir -p /tmp/watch; cat > /tmp/watch/watch.toml <<END
state = \"/tmp/watch/state\"
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
END
\"$1\" watch --config /tmp/watch/watch.toml 2> /tmp/watch/log &
WATCH=$!
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
