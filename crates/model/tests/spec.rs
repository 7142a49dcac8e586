//! Semantics of specs: defaults, overrides, the matrix, `--set`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use model::{
    cell::{Buffer, Cell, Loss, Queue, TrafficKind},
    net::{Direction, IpVersion},
    spec::{Spec, reference},
    units::{Bytes, Rate, Seed},
};
use proptest::prelude::*;

fn parse(text: &str) -> Spec {
    Spec::parse("test.toml", text).unwrap_or_else(|e| panic!("{e}"))
}

fn cells(text: &str) -> Vec<Cell> {
    parse(text).cells().unwrap_or_else(|e| panic!("{e}"))
}

fn cell(text: &str) -> Cell {
    let mut cells = cells(text);
    assert_eq!(cells.len(), 1);
    cells.remove(0)
}

#[test]
fn an_empty_spec_has_all_defaults() {
    let cell = cell("");
    assert_eq!((cell.name.as_str(), cell.seed), ("test", Seed(1)));
    assert_eq!(cell.length(), Duration::from_secs(13));
    assert_eq!(cell.sample, Duration::from_millis(10));
    assert_eq!(
        (cell.path.rtt(), cell.path.mtu),
        (Duration::from_millis(20), 1500)
    );
    assert_eq!(cell.path.down, cell.path.up);
    assert_eq!(
        (cell.path.down.rate, cell.path.down.queue),
        (Some(Rate::from_bps(100_000_000)), Queue::Fifo)
    );
    assert_eq!((cell.path.ip, cell.tunnel), (IpVersion::V4, None));
    assert_eq!(
        (cell.ends.far.cc.as_str(), cell.ends.far.shape),
        ("cubic", None)
    );
    assert_eq!(
        (cell.traffic.kind, cell.traffic.flows),
        (TrafficKind::Tcp, 1)
    );
    assert_eq!(cell.traffic.probe, Some(Duration::from_millis(10)));
    assert_eq!(
        (cell.traffic.directions, cell.cross),
        (vec![Direction::Down], vec![])
    );
}

#[test]
fn a_kernel_is_named_by_a_text_because_6_20_is_not_a_number() {
    assert_eq!(cell("").kernel, None);
    assert_eq!(cell("kernel = \"current\"").kernel, None);
    let named = cell("kernel = \"6.20\"").kernel.unwrap();
    assert_eq!(named.as_str(), "6.20");
    let error = Spec::parse("test", "kernel = 6.20")
        .unwrap_err()
        .to_string();
    assert!(error.contains("in quotes"), "{error}");
    let mut spec = Spec::parse("test", "").unwrap();
    spec.set("kernel", "6.20").unwrap();
    let cells = spec.cells().unwrap();
    assert_eq!(cells[0].kernel.as_ref().unwrap().as_str(), "6.20");
}

#[test]
fn one_direction_overrides_the_path() {
    let cell = cell(
        r#"
        [path]
        rtt = "30ms"
        rate = "80mbit"
        loss = "1%"
        [path.down]
        delay = "5ms"
        loss = "every 100"
        [path.up]
        rate = "8mbit"
        "#,
    );
    let (down, up) = (&cell.path.down, &cell.path.up);
    assert_eq!((down.delay.as_millis(), up.delay.as_millis()), (5, 15));
    assert_eq!(
        (down.rate.map(Rate::bps), up.rate.map(Rate::bps)),
        (Some(80_000_000), Some(8_000_000))
    );
    assert_eq!(down.loss, Loss::Every(100));
    assert!(matches!(up.loss, Loss::Random(p) if p.get() == 0.01));
    // 80 Mbit/s and 8 Mbit/s for 20 ms.
    assert_eq!(down.buffer, Buffer::Bytes(Bytes(200_000)));
    assert_eq!(up.buffer, Buffer::Bytes(Bytes(20_000)));
}

