//! Findings as text for terminals: descriptions, evidence, remedies, ruled-out causes.

use std::fmt::Write;

use comfy_table::{ContentArrangement, Table, presets};
use model::{
    cause::CauseCode,
    findings::{CannotTell, Finding, Findings, Place, RuledOut},
    net::{Direction, Side},
    remedy::{Dialect, Location, Remedy, commands},
    safe,
    text::{Text, capital},
};

use crate::wrap::{WIDTH, command, within};

/// Mark of decisive evidence.
const DECIDES: &str = ">";

/// Findings as text. With `all`, ruled-out and undecided causes are listed in full, otherwise in
/// one line each.
pub fn text(findings: &Findings, all: bool) -> String {
    let mut out = wrapped(&findings.summary.to_string(), "");
    for (number, finding) in findings.findings.iter().enumerate() {
        out.push('\n');
        one(&mut out, number + 1, finding);
    }
    ruled_out(&mut out, findings, all);
    cannot_tell(&mut out, &findings.cannot_tell, all);
    safe::lines(&out).into_owned()
}

fn one(out: &mut String, number: usize, finding: &Finding) {
    let title = format!("{number}. {}{}", finding.title, place(finding.place));
    let sure = format!(
        "{}, {:.0} % sure   [{}]",
        finding.severity,
        finding.confidence * 100.0,
        finding.code
    );
    // In one line, or in two if it is too long.
    let together = format!("{title}   {sure}");
    match together.chars().count() <= WIDTH {
        true => out.push_str(&format!("{}\n", safe::line(&together))),
        false => {
            out.push_str(&wrapped(&safe::line(&title), ""));
            out.push_str(&wrapped(&safe::line(&sure), "   "));
        }
    }
    out.push_str(&wrapped(
        &format!("{}.", capital(&finding.text.to_string())),
        "   ",
    ));
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(WIDTH as u16 - 2);
    for item in &finding.evidence {
        let mark = if item.decides { DECIDES } else { "" };
        let name = match item.end {
            Some(end) => format!("{}, {end}", item.name),
            None => item.name.to_string(),
        };
        let cells = [
            mark.to_owned(),
            name,
            item.value.to_string(),
            item.bound
                .as_ref()
                .map_or_else(String::new, Text::to_string),
            item.arithmetic
                .as_ref()
                .map_or_else(String::new, Text::to_string),
        ];
        table.add_row(cells.map(|cell| safe::line(&cell).into_owned()));
    }
    for line in table.lines() {
        let _ = writeln!(out, "  {}", line.trim_end());
    }
    for (number, remedy) in finding.remedies.iter().enumerate() {
        next(out, number == 0, remedy);
    }
    if let Some(remedy) = finding.remedies.first() {
        out.push_str(&wrapped(
            &format!("Why there: {}.", remedy.why_there),
            "   ",
        ));
    }
    if let Some(settle) = &finding.settle {
        out.push_str(&wrapped(&format!("To confirm: {settle}."), "   "));
    }
    if !finding.after.is_empty() && finding.is_problem() {
        out.push_str(&wrapped(
            &format!("Check first: {}.", finding.after.join(", ")),
            "   ",
        ));
    }
}

/// A remedy with its commands.
fn next(out: &mut String, first: bool, remedy: &Remedy) {
    let word = if first { "Next" } else { "Also" };
    let on = match remedy.on {
        Location::Elsewhere => String::new(),
        on => format!(", on the {on}"),
    };
    let text = format!("{word}{on}: {}.", remedy.sentence());
    out.push_str(&wrapped(&text, "   "));
    for dialect in dialects(remedy) {
        if dialect == Dialect::OpenWrt {
            out.push_str("      # or, on OpenWrt:\n");
        }
        for line in commands(remedy, dialect) {
            out.push_str(&command(&line, "      ", WIDTH));
        }
    }
}

/// Relevant command dialects: a router may run OpenWrt.
pub(crate) fn dialects(remedy: &Remedy) -> Vec<Dialect> {
    let others = commands(remedy, Dialect::Linux) != commands(remedy, Dialect::OpenWrt);
    match remedy.on == Location::Router && others {
        true => vec![Dialect::Linux, Dialect::OpenWrt],
        false => vec![Dialect::Linux],
    }
}

fn ruled_out(out: &mut String, findings: &Findings, all: bool) {
    let list: &[RuledOut] = &findings.ruled_out;
    if list.is_empty() {
        return;
    }
    if !all {
        // Causes that are confirmed in the other direction are not listed here.
        let found = |code: &CauseCode| findings.findings.iter().any(|f| f.code == *code);
        let codes = list.iter().map(|r| &r.code);
        let codes = unique(codes.filter(|code| !found(code)));
        out.push_str(&wrapped(&format!("\nRuled out: {}.", codes.join(", ")), ""));
        return;
    }
    out.push_str("\nRuled out\n");
    for item in list {
        let line = format!("{}{}: {}.", item.code, place(item.place), item.why);
        out.push_str(&wrapped(&line, "   "));
    }
}

fn cannot_tell(out: &mut String, list: &[CannotTell], all: bool) {
    if list.is_empty() {
        return;
    }
    if !all {
        let codes = unique(list.iter().map(|r| &r.code));
        out.push_str(&wrapped(&format!("\nUndecided: {}.", codes.join(", ")), ""));
        return;
    }
    out.push_str("\nUndecided\n");
    for item in list {
        let line = format!(
            "{}{}: {}; to decide: {}.",
            item.code,
            place(item.place),
            item.because,
            item.settle
        );
        out.push_str(&wrapped(&line, "   "));
    }
}

fn unique<'a>(codes: impl Iterator<Item = &'a CauseCode>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for code in codes.map(CauseCode::as_str) {
        if !seen.contains(&code) {
            seen.push(code);
        }
    }
    seen
}

pub(crate) fn place(place: Place) -> String {
    let direction = match place.direction {
        Some(Direction::Down) => ", down",
        Some(Direction::Up) => ", up",
        None => "",
    };
    let end = match place.end {
        Some(Side::Near) => ", near host",
        Some(Side::Far) => ", far host",
        None => "",
    };
    format!("{direction}{end}")
}

/// Wraps text at [`WIDTH`].
fn wrapped(text: &str, indent: &str) -> String {
    within(text, indent, WIDTH)
}
