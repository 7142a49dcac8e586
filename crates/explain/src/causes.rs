//! The causes, one module each.

mod application;
mod aqm_idle;
mod beyond;
mod bloat;
mod bufferbloat_local;
mod bufferbloat_remote;
mod cc_on_wrong_host;
mod common;
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
mod local_segment;
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
mod segment;
mod send_buffer;
mod shallow_queue;
mod shared_line;
mod udp_socket_drops;
mod udp_throttled;
mod userspace_tcp_stack;
mod userspace_tunnel;
mod wifi_hop;
mod wrong_queue;

use std::collections::BTreeMap;

use crate::cause::{COSTS, Cause, FULL};
use common::{
    bbr_may_help, below_capacity, bytes, carries_the_underlay, filled, known_or, least_gain,
    no_capacity, percent, rate, time, whole,
};

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
        &shallow_queue::CAUSE,
        &random_loss::CAUSE,
        &jitter::CAUSE,
        &per_flow_cap::CAUSE,
        &cc_on_wrong_host::CAUSE,
        &far_end_limit::CAUSE,
        &wifi_hop::CAUSE,
        &local_segment::CAUSE,
        &beyond::CAUSE,
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
