//! Section of an advice: the answer, goodput over loaded latency of all candidates, and the
//! reasons.

use maud::{Markup, html};
use model::{
    advice::{Advice, AdviceFigure, Effect, Outcome, Tried},
    net::Direction,
    remedy::{Dialect, commands},
    text::{Text, Value},
};

use super::words::{Words, label};

/// Size of the picture of a direction, and its margins.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 44.0;
const EDGE: f64 = 14.0;

pub(super) fn html(advice: &Advice, words: &Words) -> Markup {
    let text = words.render(&advice.text);
    html! {
        p { strong lang=[text.lang] { (text.capital()) (text.stop()) } }
        @if let Some(settle) = &advice.settle {
            p.note { (words.label(label::twin_settle(settle.clone()))) }
        }
        @for direction in [Direction::Down, Direction::Up] { (picture(advice, direction, words)) }
        (table(advice, words))
        @if !advice.not_tried.is_empty() {
            details.more {
                summary { (words.label(label::advice_not_tried())) }
                ul { @for one in &advice.not_tried {
                    @let (name, why) = (words.render(&one.name), words.render(&one.why));
                    li { strong lang=[name.lang] { (name.text) } ": " span lang=[why.lang] { (why.text) } }
                } }
            }
        }
        @for note in &advice.notes {
            @let note = words.render(note);
            p.note lang=[note.lang] { (note.text) }
        }
    }
}

/// Linear in goodput, logarithmic in delay.
struct Scale {
    most_bps: f64,
    delay_us: [f64; 2],
}

impl Scale {
    fn of(outcomes: &[Outcome]) -> Self {
        let delays = || outcomes.iter().map(|o| o.rtt_p50_us.max(1.0));
        let least = delays().fold(f64::INFINITY, f64::min).min(1e9);
        let most = delays().fold(1.0, f64::max);
        Self {
            most_bps: outcomes.iter().map(|o| o.goodput_bps).fold(1.0, f64::max) * 1.05,
            delay_us: [least * 0.8, (most * 1.25).max(least * 1.5)],
        }
    }

    fn x(&self, us: f64) -> f64 {
        let [low, high] = self.delay_us;
        let place = ((us.max(1.0) / low).ln() / (high / low).ln()).clamp(0.0, 1.0);
        LEFT + place * (WIDTH - LEFT - EDGE)
    }

    fn y(&self, bps: f64) -> f64 {
        let place = (bps / self.most_bps).clamp(0.0, 1.0);
        HEIGHT - BOTTOM - place * (HEIGHT - BOTTOM - EDGE)
    }
}

/// Goodput against loaded RTT in one direction; up and to the left is better. A point leads to the
/// row with its commands, which the script opens.
fn picture(advice: &Advice, direction: Direction, words: &Words) -> Markup {
    let of = |all: &[Outcome]| all.iter().copied().find(|o| o.direction == direction);
    let Some(unchanged) = of(&advice.unchanged.outcomes) else {
        return html! {};
    };
    let points: Vec<(usize, &Tried, Outcome)> = advice
        .tried
        .iter()
        .enumerate()
        .filter_map(|(place, tried)| Some((place, tried, of(&tried.outcomes)?)))
        .collect();
    let mut all: Vec<Outcome> = points.iter().map(|(_, _, o)| *o).collect();
    all.push(unchanged);
    let scale = Scale::of(&all);
    let caption = words.label(label::advice_picture(direction));
    html! {
        figure.chart {
            svg.remedies role="img" aria-label=(caption) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) {
                (axes(&scale, words))
                @for (place, tried, outcome) in &points {
                    a href=(format!("#remedy-{place}")) {
                        (bars(tried, outcome, direction, &unchanged, &scale))
                        circle cx=(format!("{:.1}", scale.x(outcome.rtt_p50_us)))
                            cy=(format!("{:.1}", scale.y(outcome.goodput_bps)))
                            r=(if advice.advised == Some(*place) { 8 } else { 5 })
                            fill=(colour(tried.effect)) fill-opacity="0.85" {
                            title { (words.render(&tried.name).text) }
                        }
                    }
                }
                (cross(&scale, &unchanged, words))
            }
            figcaption { (caption) }
        }
    }
}

fn axes(scale: &Scale, words: &Words) -> Markup {
    let [low, high] = scale.delay_us;
    let middle = (low * high).sqrt();
    let text = |x: f64, y: f64, anchor: &str, text: String| {
        html! { text x=(format!("{x:.1}")) y=(format!("{y:.1}")) text-anchor=(anchor) font-size="12" fill="currentColor" { (text) } }
    };
    let floor = HEIGHT - BOTTOM;
    html! {
        line x1=(LEFT) x2=(WIDTH - EDGE) y1=(floor) y2=(floor) stroke="currentColor" {}
        line x1=(LEFT) x2=(LEFT) y1=(EDGE) y2=(floor) stroke="currentColor" {}
        @for us in [low / 0.8, middle, high / 1.25] {
            (text(scale.x(us), floor + 16.0, "middle", Value::Us(us).to_string()))
        }
        @for share in [0.25, 0.5, 0.75, 1.0] {
            @let bps = share * scale.most_bps / 1.05;
            (text(LEFT - 6.0, scale.y(bps) + 4.0, "end", crate::number::short(bps / 1e6)))
        }
        (text(f64::midpoint(LEFT, WIDTH), HEIGHT - 6.0, "middle", words.label(label::advice_x())))
        (text(LEFT, EDGE - 2.0, "start", "Mbit/s".to_owned()))
    }
}

