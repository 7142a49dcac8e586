//! The path in four figures: what plain TCP gets in each direction, the round trip, what the tunnel
//! leaves.

use analysis::view::{DirectionView, Load, View};
use maud::{Markup, html};
use model::{
    net::Layer,
    run::{FigureKind, Run},
};

use super::words::Words;
use crate::number::{percent, short};

/// One figure.
struct Tile {
    name: String,
    big: String,
    unit: &'static str,
    under: String,
}

pub(super) fn html(run: &Run, words: &Words) -> Markup {
    let Some(view) = View::new(run) else {
        return html! {};
    };
    let ways = view.directions();
    let mut tiles: Vec<Tile> = ways.iter().filter_map(|way| goodput(way, words)).collect();
    tiles.extend(delay(&view, &ways, words));
    tiles.extend(kept(run, &ways, words));
    html! {
        @if !tiles.is_empty() {
            dl.glance { @for tile in &tiles { div {
                dt { (tile.name) }
                dd.big { (tile.big) " " small { (tile.unit) } }
                dd.under { (tile.under) }
            } } }
        }
    }
}

fn name(way: &DirectionView<'_>, load: &Load, words: &Words) -> String {
    let step = format!(
        "{} {}",
        words.say("step-tcp"),
        words.direction(way.direction)
    );
    format!("{step} · {}", load.cc)
}

fn goodput(way: &DirectionView<'_>, words: &Words) -> Option<Tile> {
    let load = way.default_load()?;
    let share = way.utilization(&load).zip(way.flow_capacity_bps());
    let under = share.map(|(share, carries)| {
        words.fill(
            "glance-filled",
            &[
                ("share", percent(share).into()),
                ("carries", short(carries / 1e6).into()),
            ],
        )
    });
    Some(Tile {
        name: name(way, &load, words),
        big: short(load.goodput_bps / 1e6),
        unit: "Mbit/s",
        under: under.unwrap_or_default(),
    })
}

/// The round trip without load, and the longest median under it.
fn delay(view: &View<'_>, ways: &[DirectionView<'_>], words: &Words) -> Option<Tile> {
    let idle = view.idle()?.p50_us;
    let loaded = ways.iter().filter_map(|way| {
        let load = way.default_load()?;
        Some((load.probe_p50_us?, way.direction))
    });
    let (worst, direction) = loaded.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let way = words.direction(direction);
    Some(Tile {
        name: words.say("glance-delay"),
        big: format!("{} → {}", short(idle / 1e3), short(worst / 1e3)),
        unit: "ms",
        under: words.fill("glance-loaded", &[("way", way.into())]),
    })
}

/// What the tunnel leaves of the path's goodput, in the direction where that is least.
fn kept(run: &Run, ways: &[DirectionView<'_>], words: &Words) -> Option<Tile> {
    let of = |way: &DirectionView<'_>| {
        let load = way.default_load()?;
        let ratio = run.ratios.iter().find(|r| {
            r.kind == FigureKind::Goodput
                && r.of.layer == Layer::Tunnel
                && r.to.layer == Layer::Underlay
                && r.of.direction == Some(way.direction)
                && !r.of.bidirectional
                && r.of.flows == Some(load.flows)
                && r.of.cc.as_ref().is_none_or(|cc| *cc == load.cc)
        })?;
        Some((ratio, name(way, &load, words)))
    };
    let all = ways.iter().filter_map(of);
    let (ratio, name) = all.min_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio))?;
    let interval = ratio.low.zip(ratio.high).map(|(low, high)| {
        words.fill(
            "glance-interval",
            &[("low", short(low).into()), ("high", short(high).into())],
        )
    });
    let under: Vec<String> = [Some(name), interval].into_iter().flatten().collect();
    Some(Tile {
        name: words.say("glance-kept"),
        big: short(ratio.ratio),
        unit: "",
        under: under.join(" · "),
    })
}
