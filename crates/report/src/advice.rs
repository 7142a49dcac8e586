//! An Advice as text for a terminal: the answer, a table of the candidates tried, and the reasons.

mod screen;

use std::fmt::Write;

use model::{
    advice::{Advice, AdviceFigure, Effect, Outcome, Tried},
    net::Direction,
    remedy::{Dialect, Location, commands},
    safe,
    text::{Text, capital},
};

use crate::{
    printed::shown,
    wrap::{WIDTH, command, wrap},
};

pub use screen::within;

/// Columns of the name and of the host.
const NAME: usize = 33;
const HOST: usize = 6;
/// Columns of a figure.
const FIGURE: usize = 9;

/// An Advice for people, at most 80 columns wide.
pub fn text(advice: &Advice) -> String {
    let mut out = answer(advice);
    out.push('\n');
    head(&mut out);
    row(&mut out, "change nothing", "", &advice.unchanged.outcomes);
    for effect in EFFECTS {
        group(&mut out, advice, effect);
    }
    reasons(&mut out, advice);
    untried(&mut out, advice);
    for note in &advice.notes {
        out.push_str(&wrap(&format!("Note: {note}."), ""));
    }
    let failed = match advice.failed {
        0 => String::new(),
        n => format!(", of which {n} failed"),
    };
    let text = format!(
        "Medians of {} runs in the lab{failed}; JSON has each with its interval.",
        advice.runs
    );
    out.push('\n');
    out.push_str(&wrap(&text, ""));
    safe::lines(&out).into_owned()
}

/// What a command has in place of a device that no document names: a twin has no facts of hosts.
const DEVICE: &str = "'<device>'";

/// Effects of remedies, in the order of the table.
const EFFECTS: [Effect; 5] = [
    Effect::Helps,
    Effect::HelpsAtACost,
    Effect::Unsure,
    Effect::Nothing,
    Effect::Harms,
];

fn heading(effect: Effect) -> &'static str {
    match effect {
        Effect::Helps => "helps",
        Effect::HelpsAtACost => "helps, at a cost",
        Effect::Unsure => "may help",
        Effect::Nothing => "does nothing here",
        Effect::Harms => "makes it worse",
    }
}

/// The answer, and how to be surer of it.
fn answer(advice: &Advice) -> String {
    let mut out = wrap(&format!("{}.", capital(&advice.text.to_string())), "");
    if let Some(best) = advice.advised() {
        details(&mut out, best);
    }
    if let Some(settle) = &advice.settle {
        out.push_str(&wrap(&format!("To be surer: {settle}."), ""));
    }
    out
}

/// Commands and intervals of the advised remedy.
fn details(out: &mut String, best: &Tried) {
    for direction in [Direction::Down, Direction::Up] {
        let change = |figure| {
            let change = best.change(direction, figure)?;
            Some(format!(
                "x {:.2} [{:.2}, {:.2}]",
                change.ratio, change.low, change.high
            ))
        };
        if let (Some(goodput), Some(rtt)) = (
            change(AdviceFigure::Goodput),
            change(AdviceFigure::LoadedP50),
        ) {
            let _ = writeln!(out, "  {direction:<5} goodput {goodput}, loaded RTT {rtt}");
        }
    }
    for remedy in &best.remedies {
        for line in commands(remedy, Dialect::Linux) {
            let line = format!("{}# {line}", host(remedy.on));
            out.push_str(&command(&line, "  ", WIDTH));
        }
    }
    if out.contains(DEVICE) {
        let hint = "<device> is the one of the route to the other end: `ip route get ADDRESS` \
                    names it.";
        out.push_str(&wrap(hint, "  "));
    }
}

fn head(out: &mut String) {
    let (name, host) = ("", "");
    let _ = writeln!(
        out,
        "{name:<NAME$}{host:<HOST$}{:>18}{:>18}",
        "goodput, Mbit/s", "loaded RTT, ms"
    );
    let _ = writeln!(
        out,
        "{name:<NAME$}{host:<HOST$}{:>FIGURE$}{:>FIGURE$}{:>FIGURE$}{:>FIGURE$}",
        "down", "up", "down", "up"
    );
}

