//! Metrics of a watch in Prometheus' text format: the last measurement and its time, without
//! measuring anew.

use model::watch::WatchFigure;
use report::exposition::{Family, Labels, base};

use crate::{
    figures::Figure,
    moment::Moment,
    path_state::{BUCKETS, PathState},
    watcher::Watcher,
};

/// The text of all metrics.
pub fn text(watcher: &Watcher, program: &str, now: Moment) -> String {
    let mut families = watch(watcher, program, now);
    families.extend(paths(watcher));
    families.extend(facts(watcher));
    families.extend(probes(watcher));
    families.extend(figures(watcher));
    families.iter().map(Family::text).collect()
}

fn label(path: &str) -> Labels {
    Labels::from([("path", path.to_owned())])
}

/// The states of all paths, in the order of the config.
fn states(watcher: &Watcher) -> impl Iterator<Item = (Labels, &PathState)> {
    let paths = watcher.config().paths.iter();
    paths.filter_map(|path| Some((label(&path.name), watcher.state_of(&path.name)?)))
}

fn watch(watcher: &Watcher, program: &str, now: Moment) -> Vec<Family> {
    let one =
        |name: &str, help: &str, value: f64| Family::gauge(name, help).with(Labels::new(), value);
    let version = Labels::from([("version", program.to_owned())]);
    vec![
        Family::gauge("build_info", "the program; always 1").with(version, 1.0),
        one(
            "budget_bytes",
            "bytes on the line that this month may cost",
            watcher.config().month_bytes as f64,
        ),
        one(
            "budget_charged_bytes",
            "bytes charged to this month so far",
            watcher.spent(now) as f64,
        ),
        one(
            "messages_waiting",
            "messages that are to be sent",
            watcher.waiting().len() as f64,
        ),
    ]
}

fn paths(watcher: &Watcher) -> Vec<Family> {
    let mut info = Family::gauge(
        "path_info",
        "the path with its far end and its last run; always 1",
    );
    let mut up = Family::gauge(
        "path_reachable",
        "1 if the far end answers, else 0; absent until it was asked",
    );
    let mut load = Family::gauge(
        "load_timestamp_seconds",
        "when the last load was, since 1970",
    );
    let mut full = Family::gauge(
        "full_plan_timestamp_seconds",
        "when the last full plan was, since 1970",
    );
    let mut change = Family::gauge(
        "change_timestamp_seconds",
        "when the last lasting change that was reported began, since 1970",
    );
    let mut told = Family::gauge(
        "change_reported_timestamp_seconds",
        "when the last lasting change was reported, since 1970",
    );
    let mut finding = Family::gauge("finding", "1 for each cause that the last full plan showed");
    let hosts = watcher.config().paths.iter();
    let hosts = hosts.filter(|path| watcher.state_of(&path.name).is_some());
    for (host, (labels, state)) in hosts.zip(states(watcher)) {
        let mut about = labels.clone();
        about.insert("far", host.host.clone());
        about.insert("run", state.run.clone().unwrap_or_default());
        info.add(about, 1.0);
        if let Some(is_up) = state.reach.is_up() {
            up.add(labels.clone(), f64::from(u8::from(is_up)));
        }
        for (family, at_us) in [
            (&mut load, state.load_us),
            (&mut full, state.full_us),
            (&mut change, state.reported_us),
            (&mut told, state.told_us),
        ] {
            if let Some(at_us) = at_us {
                family.add(labels.clone(), watcher.of_host_us(at_us) as f64 / 1e6);
            }
        }
        let mut codes: Vec<&str> = state
            .causes
            .iter()
            .map(|cause| cause.code.as_str())
            .collect();
        codes.sort_unstable();
        codes.dedup();
        for code in codes {
            let mut labels = labels.clone();
            labels.insert("code", code.to_owned());
            finding.add(labels, 1.0);
        }
    }
    vec![info, up, load, full, change, told, finding]
}

