//! A path as namespaces, links, queues and a tunnel in the kernel it runs on, and the two ends in
//! it.
//!
//! ```text
//! client --- [client-router] --- near --- far --- [server-router] --- server
//!                                     <== down: first stage at far, last at near
//!                                     ==> up:   first stage at near, last at far
//! ```
//!
//! The stages of a direction are its bottleneck and its delay; [`plan`] defines which comes first.
//! The hosts have the names that programs on the path use: those of the near and the far end are
//! the names in a spec. `near` and `far` route, they do not bridge: only a routed hop takes a
//! packet off its sender's socket (`skb_orphan` in `ip_rcv_core`, net/ipv4/ip_input.c, Linux 7.2),
//! without which TCP small queues of the sender would reach into the bottleneck. The queue and the
//! delay sit on different devices, so that the limit of one never bounds the other, or are one
//! discipline of the lab's kernel on the last router. The routers in brackets exist where a tunnel
//! ends on routers.
//!
//! A [`plan::Plan`] holds all this as a value, made without touching the kernel; [`build`] creates
//! it. Everything is in namespaces held by file descriptors of this process only: when the process
//! ends, the kernel removes them.

mod address;
mod alter;
mod apply;
mod bed;
mod build;
mod follow;
pub mod needs;
pub mod plan;
mod queues;
mod rate_changes;
mod stage;
mod tunnel;

pub use alter::{AlterError, alter};
pub use bed::{BuildError, LossCounter, LossStage, Node, SampledQueue, Testbed};
pub use build::build;
pub use follow::follow;
pub use queues::Timers;
