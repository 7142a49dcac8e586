//! Values: what the user wrote (`Scalar`), what a key takes (`Kind`), what it means (`Value`).

use std::{fmt, time::Duration};

use super::{
    nearest::nearest,
    quantity::{self, Parsed, show_duration},
};
use crate::{
    cell::{Direction, EndQdisc, IpVersion, Loss, Queue, TunnelAt, TunnelKind},
    units::{Bytes, Rate, Share},
};

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// A value no key takes, by the name of its type.
    Other(&'static str),
}

impl Scalar {
    /// The value in rows; what is no scalar is refused before it gets there.
    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Integer(n) => (*n).into(),
            Self::Float(x) => (*x).into(),
            Self::Bool(b) => (*b).into(),
            Self::Other(_) => serde_json::Value::Null,
        }
    }

    /// The value of a `--set`: a number or a boolean if it reads as one, else text.
    pub(super) fn from_argument(text: &str) -> Self {
        let text = text.trim();
        if let Ok(n) = text.parse() {
            return Self::Integer(n);
        }
        if let Ok(b) = text.parse() {
            return Self::Bool(b);
        }
        let unquoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        Self::Text(unquoted.unwrap_or(text).to_owned())
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Integer(n) => n.fmt(f),
            Self::Float(x) => x.fmt(f),
            Self::Bool(b) => b.fmt(f),
            Self::Other(kind) => write!(f, "a value of type {kind}"),
        }
    }
}

/// A buffer as written: it may depend on the rate and the RTT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BufferText {
    Bdp(f64),
    Packets(u32),
    Bytes(Bytes),
    Time(Duration),
}

/// A shaper's rate as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ShapeText {
    None,
    Rate(Rate),
    Share(Share),
}

/// Directions as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ways {
    Down,
    Up,
    Both,
}

impl Ways {
    pub(super) fn directions(self) -> Vec<Direction> {
        match self {
            Self::Down => vec![Direction::Down],
            Self::Up => vec![Direction::Up],
            Self::Both => vec![Direction::Down, Direction::Up],
        }
    }
}

/// The kind of some traffic as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Tcp,
    Udp,
    Short,
    Idle,
}

/// Whether there is a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    Off,
    On,
}

/// Makes [`Value`], and `TryFrom` to get each type back out of it.
macro_rules! values {
    ($($variant:ident($inner:ty)),* $(,)?) => {
        /// A value with its meaning.
        #[derive(Clone, Debug, PartialEq)]
        pub(super) enum Value { $($variant($inner)),* }

        $(impl TryFrom<&Value> for $inner {
            type Error = ();
            fn try_from(value: &Value) -> Result<Self, ()> {
                match value {
                    Value::$variant(inner) => Ok(inner.clone()),
                    _ => Err(()),
                }
            }
        })*
    };
}