#[test]
fn buffers_come_out_in_packets_or_bytes() {
    let buffer = |key: &str| {
        cell(&format!("[path]\nrtt = \"10ms\"\nrate = \"10mbit\"\n{key}"))
            .path
            .down
            .buffer
    };
    assert_eq!(buffer("buffer = \"200p\""), Buffer::Packets(200));
    assert_eq!(buffer("buffer = \"256kB\""), Buffer::Bytes(Bytes(256_000)));
    assert_eq!(buffer("buffer = \"40ms\""), Buffer::Bytes(Bytes(50_000)));
    assert_eq!(buffer("buffer = \"2.5bdp\""), Buffer::Bytes(Bytes(31_250)));
    // The defaults: the BDP is 12500 bytes, ten packets are more.
    assert_eq!(buffer(""), Buffer::Bytes(Bytes(15_140)));
    assert_eq!(buffer("queue = \"policer\""), Buffer::Bytes(Bytes(15_140)));
    assert_eq!(buffer("queue = \"cake\""), Buffer::Kernel);
    let policer = cell("[path]\nrate = \"1gbit\"\nqueue = \"policer\"")
        .path
        .down
        .buffer;
    assert_eq!(policer, Buffer::Bytes(Bytes(1_250_000)));
}

#[test]
fn a_shape_in_percent_is_of_the_direction_the_end_sends() {
    let cell = cell(
        r#"
        path.down.rate = "100mbit"
        path.up.rate = "10mbit"
        ends.shape = "95%"
        "#,
    );
    assert_eq!(cell.ends.far.shape.map(Rate::bps), Some(95_000_000));
    assert_eq!(cell.ends.near.shape.map(Rate::bps), Some(9_500_000));
}

#[test]
fn a_router_shapes_each_direction_at_a_share_of_the_path() {
    let text = r#"
        path.down.rate = "100mbit"
        path.up.rate = "10mbit"
        local.shape = "95%"
        local.up.shape_queue = "fq_codel"
    "#;
    let local = cell(text).path.local.unwrap();
    let shaper = |direction| local.shaper(direction).map(|s| (s.rate.bps(), s.queue));
    assert_eq!(shaper(Direction::Down), Some((95_000_000, Queue::Cake)));
    assert_eq!(shaper(Direction::Up), Some((9_500_000, Queue::FqCodel)));
    assert!(local.down.is_nothing() && local.up.is_nothing());
    let down_only = cell("local.down.shape = \"20mbit\"").path.local.unwrap();
    assert_eq!(down_only.shape_up, None);
    assert_eq!(cell("local.shape = \"none\"").path.local, None);
}

/// Results in the cache are found by a hash over this text.
#[test]
fn a_local_line_without_shapers_is_written_as_before() {
    let local = cell("local.rate = \"20mbit\"").path.local.unwrap();
    let json = serde_json::to_value(local).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["down", "up"]);
}

#[test]
fn the_last_factor_varies_fastest_then_the_repeats() {
    let cells = cells(
        r#"
        seed = 7
        repeats = 2
        [matrix]
        "path.rtt" = ["10ms", "20ms"]
        "ends.cc" = ["cubic", "bbr"]
        "#,
    );
    let shown: Vec<_> = cells
        .iter()
        .map(|c| (c.path.rtt().as_millis(), c.ends.near.cc.as_str(), c.seed.0))
        .collect();
    let expected = [
        (10, "cubic", 7),
        (10, "cubic", 8),
        (10, "bbr", 7),
        (10, "bbr", 8),
        (20, "cubic", 7),
        (20, "cubic", 8),
        (20, "bbr", 7),
        (20, "bbr", 8),
    ];
    assert_eq!(shown, expected);
    assert_eq!(cells[2].factors["path.rtt"], "10ms");
    assert_eq!(cells[2].factors["ends.cc"], "bbr");
}

