//! Words of the page: each is a text, made by the function of its name. Words with values take them
//! typed; they are formatted when the text is rendered.

#[cfg_attr(
    not(feature = "history"),
    allow(dead_code, reason = "the served pages are a feature")
)]
pub(in crate::page) mod dashboard;
mod macros;
pub(in crate::page) mod speedtest;

use macros::labels;
use model::{
    net::Layer,
    text,
    text::{Text, Value},
};

labels! {
    skip: "Skip to the report",
    contents: "Contents",
    footer: "single file, no network access; the tables contain every value of the charts",
    layer_underlay: "Path",
    layer_tunnel: "Tunnel",
    direction_down: "down",
    direction_up: "up",
    direction_long_down: "down (far to near)",
    direction_long_up: "up (near to far)",
    severity_info: "remark",
    severity_low: "low",
    severity_medium: "medium",
    severity_high: "high",
    unknown: "unknown",
    invalid: "invalid",
    comma: ", ",
    step_idle: "Idle",
    step_udp_sweep: "UDP sweep",
    step_udp: "UDP",
    step_tcp: "TCP",
    step_pmtu: "Path MTU",
    step_sizes: "Packet sizes",
    step_short: "Requests",
    step_http: "HTTP keep-alive",
    step_quic: "QUIC",
    bidirectional: "bidirectional",
    repeats(n): "n = {n}",
    idle: "idle",
    probes: "probes",
    values: "Values as a table",
    what: "Measurement",
    head_run: "Run",
    head_plan(plan): "plan {plan}",
    head_virtual(span): "{span} of virtual time on a lab path",
    head_took(span): "took {span}",
    head_samples(count, all): "{count} of {all} samples valid",
    head_cut_short: "Cut short:",
    tone_high: "A problem limits this path",
    tone_medium: "A problem costs throughput or latency",
    tone_low: "A minor problem",
    tone_well: "No problem found",
    tone_open: "Undecided",
    verdict_open: "This run does not show what limits the path",
    verdict_judged(layer):
        "Analysed layer: {layer}. Evidence and ruled-out causes are listed below.",
    verdict_judged_lab(layer):
        "Analysed layer: {layer}, on a lab path. Evidence and ruled-out causes are listed below.",
    sure(percent): "{percent} confidence",
    others_title: "Also found",
    next: "Next:",
    next_also: "Also:",
    openwrt: "On OpenWrt:",
    next_on(host): "Next, on the {host}:",
    why_there: "Why there:",
    surer: "To confirm:",
    tile_filled(share, capacity): "{share} of the path's capacity of {capacity}",
    tile_delay: "RTT, idle and loaded",
    tile_loaded(direction): "medians; direction of the load: {direction}",
    tile_kept: "Tunnel / path",
    tile_interval(low, high): "{low} to {high}",
    range(low, high): "range {low} to {high}",
    pooled(low, high): "pooled {low} to {high}",
    get(direction, got, carries): "{direction}: you get {got} of {carries}",
    again_spec: "SPEC.toml",
    copy: "Copy",
    copied: "Copied",
    not_reached(what): "Not reached: {what}",
    not_measured: "Not measured:",
    too_few(valid, all): "Too few samples count: {valid} of {all}",
    no_throughput(valid, all):
        "No TCP throughput counts in at least one direction ({valid} of {all} samples count)",
    nav_layers: "Figures",
    nav_time: "Over time",
    nav_delay: "Delay",
    nav_loss: "Loss",
    nav_causes: "Causes",
    nav_hosts: "Hosts",
    nav_doubts: "Notes",
    nav_matrix: "Matrix",
    nav_again: "Reproduce",
    causes_title: "Causes and evidence",
    evidence: "Evidence",
    evidence_value: "Value",
    evidence_bound: "Threshold",
    evidence_arithmetic: "Formula",
    evidence_decides: "decisive",
    undecided(because, settle): "{because}; to decide: {settle}",
    cannot_tell(n): "Undecided causes ({n})",
    ruled_out(n): "Ruled-out causes ({n})",
    layers_title: "Baseline and tunnel",
    figures_title: "All figures",
    figures_note:
        "Median of the repeats, with the 95 % interval from five repeats on, else their range, and the number of repeats below. Pooled: the 95 % interval of fewer repeats, by the spread that like steps of the run have together. Ratios are tunnel / path, computed per block where both were measured, so they can differ from the ratio of the medians.",
    figures_all: "All other figures",
    ratio: "Ratio",
    drawn: "Common scale",
    time_title: "Time series",
    time_note:
        "One step at a time. Queueing is the sender's smoothed RTT above its minimum. Time starts with the load; values outside the marked window are excluded from the figures.",
    time_noscript: "The charts need JavaScript. Without it, the values are in the tables.",
    time_step: "Step",
    time_keys:
        "Zoom: drag across a chart, or + and −. Move: ← →. All: 0. Read values: Shift with ← →.",
    time_table: "Steps as a table",
    time_left_out(n):
        "{n} steps are omitted to keep this file small; the run document contains them.",
    time_bucket(ms): "One value every {ms} ms",
    time_window: "measured",
    zoom_in: "Zoom in",
    zoom_out: "Zoom out",
    zoom_all: "All",
    panel_goodput: "Goodput",
    panel_cwnd: "Congestion window (segments)",
    panel_cwnd_kb: "Congestion window (kB)",
    panel_delay: "Delay (ms)",
    panel_retransmitted: "Retransmitted",
    series_rtt: "Smoothed RTT",
    series_queue: "Queueing",
    series_probe: "Probe",
    series_probe_low: "Fastest probe",
    axis_time: "Time (s)",
    axis_round_trip: "RTT (ms)",
    axis_share: "Cumulative share of probes (%)",
    axis_loss: "Packets lost (%)",
    axis_goodput: "Goodput (Mbit/s)",
    broken: "This chart could not be drawn; the table below contains the values.",
    delay_title: "Delay, idle and loaded",
    delay_note:
        "Each line is the cumulative distribution of the RTT of probes. The further the loaded lines are to the right of the idle ones, the longer packets wait in queues. Lines hold the probes of all repeats; the percentiles are the figures, medians over the repeats.",
    delay_load(direction): "During TCP {direction}",
    delay_summary_lead: "RTT: ",
    delay_summary(name, p50, p95): "{name} median {p50}, 95th percentile {p95}",
    delay_summary_median(name, p50): "{name} median {p50}",
    loss_title: "Throughput and loss",
    loss_note:
        "Points: measurements, at the loss seen by the sender, with the interval of the goodput. Lines: the model of this congestion control at this RTT, up to the path's capacity (docs/models.md). A point on its line is explained by loss alone.",
    loss_note_rows:
        "Points: medians of the cells, at the loss of the lab path. Lines: the model of this congestion control at this RTT with segments of 1448 bytes, up to the highest goodput of the matrix (docs/models.md). Cells without loss are at the left edge.",
    loss_direction(direction): "TCP {direction}",
    loss_model(cc): "Model of {cc}",
    loss_model_there: "Model at this loss (Mbit/s)",
    loss_model_ratio: "Measured / model",
    loss_summary_lead: "Goodput: ",
    loss_summary(name, goodput, loss): "{name} {goodput} at a loss of {loss}",
    hosts_title: "Hosts",
    hosts_table: "Facts of both hosts",
    hosts_what: "Fact",
    hosts_differs: "differs",
    hosts_parameters(n, differ): "Kernel parameters ({n}, {differ} of them differ)",
    hosts_parameters_table: "Kernel parameters of both hosts",
    hosts_path(host): "Path from the {host} to the other",
    doubts_title: "Caveats",
    doubts_lab:
        "A lab path has no processor limits, no Wi-Fi and no third-party networks: docs/limitations.md.",
    doubts_invalid(n): "Invalid samples ({n})",
    matrix_title: "Lab matrix",
    matrix_of: "Matrix",
    matrix_range(high, best, low, worst):
        "Highest goodput: {high} with {best}. Lowest: {low} with {worst}.",
    matrix_effect(factor, place, better, ratio, worse):
        "{factor}: with {place}, {better} reaches {ratio} the goodput of {worse}.",
    matrix_effect_alone(factor, better, ratio, worse):
        "{factor}: {better} reaches {ratio} the goodput of {worse}.",
    matrix_note:
        "Medians over the seeds, with the 95 % interval of the median from five seeds on, and the range of two to four. Higher values are darker on light pages and brighter on dark pages.",
    matrix_all: "All values",
    matrix_setting: "Setting",
    heat_value: "value",
    again_title: "How to reproduce",
    again_lab: "Save the plan below as plan.toml and measure the same spec again:",
    again_run: "Save the plan below as plan.toml and measure again:",
    again_lab_same: "With the same spec, plan, seed and kernel image the lab gives the same run.",
    again_run_same: "The seed determines the order of the steps, not the behaviour of the network.",
    again_plan: "The plan, with its seed",
    again_commands: "Commands",
    again_rows_of_seeds(name, seeds, kernel):
        "Spec {name}, {seeds} seeds per setting, Linux {kernel}. The same spec, seed and kernel image give the same digests.",
    again_rows_of_one_seed(name, kernel):
        "Spec {name}, one seed per setting, Linux {kernel}. The same spec, seed and kernel image give the same digests.",
    again_digests: "Digests of the cells",
    again_written(program): "Written by pathtwin {program}.",
    nav_twin: "Twin",
    nav_advice: "Advice",
    twin_title: "Twin of the path",
    advice_title: "Remedies tried on the twin",
    twin_settle(what): "To be surer: {what}.",
    twin_path: "Path that fits best",
    twin_rate: "Rate",
    twin_queue: "Queue",
    twin_buffer: "Buffer",
    twin_delay: "One-way delay",
    twin_loss: "Non-congestive loss",
    twin_fitted: "Fitted figures: measured and twin",
    twin_held: "Held-out figures: measured and predicted",
    twin_fitted_note:
        "Disc: measured, with the 95 % interval of the median from five repeats on, else the range. Diamond: twin, the median of the path that fits best, with the range over the seeds of all paths that fit.",
    twin_held_note:
        "These figures were left out of the fit, by congestion control and number of flows in turn, and predicted. Disc: measured. Diamond: twin, with the range over the seeds of the path that predicts.",
    twin_time(load): "A step over time: {load}",
    twin_time_note(bucket):
        "Measured: the repeat with the median goodput. Twin: the path that fits best, with its first seed. One value every {bucket}: the mean goodput and the median RTT of the probes. Time starts with the load.",
    twin_goodput_time(load): "Goodput over time, {load}: measured (solid) and twin (dashed)",
    twin_rtt_time(load):
        "RTT of the probes over time, {load}: measured (solid) and twin (dashed)",
    twin_measured: "Measured",
    twin_twin: "Twin",
    advice_picture(direction):
        "Goodput against loaded RTT, {direction}. Up and to the left is better. Bars: 90 % intervals. Cross: no change. Each point leads to its commands, and opens them.",
    advice_x: "Loaded RTT (median)",
    advice_unchanged: "change nothing",
    advice_table: "Everything that was tried",
    advice_remedy: "Remedy",
    advice_goodput_down: "Down, Mbit/s",
    advice_goodput_up: "Up, Mbit/s",
    advice_rtt_down: "RTT under down, ms",
    advice_rtt_up: "RTT under up, ms",
    advice_effect: "Effect",
    advice_commands: "Commands",
    advice_not_tried: "Not tried: the lab has no such setting",
    advice_helps: "helps",
    advice_cost: "helps, at a cost",
    advice_unsure: "may help",
    advice_nothing: "does nothing here",
    advice_harms: "makes it worse",
    nav_change: "Change",
    change_title: "The change and its proof",
    change_table: "Figures with the change and without",
    change_turns(count):
        "Medians of {count} turns with the change and as many without. Bold: the figures to improve. Ratio: with over without, with its 95 % interval.",
    change_figure: "Figure",
    change_without: "Without",
    change_with: "With",
    change_ratio: "Ratio",
    change_predicted: "Predicted",
    change_verdict: "Verdict",
    change_better: "better",
    change_worse: "worse",
    change_same: "the same",
    change_unclear: "cannot tell",
    change_not: "Not applied:",
    change_elsewhere: "Not on",
    change_error: "There is no proof:",
    change_left: "Undone, but not as before:",
}

