#![allow(clippy::unwrap_used)]

use std::process::Command;

use proptest::prelude::*;

use super::*;
use crate::{
    cell::Peak,
    net::Direction,
    path::{Limit, Parameter, Path},
    units::{Bytes, Rate},
};

fn remedy(action: Action, on: Location) -> Remedy {
    Remedy::new(action, on, Text::plain("there"))
}

fn on_device(name: &str) -> Vec<Remedy> {
    let device = || Some(name.to_owned());
    let mut all: Vec<Action> = [Dialect::Linux, Dialect::OpenWrt]
        .iter()
        .map(|_| Action::Queue {
            device: device(),
            queue: Discipline::FqCodel,
        })
        .collect();
    all.extend([Flow::Egress, Flow::Ingress].map(|flow| Action::Shaper {
        device: device(),
        rate_bps: Some(1_000_000),
        queue: Discipline::FqCodel,
        flow,
        direction: crate::net::Direction::Up,
        below: Bottleneck::Queue,
    }));
    all.push(Action::TunnelMtu {
        device: device(),
        bytes: Some(1300),
    });
    all.push(Action::Offload {
        device: device(),
        feature: name.to_owned(),
        on: false,
    });
    all.push(Action::ReceiveSteering {
        device: device(),
        cpus: Some(40),
    });
    all.push(Action::Sysctl {
        name: name.to_owned(),
        value: name.to_owned(),
    });
    all.push(Action::CongestionControl {
        cc: name.to_owned(),
        scope: CcScope::Host,
    });
    let on = |action| remedy(action, Location::Near);
    all.into_iter().map(on).collect()
}

/// Runs a command in a shell in which every program only prints its words, one per line.
fn words(command: &str) -> Vec<String> {
    let names = [
        "tc", "ip", "sysctl", "ethtool", "uci", "ifup", "nft", "modprobe", "opkg", "tee",
    ];
    let mut script = String::from("set -f\nPATH=/nowhere\n");
    for name in names {
        script.push_str(&format!("{name}() {{ printf '%s\\n' {name} \"$@\"; }}\n"));
    }
    script.push_str(command);
    let ran = Command::new("/bin/sh")
        .arg("-c")
        .arg(&script)
        .output()
        .unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success() || text.is_empty(), "{command}");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_device_named_like_a_command_stays_one_word() {
    for name in [
        "a;b", "$(id)", "`id`", "x'y", "a&&b", "a\"b", "a|b", "-rf", "a>b", "a\\",
    ] {
        for remedy in on_device(name) {
            for dialect in [Dialect::Linux, Dialect::OpenWrt] {
                for command in commands(&remedy, dialect) {
                    let words = words(&command);
                    let has_no_device = ["for", "/", "uci -q get"];
                    if has_no_device.iter().any(|begin| command.starts_with(begin)) {
                        continue;
                    }
                    let first = command.split(' ').next().unwrap();
                    assert_eq!(words.first().map(String::as_str), Some(first), "{command}");
                    let programs = words.iter().filter(|w| *w == first).count();
                    assert_eq!(programs, 1, "{command}");
                }
            }
        }
    }
}

/// Bug: the commands for the download turned off the shaper of the upload, and the other way round.
#[test]
fn both_directions_of_a_line_can_be_shaped_on_openwrt() {
    let folder = tempfile::tempdir().unwrap();
    let mut script = "uci() { case $1 in set) printf %s \"${2#*=}\" >\"$D/${2%%=*}\" ;; \
                      -q) cat \"$D/$3\" 2>/dev/null ;; esac; }\n"
        .to_owned();
    for (flow, direction, rate_bps) in [
        (Flow::Ingress, Direction::Down, 50_000_000),
        (Flow::Egress, Direction::Up, 10_000_000),
        (Flow::Ingress, Direction::Down, 40_000_000),
    ] {
        let action = Action::Shaper {
            device: Some("eth0".to_owned()),
            rate_bps: Some(rate_bps),
            queue: Discipline::Cake,
            flow,
            direction,
            below: Bottleneck::Queue,
        };
        let commands = commands(&remedy(action, Location::Router), Dialect::OpenWrt);
        for line in commands.iter().filter(|line| line.starts_with("uci")) {
            script.push_str(&format!("{line}\n"));
        }
    }
    let shell = Command::new("/bin/sh")
        .args(["-ec", &script])
        .env("D", folder.path())
        .status();
    assert!(shell.unwrap().success(), "{script}");
    let rate = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(rate("sqm.pathtwin.download"), "40000");
    assert_eq!(rate("sqm.pathtwin.upload"), "10000");
}

