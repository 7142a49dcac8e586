//! Descriptions of queue disciplines and htb classes, with options as names and values.
//!
//! Attribute numbers are from include/uapi/linux/pkt_sched.h, Linux 7.2.

use std::collections::BTreeMap;

use model::facts::RateOption;

use crate::bytes;
use crate::netlink::{Attr, Attrs, Message, Netlink, NetlinkError};

use super::handle::Handle;
use super::message::{RTM_GETQDISC, RTM_GETTCLASS, TCA_KIND, TCA_OPTIONS, TCMSG_LEN, tcmsg};
use super::stats::Kind;

/// A queue discipline or htb class with its configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// Kind.
    pub kind: String,
    /// Its handle, none for the kernel's defaults. A class has a minor number.
    pub handle: Handle,
    /// Parent.
    pub parent: Handle,
    /// Options by name with unit; empty for unsupported kinds.
    pub options: BTreeMap<String, String>,
}

/// The queue disciplines of a link with their options, and the classes of htb.
///
/// # Errors
/// The socket failed.
pub fn describe(nl: &mut Netlink, ifindex: u32) -> Result<Vec<Described>, NetlinkError> {
    let mut list = |kind, what: &str| {
        let mut m = Message::new(kind, 0);
        m.raw(&tcmsg(ifindex, Handle::NONE, Handle::NONE, 0));
        nl.dump(&mut m, what, |payload| {
            (bytes::u32_at(payload, 4)? == ifindex)
                .then(|| parse(payload))
                .flatten()
        })
    };
    let mut all = list(RTM_GETQDISC, "list qdiscs")?;
    if all.iter().any(|q| q.kind == "htb") {
        let classes = list(RTM_GETTCLASS, "list classes")?;
        all.extend(classes.into_iter().filter(|c| c.kind == "htb"));
    }
    Ok(all)
}

fn parse(payload: &[u8]) -> Option<Described> {
    let attrs = Attrs::after(payload, TCMSG_LEN);
    let kind = Kind::new(attrs.get(TCA_KIND)?.payload).to_string();
    let handle = Handle::from_raw(bytes::u32_at(payload, 8)?);
    let options = attrs
        .get(TCA_OPTIONS)
        .map(|options| read(&kind, handle, options))
        .unwrap_or_default();
    Some(Described {
        kind,
        handle,
        parent: Handle::from_raw(bytes::u32_at(payload, 12)?),
        options,
    })
}

type Options = BTreeMap<String, String>;

fn read(kind: &str, handle: Handle, options: Attr<'_>) -> Options {
    match (kind, handle.minor()) {
        ("pfifo", _) => word(options.payload, 0, "limit_packets"),
        ("bfifo", _) => word(options.payload, 0, "limit_bytes"),
        ("prio" | "pfifo_fast", _) => word(options.payload, 0, "bands"),
        ("netem", _) => netem(options.payload),
        ("tbf", _) => tbf(options.nested()),
        ("htb", 0) => htb(options.nested()),
        ("htb", _) => htb_class(options.nested()),
        ("red", _) => red(options.nested()),
        _ => table(kind, options.nested()),
    }
}

/// Format of an option's payload.
#[derive(Clone, Copy)]
enum Form {
    /// A `u8`, `u32` or `u64`, by its length.
    Number,
    /// A number, left out if all bits are set, which means not set.
    Unless,
    /// Bytes per second, shown as bits per second; all ones and 0 mean no limit and are left out.
    Rate,
    /// A boolean.
    Switch,
    /// A `i32`.
    Signed,
    /// A name for each value.
    Names(&'static [&'static str]),
}

