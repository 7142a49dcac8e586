//! The path of a cell: both directions, with buffers in packets or bytes.

use std::time::Duration;

use super::{
    keys::MIN_MTU_V6,
    kind::queue_name,
    quantity::show_duration,
    value::BufferText,
    view::{Found, View},
};
use crate::{
    cell::{Buffer, ETHERNET_HEADER, Line, Loss, Path, Queue},
    net::{Direction, IpVersion},
    units::{Bytes, Rate, Share},
};

/// A default buffer holds at least this many full packets.
const LEAST_PACKETS: u64 = 10;
/// Buffer of a bottleneck without a rate, where no queue builds up.
const UNLIMITED_PACKETS: u32 = 1000;
/// The burst of a policer is what its rate passes in this time, if the spec does not say.
const POLICER_BURST: Duration = Duration::from_millis(10);
/// The kernel's queues count in 32 bits.
const MAX_BUFFER: u64 = u32::MAX as u64;

/// What both directions of a path share.
struct Shared {
    mtu: u32,
    rtt: Duration,
}

/// The name of a direction in keys.
pub(super) fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "down",
        Direction::Up => "up",
    }
}

/// Reads the path.
pub(super) fn path(view: &mut View<'_>) -> Option<Path> {
    let ip: IpVersion = view.plain("path.ip")?;
    let mtu = mtu(view, "path.mtu", ip)?;
    let down_delay = delay(view, Direction::Down)?;
    let up_delay = delay(view, Direction::Up)?;
    let shared = Shared {
        mtu,
        rtt: down_delay.value + up_delay.value,
    };
    let down = line(view, Direction::Down, &down_delay, &shared);
    let up = line(view, Direction::Up, &up_delay, &shared);
    Some(Path {
        down: down?,
        up: up?,
        mtu,
        ip,
    })
}

/// Reads an MTU that has to carry packets of this address family.
pub(super) fn mtu(view: &mut View<'_>, key: &str, ip: IpVersion) -> Option<u32> {
    let mtu = view.get::<u64>(key)?;
    if ip == IpVersion::V6 && mtu.value < MIN_MTU_V6 {
        view.refuse(&mtu, format!("IPv6 needs an MTU of at least {MIN_MTU_V6}"));
    }
    u32::try_from(mtu.value).ok()
}

fn keys(direction: Direction, leaf: &str) -> [String; 2] {
    [
        format!("path.{}.{leaf}", name(direction)),
        format!("path.{leaf}"),
    ]
}

/// The one-way delay: that of the direction, or half of the RTT (the odd nanosecond goes up).
fn delay(view: &mut View<'_>, direction: Direction) -> Option<Found<Duration>> {
    let [own, _] = keys(direction, "delay");
    let mut found: Found<Duration> = view.first([own, "path.rtt".to_owned()])?;
    if found.key == "path.rtt" {
        let down = found.value / 2;
        found.value = if direction == Direction::Down {
            down
        } else {
            found.value - down
        };
    }
    Some(found)
}

fn line(
    view: &mut View<'_>,
    direction: Direction,
    delay: &Found<Duration>,
    shared: &Shared,
) -> Option<Line> {
    let rate = view.first(keys(direction, "rate"))?.value;
    let queue = queue(view, direction, rate)?;
    let buffer = buffer(view, direction, rate, queue, shared);
    let jitter: Found<Duration> = view.first(keys(direction, "jitter"))?;
    if jitter.value > delay.value {
        let delay = show_duration(delay.value);
        view.refuse(
            &jitter,
            format!("is more than the one-way delay of {delay}"),
        );
    }
    let reorder: Found<Share> = view.first(keys(direction, "reorder"))?;
    if !reorder.value.is_zero() && delay.value.is_zero() {
        view.refuse(
            &reorder,
            "without a delay no packet can overtake another; set path.rtt",
        );
    }
    let loss: Found<Loss> = view.first(keys(direction, "loss"))?;
    let faults_first: Found<bool> = view.first(keys(direction, "faults_first"))?;
    if faults_first.value && matches!(loss.value, Loss::Every(_)) {
        view.refuse(
            &loss,
            "periodic loss always comes after the bottleneck; leave faults_first out",
        );
    }
    Some(Line {
        delay: delay.value,
        rate,
        buffer: buffer?,
        queue,
        loss: loss.value,
        jitter: jitter.value,
        reorder: reorder.value,
        duplicate: view.first(keys(direction, "duplicate"))?.value,
        faults_first: faults_first.value,
    })
}