#[test]
fn a_name_that_no_device_can_have_is_a_placeholder() {
    for name in [
        "",
        "a b",
        "a/b",
        "..",
        "sixteen-letters-",
        "a\nb",
        "\u{202e}0hte",
    ] {
        let on = remedy(
            Action::TunnelMtu {
                device: Some(name.to_owned()),
                bytes: Some(1300),
            },
            Location::Near,
        );
        assert_eq!(
            commands(&on, Dialect::Linux),
            ["ip link set dev '<device>' mtu 1300"],
            "{name:?}"
        );
    }
}

#[test]
fn every_example_has_a_sentence_and_survives_a_document() {
    for remedy in examples() {
        assert!(!remedy.sentence().to_string().is_empty());
        let written = serde_json::to_string(&remedy).unwrap();
        assert_eq!(serde_json::from_str::<Remedy>(&written).unwrap(), remedy);
    }
}

#[test]
fn a_remedy_of_schema_1_is_read_in_its_words() {
    let old = r#"{"class":"buffers","what":"raise it","on":"near","why_there":"so"}"#;
    let read: Remedy = serde_json::from_str(old).unwrap();
    assert_eq!(read.class(), RemedyClass::Buffers);
    assert_eq!(read.sentence().to_string(), "raise it");
    assert_eq!(read.on, Location::Near);
}

/// RFC 7323: a window of rate times RTT fills the path; the trial uses the value of the sentence.
#[test]
fn a_buffer_on_trial_is_the_end_s_own() {
    let more = remedy(
        Action::SocketBuffer {
            buffer: Buffer::Receive,
            keep: None,
            max_bytes: Some(2_500_000),
        },
        Location::Near,
    );
    let path = more.apply(&Path::named("p")).unwrap();
    let limit = path.ends.near.rmem_bytes.unwrap().value;
    assert_eq!(
        limit,
        crate::path::Limit::At(crate::units::Bytes(2_500_000))
    );
    assert_eq!(path.ends.far, Default::default());
    assert_eq!(
        commands(&more, Dialect::Linux),
        ["sysctl -w 'net.ipv4.tcp_rmem=4096 131072 2500000'"]
    );
}

/// Bug: the trial's shaper was 0.9 % faster than the command's, which the kernel takes as a rate of
/// Ethernet frames.
#[test]
fn a_shaper_is_tried_at_the_rate_of_its_command() {
    let shaper = |on| {
        let action = Action::Shaper {
            device: None,
            rate_bps: Some(30_000_000),
            queue: Discipline::Cake,
            flow: Flow::Egress,
            direction: Direction::Up,
            below: Bottleneck::Queue,
        };
        let remedy = remedy(action, on);
        assert!(
            commands(&remedy, Dialect::Linux)
                .iter()
                .any(|c| c.contains("bandwidth 30000kbit") || c.contains("bandwidth 30mbit"))
        );
        remedy.apply(&Path::named("p")).unwrap()
    };
    let at = Limit::At(Rate::from_bps(30_000_000));
    let end = shaper(Location::Near).ends.near.shape_bps;
    assert_eq!(end.unwrap().value, at);
    let line = shaper(Location::Router).underlay.up.rate_bps;
    assert_eq!(line.unwrap().value, at);
}

#[test]
fn a_shaper_on_a_router_is_the_bottleneck_of_its_direction() {
    let shaper = examples()
        .into_iter()
        .find(|r| r.on == Location::Router)
        .unwrap();
    let mut before = Path::named("p");
    // Bug: a line whose shaper had a bucket kept it, which the lab refuses for cake.
    before.underlay.up.peak = Some(Parameter::given(Peak {
        rate: Rate::from_bps(1_000_000_000),
        burst: Bytes(16_000),
    }));
    let path = shaper.apply(&before).unwrap();
    assert_eq!(path.underlay.down, Default::default());
    assert_eq!(path.underlay.up.peak, None);
    assert_eq!(
        path.underlay.up.queue.unwrap().value,
        crate::cell::Queue::Cake
    );
}

