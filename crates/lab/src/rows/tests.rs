use model::{
    record::{FlowKind, MAGIC, OUTPUT_SCHEMA, Output},
    spec::Spec,
};
use proptest::prelude::*;

use super::*;
use crate::guest::Cost;

fn result(cell: &Cell, records: Vec<u8>) -> CellResult {
    let flow = |id| Flow {
        id,
        cross: None,
        direction: Direction::Down,
        kind: FlowKind::Tcp,
        cc_requested: Some("cubic".to_owned()),
        cc_used: Some("cubic".to_owned()),
        error: None,
        udp_sent: None,
    };
    let output = Output {
        schema: OUTPUT_SCHEMA,
        error: None,
        kernel: "7.2".to_owned(),
        virtual_ns: cell.length().as_nanos() as u64,
        ready_ns: 1,
        flows: vec![flow(0), flow(1)],
        queues: Vec::new(),
        probes_sent_ns: vec![-5, 0, 2_500_000_000, 2_600_000_000],
        losses: Vec::new(),
        counters: Default::default(),
    };
    let (truth, digest, cost) = (MAGIC.to_vec(), String::new(), Cost::default());
    CellResult {
        output,
        records,
        truth,
        digest,
        cost,
        cached: false,
    }
}

fn cell(kind: &str) -> Cell {
    let text = format!("[traffic]\nkind = \"{kind}\"\n");
    let text = if kind == "udp" {
        text + "rate = \"1mbit\"\n"
    } else {
        text
    };
    Spec::parse("test.toml", &text)
        .unwrap()
        .cells()
        .unwrap()
        .remove(0)
}

#[test]
fn a_flow_without_records_makes_its_row_invalid() {
    let cell = cell("tcp");
    let rows = rows(&cell, &result(&cell, MAGIC.to_vec())).unwrap();
    assert!(!rows[0].valid && rows[0].goodput_mbps.is_none());
}

#[test]
fn unanswered_probes_are_lost_and_not_zero() {
    let cell = cell("tcp");
    let row = &rows(&cell, &result(&cell, MAGIC.to_vec())).unwrap()[0];
    assert_eq!(
        (row.probe_lost, row.probe_n, row.probe_p50_ms),
        (Some(1.0), Some(0), None)
    );
}

/// A record of one end at a time: its kind, and a `struct tcp_info` with some fields, by their
/// offsets in include/uapi/linux/tcp.h (Linux 7.2).
fn tcp(kind: Kind, at_s: i64, fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut info = vec![0; 248];
    for (offset, bytes) in fields {
        info[*offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    let mut record = vec![kind as u8, 0, 0, 0];
    record.extend((info.len() as u32).to_le_bytes());
    record.extend((at_s * 1_000_000_000).to_le_bytes());
    record.extend(info);
    record
}

/// 1 of 10 segments, and 50 of 1000 bytes: the one retransmitted was a short one.
#[test]
fn the_retransmitted_share_of_a_row_is_of_bytes_as_in_a_run() {
    let cell = cell("tcp");
    let mut records = MAGIC.to_vec();
    let [from, to] = [cell.warmup, cell.warmup + cell.duration].map(|d| d.as_secs() as i64);
    for (at, grown) in [(from, 0u64), (to, 1)] {
        let count = |n: u64| ((n * grown) as u32).to_le_bytes();
        let bytes = |n: u64| (n * grown).to_le_bytes();
        records.extend(tcp(
            Kind::TcpSender,
            at,
            &[
                (100, &count(1)),
                (156, &count(10)),
                (200, &bytes(1000)),
                (208, &bytes(50)),
            ],
        ));
        records.extend(tcp(Kind::TcpReceiver, at, &[(128, &bytes(950))]));
    }
    let row = &rows(&cell, &result(&cell, records)).unwrap()[0];
    assert_eq!((row.retransmits, row.segments), (Some(1), Some(10)));
    assert_eq!(row.retransmitted, Some(0.05));
}

/// It was 0 bytes over 0 s.
#[test]
fn requests_that_stop_before_the_warm_up_ends_have_no_goodput() {
    let text = "warmup = \"2s\"\n[[cross]]\nkind = \"short\"\nsize = \"10kB\"\nstop = \"1s\"\n";
    let cell = Spec::parse("test.toml", text)
        .unwrap()
        .cells()
        .unwrap()
        .remove(0);
    let rows = rows(&cell, &result(&cell, MAGIC.to_vec())).unwrap();
    let row = rows.iter().find(|r| r.cross.is_some()).unwrap();
    assert_eq!((row.short_n, row.goodput_mbps), (Some(0), None));
}

#[test]
fn memory_pressure_makes_a_row_invalid() {
    let cell = cell("tcp");
    let mut result = result(&cell, MAGIC.to_vec());
    result
        .output
        .counters
        .insert("client.TcpExt.TCPMemoryPressures".to_owned(), 1);
    let row = &rows(&cell, &result).unwrap()[0];
    assert!(
        row.invalid_because
            .iter()
            .any(|b| b.to_string().contains("TCP memory"))
    );
}

proptest! {
    #[test]
    fn no_records_make_a_row_panic(
        kind in prop::sample::select(vec!["tcp", "udp"]),
        written in prop::collection::vec(
            (1u8..7, 0u16..3, -3_000_000_000i64..15_000_000_000,
             prop::collection::vec(any::<u8>(), 0..300)),
            0..30,
        )
    ) {
        let mut stream = MAGIC.to_vec();
        for (kind, id, at, payload) in written {
            stream.extend([kind, 0]);
            stream.extend(id.to_le_bytes());
            stream.extend((payload.len() as u32).to_le_bytes());
            stream.extend(at.to_le_bytes());
            stream.extend(payload);
        }
        let cell = cell(kind);
        prop_assert!(rows(&cell, &result(&cell, stream)).is_ok());
    }
}
