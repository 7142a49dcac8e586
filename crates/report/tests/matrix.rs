//! The page of results of the lab.

#![allow(clippy::unwrap_used)]

use model::{
    row::{Row, Rows},
    text::Text,
};
use report::{
    documents::Documents,
    page::{self, Lang},
};

fn row(seed: u64, cc: &str, goodput_mbps: f64) -> Row {
    serde_json::from_value(serde_json::json!({
        "schema": 1, "name": "n", "factors": {"ends.server.cc": cc}, "seed": seed,
        "layer": "underlay", "direction": "down", "flows": 1, "goodput_mbps": goodput_mbps,
        "retransmits": 5, "segments": 1000, "retransmitted": 0.004, "valid": true, "kernel": "7.2", "virtual_s": 1.0,
        "digest": "",
    }))
    .unwrap()
}

fn page(rows: Vec<Row>, lang: Lang) -> String {
    let rows = Rows {
        schema: 1,
        name: "n".to_owned(),
        rows,
    };
    let documents = Documents {
        matrices: vec![rows],
        ..Documents::default()
    };
    page::html(&documents, lang, "0.1.0")
}

/// Bug: the page stated that the table of all values has the reasons, but they were missing.
#[test]
fn the_page_says_why_rows_do_not_count() {
    let broken = |seed| Row {
        valid: false,
        invalid_because: vec![Text::plain("the moon is full")],
        ..row(seed, "cubic", 1.0)
    };
    let rows = vec![row(1, "cubic", 10.0), broken(2), broken(3)];
    let english = page(rows.clone(), Lang::English);
    assert!(english.contains("2 rows are invalid"), "{english}");
    assert!(english.contains("the moon is full</span> (n = 2)"));
    let chinese = page(rows, Lang::SimplifiedChinese);
    assert!(chinese.contains("lang=\"en\">the moon is full"));
}

/// 20 over 10 Mbit/s, and the share of bytes, not the 5 of 1000 segments.
#[test]
fn effects_and_shares_of_a_matrix_are_those_of_its_rows() {
    let page = page(
        vec![row(1, "cubic", 10.0), row(1, "bbr", 20.0)],
        Lang::English,
    );
    assert!(page.contains("bbr reaches 2 times the goodput of cubic"));
    assert!(page.contains("Highest goodput: 20 Mbit/s"));
    assert!(page.contains("0.4 %"), "the retransmitted share");
}

/// Bug: the kernel of a row, which a node of a cluster writes, was markup on the page of charts.
#[test]
fn a_row_of_others_cannot_become_markup_on_the_page_of_charts() {
    let script = "<script>alert(1)</script>";
    let hostile = Row {
        kernel: script.to_owned(),
        name: script.to_owned(),
        ..row(1, script, 10.0)
    };
    let page = report::graph::page(script, &[hostile], None);
    assert!(!page.contains("<script>"), "{page}");
    assert!(page.contains("Linux &lt;script&gt;"), "{page}");
}