#[test]
fn untriable_remedies_state_why() {
    let why = |action, on| remedy(action, on).apply(&Path::named("p")).unwrap_err();
    assert_eq!(why(Action::Radio, Location::Near), NotTriable::OfTheLine);
    assert_eq!(why(Action::Keep, Location::Elsewhere), NotTriable::NoChange);
    assert_eq!(
        why(Action::Ecn { on: true }, Location::Router),
        NotTriable::NoEnd
    );
    let mtu = Action::TunnelMtu {
        device: None,
        bytes: Some(1300),
    };
    assert_eq!(why(mtu, Location::Near), NotTriable::NoTunnel);
}

/// A path fitted to a measurement through a shaper has the shaper's rate: without the shaper, "does
/// nothing" was predicted.
#[test]
fn a_removed_shaper_is_tried_only_on_a_path_that_has_it_before_its_line() {
    let shaper = Action::RemoveShaper {
        device: None,
        queue: None,
        rate_bps: None,
    };
    let remove = remedy(shaper, Location::Near);
    let mut path = Path::named("p");
    assert_eq!(remove.apply(&path), Err(NotTriable::BehindShaper));
    path.ends.near.shape_bps = Some(Parameter::given(Limit::At(Rate::from_bps(10_000_000))));
    assert_eq!(remove.apply(&path).unwrap().ends.near.shape_bps, None);
}

/// Bug: the commands of a remedy made an intermediate device, an ingress discipline and a default
/// class of other names than `tune`, and set a parameter that `tune` does not.
#[test]
fn the_commands_of_a_remedy_are_those_of_its_settings() {
    let mut compared = 0;
    for remedy in examples() {
        let is_route = matches!(
            &remedy.action,
            Action::CongestionControl {
                scope: CcScope::Route(_),
                ..
            }
        );
        let Ok(settings) = remedy.action.settings(Some("eth9"), None) else {
            continue;
        };
        if is_route {
            continue;
        }
        let of_settings: Vec<String> = settings.iter().flat_map(|s| s.commands()).collect();
        let mut of_remedy = commands(&remedy, Dialect::Linux);
        of_remedy.retain(|c| !c.starts_with("modprobe "));
        let named = of_remedy.iter().map(|c| c.replace("'<device>'", "eth9"));
        assert_eq!(named.collect::<Vec<_>>(), of_settings);
        compared += 1;
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn unknown_values_are_placeholders() {
    let shaper = |queue, flow| Action::Shaper {
        device: None,
        rate_bps: None,
        queue,
        flow,
        direction: Direction::Up,
        below: Bottleneck::Queue,
    };
    let linux = |action: Action| action.commands(Dialect::Linux);
    assert_eq!(
        linux(shaper(Discipline::Cake, Flow::Egress)),
        [
            "tc qdisc del dev '<device>' root 2>/dev/null || true",
            "tc qdisc replace dev '<device>' root cake bandwidth '<rate>'"
        ]
    );
    // With a rate in its place, the commands are those of the setting.
    for queue in [Discipline::Cake, Discipline::FqCodel] {
        for flow in [Flow::Egress, Flow::Ingress] {
            let Action::Shaper {
                direction, below, ..
            } = shaper(queue, flow)
            else {
                unreachable!()
            };
            let known = Action::Shaper {
                device: None,
                rate_bps: Some(5_000_000),
                queue,
                flow,
                direction,
                below,
            };
            let open = linux(shaper(queue, flow)).join("\n");
            // The burst of htb follows from the rate.
            let known = linux(known).join("\n");
            let known = known.replace(" burst 1600 cburst 1600 quantum 1514", "");
            assert_eq!(open.replace("'<rate>'", "5mbit"), known);
        }
    }
    let buffer = Action::SocketBuffer {
        buffer: Buffer::Receive,
        keep: Some([1, 2]),
        max_bytes: None,
    };
    assert_eq!(linux(buffer), ["sysctl -w 'net.ipv4.tcp_rmem=1 2 <bytes>'"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the name of a far end's device, each command keeps its words.
    #[test]
    fn no_name_adds_a_word_to_a_command(name in "[ -~]{1,15}") {
        let words_of = |name: &str| -> Vec<usize> {
            on_device(name)
                .iter()
                .flat_map(|r| commands(r, Dialect::Linux))
                .filter(|c| c.starts_with("tc ") || c.starts_with("ip link set dev"))
                .map(|c| words(&c).len())
                .collect()
        };
        prop_assert_eq!(words_of(&name), words_of("eth0"));
    }
}
