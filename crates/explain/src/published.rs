//! Published measurements compared with the models: `docs/models.md`.

use std::fmt::Write;

use analysis::models::{
    BBR_SOURCE, CUBIC_SOURCE, RENO_SOURCE, bbr_bps, buffer_bytes, loss_based_bps, loss_for_bps,
    window_bytes_bps,
};
use model::findings::Value;

/// Formula and its inputs.
#[derive(Clone, Copy, Debug)]
enum Model {
    /// CUBIC under random loss: loss, RTT in s, MSS in bytes.
    Cubic(f64, f64, f64),
    /// BBR under random loss: loss, capacity in bit/s.
    Bbr(f64, f64),
    /// A window: bytes, RTT in s.
    Window(f64, f64),
}

/// A published measurement.
struct Published {
    what: &'static str,
    conditions: &'static str,
    measured_bps: f64,
    model: Model,
    source: &'static str,
    /// Remark on the comparison.
    remark: &'static str,
}

const PUBLISHED: &[Published] = &[
    Published {
        what: "cubic",
        conditions: "300 ms, 0.07 % (UDP at 20 Mbit/s), MSS 1240",
        measured_bps: 2.1e6,
        model: Model::Cubic(0.0007, 0.3, 1240.0),
        source: "tailscale/tailscale#17993",
        remark: "within the rule's bounds",
    },
    Published {
        what: "bbr",
        conditions: "the same line, 0.55 % at 30 Mbit/s",
        measured_bps: 26.7e6,
        model: Model::Bbr(0.0055, 30e6),
        source: "tailscale/tailscale#17993",
        remark: "the loss rises with the rate; 30 Mbit/s is assumed as the capacity",
    },
    Published {
        what: "cubic",
        conditions: "100 ms, 1 %, MSS 1448",
        measured_bps: 3.27e6,
        model: Model::Cubic(0.01, 0.1, 1448.0),
        source: "E. Dumazet, thread of the BBR patch",
        remark: "within the rule's bounds, at their edge",
    },
    Published {
        what: "bbr",
        conditions: "the same, 10 Gbit/s",
        measured_bps: 9150e6,
        model: Model::Bbr(0.01, 10e9),
        source: "E. Dumazet, thread of the BBR patch",
        remark: "the model does not include headers and BBR's drain phases",
    },
    Published {
        what: "cubic of a QUIC library",
        conditions: "200 ms, 0.2 %, 1460 bytes",
        measured_bps: 88e6,
        model: Model::Cubic(0.002, 0.2, 1460.0),
        source: "microsoft/msquic#1949",
        remark: "not explained: no purely loss-based sender reaches this; the rule would not \
            report random loss",
    },
    Published {
        what: "bbr of the same",
        conditions: "the same, 115 MB/s",
        measured_bps: 920e6,
        model: Model::Bbr(0.002, 1e9),
        source: "microsoft/msquic#1949",
        remark: "1 Gbit/s is assumed",
    },
    Published {
        what: "window of 4 MiB",
        conditions: "100 ms",
        measured_bps: 280e6,
        model: Model::Window(4.0 * 1_048_576.0, 0.1),
        source: "tailscale/tailscale pull 12994",
        remark: "part of the buffer is overhead",
    },
    Published {
        what: "window of 6 MiB",
        conditions: "100 ms",
        measured_bps: 416e6,
        model: Model::Window(6.0 * 1_048_576.0, 0.1),
        source: "tailscale/tailscale pull 12994",
        remark: "the same ratio",
    },
    Published {
        what: "window of 110.5 kB (cwnd, mean of 72 and 149 KiB)",
        conditions: "24 ms",
        measured_bps: 37.8e6,
        model: Model::Window(110.5 * 1024.0, 0.024),
        source: "the case of the dorm, docs/cases/1-dorm.md",
        remark: "matches",
    },
];

/// Prediction of a formula, bit/s.
fn predicted(model: Model) -> Option<f64> {
    match model {
        Model::Cubic(loss, rtt, mss) => loss_based_bps("cubic", loss, rtt, mss),
        Model::Bbr(loss, capacity) => bbr_bps(loss, capacity),
        Model::Window(bytes, rtt) => Some(window_bytes_bps(bytes, rtt)),
    }
}

/// The page, in Markdown.
pub fn page() -> String {
    let mut out = String::from(
        "# Models\n\n<!-- Made from the code; `UPDATE_DOCS=1 cargo test -p pathtwin-explain` \
         regenerates it. -->\n\nFindings that are based on a formula show its prediction next to \
         the measured value.\n\n| model | formula | source |\n|---|---|---|\n",
    );
    // Writing to a String cannot fail.
    for (name, formula, source) in [
        ("Reno", "W = sqrt(3 / (2 p)) packets", RENO_SOURCE),
        (
            "CUBIC",
            "W = max(1.054 (RTT / p)^(3/4), Reno's) packets",
            CUBIC_SOURCE,
        ),
        ("BBR, version 1", "(1 - p) C, up to p = 50/256", BBR_SOURCE),
        ("a window", "W / RTT", "arithmetic"),
        ("a buffer", "delay * rate", "arithmetic"),
    ] {
        let _ = writeln!(out, "| {name} | {formula} | {source} |");
    }
    out.push_str(
        "\nThe rate of W packets is W * MSS / RTT. The formulas of Reno and CUBIC hold for \
         independent random losses of up to a few per cent, above which timeouts matter. They are \
         means: a test of ten seconds with eight losses varies by a factor of two. The rule \
         accepts a goodput between 0.4 and 2.5 times the formula as explained.\n\n## Published \
         figures\n\n| what | conditions | published | model | ratio | source | \
         |\n|---|---|---:|---:|---:|---|---|\n",
    );
    for p in PUBLISHED {
        let Some(model) = predicted(p.model) else {
            continue;
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {:.2} | {} | {} |",
            p.what,
            p.conditions,
            Value::Bps(p.measured_bps),
            Value::Bps(model),
            p.measured_bps / model,
            p.source,
            p.remark
        );
    }
    out.push_str("\n## Read backwards\n\n");
    let loss = loss_for_bps("cubic", 18e6, 0.15, 1448.0).unwrap_or(0.0);
    let _ = writeln!(
        out,
        "- 18 Mbit/s of cubic at 150 ms (hk.crepuscule.uk/posts/bbr, \"mild loss\", 90 with bbr) \
        corresponds to a loss of {}.",
        Value::Share(loss)
    );
    let _ = writeln!(
        out,
        "- From 50 to over 200 ms on a full line of 50 Mbit/s (docs/cases/3-narrow.md) is a buffer of at least {}.",
        Value::Bytes(buffer_bytes(0.15, 50e6))
    );
    let _ = writeln!(
        out,
        "- 15 to 20 % of loss (EAimTY/tuic#62: below 1 with a loss-based control, 17 with another) is at BBR's cliff, \
         {}: above it, BBR takes the path for policed.",
        Value::Share(analysis::models::BBR_CLIFF)
    );
    out
}
