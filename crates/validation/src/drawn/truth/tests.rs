use std::collections::BTreeMap;

use model::{cell::Cell, spec::Spec};

use super::*;

fn cell(spec: &str) -> Cell {
    Spec::parse("a", spec)
        .unwrap()
        .cells()
        .unwrap()
        .swap_remove(0)
}

/// Derives the truth, with figures by a function of the faults that remain.
fn derive(cell: &Cell, figures: impl Fn(&[Fault]) -> (f64, f64)) -> Truth {
    let mut trial = Trial::new(cell);
    for _ in 0..3 {
        for (probe, cell) in trial.next() {
            let (mbps, added_ms) = figures(&fault::of(&cell));
            trial.add(
                probe,
                Figures {
                    goodput_bps: mbps * 1e6,
                    added_us: added_ms * 1e3,
                },
            );
        }
    }
    assert!(trial.next().is_empty());
    trial.truth()
}

fn faults(truth: &Truth) -> Vec<Fault> {
    truth.causes.iter().map(|c| c.fault).collect()
}

const LOSSY: &str = "[path]\nrate = \"50mbit\"\nbuffer = \"20ms\"\ndown.loss = \"1%\"\n";
const LOSS: Fault = Fault::Loss(Direction::Down);
const WINDOW: Fault = Fault::ReceiveBuffer(model::net::Side::Near);

#[test]
fn loss_that_costs_most_of_the_goodput_is_the_cause() {
    let truth = derive(&cell(LOSSY), |left| {
        (if left.contains(&LOSS) { 8.0 } else { 48.0 }, 10.0)
    });
    assert_eq!(faults(&truth), [LOSS]);
    assert_eq!(truth.causes[0].directions, [Direction::Down]);
    assert!((truth.recovers - 40.0 / 48.0).abs() < 1e-9);
}

#[test]
fn a_path_without_recoverable_faults_is_healthy_regardless_of_its_spec() {
    let truth = derive(&cell(LOSSY), |_| (47.0, 10.0));
    assert!(truth.is_healthy() && truth.also.is_empty());
}

#[test]
fn a_recovery_of_seven_per_cent_is_allowed_and_not_required() {
    let truth = derive(&cell(LOSSY), |left| {
        (if left.contains(&LOSS) { 93.0 } else { 100.0 }, 10.0)
    });
    assert!(truth.is_healthy());
    assert!(truth.also.contains(&CauseCode::RANDOM_LOSS));
}

#[test]
fn two_faults_that_mask_each_other_are_both_causes() {
    let spec = format!("{LOSSY}[ends]\nclient.rmem = \"64kB\"\n");
    // Either alone limits to 10 Mbit/s.
    let truth = derive(&cell(&spec), |left| {
        let limited = left.contains(&LOSS) || left.contains(&WINDOW);
        (if limited { 10.0 } else { 48.0 }, 5.0)
    });
    assert_eq!(faults(&truth), [LOSS, WINDOW]);
    assert!(
        truth
            .causes
            .iter()
            .all(|c| c.masked && (c.weight - 0.5).abs() < 1e-9)
    );
}

#[test]
fn a_fault_behind_a_tighter_one_is_allowed() {
    let spec = format!("{LOSSY}[ends]\nclient.rmem = \"64kB\"\n");
    let truth = derive(&cell(&spec), |left| {
        let limits: BTreeMap<Fault, f64> = [(LOSS, 20.0), (WINDOW, 5.0)].into();
        let least = left.iter().filter_map(|f| limits.get(f)).copied();
        (least.fold(48.0, f64::min), 5.0)
    });
    assert_eq!(faults(&truth), [WINDOW]);
    assert!(truth.also.contains(&CauseCode::RANDOM_LOSS));
}

#[test]
fn a_deep_queue_is_judged_by_latency() {
    let deep = cell("[path]\nrate = \"10mbit\"\nrtt = \"20ms\"\nup.buffer = \"300ms\"\n");
    let queue = Fault::DeepQueue(Direction::Up);
    let truth = derive(&deep, |left| {
        (9.5, if left.contains(&queue) { 280.0 } else { 8.0 })
    });
    assert_eq!(faults(&truth), [queue]);
    let shallow = derive(&deep, |left| {
        (9.5, if left.contains(&queue) { 25.0 } else { 8.0 })
    });
    assert!(shallow.is_healthy() && shallow.also.contains(&CauseCode::BUFFERBLOAT_REMOTE));
}

#[test]
fn an_effect_with_one_seed_only_is_not_a_cause() {
    let cell = cell(LOSSY);
    let mut trial = Trial::new(&cell);
    for (number, (probe, cell)) in trial.next().into_iter().enumerate() {
        let lossy = fault::of(&cell).contains(&LOSS);
        let mbps = if lossy && number % 2 == 0 { 30.0 } else { 48.0 };
        trial.add(
            probe,
            Figures {
                goodput_bps: mbps * 1e6,
                added_us: 0.0,
            },
        );
    }
    let truth = trial.truth();
    assert!(truth.is_healthy() && truth.also.contains(&CauseCode::RANDOM_LOSS));
}

#[test]
fn a_tunnel_that_does_not_fit_is_a_cause_by_its_packets() {
    let truth = derive(
        &cell("[path]\nrate = \"50mbit\"\nbuffer = \"20ms\"\n[tunnel]\nmtu = 1480\n"),
        |_| (45.0, 5.0),
    );
    assert_eq!(faults(&truth), [Fault::TunnelMtu]);
}

