//! Paths of cells: both directions, with buffers in packets or bytes.

use std::time::Duration;

use super::{
    quantity::{StepsError, ValueError},
    reason::Reason,
    steps::StepsText,
    value::{BufferText, ShapeText},
    view::{Found, View},
};
use crate::{
    cell::{
        Buffer, LabPath, Line, Local, Loss, Peak, Policer, Queue, RateSteps, Shaper, TunnelStage,
        default,
    },
    net::Direction,
    units::{Bytes, Rate},
};

/// Values shared by both directions.
struct Shared {
    mtu: u32,
    rtt: Duration,
}

/// Name of a direction in keys.
pub(super) fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "down",
        Direction::Up => "up",
    }
}

/// Reads the path.
pub(super) fn path(view: &mut View<'_>) -> Option<LabPath> {
    let mtu = mtu(view, "path.mtu")?;
    let down_delay = delay(view, Direction::Down)?;
    let up_delay = delay(view, Direction::Up)?;
    let shared = Shared {
        mtu,
        rtt: down_delay + up_delay,
    };
    let down = line(view, Direction::Down, down_delay, &shared);
    let up = line(view, Direction::Up, up_delay, &shared);
    let ip = view.plain("path.ip")?;
    let (down, up) = (down?, up?);
    let local = local(view, &shared, (down.rate, up.rate))?;
    Some(LabPath {
        down,
        up,
        mtu,
        ip,
        local,
    })
}

/// The line in front of the near end, with the shapers of the router behind it; `Some(None)` if
/// there is none. `down` and `up` are the rates of the path.
fn local(
    view: &mut View<'_>,
    shared: &Shared,
    (down, up): (Option<Rate>, Option<Rate>),
) -> Option<Option<Local>> {
    let local = Local {
        down: stage(view, "local", Direction::Down, shared)?,
        up: stage(view, "local", Direction::Up, shared)?,
        shape_down: shaper(view, Direction::Down, down)?,
        shape_up: shaper(view, Direction::Up, up)?,
    };
    Some((!local.is_nothing()).then_some(local))
}

/// The router's shaper of a direction in which the path has `rate`; `Some(None)` if there is none.
fn shaper(view: &mut View<'_>, direction: Direction, rate: Option<Rate>) -> Option<Option<Shaper>> {
    let keys = |leaf: &str| {
        let own = format!("local.{}.{leaf}", name(direction));
        [own, format!("local.{leaf}")]
    };
    let shape: Found<ShapeText> = view.first(keys("shape"))?;
    let Some(rate) = shape.value.at(rate) else {
        view.refuse(&shape, Reason::RouterShareOfNoRate(name(direction)));
        return Some(None);
    };
    let Some(rate) = rate else { return Some(None) };
    let queue = view.first(keys("shape_queue"))?.value;
    Some(Some(Shaper { rate, queue }))
}

/// Reads an MTU.
pub(super) fn mtu(view: &mut View<'_>, key: &str) -> Option<u32> {
    u32::try_from(view.plain::<u64>(key)?).ok()
}

fn keys(direction: Direction, leaf: &str) -> [String; 2] {
    [
        format!("path.{}.{leaf}", name(direction)),
        format!("path.{leaf}"),
    ]
}

/// The one-way delay: that of the direction, or half of the RTT (the odd nanosecond is added).
fn delay(view: &mut View<'_>, direction: Direction) -> Option<Duration> {
    let [own, _] = keys(direction, "delay");
    let found: Found<Duration> = view.first([own, "path.rtt".to_owned()])?;
    let half = found.value / 2;
    Some(match (found.key.as_str(), direction) {
        ("path.rtt", Direction::Down) => half,
        ("path.rtt", Direction::Up) => found.value - half,
        _ => found.value,
    })
}

fn line(
    view: &mut View<'_>,
    direction: Direction,
    delay: Duration,
    shared: &Shared,
) -> Option<Line> {
    let rate = view.first(keys(direction, "rate"))?.value;
    let queue = view.first(keys(direction, "queue"))?.value;
    Some(Line {
        delay,
        rate,
        buffer: buffer(view, direction, (rate, queue), shared),
        queue,
        loss: view.first(keys(direction, "loss"))?.value,
        jitter: view.first(keys(direction, "jitter"))?.value,
        reorder: view.first(keys(direction, "reorder"))?.value,
        duplicate: view.first(keys(direction, "duplicate"))?.value,
        faults_first: view.first(keys(direction, "faults_first"))?.value,
        policer: policer(view, direction, shared)?,
        peak: peak(view, direction)?,
        rate_steps: rate_steps(view, direction)?,
        jitter_quantiles: view.first(keys(direction, "jitter_quantiles"))?.value,
        slots: view.first(keys(direction, "slots"))?.value,
    })
}

