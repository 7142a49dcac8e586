//! `pathtwin lab accuracy --captures`: what drops, from captures with a known truth.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::Path,
};

use anyhow::Context as _;
use pathtwin::{
    cli::Format,
    exit::{Failure, code},
    format,
};
use validation::accuracy::captures::{Capture, Judged, markdown};

/// Judges the captures of a file, one a line. The table is of those for evaluation.
pub(super) fn captures(file: &Path, output: Format) -> Result<(), Failure> {
    let mut all = judged(file).map_err(|e| Failure::new(code::USE, e))?;
    all.sort_by(|a: &Judged, b| a.name.cmp(&b.name));
    match output {
        Format::Json => format::json(&all),
        Format::Jsonl => format::json_lines(&all),
        Format::Text => {
            let shown: Vec<_> = all.iter().filter(|j| !j.is_of_training()).collect();
            format::text(&markdown(&shown))
        }
    }
}

/// The captures of a file, judged.
fn judged(file: &Path) -> anyhow::Result<Vec<Judged>> {
    let opened = File::open(file).with_context(|| format!("open {}", file.display()))?;
    let mut all = Vec::new();
    for (n, line) in BufReader::new(opened).lines().enumerate() {
        let place = || format!("line {} of {}", n + 1, file.display());
        let line = line.with_context(|| format!("read {}", place()))?;
        let capture: Capture =
            serde_json::from_str(&line).with_context(|| format!("parse {}", place()))?;
        all.push(capture.judge());
    }
    Ok(all)
}
