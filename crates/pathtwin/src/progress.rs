//! Progress on a terminal; nothing in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over `count` things.
pub fn bar(count: usize) -> ProgressBar {
    let bar = ProgressBar::new(count as u64);
    let style = "{bar:30} {pos}/{len} cells, {elapsed} gone, {eta} left  {msg}";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