/// A text in singular or plural.
fn counted(n: impl Into<Value>, one: Text, many: fn(Value) -> Text) -> Text {
    match n.into() {
        Value::Count(1.0) => one,
        n => many(n),
    }
}

pub(in crate::page) fn flows(n: impl Into<Value>) -> Text {
    counted(n, text!("1 flow"), |n| text!("{n} flows", n = n))
}

/// Number of settings in a matrix.
pub(in crate::page) fn matrix_cells(n: impl Into<Value>) -> Text {
    counted(n, text!("1 setting"), |n| text!("{n} settings", n = n))
}

/// The list of reasons follows.
pub(in crate::page) fn matrix_invalid(n: impl Into<Value>) -> Text {
    let one = text!("1 row is invalid and not counted, because:");
    counted(n, one, |n| {
        text!("{n} rows are invalid and not counted, because:", n = n)
    })
}

/// Change of a figure over the run, a share.
pub(in crate::page) fn drift(by: f64) -> Text {
    let share = Value::Share(by.abs());
    match by < 0.0 {
        true => text!("falling by {by}", by = share),
        false => text!("rising by {by}", by = share),
    }
}

/// A layer as a heading.
pub(in crate::page) fn layer(layer: Layer) -> Text {
    match layer {
        Layer::Underlay => layer_underlay(),
        Layer::Tunnel => layer_tunnel(),
    }
}

/// How to reproduce the rows of a matrix.
pub(in crate::page) fn again_rows(name: &str, seeds: usize, kernel: &str) -> Text {
    match seeds {
        1 => again_rows_of_one_seed(name, kernel),
        seeds => again_rows_of_seeds(name, seeds, kernel),
    }
}
