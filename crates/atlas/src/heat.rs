//! Heat maps: the median of a quantity by three factors, as SVG that needs nothing else.

use maud::{Markup, PreEscaped, html};

use crate::{
    cell::{Cell, Factor, levels},
    compare::{Only, Quantity, is_in},
    number::level,
};

/// A heat map: a panel for each level of a factor, in it a cell for each pair of levels of two
/// others.
#[derive(Clone, Copy, Debug)]
pub struct Heat {
    /// Name of its file, without the extension.
    pub file: &'static str,
    /// Title.
    pub title: &'static str,
    /// The quantity.
    pub quantity: Quantity,
    /// The cells.
    pub only: Only,
    /// Factor of the panels.
    pub panels: Factor,
    /// Factor of the lines.
    pub down: Factor,
    /// Factor of the columns.
    pub across: Factor,
    /// Values with the lightest and the darkest shade.
    pub scale: [f64; 2],
}

/// Shades, the same as in reports, for light and dark.
const LIGHT: [&str; 9] = [
    "#f7fbff", "#e3eef9", "#cfe1f2", "#b0d2e8", "#87bddc", "#5ba3d0", "#2a6fad", "#0e56a0",
    "#083a7a",
];
const DARK: [&str; 9] = [
    "#17222e", "#1b2f42", "#1f3d58", "#244d70", "#2b5f8a", "#5796c2", "#7fb2d8", "#a8cdea",
    "#d3e7f8",
];
/// From this shade on, the text has the colour for dark shades.
const TURN: usize = 6;

/// Sizes in pixels of the drawing.
const BOX: [usize; 2] = [66, 30];
const LABELS: usize = 104;
const GAP: usize = 28;
const HEAD: usize = 64;
const PANEL_HEAD: usize = 52;
/// Panels side by side.
const SIDE: usize = 2;

impl Heat {
    /// The drawing.
    pub fn svg(&self, cells: &[Cell]) -> String {
        let cells: Vec<&Cell> = cells
            .iter()
            .filter(|cell| cell.valid && is_in(cell, self.only))
            .collect();
        let [panels, down, across] =
            [self.panels, self.down, self.across].map(|f| levels(cells.iter().copied(), f));
        let wide = LABELS + across.len() * BOX[0];
        let high = PANEL_HEAD + down.len() * BOX[1];
        let columns = SIDE.min(panels.len().max(1));
        let width = columns * (wide + GAP) + GAP / 2;
        let height = HEAD + panels.len().div_ceil(SIDE) * (high + GAP);
        let markup = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) }
                width=(width) height=(height) role="img" aria-label=(self.title) {
                style { (PreEscaped(style())) }
                rect.paper width="100%" height="100%" {}
                text.title x="14" y="26" { (self.title) }
                text.note x="14" y="47" { (self.note(cells.len())) }
                @for (number, panel) in panels.iter().enumerate() {
                    @let x = GAP / 2 + number % SIDE * (wide + GAP);
                    @let y = HEAD + number / SIDE * (high + GAP);
                    g transform={ "translate(" (x) " " (y) ")" } {
                        (self.panel(&cells, panel, &down, &across))
                    }
                }
            }
        };
        format!("{}\n", markup.into_string())
    }

    fn note(&self, n: usize) -> String {
        format!("{}; medians; {n} cells", self.quantity.words())
    }

    fn panel(&self, cells: &[&Cell], panel: &str, down: &[String], across: &[String]) -> Markup {
        html! {
            text.panel x="0" y="16" { (self.panels.words()) " " (level(panel)) }
            text.note x="0" y="40" { (self.down.words()) " ↓  " (self.across.words()) " →" }
            @for (column, text) in across.iter().enumerate() {
                text.head x=(LABELS + column * BOX[0] + BOX[0] / 2) y="40" { (level(text)) }
            }
            @for (line, text) in down.iter().enumerate() {
                @let y = PANEL_HEAD + line * BOX[1];
                text.label x="0" y=(y + 20) { (level(text)) }
                @for (column, other) in across.iter().enumerate() {
                    (self.square(cells, [panel, text, other], [LABELS + column * BOX[0], y]))
                }
            }
        }
    }

    fn square(
        &self,
        cells: &[&Cell],
        [panel, line, column]: [&str; 3],
        [x, y]: [usize; 2],
    ) -> Markup {
        let is_here = |cell: &&&Cell| {
            cell.level(self.panels) == panel
                && cell.level(self.down) == line
                && cell.level(self.across) == column
        };
        let values = cells.iter().filter(is_here);
        let values: Vec<f64> = values.filter_map(|c| self.quantity.of(c)).collect();
        let Some(median) = stats::median(&values) else {
            return html! { text.label x=(x + BOX[0] / 2 - 4) y=(y + 20) { "–" } };
        };
        let shade = self.shade(median);
        let side = if shade >= TURN { "on-dark" } else { "on-light" };
        html! {
            rect class={ "h" (shade) } x=(x) y=(y) width=(BOX[0] - 2) height=(BOX[1] - 2) rx="3" {
                title { (self.quantity.print(median)) ", n = " (values.len()) }
            }
            text class={ "value " (side) } x=(x + BOX[0] / 2 - 1) y=(y + 19) { (self.quantity.print(median)) }
        }
    }

    fn shade(&self, value: f64) -> usize {
        let [low, high] = self.scale;
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        let last = LIGHT.len() - 1;
        ((share * LIGHT.len() as f64) as usize).min(last)
    }
}