fn group(out: &mut String, advice: &Advice, effect: Effect) {
    let ours: Vec<(usize, &Tried)> = advice
        .tried
        .iter()
        .enumerate()
        .filter(|(_, t)| t.effect == effect)
        .collect();
    if ours.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}:", heading(effect));
    for (place, tried) in ours {
        candidate(out, advice, place, tried);
    }
}

/// The row of a candidate, which is number `place` of the Advice.
fn candidate(out: &mut String, advice: &Advice, place: usize, tried: &Tried) {
    let mark = if advice.advised == Some(place) {
        "* "
    } else {
        "  "
    };
    let name = format!("{mark}{}", tried.name);
    row(out, &name, &hosts(tried), &tried.outcomes);
}

fn row(out: &mut String, name: &str, host: &str, outcomes: &[Outcome]) {
    let mut name = safe::line(name).into_owned();
    if name.chars().count() >= NAME {
        name = name.chars().take(NAME - 2).collect::<String>() + "…";
    }
    let figure = |direction, figure: AdviceFigure| {
        let own = outcomes.iter().find(|o| o.direction == direction);
        let (_, scale) = shown(figure.unit());
        let value = own.and_then(|o| o.value(figure));
        value.map_or_else(|| "-".to_owned(), |value| digits(value / scale))
    };
    let cells = [
        figure(Direction::Down, AdviceFigure::Goodput),
        figure(Direction::Up, AdviceFigure::Goodput),
        figure(Direction::Down, AdviceFigure::LoadedP50),
        figure(Direction::Up, AdviceFigure::LoadedP50),
    ];
    let cells: String = cells.iter().map(|c| format!("{c:>FIGURE$}")).collect();
    let line = format!("{name:<NAME$}{host:<HOST$}{cells}");
    let _ = writeln!(out, "{}", line.trim_end());
}

/// Three significant digits.
fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn host(on: Location) -> &'static str {
    match on {
        Location::Near => "near",
        Location::Far => "far",
        Location::Router => "router",
        Location::Elsewhere => "",
    }
}

fn hosts(tried: &Tried) -> String {
    let mut all: Vec<&str> = tried.remedies.iter().map(|r| host(r.on)).collect();
    all.dedup();
    match all.as_slice() {
        [one] => (*one).to_owned(),
        [] => String::new(),
        _ => "both".to_owned(),
    }
}

/// The name of a candidate with its host.
fn full_name(tried: &Tried) -> String {
    let host = hosts(tried);
    match host.is_empty() {
        true => tried.name.to_string(),
        false => format!("{} ({host})", tried.name),
    }
}

/// Writes why each candidate has its effect; the same reason once.
fn reasons(out: &mut String, advice: &Advice) {
    let mut message: Vec<(&[Text], Vec<String>)> = Vec::new();
    for tried in advice.tried.iter().filter(|t| !t.texts.is_empty()) {
        let name = full_name(tried);
        match message
            .iter_mut()
            .find(|(text, _)| *text == tried.texts.as_slice())
        {
            Some((_, names)) => names.push(name),
            None => message.push((&tried.texts, vec![name])),
        }
    }
    if !message.is_empty() {
        out.push('\n');
    }
    for (text, names) in message {
        let text: Vec<String> = text.iter().map(ToString::to_string).collect();
        let line = format!("{}: {}.", names.join(", "), text.join("; "));
        out.push_str(&wrap(&line, ""));
    }
}

fn untried(out: &mut String, advice: &Advice) {
    if advice.not_tried.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nThe lab cannot try, and does not rank:");
    for not_tried in &advice.not_tried {
        let line = format!("{}: {}.", not_tried.name, not_tried.why);
        out.push_str(&wrap(&line, "  "));
    }
}

const _: () = assert!(NAME + HOST + 4 * FIGURE <= WIDTH);
