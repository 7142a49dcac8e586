//! Readability of documents of every schema: each file was written by the version of its time.
//! Files are added and never changed.

#![allow(clippy::unwrap_used)]

use model::{
    comparison::{Comparison, Verdict},
    findings::{FINDINGS_SCHEMA, Findings, Severity},
    net::Side,
    path::{Loss, Parameter, Path, Source},
    run::{Invalid, Run, RunError, StepKind},
    text,
    units::Share,
};

const RUN_1: &[u8] = include_bytes!("data/run-1.json");
const FINDINGS_1: &[u8] = include_bytes!("data/findings-1.json");
const FINDINGS_1_MESSAGES: &[u8] = include_bytes!("data/findings-1-messages.json");
const PATH_1: &[u8] = include_bytes!("data/path-1.json");
const COMPARISON_1: &[u8] = include_bytes!("data/comparison-1.json");

#[test]
fn a_run_of_schema_1_is_read() {
    let run = Run::parse(RUN_1).unwrap();
    assert_eq!((run.schema, run.id.as_str()), (1, "b820f1098ca937a7"));
    assert_eq!(run.near.facts.kernel.as_deref(), Some("7.2.13"));
    assert_eq!((run.samples.len(), run.figures.len()), (7, 26));
    let sample = run.samples.iter().find(|s| s.number == 3).unwrap();
    assert_eq!(sample.key.step, StepKind::Tcp);
    assert_eq!(sample.key.to_string(), "underlay/v4 tcp up x1 cubic");
    let goodput = sample.tcp.as_ref().map(|tcp| tcp.goodput_bps);
    assert_eq!(goodput, Some(10_925_642.666_666_666));
    let rtt = sample.probes.as_ref().and_then(|probes| probes.p50_us);
    assert_eq!(rtt, Some(225_182.848));
    assert!(sample.valid);
}

/// Schema 1 has notes and reasons as plain strings.
#[test]
fn words_of_a_run_of_schema_1_are_texts() {
    let mut document: serde_json::Value = serde_json::from_slice(RUN_1).unwrap();
    document["notes"] = serde_json::json!(["left out: idle (not with iperf3)"]);
    document["cut_short"] = "stopped by the user".into();
    let failed = serde_json::json!([{"because": "failed", "why": "no connection carried data"}]);
    document["samples"][0]["invalid"] = failed;
    let run = Run::parse(&serde_json::to_vec(&document).unwrap()).unwrap();
    assert_eq!(run.notes[0].to_string(), "left out: idle (not with iperf3)");
    assert_eq!(run.cut_short, Some(text!("stopped by the user")));
    let why = text!("no connection carried data");
    assert_eq!(run.samples[0].invalid, [Invalid::failed(why)]);
}

#[test]
fn findings_of_schema_1_are_read() {
    let findings = Findings::parse(FINDINGS_1).unwrap();
    assert_eq!(findings.run, "b820f1098ca937a7");
    let first = &findings.findings[0];
    assert_eq!(first.code.as_str(), "jitter");
    assert_eq!(first.remedies[0].on.side(), Some(Side::Far));
    assert!(first.severity > Severity::Info && first.evidence[0].decides);
    assert_eq!(findings.ruled_out.len(), 46);
}

/// Later programs wrote schema 1 with separate templates and values of its texts.
#[test]
fn findings_of_schema_1_with_messages_are_read_as_texts_with_values() {
    let findings = Findings::parse(FINDINGS_1_MESSAGES).unwrap();
    let document: serde_json::Value = serde_json::from_slice(FINDINGS_1_MESSAGES).unwrap();
    assert_eq!(findings.schema, FINDINGS_SCHEMA);
    let (first, written) = (&findings.findings[0], &document["findings"][0]);
    assert_eq!(first.text.to_string(), written["says"].as_str().unwrap());
    let says = &written["messages"]["says"];
    assert_eq!(first.text.template(), says["template"].as_str().unwrap());
    let names: Vec<&str> = first.text.values().map(|(name, _)| name).collect();
    let written = says["values"].as_object().unwrap();
    assert_eq!(names, written.keys().collect::<Vec<_>>());
    let mut checked = 0;
    for (item, written) in findings
        .ruled_out
        .iter()
        .zip(document["ruled_out"].as_array().unwrap())
    {
        assert_eq!(item.why.to_string(), written["why"].as_str().unwrap());
        checked += usize::from(item.why.values().count() > 0);
    }
    assert!(checked > 10, "{checked}");
}

#[test]
fn a_path_of_schema_1_is_read() {
    let path = Path::parse(PATH_1).unwrap();
    let loss = Some(Loss::Random {
        share: Parameter::new(Share::new(0.001).unwrap(), Source::Measured)
            .within(Share::new(0.0004).unwrap(), Share::new(0.002).unwrap()),
    });
    assert_eq!(path.underlay.down.loss, loss);
    let cc = path.ends.near.cc.unwrap();
    assert_eq!(cc, Parameter::new("bbr".to_owned(), Source::Facts));
    assert_eq!(path.stand_ins[0].parameters, ["underlay.down.rate_bps"]);
}

#[test]
fn a_comparison_of_schema_1_is_read() {
    let comparison: Comparison = serde_json::from_slice(COMPARISON_1).unwrap();
    assert_eq!(comparison.schema, 1);
    assert_eq!(comparison.before.runs, ["b820f1098ca937a7"]);
    let first = &comparison.lines[0];
    assert_eq!(
        (first.before.median, first.after.median),
        (207_593.088, 120_000.0)
    );
    assert_eq!(first.verdict, Verdict::CannotTell);
}

#[test]
fn parsed_messages_are_written_back() {
    let run = Run::parse(RUN_1).unwrap();
    assert_eq!(Run::parse(&serde_json::to_vec(&run).unwrap()).unwrap(), run);
    let findings = Findings::parse(FINDINGS_1).unwrap();
    let again = serde_json::to_vec(&findings).unwrap();
    assert_eq!(Findings::parse(&again).unwrap(), findings);
}

#[test]
fn a_later_schema_is_refused_by_name() {
    let text = String::from_utf8(RUN_1.to_vec()).unwrap();
    let later = text.replacen("{\"schema\":1", "{\"schema\":1000", 1);
    assert!(matches!(
        Run::parse(later.as_bytes()),
        Err(RunError::Newer(1000))
    ));
}
