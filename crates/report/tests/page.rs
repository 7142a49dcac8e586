//! The page of a run of the size of the default plan.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use model::text::Text;
mod common;

use std::net::{IpAddr, Ipv4Addr};

use model::{
    facts::HostFacts,
    findings::Findings,
    net::{Direction, IpVersion, Layer},
    run::{
        Column, End, Figure, FigureKind, FlowResult, Key, LayerAddress, Pooled, Probes, Ratio, Run,
        Sample, Series, Spread, StepKind, Tcp,
    },
};
use report::{
    documents::{Document, Documents},
    page::{self, Lang},
};
use stats::Random;

/// A load of 8 s, sampled and probed every 10 ms, with incompressible values.
fn sample(number: u32, key: Key, random: &mut Random) -> Sample {
    let samples = 800;
    let mut noise = |most: u64| random.next_u64() % most;
    let at_us: Vec<i64> = (0..samples)
        .map(|i| i * 10_000 + noise(500) as i64)
        .collect();
    let mut series = |columns: &[(Column, u64)]| {
        let mut series = Series {
            at_us: at_us.clone(),
            ..Series::default()
        };
        for (name, most) in columns {
            series.push(*name, at_us.iter().map(|_| Some(noise(*most))).collect());
        }
        series
    };
    let sent = series(&[
        (Column::SndCwnd, 9000),
        (Column::RttUs, 400_000),
        (Column::TotalRetrans, 100),
    ]);
    let probed = series(&[(Column::RttNs, 400_000_000)]);
    let received = series(&[(Column::BytesReceived, 1_000_000)]);
    let flow = FlowResult {
        min_rtt_us: Some(20_000.0),
        series: Some(sent),
        received: Some(received),
        ..FlowResult::default()
    };
    let flows = key.flows.unwrap_or(1);
    let mut sample = Sample::new(key, u64::from(number) * 10_000_000);
    sample.number = number;
    sample.tcp = Some(Tcp {
        window_us: [2_000_000, 8_000_000],
        goodput_bps: 50e6,
        flows: vec![flow; flows as usize],
        ..Tcp::default()
    });
    sample.probes = Some(Probes {
        sent: 800,
        n: 800,
        series: Some(probed),
        ..Probes::default()
    });
    sample
}

