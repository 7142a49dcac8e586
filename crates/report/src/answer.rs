//! The answer to a measurement, for a terminal: the verdict, four figures and the next step, in a
//! given number of columns and lines.

use std::fmt::Write as _;

use analysis::view::{DirectionView, View};
use model::{
    findings::{Findings, Next},
    net::{Direction, Layer, Side},
    plan::Preset,
    remedy::{Dialect, Location, Remedy, commands},
    run::Run,
    safe,
    text::capital,
};

use crate::{
    findings::place,
    number::{percent, short},
    shortfall,
    wrap::{command, lines, within},
};

/// Instructions to measure between two hosts, where both ends were this one.
const ELSEWHERE: &str = "  on the other host: pathtwin serve\n  here: the command that it prints\n";

/// Dimensions of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Columns.
    pub width: usize,
    /// Lines.
    pub height: usize,
}

impl Screen {
    /// The least that a terminal has.
    pub const MIN: Self = Self {
        width: 80,
        height: 24,
    };
}

/// Lines for the prompt before and after, and for the notice of storage.
pub(crate) const RESERVED: usize = 3;

/// Maximum lines of the other findings.
const OTHERS: usize = 2;

/// Maximum lines of a remark.
const REMARK: usize = 4;

/// The commands that show the rest of a run that was just measured; `name`: its file, or its id in
/// the history; absent if it is kept nowhere.
pub fn more(name: Option<&str>) -> String {
    match name {
        Some(name) => format!(
            "All figures and the evidence: pathtwin report {name} --out report.html, \
             pathtwin explain {name} --all"
        ),
        None => {
            "All figures and the evidence: the same command with --all, or --out FILE".to_owned()
        }
    }
}

/// The answer with the next step. `more` are commands that show the rest, named in the last lines.
pub fn text(
    run: &Run,
    findings: &Findings,
    step: Option<&Next>,
    screen: Screen,
    more: &str,
) -> String {
    let width = screen.width.max(40);
    let mut first = String::new();
    let gaps = shortfall::cut_short(run) + &shortfall::reasons(run);
    first.push_str(&first_lines(&gaps, width));
    first.push_str(&verdict(findings, width));
    let figures = figures(run, width);
    first.push_str(&others(findings, width));
    let next = next(run, step, width);
    let more = within(more, "", width);
    let count = |text: &str| text.lines().count();
    let room = screen.height.saturating_sub(RESERVED);
    let mut out = first;
    // The parts that can be left out are at the end.
    for part in [figures, next, more] {
        let gap = usize::from(!part.is_empty());
        if !part.is_empty() && count(&out) + count(&part) + gap <= room {
            out.push('\n');
            out.push_str(&part);
        }
    }
    safe::lines(&out).into_owned()
}

/// The first lines of a text, wrapped where they are too long.
fn first_lines(text: &str, width: usize) -> String {
    const MAX: usize = 11;
    cut(&lines(text, width), MAX)
}

fn cut(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    let mut out = all[..all.len().min(lines)].join("\n");
    if !out.is_empty() {
        out.push_str(if all.len() > lines { " …\n" } else { "\n" });
    }
    out
}

/// The finding that limits the path most, or the summary where there is none.
fn verdict(findings: &Findings, width: usize) -> String {
    let Some(first) = findings.main() else {
        return cut(&within(&findings.summary.to_string(), "", width), REMARK);
    };
    let sure = format!(
        "({}, {:.0} % sure)",
        first.severity,
        first.confidence * 100.0
    );
    let title = format!(
        "{}{} {sure}",
        capital(&first.title.to_string()),
        place(first.place)
    );
    let text = format!("{}.", capital(&first.text.to_string()));
    within(&safe::line(&title), "", width) + &cut(&within(&safe::line(&text), "  ", width), REMARK)
}

/// Four figures: goodput in both directions, round trips, and the share that a tunnel keeps or the
/// loss.
fn figures(run: &Run, width: usize) -> String {
    let Some(view) = View::new(run) else {
        return String::new();
    };
    let directions = view.directions();
    let mut lines: Vec<String> = directions
        .iter()
        .filter_map(|dir| goodput(dir, width))
        .collect();
    lines.extend(round_trip(&view));
    lines.extend(kept(&view).or_else(|| lost(&directions)));
    lines.iter().fold(String::new(), |mut out, line| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {line}");
        out
    })
}

fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "down",
        Direction::Up => "up",
    }
}

