//! The points of time at which a cell samples its sockets and queues, many of them by one system
//! call of the guest.

#![allow(clippy::expect_used)]

mod common;

use common::{pathtwin, spec, text};
use model::record::{Kind, records};

/// A competitor that starts and stops beside the measured flow, a warm-up that ends between two
/// points, and an end on one.
const SPEC: &str = r#"
name = "series"
duration = "2s"
warmup = "255ms"
sample = "10ms"
[path]
rtt = "10ms"
rate = "20mbit"
[[cross]]
kind = "tcp"
start = "303ms"
stop = "1207ms"
"#;

const END: i64 = 2_255_000_000;

/// The times of the records of a kind and number, ns.
fn times(stream: &[u8], kind: Kind, id: u16) -> Vec<i64> {
    let all = records(stream).expect("a record stream");
    let all = all.map(|record| record.expect("a record"));
    let own = all.filter(|record| record.kind == kind && record.id == id);
    own.map(|record| record.at_ns).collect()
}

/// The points of a grid from `from` to `to`, the end of the warm-up and the end, each once.
fn grid(every: i64, from: i64, to: i64) -> Vec<i64> {
    let points = (0..).map(|i| i * every).take_while(|at| *at <= to);
    let marks = [255_000_000, END];
    let mut all: Vec<i64> = points
        .chain(marks)
        .filter(|at| (from..=to).contains(at))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn each_point_of_the_grid_and_the_marks_are_sampled_once() {
    let (folder, path) = spec(SPEC);
    let out = folder.path().join("out");
    let run = pathtwin()
        .args(["lab", "run", "--out"])
        .arg(&out)
        .arg(&path)
        .output()
        .expect("run pathtwin");
    assert!(run.status.success(), "{}", text(&run.stderr));
    let read = |name| std::fs::read(out.join("0000").join(name)).expect("its records");
    let (flows, truth) = (read("records.bin"), read("truth.bin"));
    let ms = |n: i64| n * 1_000_000;
    assert_eq!(times(&truth, Kind::Queue, 0), grid(ms(10), 0, END));
    // Connected within two round trips of its start.
    let measured = times(&flows, Kind::TcpSender, 0);
    let first = *measured.first().expect("samples");
    assert!(first <= ms(30), "{first}");
    assert_eq!(measured, grid(ms(10), first, END));
    let received = times(&flows, Kind::TcpReceiver, 0);
    let first = *received.first().expect("samples");
    assert!(first <= ms(100), "{first}");
    assert_eq!(received, grid(ms(100), first, END));
    let competing = times(&flows, Kind::TcpSender, 1);
    let stopped = competing.partition_point(|at| *at <= ms(1207));
    assert_eq!(competing[..stopped], grid(ms(100), ms(400), ms(1207)));
}