/// The policer in front; `Some(None)` if there is none.
fn policer(view: &mut View<'_>, direction: Direction, shared: &Shared) -> Option<Option<Policer>> {
    let Some(rate) = view
        .first::<Option<Rate>, 2>(keys(direction, "policer"))?
        .value
    else {
        return Some(None);
    };
    let burst = view
        .first::<BufferText, 2>(keys(direction, "policer_burst"))
        .and_then(|found| sized(found.value, Some(rate), shared))
        .map(|buffer| buffer.bytes(shared.mtu));
    let usual = default::buffer(Some(rate), Queue::Policer, shared.mtu, shared.rtt);
    let burst = burst.unwrap_or(usual.bytes(shared.mtu));
    Some(Some(Policer { rate, burst }))
}

/// The peak rate; `Some(None)` if there is none.
fn peak(view: &mut View<'_>, direction: Direction) -> Option<Option<Peak>> {
    let Some(rate) = view
        .first::<Option<Rate>, 2>(keys(direction, "peak"))?
        .value
    else {
        return Some(None);
    };
    let burst: Option<Bytes> = view.first(keys(direction, "peak_burst"))?.value;
    Some(burst.map(|burst| Peak { rate, burst }))
}

/// Returns the stage passed only by tunnel packets; `Some(None)` if they pass the same stage as all
/// others.
pub(super) fn tunnel_stage(
    view: &mut View<'_>,
    direction: Direction,
    path: &LabPath,
) -> Option<Option<TunnelStage>> {
    let shared = Shared {
        mtu: path.mtu,
        rtt: path.rtt(),
    };
    let stage = stage(view, "tunnel", direction, &shared)?;
    Some((!stage.is_nothing()).then_some(stage))
}

/// Rate, queue and loss in a direction, of a table.
fn stage(
    view: &mut View<'_>,
    table: &str,
    direction: Direction,
    shared: &Shared,
) -> Option<TunnelStage> {
    let keys = |leaf: &str| {
        let own = format!("{table}.{}.{leaf}", name(direction));
        [own, format!("{table}.{leaf}")]
    };
    let rate: Option<Rate> = view.first(keys("rate"))?.value;
    let loss: Loss = view.first(keys("loss"))?.value;
    let usual = default::buffer(rate, Queue::Fifo, shared.mtu, shared.rtt);
    let written = view.first::<BufferText, 2>(keys("buffer"));
    let buffer = match written {
        None => usual,
        Some(found) => match sized(found.value, rate, shared) {
            Some(buffer) => buffer,
            None => {
                let remedy = format!("set {}", keys("rate")[1]);
                view.refuse(&found, Reason::NoRate { remedy });
                usual
            }
        },
    };
    Some(TunnelStage { rate, buffer, loss })
}

/// The changes of the rate; `Some(None)` if there are none.
fn rate_steps(view: &mut View<'_>, direction: Direction) -> Option<Option<RateSteps>> {
    let found: Found<StepsText> = view.first(keys(direction, "rate_steps"))?;
    match &found.value {
        StepsText::None => Some(None),
        StepsText::Steps(steps) => Some(Some(steps.clone())),
        StepsText::File(file) => {
            let file = file.clone();
            let unread = ValueError::from(StepsError::NotLoaded { file });
            view.refuse(&found, unread.into());
            Some(None)
        }
    }
}

/// Hint for a key that needs a rate where there is none.
pub(super) fn set_a_rate(key: &str, direction: Direction) -> String {
    let own = name(direction);
    match key
        .strip_prefix("path.")
        .is_some_and(|rest| rest.starts_with(own))
    {
        true => format!("set path.rate or path.{own}.rate"),
        false => "set path.rate, or a rate in each direction".to_owned(),
    }
}

fn buffer(
    view: &mut View<'_>,
    direction: Direction,
    (rate, queue): (Option<Rate>, Queue),
    shared: &Shared,
) -> Buffer {
    let usual = default::buffer(rate, queue, shared.mtu, shared.rtt);
    let Some(found) = view.first::<BufferText, 2>(keys(direction, "buffer")) else {
        return usual;
    };
    sized(found.value, rate, shared).unwrap_or_else(|| {
        let remedy = set_a_rate(&found.key, direction);
        view.refuse(&found, Reason::NoRate { remedy });
        usual
    })
}

/// A buffer at a rate; none if its size depends on a rate that is missing.
fn sized(written: BufferText, rate: Option<Rate>, shared: &Shared) -> Option<Buffer> {
    Some(match (written, rate) {
        (BufferText::Packets(n), _) => Buffer::Packets(n),
        (BufferText::Bytes(bytes), _) => Buffer::Bytes(bytes),
        (BufferText::Bdp(n), Some(rate)) => {
            let bdp = rate.bytes_in(shared.rtt).0 as f64;
            Buffer::Bytes(Bytes((bdp * n).round() as u64))
        }
        (BufferText::Time(span), Some(rate)) => Buffer::Bytes(rate.bytes_in(span)),
        (_, None) => return None,
    })
}