fn goodput(dir: &DirectionView<'_>, width: usize) -> Option<String> {
    const BAR: usize = 24;
    let load = dir.default_load()?;
    let carried = short(load.goodput_bps / 1e6);
    let of = dir.payload_capacity_bps(&load);
    // UDP lost nothing at its highest rate: the path may carry more.
    let is_open = dir.sweep().is_some_and(|sweep| sweep.above.is_none());
    let share = dir.utilization(&load);
    let is_most = is_open && share.is_some_and(|share| share >= 1.0);
    let mut line = format!("{:<6} {carried}", name(dir.direction));
    if let Some(bps) = of.filter(|_| !is_most) {
        let least = if is_open { "at least " } else { "" };
        let _ = write!(line, " of {least}{}", short(bps / 1e6));
    }
    line.push_str(" Mbit/s");
    if is_most {
        line = format!("{line:<30} (no limit of the path was reached)");
    } else if let Some(share) = share {
        let filled = ((share * BAR as f64).round() as usize).min(BAR);
        let bar = "#".repeat(filled) + &".".repeat(BAR - filled);
        line = format!("{line:<30} [{bar}]");
    }
    let who = match dir.is_limited_by_processors() {
        true => format!(
            "{line}  {}, at full processors: does not count",
            safe::line(&load.cc)
        ),
        false => format!("{line}  {}", safe::line(&load.cc)),
    };
    Some(if who.chars().count() + 2 <= width {
        who
    } else {
        line
    })
}

fn round_trip(view: &View<'_>) -> Option<String> {
    let idle = view.idle()?.p50_us;
    let under = view
        .loaded_us()
        .map_or_else(String::new, |(us, direction)| {
            format!(", {} ms under load {}", short(us / 1e3), name(direction))
        });
    Some(format!("RTT    {} ms idle{under}", short(idle / 1e3)))
}

/// The lowest share of the path's goodput that the tunnel achieves in a direction.
fn kept(view: &View<'_>) -> Option<String> {
    let (least, _) = view.kept()?;
    let direction = least.of.direction.map_or("", name);
    Some(format!(
        "tunnel {} of the path's goodput {direction}",
        crate::run::ratio_text(least)
    ))
}

fn lost(directions: &[DirectionView<'_>]) -> Option<String> {
    let losses: Vec<String> = directions
        .iter()
        .filter_map(|dir| {
            let loss = dir.sweep()?.below.loss();
            Some(format!("{} {}", percent(loss), name(dir.direction)))
        })
        .collect();
    (!losses.is_empty()).then(|| format!("loss   {} (UDP below capacity)", losses.join(", ")))
}

/// Returns the next action.
fn next(run: &Run, step: Option<&Next>, width: usize) -> String {
    match step {
        None => String::new(),
        Some(Next::Remedy(step)) => remedy(step, width),
        Some(Next::Measure {
            settle,
            decides,
            longer,
        }) => {
            let causes = if *decides == 1 { "cause" } else { "causes" };
            let text = format!("Next: {settle}; it decides {decides} {causes} that are open.");
            let one_host = View::new(run).is_some_and(|v| v.host(Side::Near).is_both_ends());
            let command = match longer {
                Some(plan) => again(run, *plan, width),
                None if one_host => ELSEWHERE.to_owned(),
                None => String::new(),
            };
            within(&safe::line(&text), "", width) + &command
        }
    }
}

fn remedy(remedy: &Remedy, width: usize) -> String {
    let on = match remedy.on {
        Location::Elsewhere => String::new(),
        on => format!(", on the {on}"),
    };
    let text = format!("Next{on}: {}.", remedy.sentence());
    let mut out = cut(&within(&safe::line(&text), "", width), REMARK);
    for line in commands(remedy, Dialect::Linux) {
        out.push_str(&command(&safe::line(&line), "  ", width));
    }
    out
}

/// The same measurement by another plan, as a command: of the far end as it was named, since its
/// key is remembered by that name.
fn again(run: &Run, plan: Preset, width: usize) -> String {
    let measure = match &run.asked {
        Some(asked) => asked.command(),
        None => by_address(run),
    };
    let option = plan.option().map_or_else(String::new, |o| format!(" {o}"));
    command(&format!("{measure}{option}"), "  ", width)
}

/// The command for a run of an earlier version, which has only the addresses.
fn by_address(run: &Run) -> String {
    let via: String = run
        .layers
        .iter()
        .filter(|layer| layer.layer == Layer::Tunnel)
        .map(|layer| format!(" --via {}", layer.far))
        .collect();
    format!("pathtwin measure {}{via}", run.path())
}

/// The other findings, by their titles, in a few lines.
fn others(findings: &Findings, width: usize) -> String {
    let rest: Vec<String> = findings
        .others()
        .map(|f| format!("{}{} ({})", f.title, place(f.place), f.severity))
        .collect();
    match rest.is_empty() {
        true => String::new(),
        false => {
            let text = format!("Also: {}.", rest.join("; "));
            cut(&within(&safe::line(&text), "", width), OTHERS)
        }
    }
}