/// Intervals of a point, as ratios to no change.
fn bars(
    tried: &Tried,
    outcome: &Outcome,
    direction: Direction,
    unchanged: &Outcome,
    scale: &Scale,
) -> Markup {
    let of = |figure| tried.change(direction, figure);
    let (x, y) = (scale.x(outcome.rtt_p50_us), scale.y(outcome.goodput_bps));
    let place = |v: f64| format!("{v:.1}");
    html! {
        @if let Some(c) = of(AdviceFigure::Goodput) {
            line x1=(place(x)) x2=(place(x)) y1=(place(scale.y(unchanged.goodput_bps * c.low)))
                y2=(place(scale.y(unchanged.goodput_bps * c.high)))
                stroke=(colour(tried.effect)) stroke-opacity="0.4" {}
        }
        @if let Some(c) = of(AdviceFigure::LoadedP50) {
            line y1=(place(y)) y2=(place(y)) x1=(place(scale.x(unchanged.rtt_p50_us * c.low)))
                x2=(place(scale.x(unchanged.rtt_p50_us * c.high)))
                stroke=(colour(tried.effect)) stroke-opacity="0.4" {}
        }
    }
}

/// No change: a cross with its name.
fn cross(scale: &Scale, unchanged: &Outcome, words: &Words) -> Markup {
    let (x, y) = (
        scale.x(unchanged.rtt_p50_us),
        scale.y(unchanged.goodput_bps),
    );
    let lines = format!(
        "M{:.1},{:.1} L{:.1},{:.1} M{:.1},{:.1} L{:.1},{:.1}",
        x - 7.0,
        y - 7.0,
        x + 7.0,
        y + 7.0,
        x - 7.0,
        y + 7.0,
        x + 7.0,
        y - 7.0
    );
    let (anchor, at) = match x > WIDTH / 2.0 {
        true => ("end", x - 11.0),
        false => ("start", x + 11.0),
    };
    html! {
        path d=(lines) stroke="currentColor" stroke-width="3" fill="none" {}
        text x=(format!("{at:.1}")) y=(format!("{:.1}", y + 4.0)) text-anchor=(anchor) font-size="12" fill="currentColor" { (words.label(label::advice_unchanged())) }
    }
}

/// Colours for colour-blind readers (Okabe and Ito).
fn colour(effect: Effect) -> &'static str {
    match effect {
        Effect::Helps => "#009e73",
        Effect::HelpsAtACost => "#e69f00",
        Effect::Unsure => "#56b4e9",
        Effect::Nothing => "#999999",
        Effect::Harms => "#d55e00",
    }
}

fn table(advice: &Advice, words: &Words) -> Markup {
    let figures = [
        (Direction::Down, AdviceFigure::Goodput),
        (Direction::Up, AdviceFigure::Goodput),
        (Direction::Down, AdviceFigure::LoadedP50),
        (Direction::Up, AdviceFigure::LoadedP50),
    ];
    let cells = |outcomes: &[Outcome]| {
        html! { @for (direction, figure) in figures {
            td.number { (shown(outcomes, direction, figure)) }
        } }
    };
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(label::advice_table())) { table.figures {
            caption { (words.label(label::advice_table())) }
            thead { tr {
                th scope="col" { (words.label(label::advice_remedy())) }
                th.number scope="col" { (words.label(label::advice_goodput_down())) }
                th.number scope="col" { (words.label(label::advice_goodput_up())) }
                th.number scope="col" { (words.label(label::advice_rtt_down())) }
                th.number scope="col" { (words.label(label::advice_rtt_up())) }
                th scope="col" { (words.label(label::advice_effect())) }
            } }
            tbody {
                tr { th scope="row" { (words.label(label::advice_unchanged())) } (cells(&advice.unchanged.outcomes)) td {} }
                @for (place, tried) in advice.tried.iter().enumerate() {
                    tr id=(format!("remedy-{place}")) {
                        th scope="row" { (name(tried, words)) (how(tried, words)) }
                        (cells(&tried.outcomes))
                        td { (words.label(effect(tried.effect))) }
                    }
                }
            }
        } }
    }
}

fn name(tried: &Tried, words: &Words) -> Markup {
    let name = words.render(&tried.name);
    let mut on: Vec<String> = tried
        .remedies
        .iter()
        .filter_map(|r| r.on.side())
        .map(|s| words.side(s))
        .collect();
    on.dedup();
    html! { span lang=[name.lang] { (name.text) } @if !on.is_empty() { " · " (on.join(", ")) } }
}

/// Reasons and commands.
fn how(tried: &Tried, words: &Words) -> Markup {
    let all: Vec<String> = tried
        .remedies
        .iter()
        .flat_map(|r| commands(r, Dialect::Linux))
        .collect();
    html! {
        @for text in &tried.texts {
            @let text = words.render(text);
            p.note lang=[text.lang] { (text.text) }
        }
        @if !all.is_empty() {
            // Open for readers without a script; with one, the picture opens it.
            details.more open data-linked {
                summary { (words.label(label::advice_commands())) }
                pre tabindex="0" aria-label=(words.label(label::advice_commands())) { code { (all.join("\n")) } }
            }
        }
    }
}

fn shown(outcomes: &[Outcome], direction: Direction, figure: AdviceFigure) -> String {
    let own = outcomes.iter().find(|o| o.direction == direction);
    let (_, scale) = crate::printed::shown(figure.unit());
    let value = own.and_then(|o| o.value(figure));
    value.map_or_else(String::new, |value| crate::number::short(value / scale))
}

fn effect(effect: Effect) -> Text {
    match effect {
        Effect::Helps => label::advice_helps(),
        Effect::HelpsAtACost => label::advice_cost(),
        Effect::Unsure => label::advice_unsure(),
        Effect::Nothing => label::advice_nothing(),
        Effect::Harms => label::advice_harms(),
    }
}
