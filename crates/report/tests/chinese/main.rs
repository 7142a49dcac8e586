//! The Chinese page with all content that a page can show: no English on it except names.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod changes;
#[path = "../common/mod.rs"]
mod common;

use std::{collections::BTreeMap, time::Duration};

use model::{
    facts::HostFacts,
    row::{Row, Rows},
    run::Run,
};
use report::{
    documents::{Document, Documents},
    page::{self, Lang},
};

/// Names that are the same in every language: of units and protocols ...
const NAMES: [&str; 15] = [
    "MHz", "MTU", "MiB", "NAT", "QUIC", "RPS", "RTT", "TCP", "UDP", "XPS", "dBm", "cwnd", "MSS",
    "VPN", "min",
];
/// ... of programs and products ...
const PROGRAMS: [&str; 11] = [
    "Linux",
    "Ansible",
    "lab",
    "Intel",
    "NixOS",
    "OpenWrt",
    "WireGuard",
    "netbird",
    "pathtwin",
    "websocket",
    "composed",
];
/// ... and of the kernel, iproute2 and causes.
const SETTINGS: [&str; 23] = [
    "cases",
    "seed",
    "bbr",
    "cake",
    "congctl",
    "cubic",
    "dev",
    "ether",
    "facts",
    "fifo",
    "htb",
    "igc",
    "jitter",
    "lock",
    "mtu",
    "noqueue",
    "powersave",
    "reno",
    "root",
    "sysctl",
    "tsc",
    "wireguard",
    "wlan",
];

/// A host with every fact.
fn facts() -> HostFacts {
    let text = include_str!("../data/facts.json");
    serde_json::from_str(text).unwrap()
}

/// A path with a small window in one direction and a deep queue in the other.
fn run() -> Run {
    let mut run = common::window_and_queue();
    run.near.facts = facts();
    run.far.facts = facts();
    run.far.facts.kernel = Some("6.1.0".to_owned());
    run
}

/// Returns the texts of a page that are visible or read by a screen reader, without code, commands
/// and data.
fn visible(html: &str) -> String {
    const HIDDEN: [&str; 4] = ["script", "style", "pre", "code"];
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        text.push('\n');
        let (tag, inside) = after.split_once('>').unwrap();
        for label in ["aria-label=\"", "title=\""] {
            if let Some((_, value)) = tag.split_once(label) {
                text.push_str(value.split('"').next().unwrap());
                text.push('\n');
            }
        }
        rest = inside;
        let name = tag.split(' ').next().unwrap();
        if HIDDEN.contains(&name) {
            let end = format!("</{name}>");
            rest = rest.split_once(&end).unwrap().1;
        }
    }
    text
}

/// The English words of a text, without names, commands in backquotes and their options: words of
/// three letters or more, each with the line that it is in.
fn english(text: &str) -> BTreeMap<&str, &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-=/%".contains(c);
    let is_word = |w: &str| w.len() > 2 && w.chars().all(|c| c.is_ascii_alphabetic());
    let is_name = |w: &str| {
        let mut names = NAMES.iter().chain(&PROGRAMS).chain(&SETTINGS);
        names.any(|name| *name == w)
    };
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let outside = line.split('`').step_by(2).flat_map(|part| {
            let words = part.split(|c: char| !is_part(c));
            words.filter(|word| !word.starts_with("--"))
        });
        for word in outside {
            let word = word.trim_matches(['.', '-', '/', '=', '%']);
            if is_word(word) && !is_name(word) {
                found.insert(word, line);
            }
        }
    }
    found
}

fn page_of(documents: &Documents) -> String {
    page::html(documents, Lang::SimplifiedChinese, "0.1.0")
}

#[test]
fn the_chinese_page_of_a_run_has_no_english_but_names() {
    let mut documents = Documents::default();
    documents
        .add(Document::Run(Box::new(run())), explain::judge)
        .unwrap();
    documents.causes = explain::titles();
    let page = page_of(&documents);
    assert_eq!(page.matches("lang=\"en\"").count(), 0);
    let text = visible(&page);
    assert!(text.contains("内核 WireGuard") && text.contains("全双工"));
    assert_eq!(english(&text), BTreeMap::new());
}

