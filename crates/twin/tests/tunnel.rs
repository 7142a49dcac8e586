//! Twins of Runs through tunnels: what is left over becomes a stage of the tunnel, and what the lab
//! cannot copy is named.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{path::Path, time::Duration};

use corpus::compose::{self, Device, Line, Machine, Scene, Tunnel};
use model::{
    facts::DeviceKind,
    net::{Direction, Layer, Side},
    path::{Limit, Loss, NotModelled, Parameter, Source, Trial},
    run::Run,
    twin::Twin,
    units::Rate,
};
use twin::{Bench, Budget, Fit, Outcome, Stopped};

/// Bytes of a full packet on the wire over those of the IP packet.
const WIRE: f64 = 1514.0 / 1500.0;
const BOTH: [Direction; 2] = [Direction::Down, Direction::Up];

/// Nothing is run without a budget.
struct NoLab;

impl Bench for NoLab {
    fn measure(
        &mut self,
        _: &[model::job::Measure],
        _: &mut dyn FnMut(usize, Outcome),
    ) -> Result<(), Stopped> {
        Ok(())
    }
}

fn by_arithmetic(run: &Run) -> Twin {
    let fit = Fit::prepare(run, Budget::Of(Duration::ZERO), "test").unwrap();
    fit.search(&mut NoLab).unwrap()
}

fn recorded(name: &str) -> Twin {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../explain/tests/runs");
    let packed = std::fs::read(folder.join(format!("{name}.json.zst"))).unwrap();
    by_arithmetic(&Run::parse(&zstd::decode_all(packed.as_slice()).unwrap()).unwrap())
}

fn scene(tunnel: Tunnel) -> Scene {
    let line = Line {
        rate_mbps: 50.0,
        rtt_ms: 20.0,
        ..Line::default()
    };
    Scene {
        down: line.clone(),
        up: line,
        tunnel: Some(tunnel),
        ..Scene::default()
    }
}

/// A tunnel of half of the path's rate.
fn half() -> Tunnel {
    Tunnel {
        rate_mbps: Some(25.0),
        ..Tunnel::default()
    }
}

fn stage_rate(twin: &Twin, direction: Direction) -> Option<Parameter<Limit<Rate>>> {
    let tunnel = twin.path.tunnel.as_ref().unwrap();
    match direction {
        Direction::Down => tunnel.down.rate_bps.clone(),
        Direction::Up => tunnel.up.rate_bps.clone(),
    }
}

fn notes(twin: &Twin) -> Vec<String> {
    twin.notes.iter().map(ToString::to_string).collect()
}

fn has_note(twin: &Twin, part: &str) -> bool {
    notes(twin).iter().any(|note| note.contains(part))
}

fn stand_in(twin: &Twin, of: NotModelled) -> &model::path::StandIn {
    let mut all = twin.path.stand_ins.iter();
    all.find(|s| s.of == of)
        .unwrap_or_else(|| panic!("{:?}", twin.path.stand_ins))
}

/// The composer adds noise of one per cent to a rate: two per cent hold it in 95 of 100.
#[test]
fn a_tunnel_at_half_of_the_rate_has_a_stage_of_that_rate() {
    let truth = 24e6 * (1420.0 + 60.0 + 14.0) / 1420.0;
    let mut held = 0;
    for seed in 0..50 {
        let twin = by_arithmetic(&compose::run(&scene(half()), seed));
        for direction in BOTH {
            let rate = stage_rate(&twin, direction).expect("a stage");
            assert_eq!(rate.source, Source::Measured);
            let bps = |of: Option<Limit<Rate>>| of.unwrap().bound().unwrap().bps() as f64;
            let (low, high) = (bps(rate.low), bps(rate.high));
            held += usize::from((low..=high).contains(&truth));
            assert!(low > 0.93 * truth && high < 1.07 * truth, "{low} {high}");
        }
        assert!(has_note(&twin, "the tunnel carries 2"), "{:?}", twin.notes);
    }
    assert!(held >= 90, "{held} of 100");
}

