//! A twin and an advice on a terminal and on the page.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use model::{
    advice::{
        ADVICE_SCHEMA, Advice, AdviceFigure, Change, Effect, Goal, NotTried, Origin, Outcome,
        Tried, Unchanged,
    },
    findings::Findings,
    net::Direction,
    remedy::{Action, CcScope, Location, Remedy},
    run::Run,
    text::Text,
    twin::TwinVerdict,
};
use report::{
    documents::{Document, Documents},
    page::{self, Lang},
};

fn outcomes(goodput_bps: f64, rtt_us: f64) -> Vec<Outcome> {
    let of = |direction| Outcome {
        direction,
        goodput_bps,
        rtt_p50_us: rtt_us,
        rtt_p99_us: 1.2 * rtt_us,
        retransmitted: 0.001,
    };
    vec![of(Direction::Down), of(Direction::Up)]
}

fn tried(name: &str, effect: Effect, goodput_bps: f64, rtt_us: f64) -> Tried {
    let change = |figure| Change {
        direction: Direction::Down,
        figure,
        ratio: 1.5,
        low: 1.2,
        high: 1.9,
    };
    let cc = Action::CongestionControl {
        cc: "bbr".to_owned(),
        scope: CcScope::Host,
    };
    Tried {
        name: Text::name(name),
        origin: Origin::Recipe,
        remedies: vec![Remedy::new(cc, Location::Far, Text::plain(""))],
        effect,
        texts: vec![Text::fixed("the path has it already")],
        outcomes: outcomes(goodput_bps, rtt_us),
        changes: vec![
            change(AdviceFigure::Goodput),
            change(AdviceFigure::LoadedP50),
        ],
        worth: 0.4,
        regret: 0.0,
        competitor: Vec::new(),
        pairs: 8,
        runs: vec!["0123456789abcdef".to_owned()],
    }
}

fn advice() -> Advice {
    Advice {
        schema: ADVICE_SCHEMA,
        program: "0.1.0".to_owned(),
        run: "r1".to_owned(),
        twin: TwinVerdict::FitForAdvising,
        goal: Goal::Balanced,
        keep: Vec::new(),
        text: Text::fixed("it changes nothing"),
        advised: Some(0),
        settle: None,
        unchanged: Unchanged {
            outcomes: outcomes(30e6, 120e3),
            runs: Vec::new(),
        },
        tried: vec![
            tried("bbr", Effect::Helps, 45e6, 60e3),
            tried(
                "<script>alert(1)</script> and a name that is far wider than its column",
                Effect::Nothing,
                30e6,
                119e3,
            ),
        ],
        not_tried: vec![NotTried {
            name: Text::name("tcp_sack=0"),
            why: Text::fixed("the lab has no such setting"),
            remedy: None,
        }],
        notes: Vec::new(),
        runs: 40,
        failed: 0,
    }
}

/// An advice and a twin have no findings.
fn none(_: &Run) -> Findings {
    panic!("nothing to judge")
}

fn documents() -> Documents {
    let text = serde_json::to_vec(&advice()).unwrap();
    let mut documents = Documents::default();
    documents
        .add(Document::parse(&text).unwrap(), none)
        .unwrap();
    documents
}

#[test]
fn the_terminal_has_the_answer_first_and_no_line_wider_than_80_columns() {
    let text = report::advice::text(&advice());
    assert!(text.starts_with("It changes nothing."), "{text}");
    let wide: Vec<&str> = text.lines().filter(|l| l.chars().count() > 80).collect();
    let commands = |l: &&str| l.contains('#');
    assert!(wide.iter().all(commands), "{wide:?}");
    assert!(text.contains("* bbr") && text.contains("change nothing"));
}

#[test]
fn the_picture_marks_no_change_and_each_point_leads_to_its_commands() {
    let page = page::html(&documents(), Lang::English, "0.1.0");
    assert!(page.contains("change nothing"));
    for place in 0..2 {
        assert!(page.contains(&format!("href=\"#remedy-{place}\"")));
        assert!(page.contains(&format!("id=\"remedy-{place}\"")));
    }
    assert!(page.contains("net.ipv4.tcp_congestion_control=bbr"));
}

#[test]
fn names_of_a_document_are_escaped() {
    let page = page::html(&documents(), Lang::English, "0.1.0");
    assert!(!page.contains("<script>alert"));
}

#[test]
fn the_chinese_page_has_its_own_words() {
    let page = page::html(&documents(), Lang::SimplifiedChinese, "0.1.0");
    for words in ["不做改变", "有帮助", "实验室没有这种设置"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("change nothing"));
}

#[test]
fn a_second_advice_in_a_report_is_refused() {
    let text = serde_json::to_vec(&advice()).unwrap();
    let mut documents = documents();
    assert!(
        documents
            .add(Document::parse(&text).unwrap(), none)
            .is_err()
    );
}
