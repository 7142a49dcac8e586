//! Paths at the edge of what a cell can have: `pathtwin lab run` ends with a result.

#![allow(clippy::expect_used)]

mod common;

use common::{rows, spec};

/// Bug: a packet that overtook all others reached the other end in the call that sent it, and an
/// acknowledgement that overtook, too, the socket that was still sending: the guest's kernel ended
/// in "Segfault with no mm". With 0.2 % of both it took some 100,000 packets.
#[test]
fn packets_that_overtake_in_both_directions_do_not_end_the_guest() {
    let (_folder, path) = spec(
        r#"
name = "overtaking"
duration = "2s"
[path]
rtt = "20ms"
rate = "50mbit"
[path.down]
reorder = "30%"
[path.up]
reorder = "30%"
[traffic]
direction = "both"
[matrix]
"ends.server.cc" = ["cubic", "bbr"]
"#,
    );
    let rows = rows(&path, &[]);
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(row["valid"], true, "{row}");
        // One packet in three is there half a round trip early.
        assert!(row["tcp_rtt_p50_ms"].as_f64() < Some(20.0), "{row}");
        assert!(row["goodput_mbps"].as_f64() > Some(1.0), "{row}");
    }
}

/// Bug: three packets in four are lost, so that a connection needs many SYNs, which a kernel sends
/// 1, 2, 4, … 64 s apart. The cell waited for that, and counted as hung 120 s after its end.
#[test]
fn a_flow_that_is_never_established_does_not_delay_the_end_of_its_cell() {
    for kind in ["kind = \"tcp\"", "kind = \"short\"\nsize = \"10kB\""] {
        let (_folder, path) = spec(&format!(
            r#"
name = "lossy"
duration = "5s"
warmup = "2s"
idle = "1s"
[path]
rtt = "10ms"
rate = "20mbit"
[path.down]
loss = "75%"
[path.up]
loss = "75%"
[traffic]
direction = "both"
{kind}
"#
        ));
        for row in rows(&path, &[]) {
            let never = row["invalid_because"].to_string().contains("never ran");
            let goodput = row["goodput_mbps"].as_f64();
            assert!(never || goodput == Some(0.0), "{row}");
            // Half a minute until one of some ten datagrams is answered, and 8 s.
            let virtual_s = row["virtual_s"].as_f64().expect("a time");
            assert!(virtual_s < 40.0, "{row}");
        }
    }
}