#[test]
fn a_label_sets_several_keys_and_is_shown_in_rows() {
    let spec = parse(
        r#"
        path.rate = "10mbit"
        [matrix]
        arrangement = [
          { label = "plain" },
          { label = "managed", "path.queue" = "cake", ends.server = { qdisc = "fq_codel", shape = "95%" } },
        ]
        "#,
    );
    let cells = spec.cells().unwrap();
    assert_eq!(spec.matrix_keys(), ["arrangement"]);
    assert_eq!(cells[0].factors["arrangement"], "plain");
    assert_eq!(cells[1].factors["arrangement"], "managed");
    assert_eq!(cells[1].path.up.queue, Queue::Cake);
    assert_eq!(cells[1].ends.far.shape.map(Rate::bps), Some(9_500_000));
    assert_eq!(cells[1].ends.near.shape, None);
}

#[test]
fn a_matrix_takes_the_tunnel_away() {
    let cells = cells("[tunnel]\nmtu = 1380\n[matrix]\ntunnel = [\"none\", \"wireguard\"]");
    assert_eq!(cells[0].tunnel, None);
    assert_eq!(cells[1].tunnel.as_ref().map(|t| t.mtu), Some(1380));
}

#[test]
fn an_idle_competitor_is_none() {
    let cells = cells("[[cross]]\n[matrix]\n\"cross.0.kind\" = [\"idle\", \"tcp\"]");
    assert_eq!((cells[0].cross.len(), cells[1].cross.len()), (0, 1));
}

#[test]
fn set_goes_over_the_file_and_over_a_factor() {
    let mut spec = parse("[path]\nrtt = \"10ms\"\n[matrix]\n\"ends.cc\" = [\"cubic\", \"bbr\"]");
    spec.set("path.rtt", "30ms").unwrap();
    spec.set("ends.cc", "reno").unwrap();
    spec.set("traffic.flows", "4").unwrap();
    spec.set("ends.ecn", "true").unwrap();
    spec.set("repeats", "2").unwrap();
    let cells = spec.with_seed(40).cells().unwrap();
    assert_eq!(cells.iter().map(|c| c.seed.0).collect::<Vec<_>>(), [40, 41]);
    assert_eq!(
        (cells[0].path.rtt().as_millis(), cells[0].traffic.flows),
        (30, 4)
    );
    assert_eq!(
        (cells[0].ends.far.cc.as_str(), cells[0].ends.far.ecn),
        ("reno", true)
    );
    assert_eq!(cells[0].factors["ends.cc"], "reno");
}

#[test]
fn set_picks_a_label() {
    let text = r#"
        [matrix]
        load = [{ label = "one" }, { label = "many", traffic.flows = 8 }]
    "#;
    let mut spec = parse(text);
    spec.set("load", "many").unwrap();
    assert_eq!(spec.cells().unwrap()[0].traffic.flows, 8);
    let error = parse(text).set("load", "few").unwrap_err().to_string();
    assert!(
        error.contains("--set load: \"few\" is not one of its labels \"one\", \"many\""),
        "{error}"
    );
    let error = parse(text)
        .set("traffic.flows", "2")
        .unwrap_err()
        .to_string();
    assert!(error.contains("the matrix sets it by \"load\""), "{error}");
}

#[test]
fn set_refuses_wrong_values_and_values_without_effect() {
    let mut spec = parse("path.down.rate = \"1mbit\"\npath.up.rate = \"1mbit\"");
    let error = spec.set("path.raet", "1mbit").unwrap_err().to_string();
    assert_eq!(
        error,
        "test.toml: --set path.raet: unknown key; nearest is path.rate"
    );
    spec.set("path.rate", "2mbit").unwrap();
    let error = spec.cells().unwrap_err().to_string();
    assert_eq!(error, "test.toml: --set path.rate: no cell uses it");
}

#[test]
fn a_large_matrix_is_quick() {
    let values: Vec<String> = (0..50_000).map(|n| format!("\"{}us\"", n + 1)).collect();
    let text = format!(
        "repeats = 2\n[matrix]\n\"path.rtt\" = [{}]",
        values.join(",")
    );
    assert_eq!(cells(&text).len(), 100_000);
}

