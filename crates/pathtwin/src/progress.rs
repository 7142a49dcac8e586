//! Progress on a terminal; nothing in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lab::{CacheNote, Done};

/// A bar over `count` things.
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

/// Shows how far a list of jobs is that comes after `before` others of the same bar.
pub fn step_of<T>(bar: &ProgressBar, before: u64, done: &Done<T>) {
    step(bar, done);
    let all = bar.length().unwrap_or_default();
    let now = before + done.progress.done as u64;
    bar.set_position(now);
    let ran = done.progress.done.max(1) as f64;
    let left = done.progress.elapsed.as_secs_f64() / ran * all.saturating_sub(now) as f64;
    let s = left.ceil() as u64;
    bar.set_message(format!(", about {}:{:02} min left", s / 60, s % 60));
}

/// Reports notes about the cache.
pub fn report_notes(bar: &ProgressBar, notes: &[CacheNote]) {
    for note in notes {
        bar.suspend(|| eprintln!("pathtwin: {note}"));
    }
}
