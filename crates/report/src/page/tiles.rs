//! Key figures of a path: goodput of one TCP flow in each direction, RTT, share achieved by the
//! tunnel.

use analysis::view::{DirectionView, Load, View};
use maud::{Markup, html};
use model::{run::Run, text::Value};

use super::words::{Words, label};
use crate::number::short;

/// A figure.
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
    let directions = view.directions();
    let mut tiles: Vec<Tile> = directions
        .iter()
        .filter_map(|dir| goodput(dir, words))
        .collect();
    tiles.extend(delay(&view, words));
    tiles.extend(kept(&view, words));
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

/// Draws the goodput of one flow as a share of the path's capacity, as a bar for each direction.
pub(super) fn shares(run: &Run, words: &Words) -> Markup {
    const LONG: f64 = 100.0;
    let view = View::new(run);
    let directions = view.iter().flat_map(View::directions);
    let shares: Vec<(String, f64)> = directions
        .filter_map(|dir| {
            let load = dir.default_load()?;
            let (share, carries) = (dir.utilization(&load)?, dir.payload_capacity_bps(&load)?);
            let (got, carries) = (Value::Bps(load.goodput_bps), Value::Bps(carries));
            let text = words.label(label::get(dir.direction, got, carries));
            Some((text, share.clamp(0.0, 1.0)))
        })
        .collect();
    html! {
        @if !shares.is_empty() {
            div.shares { @for (text, share) in &shares {
                div {
                    p { (model::text::capital(text)) }
                    svg aria-hidden="true" viewBox="0 0 100 5" preserveAspectRatio="none" {
                        rect.all x="0" y="0" width=(LONG) height="5" {}
                        rect.got x="0" y="0" width=(format!("{:.1}", share * LONG)) height="5" {}
                    }
                }
            } }
        }
    }
}

fn name(dir: &DirectionView<'_>, load: &Load, words: &Words) -> String {
    let step = format!(
        "{} {}",
        words.label(label::step_tcp()),
        words.direction(dir.direction)
    );
    format!("{step} · {}", load.cc)
}

fn goodput(dir: &DirectionView<'_>, words: &Words) -> Option<Tile> {
    let load = dir.default_load()?;
    let share = dir.utilization(&load).zip(dir.payload_capacity_bps(&load));
    let under = share.map(|(share, carries)| {
        words.label(label::tile_filled(Value::Share(share), Value::Bps(carries)))
    });
    Some(Tile {
        name: name(dir, &load, words),
        big: short(load.goodput_bps / 1e6),
        unit: "Mbit/s",
        under: under.unwrap_or_default(),
    })
}

/// Idle RTT, and the highest median RTT under load.
fn delay(view: &View<'_>, words: &Words) -> Option<Tile> {
    let idle = view.idle()?.p50_us;
    let (worst, direction) = view.loaded_us()?;
    Some(Tile {
        name: words.label(label::tile_delay()),
        big: format!("{} → {}", short(idle / 1e3), short(worst / 1e3)),
        unit: "ms",
        under: words.label(label::tile_loaded(direction)),
    })
}

/// The tunnel's share of the underlay's goodput, in the direction with the smaller share.
fn kept(view: &View<'_>, words: &Words) -> Option<Tile> {
    let (ratio, load) = view.kept()?;
    let name = name(&view.direction(ratio.of.direction?), &load, words);
    let interval = ratio.low.zip(ratio.high).map(|(low, high)| {
        words.label(label::tile_interval(Value::Count(low), Value::Count(high)))
    });
    let interval = interval.or_else(|| {
        let range = ratio.range?;
        Some(words.label(label::range(
            Value::Count(range.low),
            Value::Count(range.high),
        )))
    });
    let under: Vec<String> = [Some(name), interval].into_iter().flatten().collect();
    Some(Tile {
        name: words.label(label::tile_kept()),
        big: short(ratio.ratio),
        unit: "",
        under: under.join(" · "),
    })
}
