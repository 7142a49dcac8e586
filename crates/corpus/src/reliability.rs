//! The reliability diagram: stated confidence against what came true, as SVG that needs nothing
//! else.

use std::fmt::Write;

use stats::wilson;

/// Findings of about the same confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Mean of the stated confidence.
    pub stated: f64,
    /// Findings that were true.
    pub right: u64,
    /// All findings.
    pub of: u64,
}

/// Sizes in pixels of the drawing.
const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 430.0;
const SIDE: f64 = 320.0;
const LEFT: f64 = 72.0;
const TOP: f64 = 48.0;
/// Half the width of the end of an interval.
const CAP: f64 = 5.0;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1a1c1f}\
    .title{font-size:15px;font-weight:650}.middle{text-anchor:middle}.end{text-anchor:end}\
    .paper{fill:#fbfbfa}.grid{stroke:#e0e3e7}.equal{stroke:#8a9199;stroke-dasharray:5 4}\
    .range{stroke:#0e56a0;stroke-width:1.5}.dot{fill:#0e56a0}\
    @media(prefers-color-scheme:dark){text{fill:#e4e7ea}.paper{fill:#14181d}\
    .grid{stroke:#2c333b}.range{stroke:#7fb2d8}.dot{fill:#7fb2d8}}";

/// The axes: shares from some tenths to 1. That of what came true may begin lower, for intervals.
#[derive(Clone, Copy)]
struct Axes {
    /// Tenths of the stated confidence and of the share that came true.
    from: [u32; 2],
}

impl Axes {
    /// The axes that show all points and their intervals.
    fn of(points: &[Point]) -> Self {
        let counted = || points.iter().filter(|p| p.of > 0);
        let low = |shares: &mut dyn Iterator<Item = f64>| {
            (shares.fold(0.9, f64::min) * 10.0).floor().max(0.0) as u32
        };
        let mut lows = counted().filter_map(|p| Some(wilson(p.right, p.of)?.low));
        Self {
            from: [low(&mut counted().map(|p| p.stated)), low(&mut lows)],
        }
    }

    /// The tenths of an axis.
    fn ticks(self, axis: usize) -> impl Iterator<Item = f64> {
        (self.from[axis]..=10).map(|tenths| f64::from(tenths) / 10.0)
    }

    /// Pixels from the beginning of an axis.
    fn along(self, axis: usize, share: f64) -> f64 {
        let from = f64::from(self.from[axis]) / 10.0;
        SIDE * (share - from) / (1.0 - from)
    }

    fn x(self, share: f64) -> f64 {
        LEFT + self.along(0, share)
    }

    fn y(self, share: f64) -> f64 {
        TOP + SIDE - self.along(1, share)
    }

    /// The lowest share on both axes.
    fn both(self) -> f64 {
        f64::from(self.from[0].max(self.from[1])) / 10.0
    }
}

/// The drawing: a point for each range of confidence with findings, with its 95 % interval (Wilson)
/// and their number, and the diagonal on which both shares are equal.
pub fn reliability(title: &str, points: &[Point]) -> String {
    let axes = Axes::of(points);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n\
         <style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"14\" y=\"26\">{title}</text>\n"
    );
    grid(&mut out, axes);
    for point in points {
        draw(&mut out, axes, point);
    }
    out.push_str("</svg>\n");
    out
}

fn grid(out: &mut String, axes: Axes) {
    let [left, right, top, bottom] = [LEFT, LEFT + SIDE, TOP, TOP + SIDE];
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    for share in axes.ticks(0) {
        let x = axes.x(share);
        line(out, "grid", [x, top, x, bottom]);
        text(out, "middle", [x, bottom + 18.0], &percent(share));
    }
    for share in axes.ticks(1) {
        let y = axes.y(share);
        line(out, "grid", [left, y, right, y]);
        text(out, "end", [left - 8.0, y + 4.0], &percent(share));
    }
    let from = axes.both();
    line(out, "equal", [axes.x(from), axes.y(from), right, top]);
    let below = [left + SIDE / 2.0, bottom + 42.0];
    text(out, "middle", below, "stated confidence (mean)");
    let middle = top + SIDE / 2.0;
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<text class=\"middle\" transform=\"translate(18 {middle:.1}) rotate(-90)\">came true</text>"
    );
}

fn draw(out: &mut String, axes: Axes, point: &Point) {
    let Some(range) = wilson(point.right, point.of) else {
        return;
    };
    let x = axes.x(point.stated);
    let [low, high] = [range.low, range.high].map(|share| axes.y(share));
    line(out, "range", [x, low, x, high]);
    for y in [low, high] {
        line(out, "range", [x - CAP, y, x + CAP, y]);
    }
    let y = axes.y(point.right as f64 / point.of as f64);
    let _ = writeln!(
        out,
        "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"
    );
    text(out, "middle", [x, low + 16.0], &format!("n = {}", point.of));
}

fn line(out: &mut String, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
    let _ = writeln!(
        out,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

fn text(out: &mut String, class: &str, [x, y]: [f64; 2], words: &str) {
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{words}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of the first element after a text.
    fn number(svg: &str, after: &str, name: &str) -> f64 {
        let element = svg.split(after).nth(1).unwrap();
        let from = element.split(&format!("{name}=\"")).nth(1).unwrap();
        from.split('"').next().unwrap().parse().unwrap()
    }

    #[test]
    fn confidence_that_comes_true_as_stated_is_on_the_diagonal() {
        let at = |right| {
            let (stated, of) = (0.8, 100);
            let svg = reliability("a", &[Point { stated, right, of }]);
            let [x1, y1, x2, y2] =
                ["x1", "y1", "x2", "y2"].map(|name| number(&svg, "class=\"equal\"", name));
            let there = y1 + (number(&svg, "<circle", "cx") - x1) / (x2 - x1) * (y2 - y1);
            there - number(&svg, "<circle", "cy")
        };
        assert!(at(80).abs() < 0.2, "{}", at(80));
        assert!(at(60) < -10.0, "overstated: below it");
        assert!(at(95) > 10.0, "understated: above it");
    }

    #[test]
    fn every_interval_is_inside_and_every_point_has_its_number() {
        let point = |stated, right, of| Point { stated, right, of };
        let points = [point(0.55, 1, 3), point(0.96, 90, 91), point(0.9, 0, 0)];
        let svg = reliability("a", &points);
        assert_eq!(svg.matches("<circle").count(), 2, "none has no share");
        assert!(svg.contains(">n = 3<") && svg.contains(">n = 91<"));
        // Wilson's interval of 1 of 3 begins at 6 %.
        assert!(svg.contains(">0 %<") && svg.contains(">100 %<"));
        for part in svg.split("y2=\"").skip(1) {
            let y: f64 = part.split('"').next().unwrap().parse().unwrap();
            assert!((TOP..=TOP + SIDE).contains(&y), "{y}");
        }
    }
}