fn style() -> String {
    let shades = |colours: [&str; 9]| {
        let one = |(at, colour): (usize, &&str)| format!(".h{at}{{fill:{colour}}}");
        colours.iter().enumerate().map(one).collect::<String>()
    };
    format!(
        "text{{font:13px system-ui,sans-serif;fill:#1a1c1f}}.title{{font-size:17px;font-weight:650}}\
         .panel{{font-weight:620}}.note{{font-size:12px;fill:#5a6068}}\
         .head,.value{{text-anchor:middle}}.value{{font-size:12px}}.paper{{fill:#fbfbfa}}\
         .on-light{{fill:#12161c}}.on-dark{{fill:#fff}}{}\
         @media(prefers-color-scheme:dark){{text{{fill:#e7e9ec}}.note{{fill:#a3aab3}}\
         .paper{{fill:#14161a}}.on-light{{fill:#f0f4f8}}.on-dark{{fill:#0c1218}}{}}}",
        shades(LIGHT),
        shades(DARK)
    )
}

/// The heat maps that are published.
pub fn all() -> Vec<Heat> {
    vec![
        Heat {
            file: "loss",
            title: "What random loss leaves of the line, one flow",
            quantity: Quantity::Utilisation,
            only: &[
                (Factor::Tunnel, &["none"]),
                (Factor::Flows, &["1 flow"]),
                (
                    Factor::Queue,
                    &["fifo 40ms", "fifo 200ms", "fq_codel", "cake"],
                ),
            ],
            panels: Factor::Cc,
            down: Factor::Loss,
            across: Factor::Rtt,
            scale: [0.0, 1.0],
        },
        Heat {
            file: "queue",
            title: "Goodput by queue, one flow, no random loss",
            quantity: Quantity::Utilisation,
            only: &[
                (Factor::Tunnel, &["none"]),
                (Factor::Flows, &["1 flow"]),
                (Factor::Loss, &["0%"]),
            ],
            panels: Factor::Cc,
            down: Factor::Queue,
            across: Factor::Rtt,
            scale: [0.0, 1.0],
        },
        Heat {
            file: "delay",
            title: "Delay that one flow adds for all others, no random loss",
            quantity: Quantity::AddedDelay,
            only: &[
                (Factor::Tunnel, &["none"]),
                (Factor::Flows, &["1 flow"]),
                (Factor::Loss, &["0%"]),
            ],
            panels: Factor::Cc,
            down: Factor::Queue,
            across: Factor::Rtt,
            scale: [0.0, 200.0],
        },
        Heat {
            file: "retransmitted",
            title: "What is sent twice, one flow, no random loss",
            quantity: Quantity::Retransmitted,
            only: &[
                (Factor::Tunnel, &["none"]),
                (Factor::Flows, &["1 flow"]),
                (Factor::Loss, &["0%"]),
            ],
            panels: Factor::Cc,
            down: Factor::Queue,
            across: Factor::Rtt,
            scale: [0.0, 0.1],
        },
        Heat {
            file: "sharing",
            title: "What a cubic flow gets beside one flow of each congestion control",
            quantity: Quantity::CompetitorShare,
            only: &[(Factor::Tunnel, &["none"]), (Factor::Loss, &["0%"])],
            panels: Factor::Cc,
            down: Factor::Queue,
            across: Factor::Rtt,
            scale: [0.0, 1.0],
        },
        Heat {
            file: "rate",
            title: "Goodput at 0.1 % random loss, one flow",
            quantity: Quantity::Utilisation,
            only: &[
                (Factor::Tunnel, &["none"]),
                (Factor::Flows, &["1 flow"]),
                (Factor::Loss, &["0.1%"]),
                (
                    Factor::Queue,
                    &["fifo 40ms", "fifo 200ms", "fq_codel", "cake"],
                ),
            ],
            panels: Factor::Cc,
            down: Factor::Rate,
            across: Factor::Rtt,
            scale: [0.0, 1.0],
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_value_has_the_lightest_shade_and_what_exceeds_the_scale_the_darkest() {
        let map = all()[0];
        assert_eq!(map.scale, [0.0, 1.0]);
        assert_eq!([0.0, 0.5, 0.999, 1.2].map(|v| map.shade(v)), [0, 4, 8, 8]);
    }

    #[test]
    fn maps_have_files_of_their_own() {
        let mut files: Vec<&str> = all().iter().map(|map| map.file).collect();
        files.sort_unstable();
        files.dedup();
        assert_eq!(files.len(), all().len());
    }
}
