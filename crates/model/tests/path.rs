//! Paths: the document, and the conversion to the lab and back.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use model::{
    cell::{Buffer, Cell, Queue},
    net::Direction,
    path::{
        Competitor, CompetitorKind, Limit, Loss, Nanos, NotModelled, Parameter, Path, PathError,
        Source, Trial, Tunnel, reference,
    },
    spec::Spec,
    units::{Bytes, Rate, Seed, Share},
};

fn cell(text: &str) -> Cell {
    let mut cells = Spec::parse("test.toml", text).unwrap().cells().unwrap();
    assert_eq!(cells.len(), 1);
    cells.remove(0)
}

fn refused(path: &Path) -> Vec<String> {
    match path.cell(&Trial::default()) {
        Err(PathError::Refused(refused)) => refused.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

const EVERYTHING: &str = r#"
name = "all"
seed = 7
[path]
mtu = 1480
ip = "ipv6"
[path.down]
delay = "9ms"
rate = "100mbit"
queue = "cake"
loss = "gemodel(1%, 30%, 90%, 0.1%)"
jitter = "1ms"
reorder = "0.5%"
duplicate = "0.1%"
faults_first = true
[path.up]
delay = "11ms"
rate = "10mbit"
buffer = "30p"
loss = "every 1000"
[tunnel]
at = "routers"
mtu = 1300
[ends.server]
cc = "bbr"
qdisc = "none"
shape = "95%"
ecn = true
rmem = "6MB"
wmem = "4MB"
notsent_lowat = "128kB"
[[cross]]
kind = "udp"
rate = "5mbit"
direction = "both"
start = "1s"
stop = "3s"
[[cross]]
kind = "short"
size = "10kB"
flows = 4
cc = "reno"
"#;

#[test]
fn an_unknown_path_in_the_lab_is_that_of_an_empty_spec() {
    let unknown = Path::named("test");
    assert_eq!(unknown.cell(&Trial::default()).unwrap(), cell(""));
    let mut tunnelled = unknown.clone();
    tunnelled.tunnel = Some(Tunnel::default());
    let same = tunnelled.cell(&Trial::default()).unwrap();
    assert_eq!(same, cell("tunnel = \"wireguard\""));
    assert_eq!(unknown.parameters(), []);
}

#[test]
fn assumed_values_are_marked_and_change_nothing() {
    let mut path = Path::named("test");
    let rate = Parameter::new(Limit::At(Rate::from_bps(8_000_000)), Source::Measured);
    path.underlay.up.rate_bps = Some(rate);
    path.tunnel = Some(Tunnel::default());
    path.competitors = vec![Competitor::default()];
    let filled = path.filled();
    let trial = Trial::default();
    assert_eq!(filled.cell(&trial).unwrap(), path.cell(&trial).unwrap());
    let known: Vec<_> = filled
        .parameters()
        .into_iter()
        .filter(|(_, source)| *source != Source::Assumed)
        .collect();
    let only = ("underlay.up.rate_bps".to_owned(), Source::Measured);
    assert_eq!(known, [only]);
    // 20 ms of 8 Mbit/s are 20 kB.
    let buffer = filled.underlay.up.buffer.unwrap();
    assert_eq!(buffer, Parameter::assumed(Buffer::Bytes(Bytes(20_000))));
}

#[test]
fn an_unknown_delay_is_that_of_the_other_direction() {
    let mut path = Path::named("test");
    path.underlay.up.delay_ns = Some(Parameter::given(Nanos(3_000_000)));
    let cell = path.cell(&Trial::default()).unwrap();
    assert_eq!(cell.path.down.delay, Duration::from_millis(3));
    assert_eq!(cell.path.rtt(), Duration::from_millis(6));
}

#[test]
fn the_true_path_of_a_cell_gives_the_cell_back() {
    for text in ["", "tunnel = \"wireguard\"", EVERYTHING] {
        let cell = cell(text);
        let path = Path::of(&cell);
        assert_eq!(path.cell(&Trial::of(&cell)).unwrap(), cell);
        let sources = path.parameters();
        assert!(sources.iter().all(|(_, source)| *source == Source::Given));
        let json = serde_json::to_vec(&path).unwrap();
        assert_eq!(Path::parse(&json).unwrap(), path);
    }
}

#[test]
fn a_path_names_no_host_and_no_address() {
    let text = serde_json::to_string(&Path::of(&cell(EVERYTHING))).unwrap();
    for host in ["server", "client", "192.", "10.", "fd", "::"] {
        assert!(!text.contains(host), "{host} in {text}");
    }
}

#[test]
fn impossible_values_are_refused_by_parameter_name() {
    let mut path = Path::named("test");
    let (down, up) = (&mut path.underlay.down, &mut path.underlay.up);
    down.jitter_ns = Some(Parameter::given(Nanos(20_000_000)));
    down.rate_bps = Some(Parameter::given(Limit::Unlimited));
    down.queue = Some(Parameter::given(Queue::Cake));
    up.loss = Some(Loss::Random {
        share: Parameter::given(Share::ONE),
    });
    up.rate_bps = Some(Parameter::given(Limit::At(Rate::from_bps(0))));
    path.ends.far.cc = Some(Parameter::given("BBR v3".to_owned()));
    path.ends.near.rmem_bytes = Some(Parameter::given(Limit::At(Bytes(1))));
    assert_eq!(
        refused(&path),
        [
            "underlay.down.queue: \"cake\" needs a rate: without one no queue forms",
            "underlay.down.jitter_ns: exceeds the one-way delay of 10ms",
            "underlay.up.rate_bps: a rate of 0 lets nothing through",
            "underlay.up.loss: a loss of 100 % lets nothing through",
            "ends.near.rmem_bytes: 1B is too small; the minimum is 4.096kB",
            "ends.far.cc: \"BBR v3\" is not a valid name of a congestion control such as \"cubic\"",
        ]
    );
}

#[test]
fn parameters_the_lab_lacks_are_refused_not_dropped() {
    let mut path = Path::named("test");
    let mut tunnel = Tunnel::default();
    tunnel.up.rate_bps = Some(Parameter::given(Limit::At(Rate::from_bps(1_000_000))));
    tunnel.up.reorder = Some(Parameter::given(Share::ONE));
    path.tunnel = Some(tunnel);
    path.competitors = vec![Competitor {
        kind: Some(Parameter::given(CompetitorKind::Udp)),
        ..Competitor::default()
    }];
    let refused = refused(&path);
    assert_eq!(
        refused[..2],
        [
            "tunnel.up.reorder: of the stage of tunnel packets alone, the lab has rate, buffer and loss",
            "competitors.0.rate_bps: this kind needs it, and it has no default",
        ]
    );
}

fn read(text: &str) -> Result<Path, PathError> {
    Path::parse(text.as_bytes())
}

#[test]
fn a_document_is_read_and_nonsense_is_refused() {
    let text = reference();
    let (_, rest) = text.split_once("A whole document:\n\n```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let path = read(example).unwrap();
    let down = path.underlay.line(Direction::Down);
    let rate = down.rate_bps.as_ref().unwrap();
    assert_eq!(rate.value, Limit::At(Rate::from_bps(20_000_000)));
    assert_eq!(rate.source, Source::Measured);
    assert_eq!(path.stand_ins[0].of, NotModelled::Radio);
    let trial = Trial {
        seed: Seed(9),
        ..Trial::default()
    };
    let cell = path.cell(&trial).unwrap();
    assert_eq!((cell.seed, cell.path.mtu), (Seed(9), 1492));
    assert_eq!(cell.path.up.rate, None);

    let wrong = |from: &str, to: &str| {
        assert!(example.contains(from), "{from}");
        read(&example.replacen(from, to, 1))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        wrong("19600000", "20000001"),
        "underlay.down.rate_bps: the interval does not contain the value"
    );
    assert_eq!(
        wrong("\"underlay.down.rate_bps\"]", "\"underlay.up.jitter_ns\"]"),
        "stand_ins.0: underlay.up.jitter_ns is not known here"
    );
    assert!(wrong("\"delay_ns\"", "\"delay_us\"").contains("unknown field `delay_us`"));
    assert!(wrong("\"schema\": 1", "\"schema\": 1000").contains("update pathtwin"));
    assert!(read("{}").is_err() && read("").is_err());
}

#[test]
fn the_reference_is_current() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/path.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(file, reference()).unwrap();
    }
    let written = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        written == reference(),
        "{file} is old: run with UPDATE_DOCS=1"
    );
}