/// Name and keys of each profile, as the reference lists them.
fn documented_profiles() -> Vec<(String, String)> {
    let text = reference();
    let (_, table) = text.split_once("### Profiles").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let mut cells = row.split(" | ");
        let bare = |cell: &str| cell.replace(['|', '`'], "").trim().to_owned();
        let name = bare(cells.next().unwrap());
        let keys = bare(cells.next().unwrap()).replace(", ", "\n");
        (name, keys)
    })
    .collect()
}

proptest! {
    /// A profile is what the reference says, at any time and in any matrix.
    #[test]
    fn a_profile_is_the_keys_of_the_reference(
        (start, span) in (0..9_000u32, prop::option::of(1..5_000u32)),
        cc in prop::option::of("[a-z]{1,9}"),
    ) {
        let documented = documented_profiles();
        prop_assert_eq!(documented.len(), 4);
        for (name, keys) in documented {
            let mut own = format!("start = \"{start}ms\"\n");
            if let Some(span) = span {
                own += &format!("stop = \"{}ms\"\n", start + span);
            }
            if let Some(cc) = cc.as_ref().filter(|_| name != "call") {
                own += &format!("cc = \"{cc}\"\n");
            }
            let profile = cell(&format!("[[cross]]\nprofile = \"{name}\"\n{own}"));
            prop_assert_eq!(&profile, &cell(&format!("[[cross]]\n{keys}\n{own}")));
            let varied = format!("[[cross]]\n{own}[matrix]\n\"cross.0.profile\" = [\"{name}\"]");
            prop_assert_eq!(cells(&varied)[0].cross.clone(), profile.cross);
        }
    }
}

#[test]
fn requests_come_in_batches() {
    let short = |keys: &str| {
        let text = format!("[traffic]\nkind = \"short\"\nsize = \"9kB\"\n{keys}");
        match cell(&text).traffic.kind {
            TrafficKind::Short { batch, .. } => batch.map(|b| (b.requests, b.every)),
            _ => panic!(),
        }
    };
    assert_eq!(short(""), None);
    assert_eq!(short("requests = 3"), Some((3, None)));
    let every = Some(Duration::from_secs(4));
    assert_eq!(short("requests = 3\nevery = \"4s\""), Some((3, every)));
}

#[test]
fn the_reference_is_current() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/spec.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(file, reference()).unwrap();
    }
    let written = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        written == reference(),
        "{file} is old: run with UPDATE_DOCS=1"
    );
}

#[test]
fn the_example_of_the_reference_is_a_spec() {
    let text = reference();
    let (_, rest) = text.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let text = format!("path.rate = \"10mbit\"\n[[cross]]\n{example}");
    assert_eq!(cells(&text).len(), 16);
}