/// A deep queue of the upload with a large effect and one of the download with a small effect: a
/// finding about the latter counted as the wrong direction of the former.
#[test]
fn small_effects_are_allowed_in_their_direction() {
    let spec = "[path]\nrate = \"10mbit\"\nrtt = \"20ms\"\nbuffer = \"300ms\"\n";
    let (up, down) = (
        Fault::DeepQueue(Direction::Up),
        Fault::DeepQueue(Direction::Down),
    );
    let truth = derive(&cell(spec), |left| {
        let added = match (left.contains(&up), left.contains(&down)) {
            (true, true) => 250.0,
            (true, false) => 150.0,
            (false, _) => 20.0,
        };
        (9.5, added)
    });
    assert_eq!(faults(&truth), [up]);
    let allowed = |direction| {
        allows(
            &truth.causes,
            &truth.allowed,
            &CauseCode::BUFFERBLOAT_REMOTE,
            direction,
        )
    };
    assert!(allowed(Some(Direction::Down)) && !allowed(Some(Direction::Up)));
}

/// A neighbour behind fq_codel takes half of the line, which is its share.
#[test]
fn the_fair_share_of_a_line_is_no_fault() {
    let spec = "[path]\nrate = \"10mbit\"\nqueue = \"fq_codel\"\n[[cross]]\ndirection = \"down\"\n";
    let neighbours = Fault::Neighbours(Direction::Down);
    let half = |left: &[Fault]| {
        let shared = left.contains(&neighbours);
        (if shared { 4.8 } else { 9.6 }, 5.0)
    };
    let truth = derive(&cell(spec), half);
    assert!(truth.is_healthy() && truth.also.contains(&CauseCode::SHARED_LINE));
    let truth = derive(&cell(&spec.replace("fq_codel", "fifo")), half);
    assert_eq!(faults(&truth), [neighbours]);
}

/// On a line of 256 kbit/s a packet takes 47 ms, and any queue holds three.
#[test]
fn the_time_of_a_few_packets_on_a_slow_line_is_no_latency() {
    let spec = "[path]\nrate = \"256kbit\"\nrtt = \"20ms\"\nup.buffer = \"900ms\"\n";
    let queue = Fault::DeepQueue(Direction::Up);
    let with = |added| {
        derive(&cell(spec), |left| {
            (0.24, if left.contains(&queue) { added } else { 10.0 })
        })
    };
    assert!(with(100.0).is_healthy());
    assert_eq!(faults(&with(300.0)), [queue]);
}

/// The ends cannot see the treatment of a tunnel's packets by routers, unless it costs something.
#[test]
fn a_tunnel_between_routers_that_does_not_fit_is_named_by_its_cost() {
    let spec =
        "[path]\nrate = \"50mbit\"\nbuffer = \"20ms\"\n[tunnel]\nmtu = 1480\nat = \"routers\"\n";
    let truth = derive(&cell(spec), |_| (45.0, 5.0));
    assert_eq!(faults(&truth), [Fault::TunnelMtu]);
    assert!(truth.causes[0].codes.is_empty() && truth.also.contains(&CauseCode::FRAGMENTATION));
    let truth = derive(&cell(spec), |left| {
        let doubled = left.contains(&Fault::TunnelMtu);
        (if doubled { 5.0 } else { 45.0 }, 5.0)
    });
    assert_eq!(truth.causes[0].codes, [CauseCode::FRAGMENTATION]);
}

#[test]
fn the_truth_follows_from_its_effects() {
    let path = cell(LOSSY);
    let truth = derive(&path, |left| {
        (if left.contains(&LOSS) { 8.0 } else { 48.0 }, 10.0)
    });
    assert_eq!(truth.clone().again(&path), truth);
}

/// Where the removal of a loss let what had arrived behind it through at once, the goodput of short
/// windows was up to 4 times the line's rate, and the loss cost as much.
#[test]
fn no_path_carries_more_than_its_line() {
    let of = |mbps: f64| {
        let row = serde_json::json!({
            "schema": 1, "name": "n", "factors": {}, "seed": 1, "layer": "underlay",
            "direction": "down", "flows": 1, "goodput_mbps": mbps, "valid": true,
            "kernel": "7.2", "virtual_s": 1.0, "digest": "",
        });
        let row = serde_json::from_value(row).unwrap();
        Figures::of(&cell(LOSSY), &[row]).unwrap().goodput_bps
    };
    assert!((of(48.0) - 48e6).abs() < 1.0);
    // 1448 bytes of payload in 1500.
    assert!((of(60.0) - 50e6 * 1448.0 / 1500.0).abs() < 1.0);
}

/// A line of 256 kbit/s behind 100 packets was measured for 19 s after 7 s, while the overshoot of
/// slow start, of 10 s, was still retransmitted: its queue management cost 22 %, and costs 6 %.
#[test]
fn a_slow_line_is_measured_past_its_slow_start() {
    let slow = cell("[path]\nrate = \"256kbit\"\nrtt = \"1ms\"\nup.loss = \"1%\"\n");
    let (_, cell) = Trial::new(&slow).next().swap_remove(0);
    let packet_s = 1500.0 * 8.0 / 256e3;
    assert!(cell.warmup.as_secs_f64() > 3.0 * 100.0 * packet_s);
    assert!(cell.duration.as_secs_f64() > 900.0 * packet_s);
}