values! {
    Text(String), Count(u64), Bool(bool), Time(Duration), MaybeTime(Option<Duration>),
    Rate(Option<Rate>), Size(Option<Bytes>), Share(Share), Loss(Loss), Buffer(BufferText),
    Shape(ShapeText), Queue(Queue), Qdisc(EndQdisc), Ip(IpVersion), At(TunnelAt),
    TunnelKind(TunnelKind), Switch(Switch), Ways(Ways), Load(Load),
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A name, fit for a file name.
    Name,
    /// The name of a congestion control.
    Cc,
    /// A whole number within bounds.
    Count(u64, u64),
    Bool,
    /// A span of time within bounds.
    Time(Duration, Duration),
    /// A span of time, or a word for none.
    MaybeTime(Duration, &'static str),
    Rate,
    /// A rate that has to be there: no word for none.
    SomeRate,
    /// A size within bounds.
    Size(u64, u64),
    /// A size within bounds, or `auto`.
    MaybeSize(u64, u64),
    Share,
    Loss,
    Buffer,
    Shape,
    Queue,
    Qdisc,
    Ip,
    At,
    TunnelKind,
    Switch,
    Ways,
    Load,
}

const QUEUES: &[(&str, Queue)] = &[
    ("fifo", Queue::Fifo),
    ("fq", Queue::Fq),
    ("fq_codel", Queue::FqCodel),
    ("codel", Queue::Codel),
    ("pie", Queue::Pie),
    ("cake", Queue::Cake),
    ("dualpi2", Queue::Dualpi2),
    ("red", Queue::Red),
    ("policer", Queue::Policer),
];
const QDISCS: &[(&str, EndQdisc)] = &[
    ("noqueue", EndQdisc::Noqueue),
    ("none", EndQdisc::Noqueue),
    ("fifo", EndQdisc::Fifo),
    ("fq", EndQdisc::Fq),
    ("fq_codel", EndQdisc::FqCodel),
    ("codel", EndQdisc::Codel),
    ("pie", EndQdisc::Pie),
    ("cake", EndQdisc::Cake),
    ("dualpi2", EndQdisc::Dualpi2),
];
const FAMILIES: &[(&str, IpVersion)] = &[("ipv4", IpVersion::V4), ("ipv6", IpVersion::V6)];
const PLACES: &[(&str, TunnelAt)] = &[("ends", TunnelAt::Ends), ("routers", TunnelAt::Routers)];
const TUNNELS: &[(&str, TunnelKind)] = &[("wireguard", TunnelKind::Wireguard)];
const SWITCH: &[(&str, Switch)] = &[("none", Switch::Off), ("wireguard", Switch::On)];
const WAYS: &[(&str, Ways)] = &[("down", Ways::Down), ("up", Ways::Up), ("both", Ways::Both)];
const LOADS: &[(&str, Load)] = &[
    ("tcp", Load::Tcp),
    ("udp", Load::Udp),
    ("short", Load::Short),
    ("idle", Load::Idle),
];

impl Kind {
    /// Gives a written value its meaning, or says why it has none.
    pub(super) fn check(self, scalar: &Scalar) -> Parsed<Value> {
        match self {
            Self::Name => name(scalar).map(Value::Text),
            Self::Cc => cc(scalar).map(Value::Text),
            Self::Count(low, high) => count(scalar, low, high).map(Value::Count),
            Self::Bool => match scalar {
                Scalar::Bool(b) => Ok(Value::Bool(*b)),
                other => Err(format!("{other} is not true or false")),
            },
            Self::Time(low, high) => time(scalar, low, high).map(Value::Time),
            Self::MaybeTime(low, none) => maybe_time(scalar, low, none).map(Value::MaybeTime),
            Self::Rate if is(scalar, "unlimited") => Ok(Value::Rate(None)),
            Self::Rate | Self::SomeRate => text(scalar, "100mbit")
                .and_then(quantity::rate)
                .map(|r| Value::Rate(Some(r))),
            Self::MaybeSize(..) if is(scalar, "auto") => Ok(Value::Size(None)),
            Self::Size(low, high) | Self::MaybeSize(low, high) => {
                size(scalar, low, high).map(|b| Value::Size(Some(b)))
            }
            Self::Share => share(scalar).map(Value::Share),
            Self::Loss if matches!(scalar, Scalar::Integer(0)) => Ok(Value::Loss(Loss::None)),
            Self::Loss => text(scalar, "0.5%")
                .and_then(quantity::loss)
                .map(Value::Loss),
            Self::Buffer => text(scalar, "1bdp").and_then(buffer).map(Value::Buffer),
            Self::Shape => text(scalar, "95%").and_then(shape).map(Value::Shape),
            _ => self.check_word(scalar),
        }
    }

    fn check_word(self, scalar: &Scalar) -> Parsed<Value> {
        match self {
            Self::Queue => word(scalar, QUEUES).map(Value::Queue),
            Self::Qdisc => word(scalar, QDISCS).map(Value::Qdisc),
            Self::Ip => match scalar {
                Scalar::Integer(4) => Ok(Value::Ip(IpVersion::V4)),
                Scalar::Integer(6) => Ok(Value::Ip(IpVersion::V6)),
                other => word(other, FAMILIES).map(Value::Ip),
            },
            Self::At => word(scalar, PLACES).map(Value::At),
            Self::TunnelKind => {
                not_in_lab(
                    scalar,
                    &["wireguard-go", "boringtun"],
                    "use kind = \"wireguard\"",
                )?;
                word(scalar, TUNNELS).map(Value::TunnelKind)
            }
            Self::Switch if *scalar == Scalar::Bool(false) => Ok(Value::Switch(Switch::Off)),
            Self::Switch => word(scalar, SWITCH).map(Value::Switch),
            Self::Ways => word(scalar, WAYS).map(Value::Ways),
            _ => {
                let instead = "use kind = \"short\" or lab exec";
                not_in_lab(scalar, &["http", "quic"], instead)?;
                word(scalar, LOADS).map(Value::Load)
            }
        }
    }

    /// What the reference says a key takes.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Name => "letters, digits, `.`, `_`, `-`".to_owned(),
            Self::Cc => "name of a congestion control".to_owned(),
            Self::Count(low, high) if high >= i64::MAX as u64 => {
                format!("whole number from {low}")
            }
            Self::Count(low, high) => format!("whole number, {low} to {high}"),
            Self::Bool => "`true`, `false`".to_owned(),
            Self::Time(low, _) if low.is_zero() => "duration".to_owned(),
            Self::Time(low, _) => format!("duration, at least {}", show_duration(low)),
            Self::MaybeTime(low, none) if low.is_zero() => format!("duration or `\"{none}\"`"),
            Self::MaybeTime(low, none) => {
                format!("duration, at least {}, or `\"{none}\"`", show_duration(low))
            }
            Self::Rate => "rate or `\"unlimited\"`".to_owned(),
            Self::SomeRate => "rate".to_owned(),
            Self::Size(..) => "size".to_owned(),
            Self::MaybeSize(..) => "size or `\"auto\"`".to_owned(),
            Self::Share => "percentage".to_owned(),
            Self::Loss => "loss".to_owned(),
            Self::Buffer => "buffer".to_owned(),
            Self::Shape => "rate, percentage or `\"none\"`".to_owned(),
            _ => self
                .words()
                .iter()
                .map(|w| format!("`\"{w}\"`"))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    fn words(self) -> Vec<&'static str> {
        match self {
            Self::Queue => names(QUEUES),
            Self::Qdisc => names(QDISCS),
            Self::Ip => names(FAMILIES),
            Self::At => names(PLACES),
            Self::TunnelKind => names(TUNNELS),
            Self::Switch => names(SWITCH),
            Self::Ways => names(WAYS),
            Self::Load => names(LOADS),
            _ => Vec::new(),
        }
    }
}

