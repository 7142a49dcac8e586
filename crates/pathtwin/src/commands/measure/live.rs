//! What a run shows while it runs: one line on a terminal, nothing in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use measure::run::{Estimate, Event};
use model::{plan::Budget, units::Bytes};

/// Rates for which the data of a plan is told: it depends on the path, which is not known yet.
const RATES_MBPS: [f64; 2] = [100.0, 1000.0];

/// What a plan will take.
pub(super) fn estimate_text(estimate: &Estimate, budget: &Budget) -> String {
    let [least, most] = estimate.time_s;
    let data = |mbps: f64| {
        let bytes = |s: f64| Bytes((s * mbps * 1e6 / 8.0) as u64);
        let [a, b] = estimate.loaded_s;
        format!(
            "{:.1} to {:.1} GB on a path of {mbps:.0} Mbit/s",
            bytes(a).0 as f64 / 1e9,
            bytes(b).0 as f64 / 1e9
        )
    };
    let mut text = format!(
        "{} to {} samples, {} to {}, {}",
        estimate.samples[0],
        estimate.samples[1],
        minutes(least),
        minutes(most),
        RATES_MBPS.map(data).join(", ")
    );
    if let Some(bytes) = budget.bytes {
        text.push_str(&format!("; at most {}", Bytes(bytes)));
    }
    if let Some(time) = budget.time_s {
        text.push_str(&format!("; at most {}", minutes(time)));
    }
    text
}

pub(super) fn minutes(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    format!("{}:{:02} min", whole / 60, whole % 60)
}

pub(super) fn style(bar: &ProgressBar) {
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(250));
}

/// The line.
pub(super) struct Display {
    bar: ProgressBar,
    step: String,
    total_s: f64,
    budget: Budget,
}

impl Display {
    pub(super) fn new(budget: Budget) -> Self {
        let bar = ProgressBar::new_spinner();
        style(&bar);
        Self {
            bar,
            step: String::new(),
            total_s: 0.0,
            budget,
        }
    }

    /// Shows what happens.
    pub(super) fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Planned {
                estimate,
                layers,
                far,
            } => {
                self.total_s = estimate.time_s[1];
                eprintln!("pathtwin: far end pathtwin {far}");
                for layer in *layers {
                    eprintln!(
                        "pathtwin: {:?}: {} to {}",
                        layer.layer, layer.near, layer.far
                    );
                }
                eprintln!("pathtwin: {}", estimate_text(estimate, &self.budget));
            }
            Event::Began {
                key,
                number,
                of,
                block,
            } => {
                self.step = format!("{}/{of} {key}", number + 1);
                if *block > 0 {
                    self.step.push_str(&format!(" (block {block})"));
                }
                self.bar.set_message(self.step.clone());
            }
            Event::Live(live) => {
                let mut line = self.step.clone();
                if let Some(rate) = live.rate_bps {
                    line.push_str(&format!("  {:.1} Mbit/s", rate / 1e6));
                }
                if let Some(rtt) = live.rtt_us {
                    line.push_str(&format!("  rtt {:.1} ms", rtt / 1e3));
                }
                if let Some(lost) = live.lost {
                    line.push_str(&format!("  lost {:.1}%", lost * 100.0));
                }
                line.push_str(&format!("  step {:.0} s left", live.step_left_s.max(0.0)));
                let left = (self.total_s - live.run_s).max(0.0);
                line.push_str(&format!(", run at most {} left", minutes(left)));
                line.push_str(&format!(", {:.2} GB", live.bytes as f64 / 1e9));
                if let Some(most) = self.budget.bytes {
                    let left = most.saturating_sub(live.bytes);
                    line.push_str(&format!(" ({:.2} GB left)", left as f64 / 1e9));
                }
                self.bar.set_message(line);
            }
            Event::Ended(sample) if !sample.valid => {
                let why: Vec<String> = sample.invalid.iter().map(ToString::to_string).collect();
                self.say(&format!(
                    "does not count: {}: {}",
                    sample.key,
                    why.join("; ")
                ));
            }
            Event::Ended(_) => {}
            Event::Note(note) => self.say(note),
        }
    }

    fn say(&self, text: &str) {
        self.bar.suspend(|| eprintln!("pathtwin: {text}"));
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