fn queue(view: &mut View<'_>, direction: Direction, rate: Option<Rate>) -> Option<Queue> {
    let queue: Found<Queue> = view.first(keys(direction, "queue"))?;
    if rate.is_none() && queue.value != Queue::Fifo {
        let remedy = set_a_rate(&queue.key, direction);
        let reason = match queue_name(queue.value) {
            "policer" => format!("a policer without a rate polices nothing; {remedy}"),
            name => format!("\"{name}\" never has a queue to manage without a rate; {remedy}"),
        };
        view.refuse(&queue, reason);
    }
    Some(queue.value)
}

/// What to do about a key that needs a rate where there is none.
fn set_a_rate(key: &str, direction: Direction) -> String {
    let way = name(direction);
    match key
        .strip_prefix("path.")
        .is_some_and(|rest| rest.starts_with(way))
    {
        true => format!("set path.rate or path.{way}.rate"),
        false => "set path.rate, or a rate in each direction".to_owned(),
    }
}

fn buffer(
    view: &mut View<'_>,
    direction: Direction,
    rate: Option<Rate>,
    queue: Queue,
    shared: &Shared,
) -> Option<Buffer> {
    let full = u64::from(shared.mtu) + ETHERNET_HEADER;
    let Some(found) = view.first::<BufferText, 2>(keys(direction, "buffer")) else {
        return Some(default_buffer(rate, queue, full, shared.rtt));
    };
    let bytes = match (found.value, rate) {
        (BufferText::Packets(n), _) => return Some(Buffer::Packets(n)),
        (BufferText::Bytes(bytes), _) => bytes.0,
        (BufferText::Bdp(n), Some(rate)) => (rate.bytes_in(shared.rtt).0 as f64 * n).round() as u64,
        (BufferText::Time(span), Some(rate)) => rate.bytes_in(span).0,
        (_, None) => {
            let remedy = set_a_rate(&found.key, direction);
            let reason = format!("has no size without a rate; {remedy}, or write packets or bytes");
            view.refuse(&found, reason);
            return None;
        }
    };
    match bytes {
        b if b < full => view.refuse(
            &found,
            format!(
                "{} cannot hold one full packet ({full} bytes with its header)",
                Bytes(b)
            ),
        ),
        b if b > MAX_BUFFER => view.refuse(
            &found,
            format!(
                "{} is more than a queue of the kernel can count (4 GiB)",
                Bytes(b)
            ),
        ),
        _ => {}
    }
    Some(Buffer::Bytes(Bytes(bytes)))
}

fn default_buffer(rate: Option<Rate>, queue: Queue, full: u64, rtt: Duration) -> Buffer {
    let Some(rate) = rate else {
        return Buffer::Packets(UNLIMITED_PACKETS);
    };
    // An AQM keeps its queue short by itself, and is not itself in one of a path's BDP.
    if !matches!(queue, Queue::Fifo | Queue::Red | Queue::Policer) {
        return Buffer::Kernel;
    }
    let span = if queue == Queue::Policer {
        POLICER_BURST
    } else {
        rtt
    };
    Buffer::Bytes(Bytes(
        rate.bytes_in(span)
            .0
            .clamp(LEAST_PACKETS * full, MAX_BUFFER),
    ))
}
