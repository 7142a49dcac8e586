//! Runs in Prometheus' text format, version 0.0.4, for a node exporter's textfile collector or a
//! push gateway.
//!
//! Names end in base units, as Prometheus requires. There are no timestamps: the collector does not
//! accept them and reports the modification time of the file.

use model::{
    findings::Findings,
    run::{Figure, FigureKind, Key, Run, StepKind},
};

use crate::exposition::{Family, Labels, base};

/// The text: metadata of the run, a gauge for each kind of figure with interval and number of
/// samples, and the confidence of each cause.
pub fn prometheus(run: &Run, findings: &Findings) -> String {
    let mut families = about(run);
    for kind in FigureKind::ALL {
        let figures: Vec<&Figure> = run.figures.iter().filter(|f| f.kind == kind).collect();
        families.extend(figure(run, kind, &figures));
    }
    families.push(causes(run, findings));
    families.iter().map(Family::text).collect()
}

/// A gauge with one value.
fn one(name: &str, help: &str, labels: Labels, value: f64) -> Family {
    Family::gauge(name, help).with(labels, value)
}

fn about(run: &Run) -> Vec<Family> {
    let path = || Labels::from([("path", run.path())]);
    let mut info = path();
    info.insert("run", run.id.clone());
    info.insert("plan", run.plan.name.clone());
    info.insert("program", run.program.clone());
    for (name, end) in [("near_kernel", &run.near), ("far_kernel", &run.far)] {
        if let Some(kernel) = &end.facts.kernel {
            info.insert(name, kernel.clone());
        }
    }
    let count = run.samples.iter().filter(|s| s.valid).count();
    let whole = f64::from(u8::from(run.cut_short.is_none()));
    vec![
        one("run_info", "the run; always 1", info, 1.0),
        one(
            "run_start_time_seconds",
            "when the run started, since 1970",
            path(),
            run.started_us as f64 / 1e6,
        ),
        one(
            "run_duration_seconds",
            "how long the run took",
            path(),
            run.took_s,
        ),
        one(
            "run_whole",
            "1 if the run was not cut short, else 0",
            path(),
            whole,
        ),
        one(
            "run_samples",
            "number of samples",
            path(),
            run.samples.len() as f64,
        ),
        one(
            "run_samples_valid",
            "number of valid samples",
            path(),
            count as f64,
        ),
    ]
}

/// Median, ends of the interval and number of samples of one kind of figure.
fn figure(run: &Run, kind: FigureKind, figures: &[&Figure]) -> Vec<Family> {
    let (stem, text) = (kind.stem(), kind.text());
    let (unit, scale) = base(kind.unit());
    let part = |part: &str, help: String, value: &dyn Fn(&Figure) -> Option<f64>| {
        let mut family = Family::gauge(format!("{stem}{part}_{unit}"), help);
        let values = figures.iter().filter_map(|f| Some((f, value(f)?)));
        for (f, value) in values.filter(|(_, value)| value.is_finite()) {
            family.add(labels(run, &f.key), value / scale);
        }
        family
    };
    let mut samples = Family::gauge(
        format!("{stem}_samples"),
        format!("samples behind pathtwin_{stem}_{unit}"),
    );
    for f in figures {
        samples.add(labels(run, &f.key), f.spread.n as f64);
    }
    let end = |which| format!("{text}, {which} end of the median's 95 % interval");
    vec![
        part("", format!("{text}, median of the samples"), &|f| {
            Some(f.spread.median)
        }),
        part("_low", end("lower"), &|f| f.spread.low),
        part("_high", end("upper"), &|f| f.spread.high),
        samples,
    ]
}

fn labels(run: &Run, key: &Key) -> Labels {
    let mut labels = Labels::from([
        ("path", run.path()),
        ("step", key.step.to_string()),
        ("layer", key.layer.to_string()),
        ("family", key.family.to_string()),
    ]);
    if let Some(address) = address(run, key) {
        labels.insert("near", address.near.to_string());
        labels.insert("far", address.far.to_string());
    }
    if let Some(direction) = key.direction {
        labels.insert("direction", direction.to_string());
    }
    if key.step == StepKind::Tcp {
        labels.insert("opposed", key.bidirectional.to_string());
    }
    let mut more = |name, value: Option<String>| {
        if let Some(value) = value {
            labels.insert(name, value);
        }
    };
    more("flows", key.flows.map(|n| n.to_string()));
    more("cc", key.cc.clone());
    more("rate_bits_per_second", key.rate_bps.map(|n| n.to_string()));
    more("answer_bytes", key.bytes.map(|n| n.to_string()));
    labels
}

fn address<'a>(run: &'a Run, key: &Key) -> Option<&'a model::run::LayerAddress> {
    run.layers
        .iter()
        .find(|l| l.layer == key.layer && l.family == key.family)
}

fn causes(run: &Run, findings: &Findings) -> Family {
    let mut family = Family::gauge(
        "cause_confidence_ratio",
        "confidence that this cause limits the path",
    );
    for finding in &findings.findings {
        let mut labels = Labels::from([
            ("path", run.path()),
            ("code", finding.code.to_string()),
            ("severity", finding.severity.to_string()),
        ]);
        if let Some(layer) = findings.layer {
            labels.insert("layer", layer.to_string());
        }
        if let Some(direction) = finding.place.direction {
            labels.insert("direction", direction.to_string());
        }
        if let Some(end) = finding.place.end {
            labels.insert("end", end.to_string());
        }
        // Two findings with the same cause and place would be one series: the one with the higher
        // confidence is kept.
        let known = family.values_mut().find(|(own, _)| **own == labels);
        match known {
            Some((_, value)) => *value = value.max(finding.confidence),
            None => family.add(labels, finding.confidence),
        }
    }
    family
}