const FQ: &[(u16, &str, Form)] = &[
    (1, "limit_packets", Form::Number),
    (2, "flow_limit_packets", Form::Number),
    (3, "quantum_bytes", Form::Number),
    (5, "pacing", Form::Switch),
    (7, "max_rate_bps", Form::Rate),
    (8, "buckets_log", Form::Number),
    (12, "ce_threshold_us", Form::Unless),
    (14, "horizon_us", Form::Number),
];
const CODEL: &[(u16, &str, Form)] = &[
    (1, "target_us", Form::Number),
    (2, "limit_packets", Form::Number),
    (3, "interval_us", Form::Number),
    (4, "ecn", Form::Switch),
    (5, "ce_threshold_us", Form::Unless),
];
const FQ_CODEL: &[(u16, &str, Form)] = &[
    (1, "target_us", Form::Number),
    (2, "limit_packets", Form::Number),
    (3, "interval_us", Form::Number),
    (4, "ecn", Form::Switch),
    (5, "flows", Form::Number),
    (6, "quantum_bytes", Form::Number),
    (7, "ce_threshold_us", Form::Unless),
    (9, "memory_limit_bytes", Form::Number),
];
const PIE: &[(u16, &str, Form)] = &[
    (1, "target_us", Form::Number),
    (2, "limit_packets", Form::Number),
    (3, "tupdate_us", Form::Number),
    (6, "ecn", Form::Switch),
];
const FQ_PIE: &[(u16, &str, Form)] = &[
    (1, "limit_packets", Form::Number),
    (2, "flows", Form::Number),
    (3, "target_us", Form::Number),
    (4, "tupdate_us", Form::Number),
    (7, "quantum_bytes", Form::Number),
    (8, "memory_limit_bytes", Form::Number),
    (10, "ecn", Form::Switch),
];
const CAKE: &[(u16, &str, Form)] = &[
    (2, RateOption::Rate.name(), Form::Rate),
    (
        3,
        "diffserv",
        Form::Names(&[
            "diffserv3",
            "diffserv4",
            "diffserv8",
            "besteffort",
            "precedence",
        ]),
    ),
    (4, "atm", Form::Names(&["noatm", "atm", "ptm"])),
    (
        5,
        "flow_mode",
        Form::Names(&[
            "flowblind",
            "srchost",
            "dsthost",
            "hosts",
            "flows",
            "dual-srchost",
            "dual-dsthost",
            "triple-isolate",
        ]),
    ),
    (6, "overhead_bytes", Form::Signed),
    (7, "rtt_us", Form::Number),
    (8, "target_us", Form::Number),
    (9, "autorate_ingress", Form::Switch),
    (10, "memory_limit_bytes", Form::Number),
    (11, "nat", Form::Switch),
    (13, "wash", Form::Switch),
    (15, "ingress", Form::Switch),
    (
        16,
        "ack_filter",
        Form::Names(&["no", "ack-filter", "ack-filter-aggressive"]),
    ),
    (17, "split_gso", Form::Switch),
];
const DUALPI2: &[(u16, &str, Form)] = &[
    (1, "limit_packets", Form::Number),
    (2, "memory_limit_bytes", Form::Number),
    (3, "target_us", Form::Number),
    (4, "tupdate_us", Form::Number),
    (7, "step_threshold_packets", Form::Number),
    (8, "step_threshold_us", Form::Number),
    (10, "coupling_factor", Form::Number),
    (11, "drop_on_overload", Form::Switch),
    (13, "classic_protection_percent", Form::Number),
    (14, "ecn_mask", Form::Number),
    (15, "split_gso", Form::Switch),
];

fn table(kind: &str, attrs: Attrs<'_>) -> Options {
    let table = match kind {
        "fq" => FQ,
        "codel" => CODEL,
        "fq_codel" => FQ_CODEL,
        "pie" => PIE,
        "fq_pie" => FQ_PIE,
        "cake" => CAKE,
        "dualpi2" => DUALPI2,
        _ => return Options::new(),
    };
    let value = |(kind, name, form): &(u16, &str, Form)| {
        let text = text(attrs.get(*kind)?, *form)?;
        Some(((*name).to_owned(), text))
    };
    table.iter().filter_map(value).collect()
}

/// An unsigned number of any length.
fn number(attr: Attr<'_>) -> Option<u64> {
    match attr.payload.len() {
        1 => attr.u8().map(u64::from),
        2 => attr.u16().map(u64::from),
        4 => attr.u32().map(u64::from),
        8 => attr.u64(),
        _ => None,
    }
}

/// Returns true if a number of this attribute's length has all bits set.
fn all_ones(attr: Attr<'_>) -> bool {
    attr.payload.iter().all(|&b| b == 0xff)
}