/// The loads of the default plan on both layers with ten repeats, its maximum.
fn run() -> Run {
    let mut random = Random::new(7);
    let mut samples = Vec::new();
    for _ in 0..10 {
        for layer in [Layer::Underlay, Layer::Tunnel] {
            for direction in [Direction::Down, Direction::Up] {
                for cc in ["cubic", "bbr"] {
                    for (flows, bidirectional) in [(1, false), (8, false), (1, true)] {
                        let key = Key {
                            step: StepKind::Tcp,
                            layer,
                            family: IpVersion::V4,
                            direction: Some(direction),
                            bidirectional,
                            flows: Some(flows),
                            cc: Some(cc.to_owned()),
                            rate_bps: None,
                            bytes: None,
                        };
                        samples.push(sample(samples.len() as u32, key, &mut random));
                    }
                }
            }
        }
    }
    let (figures, ratios) = figures(&samples);
    let end = || End::new("0.1.0", HostFacts::default());
    let address = |layer| LayerAddress {
        layer,
        family: IpVersion::V4,
        near: IpAddr::V4(Ipv4Addr::LOCALHOST),
        far: IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    let plan = serde_json::from_str("{\"step\": []}").unwrap();
    Run {
        took_s: 2000.0,
        layers: vec![address(Layer::Underlay), address(Layer::Tunnel)],
        samples,
        figures,
        ratios,
        cut_short: Some(Text::plain("</script><script>alert(1)</script>")),
        notes: vec![Text::plain("<img src=x onerror=alert(1)>")],
        ..Run::new(
            "0123456789abcdef".to_owned(),
            1_795_255_200_000_000,
            plan,
            end(),
            end(),
        )
    }
}

/// Seven kinds of figures per key, as in a run, and ratios of tunnel to path: their size reduces
/// the space for timelines.
fn figures(samples: &[Sample]) -> (Vec<Figure>, Vec<Ratio>) {
    const KINDS: [FigureKind; 7] = [
        FigureKind::Goodput,
        FigureKind::Retransmitted,
        FigureKind::RttP50,
        FigureKind::RttP95,
        FigureKind::RttP99,
        FigureKind::ProbeLost,
        FigureKind::TcpRttP50,
    ];
    let mut keys: Vec<&Key> = samples.iter().map(|s| &s.key).collect();
    keys.sort();
    keys.dedup();
    let spread = Spread {
        range: None,
        pooled: None,
        n: 10,
        median: 0.123_456_789,
        mean: 0.123_456_789,
        sd: Some(0.012_345_678),
        p95: None,
        p99: None,
        low: Some(0.112_345_678),
        high: Some(0.134_567_891),
    };
    let figure = |key: &Key, kind: FigureKind| Figure {
        key: key.clone(),
        kind,
        spread,
        drift: Some(-0.123),
    };
    let ratio = |key: &Key, kind: FigureKind| Ratio {
        range: None,
        pooled: None,
        of: key.clone(),
        to: Key {
            layer: Layer::Underlay,
            ..key.clone()
        },
        kind,
        ratio: 0.987_654_321,
        low: Some(0.912_345_678),
        high: Some(1.012_345_678),
        n_of: 10,
        n_to: 10,
    };
    let each = |key| KINDS.map(|kind| (key, kind));
    let all = keys.iter().copied().flat_map(each);
    let tunnel = all.clone().filter(|(key, _)| key.layer == Layer::Tunnel);
    (
        all.map(|(key, kind)| figure(key, kind)).collect(),
        tunnel.map(|(key, kind)| ratio(key, kind)).collect(),
    )
}

#[test]
fn the_page_of_a_default_run_is_below_500_kb_whatever_was_measured() {
    let mut documents = Documents::default();
    documents
        .add(Document::Run(Box::new(run())), explain::judge)
        .unwrap();
    for lang in [Lang::English, Lang::SimplifiedChinese] {
        let html = page::html(&documents, lang, "0.1.0");
        assert!(html.len() < 500_000, "{} bytes", html.len());
        assert!(html.contains("id=\"timelines\""));
        // Three elements of the page, and none of the document.
        assert_eq!(html.matches("<script").count(), 3);
        assert_eq!(html.matches("<img").count(), 0);
    }
}

#[test]
fn an_empty_run_has_a_page() {
    let empty = Run {
        samples: Vec::new(),
        layers: Vec::new(),
        ..run()
    };
    let mut documents = Documents::default();
    documents
        .add(Document::Run(Box::new(empty)), explain::judge)
        .unwrap();
    let html = page::html(&documents, Lang::English, "0.1.0");
    assert!(html.contains("<h1>"));
    assert!(!html.contains("id=\"timelines\""));
}

/// The texts of findings, anywhere in the document.
fn message<'a>(document: &'a serde_json::Value, found: &mut Vec<&'a str>) {
    const WORDS: [&str; 7] = [
        "says",
        "settle",
        "name",
        "bound",
        "arithmetic",
        "why",
        "because",
    ];
    match document {
        serde_json::Value::Array(items) => items.iter().for_each(|item| message(item, found)),
        serde_json::Value::Object(members) => {
            let words = WORDS.iter().filter_map(|name| {
                let text = members.get(*name)?;
                text.as_str().or(text["text"].as_str())
            });
            found.extend(words);
            members.values().for_each(|member| message(member, found));
        }
        _ => {}
    }
}

/// A path with a small window in one direction and a deep queue in the other, with its findings.
fn judged() -> (Run, Findings) {
    let run = common::window_and_queue();
    let findings = explain::judge(&run);
    (run, findings)
}

fn page_of(run: &Run, findings: &Findings, lang: Lang) -> String {
    let documents = Documents {
        run: Some((run.clone(), findings.clone())),
        causes: explain::titles(),
        ..Documents::default()
    };
    page::html(&documents, lang, "0.1.0")
}