/// The text that means this queue.
pub(super) fn queue_name(queue: Queue) -> &'static str {
    QUEUES
        .iter()
        .find(|(_, q)| *q == queue)
        .map_or("", |(name, _)| name)
}

fn names<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|(name, _)| *name).collect()
}

fn is(scalar: &Scalar, word: &str) -> bool {
    matches!(scalar, Scalar::Text(text) if text == word)
}

fn text<'a>(scalar: &'a Scalar, example: &str) -> Parsed<&'a str> {
    match scalar {
        Scalar::Text(text) => Ok(text),
        Scalar::Integer(_) | Scalar::Float(_) => Err(format!(
            "{scalar} has no unit; write for instance \"{example}\""
        )),
        _ => Err(format!(
            "{scalar} is not a text; write for instance \"{example}\""
        )),
    }
}

fn word<T: Copy>(scalar: &Scalar, words: &[(&'static str, T)]) -> Parsed<T> {
    let valid = names(words);
    let list = valid.join(", ");
    let Scalar::Text(text) = scalar else {
        return Err(format!("{scalar} is none of {list}"));
    };
    if let Some((_, value)) = words.iter().find(|(name, _)| name == text) {
        return Ok(*value);
    }
    Err(match nearest(text, valid.iter().copied()) {
        Some(near) => format!("\"{text}\" is none of {list}; nearest is {near}"),
        None => format!("\"{text}\" is none of {list}"),
    })
}

fn not_in_lab(scalar: &Scalar, words: &[&str], instead: &str) -> Parsed<()> {
    match words.iter().find(|word| is(scalar, word)) {
        Some(word) => Err(format!(
            "\"{word}\" is not in this version of the lab; {instead}"
        )),
        None => Ok(()),
    }
}

fn name(scalar: &Scalar) -> Parsed<String> {
    let text = text(scalar, "dorm")?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.is_empty() || text.len() > 100 || text.starts_with('.') || !text.chars().all(fits) {
        return Err(format!(
            "\"{}\" is no name: 1 to 100 letters, digits, \".\", \"_\", \"-\", no \".\" in front",
            text.escape_debug()
        ));
    }
    Ok(text.to_owned())
}

fn cc(scalar: &Scalar) -> Parsed<String> {
    let text = text(scalar, "cubic")?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    if text.is_empty() || text.len() > 15 || !text.chars().all(fits) {
        let shown = text.escape_debug();
        return Err(format!(
            "\"{shown}\" is no name of a congestion control such as \"cubic\""
        ));
    }
    Ok(text.to_owned())
}

fn count(scalar: &Scalar, low: u64, high: u64) -> Parsed<u64> {
    let Scalar::Integer(n) = scalar else {
        return Err(format!("{scalar} is not a whole number"));
    };
    match u64::try_from(*n) {
        Ok(n) if n < low => Err(format!("{n} is too small; the least is {low}")),
        Ok(n) if n > high => Err(format!("{n} is too large; the most is {high}")),
        Ok(n) => Ok(n),
        Err(_) => Err(format!("{n} is negative")),
    }
}

fn time(scalar: &Scalar, low: Duration, high: Duration) -> Parsed<Duration> {
    let span = match scalar {
        Scalar::Integer(0) => Duration::ZERO,
        other => text(other, "20ms").and_then(quantity::duration)?,
    };
    match span {
        s if s < low && s.is_zero() => Err("must be longer than 0".to_owned()),
        s if s < low => Err(format!(
            "{} is too short; the least is {}",
            show_duration(s),
            show_duration(low)
        )),
        s if s > high => Err(format!(
            "{} is too long; the most is {}",
            show_duration(s),
            show_duration(high)
        )),
        s => Ok(s),
    }
}

fn maybe_time(scalar: &Scalar, low: Duration, none: &str) -> Parsed<Option<Duration>> {
    if is(scalar, none) {
        return Ok(None);
    }
    time(scalar, low, quantity::MAX_TIME)
        .map(Some)
        .map_err(|e| format!("{e}, or \"{none}\""))
}

fn size(scalar: &Scalar, low: u64, high: u64) -> Parsed<Bytes> {
    let bytes = text(scalar, "256kB").and_then(quantity::size)?;
    match bytes {
        Bytes(0) => Err("a size of 0 is impossible".to_owned()),
        b if b.0 < low => Err(format!("{b} is too small; the least is {}", Bytes(low))),
        b if b.0 > high => Err(format!("{b} is too large; the most is {}", Bytes(high))),
        b => Ok(b),
    }
}

fn share(scalar: &Scalar) -> Parsed<Share> {
    match scalar {
        Scalar::Integer(0) => Ok(Share::ZERO),
        other => text(other, "0.5%").and_then(quantity::share),
    }
}

fn buffer(text: &str) -> Parsed<BufferText> {
    let forms = "\"1bdp\", \"200p\", \"256kB\" or \"40ms\"";
    if let Some(number) = text.strip_suffix("bdp") {
        return match number.trim().parse::<f64>() {
            Ok(n) if n > 0.0 && n <= 1e6 => Ok(BufferText::Bdp(n)),
            _ => Err(format!("\"{text}\" is no number of BDPs above 0")),
        };
    }
    if let Some(number) = text.strip_suffix('p') {
        return match number.trim().parse::<u32>() {
            Ok(0) => Err("a buffer of 0 packets holds nothing".to_owned()),
            Ok(n) => Ok(BufferText::Packets(n)),
            Err(_) => Err(format!("\"{text}\" is no number of packets; write {forms}")),
        };
    }
    if let Ok(bytes) = quantity::size(text) {
        return Ok(BufferText::Bytes(bytes));
    }
    quantity::duration(text)
        .map(BufferText::Time)
        .map_err(|_| format!("\"{text}\" is no buffer; write {forms}"))
}

fn shape(text: &str) -> Parsed<ShapeText> {
    match text {
        "none" => Ok(ShapeText::None),
        text if text.trim_end().ends_with('%') => match quantity::share(text)? {
            share if share.is_zero() => Err("a rate of 0 lets nothing through".to_owned()),
            share => Ok(ShapeText::Share(share)),
        },
        text => quantity::rate(text).map(ShapeText::Rate),
    }
}