fn text(attr: Attr<'_>, form: Form) -> Option<String> {
    let value = number(attr)?;
    match form {
        Form::Number => Some(value.to_string()),
        Form::Unless => (!all_ones(attr)).then(|| value.to_string()),
        Form::Rate => (value != 0 && !all_ones(attr)).then(|| bits(value)),
        Form::Switch => Some(if value == 0 { "off" } else { "on" }.to_owned()),
        Form::Signed => attr.u32().map(|v| v.cast_signed().to_string()),
        Form::Names(names) => {
            let name = usize::try_from(value).ok().and_then(|v| names.get(v));
            Some(name.map_or_else(|| value.to_string(), |n| (*n).to_owned()))
        }
    }
}

/// Bits a second of bytes a second.
fn bits(bytes_per_s: u64) -> String {
    bytes_per_s.saturating_mul(8).to_string()
}

/// The 32-bit field at `offset`, if present.
fn word(payload: &[u8], offset: usize, name: &str) -> Options {
    bytes::u32_at(payload, offset)
        .map(|v| (name.to_owned(), v.to_string()))
        .into_iter()
        .collect()
}

/// A rate of `struct tc_ratespec` at `offset`, or of the 64-bit attribute if present.
fn rate(spec: &[u8], offset: usize, wide: Option<Attr<'_>>) -> Option<String> {
    let narrow = || bytes::u32_at(spec, offset + 8).map(u64::from);
    let rate = wide.and_then(|a| a.u64()).or_else(narrow)?;
    (rate > 0).then(|| bits(rate))
}

/// `struct tc_netem_qopt`, then attributes; 10 and 11 are delay and jitter in ns.
fn netem(payload: &[u8]) -> Options {
    let mut options = word(payload, 4, "limit_packets");
    let attrs = Attrs::after(payload, 24);
    let mut ns = |kind, name: &str| {
        let value = attrs.get(kind).and_then(|a| a.u64()).filter(|&v| v > 0);
        options.extend(value.map(|v| (name.to_owned(), (v / 1000).to_string())));
    };
    ns(10, "delay_us");
    ns(11, "jitter_us");
    let loss = bytes::u32_at(payload, 8).filter(|&l| l > 0);
    let percent = loss.map(|l| format!("{:.4}", f64::from(l) / f64::from(u32::MAX) * 100.0));
    options.extend(percent.map(|p| ("loss_percent".to_owned(), p)));
    options
}

/// `struct tc_tbf_qopt` (rate, peak rate, limit) in attribute 1; 4 is the rate in 64 bits, 6 the
/// burst.
fn tbf(attrs: Attrs<'_>) -> Options {
    let qopt = attrs.get(1).map_or(&[][..], |a| a.payload);
    let mut options = word(qopt, 24, "limit_bytes");
    options.extend(rate(qopt, 0, attrs.get(4)).map(|r| (RateOption::Rate.name().to_owned(), r)));
    options
}

/// `struct tc_htb_glob` in attribute 2: the third field is the default class.
fn htb(attrs: Attrs<'_>) -> Options {
    let glob = attrs.get(2).map_or(&[][..], |a| a.payload);
    let class = bytes::u32_at(glob, 8).map(|c| ("default_class".to_owned(), format!("{c:x}")));
    class.into_iter().collect()
}

/// `struct tc_htb_opt` (rate, ceil, ...) in attribute 1; 6 and 7 are the rates in 64 bits.
fn htb_class(attrs: Attrs<'_>) -> Options {
    let opt = attrs.get(1).map_or(&[][..], |a| a.payload);
    let rates = [
        (RateOption::Rate.name(), rate(opt, 0, attrs.get(6))),
        (RateOption::Ceiling.name(), rate(opt, 12, attrs.get(7))),
    ];
    rates
        .into_iter()
        .filter_map(|(name, rate)| Some((name.to_owned(), rate?)))
        .collect()
}

/// `struct tc_red_qopt` in attribute 1.
fn red(attrs: Attrs<'_>) -> Options {
    let qopt = attrs.get(1).map_or(&[][..], |a| a.payload);
    let mut options = word(qopt, 0, "limit_bytes");
    options.extend(word(qopt, 4, "min_bytes"));
    options.extend(word(qopt, 8, "max_bytes"));
    options
}

#[cfg(test)]
mod tests;