/// Values of a key, good and bad.
const WORDS: &[(&str, &[&str])] = &[
    ("path.rtt", &["\"0s\"", "\"20ms\"", "\"1s\"", "20"]),
    (
        "path.rate",
        &["\"1mbit\"", "\"10gbit\"", "\"unlimited\"", "\"0bit\""],
    ),
    ("path.down.delay", &["\"1ms\"", "\"7ns\""]),
    (
        "path.up.buffer",
        &["\"1bdp\"", "\"5p\"", "\"64kB\"", "\"9ms\"", "\"x\""],
    ),
    (
        "path.queue",
        &["\"fifo\"", "\"cake\"", "\"policer\"", "\"q\""],
    ),
    (
        "path.loss",
        &[
            "\"0.37%\"",
            "\"gemodel(1%, 10%, 70%, 0.1%)\"",
            "\"every 7\"",
            "0",
        ],
    ),
    ("path.jitter", &["\"1ms\"", "\"3us\""]),
    ("path.reorder", &["\"0.1%\"", "\"25%\""]),
    ("path.mtu", &["1500", "9000", "600", "0"]),
    ("path.ip", &["4", "6"]),
    ("tunnel.mtu", &["1420", "576"]),
    ("tunnel", &["\"none\"", "\"wireguard\"", "false"]),
    ("ends.server.qdisc", &["\"fq\"", "\"none\"", "\"cake\""]),
    ("ends.shape", &["\"95%\"", "\"3mbit\"", "\"none\""]),
    ("local.rate", &["\"20mbit\"", "\"unlimited\""]),
    ("local.shape", &["\"95%\"", "\"3mbit\"", "\"none\""]),
    ("local.up.shape_queue", &["\"cake\"", "\"pie\"", "\"red\""]),
    ("ends.rmem", &["\"6MB\"", "\"auto\"", "\"1B\""]),
    (
        "traffic.kind",
        &["\"tcp\"", "\"udp\"", "\"short\"", "\"idle\"", "\"http\""],
    ),
    ("traffic.rate", &["\"1.5mbit\""]),
    ("traffic.size", &["\"10kB\""]),
    ("traffic.direction", &["\"down\"", "\"both\""]),
    ("traffic.flows", &["1", "64", "4096", "-1"]),
    ("traffic.probe", &["\"off\"", "\"1ms\""]),
    ("idle", &["\"0s\"", "\"3s\""]),
];

/// Any one of the settings of [`WORDS`].
fn setting() -> impl Strategy<Value = (&'static str, &'static str)> {
    proptest::sample::select(WORDS)
        .prop_flat_map(|(key, values)| (Just(key), proptest::sample::select(values)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Cells survive JSON; invalid specs are rejected without a panic.
    #[test]
    fn cells_survive_json(settings in prop::collection::vec(setting(), 0..8)) {
        let mut spec = parse("[matrix]\n\"ends.client.cc\" = [\"cubic\", \"bbr\"]");
        for (key, value) in &settings {
            let _ = spec.set(key, value);
        }
        for cell in spec.cells().unwrap_or_default() {
            let json = serde_json::to_string(&cell).unwrap();
            prop_assert_eq!(serde_json::from_str::<Cell>(&json).unwrap(), cell);
        }
    }

    /// Settings in a file and in a matrix never panic.
    #[test]
    fn settings_in_a_file(base in prop::collection::vec(setting(), 0..6),
                          varied in prop::collection::vec(setting(), 0..4)) {
        let base: Vec<String> = base.iter().map(|(k, v)| format!("\"{k}\" = {v}")).collect();
        let varied: Vec<String> = varied.iter().map(|(k, v)| format!("\"{k}\" = [{v}]")).collect();
        let text = format!("{}\n[[cross]]\n[matrix]\n{}", base.join("\n"), varied.join("\n"));
        if let Ok(spec) = Spec::parse("x.toml", &text) {
            let _ = spec.cells();
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,200}") {
        let _ = Spec::parse("x.toml", &text).and_then(|spec| spec.cells());
    }

    #[test]
    fn no_toml_panics(lines in prop::collection::vec(
        "(\\[\\[?[a-z.0-9]{0,12}\\]?\\]|\"?[a-z.0-9]{1,14}\"? = (\"[^\"]{0,9}\"|[0-9]{1,20}|\\[[0-9,{}a-z=\"]{0,20}\\]|\\{\\}))", 0..8)) {
        let text = lines.join("\n");
        let _ = Spec::parse("x.toml", &text).and_then(|spec| spec.cells());
    }
}

#[test]
fn the_first_cell_is_that_of_the_first_levels_and_the_first_seed() {
    let text = "seed = 7\nrepeats = 2\n[path]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
                [matrix]\n\"traffic.flows\" = [1, 4, 8]\n";
    let (cell, number) = parse(text).first_cell().unwrap();
    assert_eq!((cell.seed.0, cell.traffic.flows, number), (7, 1, 6));
}
