//! `pathtwin lab exec`: programs of the host on the nodes of a path.

#![allow(clippy::expect_used)]

mod common;

use common::{pathtwin, spec, text};

const PATH: &str = r#"
[path]
rtt = "30ms"
rate = "50mbit"
"#;

/// Runs groups of programs; returns the output of all.
fn exec(arguments: &[&str]) -> (Option<i32>, String, String) {
    let (_folder, path) = spec(PATH);
    let output = pathtwin()
        .args(["lab", "exec"])
        .arg(&path)
        .args(arguments)
        .output()
        .expect("run pathtwin");
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn ping_sees_the_delay_of_the_path() {
    let (code, out, err) = exec(&["--on", "client", "--", "ping", "-c", "3", "server"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(
        out.contains("time=30.0 ms") && out.contains("0% packet loss"),
        "{out}"
    );
}

#[test]
fn iperf3_measures_the_rate_of_the_path() {
    let (code, out, err) = exec(&[
        "--on", "server", "--", "iperf3", "-s", "-1", "--on", "client", "--", "iperf3", "-c",
        "server", "-t", "5", "-R", "--json",
    ]);
    assert_eq!(code, Some(0), "{out}{err}");
    // The server's output is first.
    let json = &out[out.find("{\n").expect("a document")..];
    let document: serde_json::Value = serde_json::from_str(json).expect("iperf3's document");
    let rate = document["end"]["sum_received"]["bits_per_second"]
        .as_f64()
        .expect("a rate");
    assert!((0.9..0.96).contains(&(rate / 50e6)), "{rate}");
}

/// To an ordinary user of the host, root's programs belong to the overflow user 65534: `mount`,
/// which is set-user-ID, then ran as that user in the guest ("must be superuser to use mount").
#[test]
fn a_program_with_the_set_user_id_bit_is_root_in_the_guest_of_an_ordinary_user() {
    let command = "D=$(mktemp -d) && mount -t tmpfs none $D && touch $D/made && ls $D";
    let (code, out, err) = exec(&["--on", "client", "--", "sh", "-c", command]);
    assert_eq!((code, out.as_str()), (Some(0), "made\n"), "{err}");
}

#[test]
fn curl_fetches_from_a_server_on_the_other_end() {
    let (code, out, err) = exec(&[
        "--on",
        "server",
        "--",
        "python3",
        "-m",
        "http.server",
        "80",
        "-d",
        "/",
        "--on",
        "client",
        "--",
        "curl",
        "-sS",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code}",
        "--retry",
        "5",
        "--retry-connrefused",
        "http://server/etc/passwd",
    ]);
    assert_eq!((code, out.as_str()), (Some(0), "200"), "{err}");
}

#[test]
fn ss_shows_the_sockets_of_its_node() {
    let (code, out, err) = exec(&["--on", "client", "--", "ss", "-tan"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("State"), "{out}");
}

#[test]
fn the_exit_status_of_the_last_program_comes_back() {
    assert_eq!(
        exec(&[
            "--on",
            "client",
            "--",
            "sh",
            "-c",
            "echo to stderr >&2; exit 7"
        ])
        .0,
        Some(7)
    );
}

/// Pages touched in an order without adjacent pages, so that each is a separate mapping.
const SCATTERED: &str = "
import mmap, random
pages = 90000
memory = mmap.mmap(-1, pages * 4096)
order = list(range(pages))
random.Random(1).shuffle(order)
for page in order: memory[page * 4096] = 1
print('done')";

#[test]
fn a_program_that_needs_more_mappings_than_the_host_allows_is_ended_and_not_waited_for() {
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").expect("read the limit");
    let limit: usize = limit.trim().parse().expect("a number");
    if limit > 90_000 {
        eprintln!("skipped: this host allows {limit} mappings");
        return;
    }
    let begun = std::time::Instant::now();
    let (code, out, err) = exec(&["--on", "client", "--", "python3", "-c", SCATTERED]);
    assert_eq!(code, Some(4), "{out}{err}");
    assert!(
        err.contains(&format!("({limit})")) && err.contains("vm.max_map_count"),
        "{err}"
    );
    // The wall limit is ten minutes.
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(120),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn an_unknown_node_is_named_with_the_existing_ones() {
    let (code, _, err) = exec(&["--on", "moon", "--", "true"]);
    assert_eq!(code, Some(2));
    assert!(
        err.contains("no node moon") && err.contains("client"),
        "{err}"
    );
}

/// Bug: a guest booted first, and the wrong name was an error in its console. Here no guest can
/// boot: the image does not exist.
#[test]
fn a_wrong_program_and_a_wrong_node_are_refused_before_a_guest_boots() {
    let (_folder, path) = spec(PATH);
    for (node, program, why) in [
        (
            "client",
            "no-such-program-anywhere",
            "no-such-program-anywhere",
        ),
        ("moon", "true", "no node moon"),
    ] {
        let output = pathtwin()
            .args(["lab", "exec"])
            .arg(&path)
            .args(["--on", node, "--", program])
            .env("PATHTWIN_KERNEL", "/nonexistent/linux")
            .output()
            .expect("run pathtwin");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{program}: {message}");
        assert!(message.contains(why), "{program}: {message}");
    }
}