/// Facts of the hosts that are labels of an `_info` metric: the label, and the name of the fact.
const OF_HOST: [(&str, &str); 3] = [
    ("congestion_control", "congestion.default"),
    ("kernel", "kernel"),
    ("version", "program"),
];
/// Likewise of the tunnel that a host's packets enter first.
const OF_TUNNEL: [(&str, &str); 3] = [
    ("kind", "path.layers.0.tunnel.kind"),
    ("mode", "path.layers.0.tunnel.path"),
    ("product", "path.layers.0.tunnel.product"),
];

/// Facts of both hosts at the last run. A fact that is not known has no label.
fn facts(watcher: &Watcher) -> Vec<Family> {
    let mut hosts = Family::gauge("host_info", "facts of a host at the last run; always 1");
    let mut tunnels = Family::gauge(
        "tunnel_info",
        "the tunnel of a host on the path at the last run, direct or relayed; always 1",
    );
    for (path, state) in states(watcher) {
        for end in ["near", "far"] {
            for (family, names) in [(&mut hosts, OF_HOST), (&mut tunnels, OF_TUNNEL)] {
                let known = |(label, name): (&'static str, &str)| {
                    Some((label, state.facts.get(&format!("{end}.{name}"))?.clone()))
                };
                let mut labels: Labels = names.into_iter().filter_map(known).collect();
                if !labels.is_empty() {
                    labels.extend(path.clone());
                    labels.insert("end", end.to_owned());
                    family.add(labels, 1.0);
                }
            }
        }
    }
    vec![hosts, tunnels]
}

fn probes(watcher: &Watcher) -> Vec<Family> {
    let mut rtt = Family::histogram(
        "probe_rtt_seconds",
        "round trips of the probes without load",
    );
    let mut sent = Family::counter("probes_total", "probes sent since the start");
    let mut lost = Family::counter(
        "probes_lost_total",
        "probes without an answer since the start",
    );
    for (labels, state) in states(watcher) {
        for totals in &state.totals {
            let mut labels = labels.clone();
            labels.insert("layer", totals.layer.to_string());
            labels.insert("family", totals.family.to_string());
            let answered: u64 = totals.buckets.iter().sum();
            rtt.observe(&labels, &BUCKETS, &totals.buckets, totals.sum_s);
            sent.add(labels.clone(), (answered + totals.lost) as f64);
            lost.add(labels, totals.lost as f64);
        }
    }
    vec![rtt, sent, lost]
}

/// The watched figures: the last value, and the usual value of the present level.
fn figures(watcher: &Watcher) -> Vec<Family> {
    let mut families = Vec::new();
    for kind in WatchFigure::ALL {
        let (stem, help) = named(kind);
        let (unit, scale) = base(kind.unit());
        let mut latest = Family::gauge(format!("{stem}_{unit}"), help);
        let usual = format!("{help}; the usual value since the last change");
        let mut usual = Family::gauge(format!("{stem}_usual_{unit}"), usual);
        for path in watcher.status() {
            for status in path.figures.iter().filter(|s| s.figure.kind == kind) {
                let labels = labels(&path.name, &status.figure);
                latest.add(labels.clone(), status.latest / scale);
                if let Some(value) = status.usual {
                    usual.add(labels, value / scale);
                }
            }
        }
        families.extend([latest, usual]);
    }
    families
}

/// Name of a figure without its unit, and its help.
fn named(kind: WatchFigure) -> (&'static str, &'static str) {
    match kind {
        WatchFigure::Goodput => ("goodput", "goodput of the last load"),
        WatchFigure::Added => (
            "load_rtt_added",
            "what the last load added to the round trip",
        ),
        WatchFigure::Rtt => (
            "rtt",
            "round trip without load, median of the last hour's probes",
        ),
        WatchFigure::Lost => (
            "probe_loss",
            "share of the last hour's probes without an answer",
        ),
    }
}

fn labels(path: &str, figure: &Figure) -> Labels {
    let mut labels = label(path);
    labels.insert("layer", figure.layer.to_string());
    labels.insert("family", figure.family.to_string());
    if let Some(direction) = figure.direction {
        labels.insert("direction", direction.to_string());
    }
    labels
}
