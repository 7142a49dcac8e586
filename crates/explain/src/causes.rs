//! The causes, one module each.

mod application;
mod aqm_idle;
mod bloat;
mod bufferbloat_local;
mod bufferbloat_remote;
mod cc_on_wrong_host;
mod cpu;
mod cpu_core;
mod cpu_softirq;
mod cpu_tunnel_thread;
mod drops;
mod far_end_limit;
mod fq_flow_limit;
mod fragmentation;
mod healthy;
mod host_queue_drops;
mod host_settings;
mod jitter;
mod leftover_shaper;
mod limited;
mod mtu_black_hole;
mod offload_fault;
mod others;
mod own_queue;
mod per_flow_cap;
mod policer;
mod random_loss;
mod receive_window;
mod relayed_path;
mod reordering;
mod send_buffer;
mod shared_line;
mod udp_socket_drops;
mod udp_throttled;
mod userspace_tcp_stack;
mod userspace_tunnel;
mod wifi_hop;
mod wrong_queue;

use std::collections::BTreeMap;

use analysis::view::{DirectionView, Load, View};
use model::{findings::Value, net::Layer, text, text::Text};

use crate::{
    cause::{Cause, FULL, Need},
    verdict::{Verdict, ruled_out, undecided},
};

/// Share of the underlay's capacity below which a tunnel itself limits.
const TUNNEL_SHARE: f64 = 0.7;

/// Whether TCP takes what the path carries, wherever that is known.
fn filled(view: &View) -> bool {
    let share = |dir: &DirectionView| dir.utilization(&dir.default_load()?);
    let shares: Vec<f64> = view.directions().iter().filter_map(share).collect();
    !shares.is_empty() && shares.iter().all(|share| *share >= FULL)
}

/// The share of the capacity that a load uses, and the capacity as payload, bit/s; the verdict
/// where the load fills the path, or where the capacity is unknown.
fn below_capacity(dir: &DirectionView, load: &Load) -> Result<(f64, f64), Verdict> {
    let (Some(filled), Some(carries)) = (dir.utilization(load), dir.payload_capacity_bps(load))
    else {
        return Err(undecided(Need::Sweep.missing(), Need::Sweep.settle()));
    };
    if filled >= FULL {
        return Err(ruled_out(text!(
            "TCP reaches {filled} of the path's capacity",
            filled = percent(filled)
        )));
    }
    Ok((filled, carries))
}

/// Whether a tunnel carries about what the path below it does: then nothing on the hosts limits it.
/// True of the underlay itself.
fn carries_the_underlay(view: &View) -> bool {
    view.layer == Layer::Underlay
        || view.directions().iter().all(|dir| {
            let outside = dir.underlay().and_then(|b| b.sweep());
            let (inside, outside) = (dir.sweep(), outside);
            inside.zip(outside).is_some_and(|(inside, outside)| {
                inside.capacity_bps >= TUNNEL_SHARE * outside.capacity_bps
            })
        })
}

/// All causes. A cause that can imitate another, or is easier to check, comes first.
pub fn registry() -> &'static [&'static Cause] {
    &[
        &relayed_path::CAUSE,
        &userspace_tcp_stack::CAUSE,
        &udp_socket_drops::CAUSE,
        &fq_flow_limit::CAUSE,
        &host_queue_drops::CAUSE,
        &mtu_black_hole::CAUSE,
        &offload_fault::CAUSE,
        &fragmentation::CAUSE,
        &cpu_tunnel_thread::CAUSE,
        &cpu_softirq::CAUSE,
        &cpu_core::CAUSE,
        &userspace_tunnel::CAUSE,
        &receive_window::CAUSE,
        &send_buffer::CAUSE,
        &application::CAUSE,
        &leftover_shaper::CAUSE,
        &shared_line::CAUSE,
        &bufferbloat_local::CAUSE,
        &bufferbloat_remote::CAUSE,
        &wrong_queue::CAUSE,
        &aqm_idle::CAUSE,
        &udp_throttled::CAUSE,
        &policer::CAUSE,
        &reordering::CAUSE,
        &random_loss::CAUSE,
        &jitter::CAUSE,
        &per_flow_cap::CAUSE,
        &cc_on_wrong_host::CAUSE,
        &far_end_limit::CAUSE,
        &wifi_hop::CAUSE,
        &host_settings::CAUSE,
        &healthy::CAUSE,
    ]
}

/// The titles of all causes, by code.
pub fn titles() -> BTreeMap<&'static str, &'static str> {
    registry()
        .iter()
        .map(|c| (c.code.as_str(), c.title))
        .collect()
}

/// A share in percent, for sentences.
fn percent(share: f64) -> Value {
    Value::Share(share)
}

/// A rate in Mbit/s, for sentences.
fn rate(bps: f64) -> Value {
    Value::Bps(bps)
}

/// A time in ms, for sentences.
fn time(us: f64) -> Value {
    Value::Us(us)
}

/// A number of bytes, for sentences.
fn bytes(bytes: f64) -> Value {
    Value::Bytes(bytes)
}

/// A number without a fraction, for sentences.
fn whole(number: f64) -> Value {
    Value::Count(number.round())
}

/// A value formatted by `text`, or a placeholder if it is unknown.
fn known_or(value: Option<f64>, text: fn(f64) -> Value, unknown: Text) -> Value {
    value.map_or(Value::Text(unknown), text)
}