/// The lab has the stage as it is stated, and nothing changes for the path below.
#[test]
fn the_stage_is_one_of_the_cell_and_the_path_below_keeps_its_rate() {
    let twin = by_arithmetic(&compose::run(&scene(half()), 1));
    let cell = twin.path.cell(&Trial::default()).unwrap();
    let tunnel = cell.tunnel.as_ref().unwrap();
    for direction in BOTH {
        let staged = tunnel.stage(direction).unwrap().rate.unwrap().bps();
        let stated = stage_rate(&twin, direction).unwrap().value;
        assert_eq!(Some(staged), stated.bound().map(Rate::bps));
        let below = cell.path.line(direction).rate.unwrap().bps() as f64;
        assert!((below / (50e6 * WIRE) - 1.0).abs() < 0.04, "{below}");
    }
}

#[test]
fn a_tunnel_that_only_adds_headers_has_no_stage() {
    for seed in 0..50 {
        let twin = by_arithmetic(&compose::run(&scene(Tunnel::default()), seed));
        let tunnel = twin.path.tunnel.as_ref().unwrap();
        for line in [&tunnel.down, &tunnel.up] {
            assert_eq!((&line.rate_bps, &line.loss), (&None, &None), "{seed}");
        }
    }
}

/// Loses every 50th datagram, and as many segments of TCP, which is then as slow as CUBIC.
fn lose_in_tunnel(run: &mut Run) {
    let inside = |s: &&mut model::run::Sample| s.key.layer == Layer::Tunnel;
    for sample in run.samples.iter_mut().filter(inside) {
        for udp in sample.sweep.iter_mut().map(|s| &mut s.udp) {
            udp.received -= udp.sent / 50;
            udp.loss_runs = Some(udp.sent - udp.received);
            udp.lost = 1.0 - udp.received as f64 / udp.sent as f64;
        }
        if let Some(tcp) = &mut sample.tcp {
            tcp.goodput_bps = 3e6 * tcp.flows.len() as f64;
            for flow in &mut tcp.flows {
                flow.goodput_bps = 3e6;
                flow.retransmits = flow.segments.map(|n| n / 50);
            }
        }
    }
}

#[test]
fn loss_of_the_tunnel_only_is_one_of_its_stage() {
    let mut run = compose::run(&scene(Tunnel::default()), 3);
    lose_in_tunnel(&mut run);
    let twin = by_arithmetic(&run);
    let tunnel = twin.path.tunnel.clone().unwrap();
    for line in [&tunnel.down, &tunnel.up] {
        let Some(Loss::Random { share }) = &line.loss else {
            panic!("{line:?}");
        };
        let held = share.low.unwrap().get()..=share.high.unwrap().get();
        assert!(held.contains(&0.02), "{share:?}");
    }
    assert!(twin.path.underlay.down.loss.as_ref().unwrap().average() < 1e-3);
    assert!(has_note(&twin, "more than the path below it"));
}

/// The twin of a path that a processor limits says what it cannot predict, and names the rate that
/// stands in for the processor.
#[test]
fn a_busy_processor_names_the_stage_that_stands_in_for_it() {
    let run = compose::run(
        &Scene {
            near: Machine {
                busiest: 0.99,
                ..Machine::default()
            },
            ..scene(half())
        },
        1,
    );
    let twin = by_arithmetic(&run);
    let found = stand_in(&twin, NotModelled::Processor);
    assert_eq!(found.at, Some(Side::Near));
    assert_eq!(
        found.parameters,
        ["tunnel.down.rate_bps", "tunnel.up.rate_bps"]
    );
    assert!(has_note(
        &twin,
        "the gain from a faster or less busy processor cannot be predicted"
    ));
    let bytes = serde_json::to_vec(&twin).unwrap();
    assert_eq!(Twin::parse(&bytes).unwrap(), twin);
}