/// Rows of a matrix of two factors in both directions, one of them invalid.
fn rows() -> Rows {
    let mut rows = Vec::new();
    for direction in ["down", "up"] {
        for cc in ["cubic", "bbr"] {
            for mtu in [1280, 1500] {
                for seed in [1, 2] {
                    rows.push(serde_json::json!({
                        "schema": 1, "name": "cases", "seed": seed, "layer": "underlay",
                        "factors": {"ends.server.cc": cc, "path.mtu": mtu},
                        "direction": direction, "flows": 1, "goodput_mbps": mtu / 100 + seed,
                        "retransmits": 5, "segments": 1000, "retransmitted": 0.004,
                        "probe_p50_ms": 20 + seed, "queue_p99_ms": 9 + seed, "true_loss": 0.01,
                        "valid": seed == 1 || mtu == 1280,
                        "invalid_because": ["no datagram arrived"],
                        "kernel": "7.2", "virtual_s": 1.0, "digest": "",
                    }));
                }
            }
        }
    }
    let rows: Vec<Row> = serde_json::from_value(rows.into()).unwrap();
    Rows {
        schema: 1,
        name: "cases".to_owned(),
        rows,
    }
}

/// The page of a matrix, an untested twin and an advice.
#[test]
fn the_chinese_page_of_an_untested_twin_and_an_advice_has_no_english_but_names() {
    struct Nothing;
    impl twin::Bench for Nothing {
        fn measure(
            &mut self,
            _: &[model::job::Measure],
            _: &mut dyn FnMut(usize, twin::Outcome),
        ) -> Result<(), twin::Stopped> {
            Ok(())
        }
    }
    let run = run();
    let fit = twin::Fit::prepare(&run, twin::Budget::Of(Duration::ZERO), "0.1.0").unwrap();
    let twin = fit.search(&mut Nothing).unwrap();
    let mut documents = Documents::default();
    for document in [
        Document::Twin(Box::new(twin)),
        Document::Advice(Box::new(common::advice())),
        Document::Rows(rows()),
    ] {
        documents.add(document, explain::judge).unwrap();
    }
    let page = page_of(&documents);
    assert_eq!(page.matches("lang=\"en\"").count(), 0);
    let text = visible(&page);
    assert!(text.contains("不做改变"));
    assert_eq!(english(&text), BTreeMap::new());
}

/// Its fitted figures, the figures left out and a step over time.
#[test]
fn the_chinese_page_of_a_twin_that_was_searched_has_no_english_but_names() {
    let twin = common::twin();
    let mut documents = Documents::default();
    documents
        .add(Document::Twin(Box::new(twin)), explain::judge)
        .unwrap();
    let page = page_of(&documents);
    assert_eq!(page.matches("lang=\"en\"").count(), 0);
    let text = visible(&page);
    for part in [
        "参与拟合的数值",
        "留出的数值",
        "一个步骤的时间过程",
        "实测（实线）",
        "范围 ",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert_eq!(english(&text), BTreeMap::new());
}

/// Settings, states, refusals and errors were English sentences in the page of a proof.
#[test]
fn the_chinese_page_of_a_proof_has_no_english_but_names() {
    let documents = Documents {
        changes: changes::proofs(),
        ..Documents::default()
    };
    let page = page_of(&documents);
    let text = visible(&page);
    assert!(text.contains("已确认并写入文件") && text.contains("保持原样"));
    assert_eq!(english(&text), BTreeMap::new());
    assert_eq!(page.matches("lang=\"en\"").count(), 0);
}

/// The test of the test: a sentence without a translation is found.
#[test]
fn an_english_rest_on_a_page_is_found() {
    let proof = model::job::ProveOutput {
        error: Some(model::text::Text::plain("the moon is full")),
        ..Default::default()
    };
    let documents = Documents {
        changes: vec![proof],
        ..Documents::default()
    };
    let text = visible(&page_of(&documents));
    assert!(english(&text).contains_key("moon"), "{text}");
}
