//! Live display of a run: one line on a terminal, nothing in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use measure::run::Event;
use model::{plan::Budget, safe};

use crate::{format, say::say};

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

    /// Displays the events.
    pub(super) fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Planned {
                estimate,
                layers,
                far,
            } => {
                self.total_s = estimate.time_s[1];
                format::say(format_args!("far end pathtwin {}", safe::line(far)));
                for layer in *layers {
                    say!("pathtwin: {}: {} to {}", layer.layer, layer.near, layer.far);
                }
                say!("pathtwin: {}", estimate.text(&self.budget));
            }
            Event::Longer { estimate, step_s } => {
                self.total_s = estimate.time_s[1];
                self.say(&format!(
                    "this path needs loads of up to {step_s:.0} s: {}",
                    estimate.text(&self.budget)
                ));
            }
            Event::Began {
                key,
                number,
                of,
                block,
            } => {
                self.step = format!("{}/{of} {}", number + 1, safe::line(&key.to_string()));
                if *block > 0 {
                    self.step.push_str(&format!(" (block {block})"));
                }
                self.bar.set_message(self.step.clone());
            }
            Event::Live(live) => {
                let line = format!("{}  {}", self.step, live.text(self.total_s, &self.budget));
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
            Event::Ended(_) | Event::Moved(_) => {}
            Event::Note(note) => self.say(note),
        }
    }

    fn say(&self, text: &str) {
        self.bar
            .suspend(|| format::say(format_args!("{}", safe::line(text))));
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
