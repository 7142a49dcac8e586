//! Output on a terminal of 80 columns and 24 lines: no line is wider, and the answer is first.

#![allow(clippy::expect_used)]

mod common;

use std::{
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
};

use common::{pathtwin, spec, text};

const COLUMNS: usize = 80;
const LINES: usize = 24;

/// Returns the terminal output of a command: each state of each line, without control sequences.
fn on_terminal(arguments: &[&str]) -> Vec<String> {
    let program = pathtwin();
    let quoted: Vec<String> = arguments.iter().map(|a| format!("'{a}'")).collect();
    let line = format!(
        "stty cols {COLUMNS} rows {LINES}; exec '{}' {}",
        program.get_program().display(),
        quoted.join(" ")
    );
    let mut terminal = Command::new("script");
    terminal.args(["-q", "-e", "-c", &line, "/dev/null"]);
    for (name, value) in program.get_envs() {
        terminal.env(name, value.expect("a value"));
    }
    let output = terminal.stdin(Stdio::null()).output().expect("run script");
    let shown = text(&output.stdout);
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{arguments:?}: {:?}\n{shown}",
        output.status
    );
    let states = shown.split(['\n', '\r']).map(plain);
    states.filter(|line| !line.is_empty()).collect()
}

/// A line without control sequences (`ESC [ … letter`).
fn plain(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        out.push_str(&part[end.map_or(part.len(), |at| at + 1)..]);
    }
    out
}

/// No line is wider than the terminal; returns the output.
fn assert_fits(arguments: &[&str]) -> Vec<String> {
    let lines = on_terminal(arguments);
    assert!(lines.len() > 1, "{arguments:?}: {lines:?}");
    for line in &lines {
        assert!(
            line.chars().count() <= COLUMNS,
            "{arguments:?}: {} columns: {line}",
            line.chars().count()
        );
    }
    lines
}

/// Bug: the list was as wide as its labels.
#[cfg(feature = "history")]
#[test]
fn tables_of_the_history_leave_out_columns_that_do_not_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("history.db").display().to_string();
    let run = |arguments: &[&str]| {
        let output = pathtwin()
            .arg("history")
            .args(arguments)
            .args(["--store", &store])
            .output()
            .expect("run pathtwin");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    run(&["import", &kept_run()]);
    let list = run(&["list", "--output", "json"]);
    let list: serde_json::Value = serde_json::from_str(&list).expect("a list");
    let id = list[0]["id"].as_str().expect("an id").to_owned();
    let reason = format!("reason={}", "a-long-reason-".repeat(8));
    run(&["label", &id, &reason]);
    let lines = assert_fits(&["history", "list", "--store", &store]);
    assert!(lines[1].contains(&id), "{lines:#?}");
    assert!(lines[2].contains("labels"), "{lines:#?}");
    assert_fits(&["history", "series", "--store", &store]);
    assert_fits(&["history", "series", "--store", &store, "--step", "tcp"]);
}

fn kept_run() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/tests/data/run-1.json");
    file.canonicalize().expect("the run").display().to_string()
}

#[test]
fn what_is_read_of_a_kept_run_is_never_wider_than_the_terminal() {
    let run = kept_run();
    for arguments in [
        &["explain", &run][..],
        &["explain", &run, "--all"],
        &["compare", &run, &run],
        &["compare", &run, &run, "--all"],
        &["twin", &run, "--budget-time", "0s"],
        &["facts"],
    ] {
        assert_fits(arguments);
    }
}

#[test]
fn the_answer_to_a_measurement_is_first_and_fits_the_screen() {
    let (folder, path) = spec(
        "name = \"a-path-with-a-long-name\"\n[path]\nrtt = \"300ms\"\nrate = \"1gbit\"\nloss = \"1%\"\n[tunnel]\nkind = \"wireguard\"\n",
    );
    let plan = folder.path().join("plan.toml");
    let step = "kind = \"tcp\"\nflows = 8\ncc = [\"cubic\"]\nwarmup_s = 1\nduration_s = 3\n";
    std::fs::write(
        &plan,
        format!(
            "repeats = {{ min = 1, max = 1 }}\n[[step]]\nkind = \"idle\"\nduration_s = 2\n\
             [[step]]\n{step}direction = \"down\"\n[[step]]\n{step}direction = \"both\"\n"
        ),
    )
    .expect("write the plan");
    let (path, plan) = (path.display().to_string(), plan.display().to_string());
    let measure = ["measure", "--no-store", "--lab", &path, "--plan", &plan];
    let lines = assert_fits(&measure);
    // After the last state of the progress, which is overwritten in place.
    let progress = |line: &String| line.contains(" of virtual time");
    let answer = lines.iter().rposition(progress).map_or(0, |at| at + 1);
    assert!(lines.len() - answer < LINES, "{lines:#?}");
    assert!(
        lines.iter().any(|line| line.starts_with("Next")),
        "{lines:#?}"
    );
    assert_fits(&[&measure[..], &["--all"]].concat());
}

/// Tables of the lab have a column for each figure and factor, and the least important go.
#[test]
fn rows_of_the_lab_leave_out_columns_that_do_not_fit() {
    let (_folder, path) = spec(
        "name = \"wide\"\nduration = \"1s\"\nwarmup = \"500ms\"\n[path]\nrtt = \"20ms\"\nrate = \"20mbit\"\n\
         [traffic]\nkind = \"tcp\"\nprobe = \"10ms\"\n[[cross]]\nkind = \"udp\"\nrate = \"1mbit\"\n\
         [matrix]\n\"ends.server.cc\" = [\"cubic\", \"bbr\"]\n\"path.queue\" = [\"fifo\", \"fq_codel\"]\n",
    );
    let path = path.display().to_string();
    let lines = assert_fits(&["lab", "run", &path]);
    assert!(
        lines.iter().any(|line| line.contains("goodput")),
        "{lines:#?}"
    );
}

#[test]
fn connections_leave_out_columns_that_do_not_fit() {
    let listener = TcpListener::bind("[::1]:0").or_else(|_| TcpListener::bind("127.0.0.1:0"));
    let listener = listener.expect("listen");
    let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("connect");
    let (server, _) = listener.accept().expect("accept");
    let write = move || {
        let mut client = client;
        while std::io::Write::write_all(&mut client, &[0; 65536]).is_ok() {}
    };
    let writer = std::thread::spawn(write);
    let reader = std::thread::spawn(move || {
        let limited = std::io::Read::take(server, 1 << 34);
        let _ = std::io::copy(&mut { limited }, &mut std::io::sink());
    });
    let port = listener
        .local_addr()
        .expect("an address")
        .port()
        .to_string();
    let lines = assert_fits(&["observe", "--port", &port, "--duration", "2s"]);
    assert!(
        lines.iter().any(|line| line.contains("limited by")),
        "{lines:#?}"
    );
    drop((writer, reader));
}
