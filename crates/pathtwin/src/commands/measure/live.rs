//! Live display of a run: one line on a terminal, nothing in a pipe.

use std::{mem::Discriminant, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};
use measure::run::Event;
use model::{
    plan::Budget,
    run::{Invalid, Sample},
    safe,
};

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
    /// Kinds of the reasons why samples do not count, one for each such sample.
    invalid: Vec<Discriminant<Invalid>>,
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
            invalid: Vec::new(),
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
            Event::Ended(sample) if !sample.valid => self.invalid(sample),
            Event::Ended(_) | Event::Moved(_) => {}
            Event::Note(note) => self.say(note),
        }
    }

    /// Says why a sample does not count: for each reason of the first few, then that there are
    /// more.
    fn invalid(&mut self, sample: &Sample) {
        const SHOWN: usize = 3;
        let Some(reason) = sample.invalid.first() else {
            return;
        };
        self.invalid.push(std::mem::discriminant(reason));
        let kind = self.invalid.last();
        let alike = self.invalid.iter().filter(|k| Some(*k) == kind).count();
        if alike > SHOWN {
            return;
        }
        let why: Vec<String> = sample.invalid.iter().map(ToString::to_string).collect();
        let more = match alike {
            SHOWN => " (others of this kind are not listed)",
            _ => "",
        };
        self.say(&format!(
            "does not count: {}: {}{more}",
            sample.key,
            why.join("; ")
        ));
    }

    fn say(&self, text: &str) {
        self.bar
            .suspend(|| format::say(format_args!("{}", safe::line(text))));
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