/// A Run of the same line in both directions.
fn both_ways(line: Line, near: Machine) -> Run {
    let scene = Scene {
        down: line.clone(),
        up: line,
        near,
        ..Scene::default()
    };
    compose::run(&scene, 1)
}

#[test]
fn a_busy_processor_without_a_slower_tunnel_has_the_rate_of_the_path() {
    let line = Line {
        cpu_cap_mbps: Some(300.0),
        rate_mbps: 1000.0,
        ..Line::default()
    };
    let near = Machine {
        busiest: 0.99,
        ..Machine::default()
    };
    let run = both_ways(line, near);
    let found = by_arithmetic(&run);
    let found = stand_in(&found, NotModelled::Processor);
    assert!(found.parameters.iter().all(|p| p.starts_with("underlay.")));
}

#[test]
fn a_relay_is_a_rate_and_a_delay_and_its_absence_is_not_predicted() {
    let tunnel = Tunnel {
        relayed: true,
        adds_ms: 30.0,
        ..half()
    };
    let twin = by_arithmetic(&compose::run(&scene(tunnel), 1));
    let found = stand_in(&twin, NotModelled::Relay);
    assert_eq!(
        found.parameters,
        ["tunnel.down.rate_bps", "tunnel.up.rate_bps"]
    );
    assert!(has_note(
        &twin,
        "the gain from a direct connection cannot be predicted"
    ));
    assert!(
        has_note(&twin, "the round trip in the tunnel is 5"),
        "{:?}",
        notes(&twin)
    );
}

#[test]
fn a_radio_link_is_a_constant_rate_and_its_variation_is_not_predicted() {
    let line = Line {
        rate_mbps: 40.0,
        jitter_ms: 12.0,
        ..Line::default()
    };
    let device = Device {
        kind: DeviceKind::Wlan,
        driver: "iwlwifi".to_owned(),
        signal_dbm: Some(-78),
        ..Device::default()
    };
    let near = Machine {
        device,
        ..Machine::default()
    };
    let run = both_ways(line, near);
    let twin = by_arithmetic(&run);
    let found = stand_in(&twin, NotModelled::Radio);
    assert_eq!(found.at, Some(Side::Near));
    assert!(has_note(&twin, "so its variation cannot be predicted"));
}

/// BoringTun that carries the path's 100 Mbit/s: nothing is left over.
#[test]
fn a_recorded_tunnel_as_fast_as_its_path_has_neither_stage_nor_stand_in() {
    let twin = recorded("boringtun-reordering");
    assert!(twin.path.stand_ins.is_empty(), "{:?}", twin.path.stand_ins);
    assert!(BOTH.iter().all(|d| stage_rate(&twin, *d).is_none()));
    assert!(has_note(
        &twin,
        "the kernel's WireGuard stands in for the tunnel"
    ));
}

#[test]
fn recorded_relays_are_named_with_what_cannot_be_predicted() {
    for name in ["netbird-relayed", "tailscale-idle-then-relayed"] {
        let twin = recorded(name);
        let found = stand_in(&twin, NotModelled::Relay);
        assert_eq!(found.parameters.len(), 2, "{name}");
        assert!(
            has_note(&twin, "the gain from a direct connection"),
            "{name}"
        );
        assert!(
            has_note(&twin, "the kernel's WireGuard stands in"),
            "{name}"
        );
    }
}

/// wireguard-go on two processors that other work shares: 1.3 and 1.0 Gbit/s over veth, which
/// carries tens.
#[test]
fn a_recorded_busy_tunnel_has_a_stage_that_stands_in_for_the_processor() {
    let twin = recorded("wireguard-go-busy");
    let found = stand_in(&twin, NotModelled::Processor);
    assert_eq!(
        found.parameters,
        ["tunnel.down.rate_bps", "tunnel.up.rate_bps"]
    );
    for direction in BOTH {
        let rate = stage_rate(&twin, direction).unwrap().value;
        let gbps = rate.bound().unwrap().bps() as f64 / 1e9;
        assert!((0.9..1.5).contains(&gbps), "{gbps}");
    }
}
