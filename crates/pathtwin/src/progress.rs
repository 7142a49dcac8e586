//! Progress bars on a terminal, hidden in a pipe.

use std::{sync::atomic::AtomicBool, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};
use lab::{CacheNote, Done, Lab, Lists, measure::Measured};
use model::job::Bench;

use crate::say::say;

/// A bar over `count` items.
pub fn bar(count: usize) -> ProgressBar {
    let bar = ProgressBar::new(count as u64);
    let style = "{bar:30} {pos}/{len} done, {elapsed} gone{msg}";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Shows how far a list of jobs is, and reports notes about the cache.
pub fn step<T>(bar: &ProgressBar, done: &Done<T>) {
    let left = done.progress.left.map_or_else(String::new, |left| {
        let s = left.as_secs();
        format!(", about {}:{:02} min left", s / 60, s % 60)
    });
    bar.set_message(left);
    bar.set_position(done.progress.done as u64);
    report_notes(bar, &done.notes);
}

/// A search of at most `runs` plans in the lab with a bar over all of them, until it is stopped.
pub fn search<T>(
    lab: &Lab,
    runs: usize,
    stop: &AtomicBool,
    search: impl FnOnce(&mut dyn Bench) -> T,
) -> T {
    let bar = bar(runs);
    let show = |ended: &Done<Measured>| step(&bar, ended);
    let found = search(&mut Lists::new(lab, runs, stop, show));
    bar.finish_and_clear();
    found
}

/// Reports notes about the cache.
pub fn report_notes(bar: &ProgressBar, notes: &[CacheNote]) {
    for note in notes {
        bar.suspend(|| say!("pathtwin: {note}"));
    }
}