/// Number of elements marked as English before the facts of the hosts, which are English.
fn marked(page: &str) -> usize {
    let before = page.split("id=\"hosts\"").next().unwrap();
    before.matches("lang=\"en\"").count()
}

/// The Chinese page of a run, checked to contain no English sentence of its findings.
fn without_english(run: &Run, findings: &Findings) -> String {
    let document = serde_json::to_value(findings).unwrap();
    let mut words = Vec::new();
    message(&document, &mut words);
    // Units and formulas are the same in both languages: only texts of four words or more count.
    let word = |w: &&str| w.len() > 1 && w.chars().all(char::is_alphabetic);
    let sentences: Vec<&str> = words
        .into_iter()
        .filter(|text| text.split(' ').filter(word).count() >= 4)
        .collect();
    assert!(sentences.len() > 50, "{sentences:#?}");
    let chinese = page_of(run, findings, Lang::SimplifiedChinese);
    let english = page_of(run, findings, Lang::English);
    for sentence in sentences {
        let escaped = sentence[1..].replace('<', "&lt;").replace('>', "&gt;");
        assert!(english.contains(&escaped), "{sentence}");
        assert!(!chinese.contains(&escaped), "{sentence}");
    }
    assert_eq!(marked(&chinese), 0);
    chinese
}

#[test]
fn the_chinese_page_has_no_english_sentence_of_the_findings() {
    let (run, findings) = judged();
    let chinese = without_english(&run, &findings);
    let window = "最多允许";
    let queue = "相当于队列中积压了";
    assert!(chinese.contains(window) && chinese.contains(queue));
}

#[test]
fn the_chinese_page_of_a_lab_run_has_no_english_sentence_of_the_findings() {
    let run = Run::parse(include_bytes!("../../model/tests/data/run-1.json")).unwrap();
    let findings = explain::judge(&run);
    let chinese = without_english(&run, &findings);
    assert!(chinese.contains("慢启动在路径所容窗口的"));
}

/// A document of schema 1 without messages: texts with figures stay English and are marked.
#[test]
fn findings_without_messages_have_a_chinese_page() {
    let text = include_bytes!("../../model/tests/data/findings-1.json");
    let findings = Findings::parse(text).unwrap();
    let (run, _) = judged();
    let chinese = page_of(&run, &findings, Lang::SimplifiedChinese);
    let english = page_of(&run, &findings, Lang::English);
    let text = findings.findings[0].text.to_string();
    let english_there = chinese
        .split("lang=\"en\">")
        .any(|after| after[1..].starts_with(&text[1..]));
    assert!(english_there, "{text}");
    assert!(english.contains(&text[1..]));
    assert_eq!(marked(&english), 1, "the page itself");
    // Texts that equal their template are still translated.
    let bound = |e: &model::findings::EvidenceItem| e.bound.as_ref().map(ToString::to_string);
    let bounds = findings
        .findings
        .iter()
        .flat_map(|f| &f.evidence)
        .filter_map(bound);
    for bound in bounds.filter(|b| b.starts_with("below 85")) {
        assert!(!chinese.contains(&bound), "{bound}");
    }
}

#[test]
fn the_interval_of_three_repeats_by_a_pooled_spread_is_below_their_range_and_called_so() {
    let (mut run, findings) = judged();
    run.figures = analysis::summary::figures(&run.samples);
    let goodput = |f: &&mut Figure| f.kind == FigureKind::Goodput;
    let spread = &mut run.figures.iter_mut().find(goodput).unwrap().spread;
    *spread = Spread {
        n: 3,
        median: 18.6e6,
        low: None,
        high: None,
        range: Some([18.2e6, 19.0e6].into()),
        pooled: Some(Pooled {
            low: 17.94e6,
            high: 19.31e6,
            freedom: 4,
        }),
        ..*spread
    };
    let english = page_of(&run, &findings, Lang::English);
    let range = english.find(">range 18.2").unwrap();
    let pooled = english.find(">pooled 17.9").unwrap();
    assert!(range < pooled && pooled - range < 100);
    let chinese = page_of(&run, &findings, Lang::SimplifiedChinese);
    assert!(chinese.contains(">合并 17.9"));
}
