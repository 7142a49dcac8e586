//! Words of the served pages.

use model::{
    text,
    text::{Text, Value},
};

use super::{counted, macros::labels};

labels! {
    skip: "Skip to the content",
    paths: "All paths",
    mesh: "Between hosts",
    read(at): "read {at} UTC, refreshed every ten seconds",
    history: "History:",
    budget(charged, of): "Charged this month: {charged} of {of}",
    empty: "There are no runs yet. Add some by:",
    figures: "figures",
    usual: "as usual",
    worse: "worse than usual",
    better: "better than usual",
    changed(days): "changed within {days} days",
    old: "not measured recently",
    unreachable: "far end does not answer",
    new: "too few runs to compare",
    run: "newest run",
    today: "Latest day",
    usually: "Usual",
    usually_value(value): "usually {value}",
    trend: "Trend",
    live: "Live values",
    over_time: "History",
    chart_note:
        "One point a run: its median, with the 95 % interval as a band. Solid lines mark lasting changes, dashed lines the median of each level, dotted lines changes that were made on a host with pathtwin tune. Times are UTC.",
    changes: "Lasting changes",
    no_change: "None in the series above.",
    then: "Facts that changed at that time:",
    more_facts(n): "and {n} more",
    tuned: "Changes made on hosts",
    runs: "Runs",
    started: "Started (UTC)",
    labels: "Labels",
    median: "Median",
    interval: "95 % interval",
    others(n): "All other series ({n})",
    no_points: "No run has this figure.",
    mesh_note:
        "The newest value between each two hosts: rows measure, columns are the far ends. Darker is higher on light pages, brighter on dark pages.",
    from_to: "From \\ to",
    sign_in: "Sign in",
    token: "Token",
    token_where:
        "This page requires the token of the host that serves it: the file given with --token.",
    token_wrong: "Wrong token.",
    enter: "Enter",
}

pub(in crate::page) fn count(n: impl Into<Value>) -> Text {
    counted(n, text!("1 path"), |n| text!("{n} paths", n = n))
}
