//! Linux interfaces: netlink, namespaces, sockets, TCP_INFO; the only crate with unsafe code.

pub mod boot;
pub mod clock;
pub mod descriptors;
pub mod ethtool;
pub mod files;
pub mod folders;
pub mod isolation;
pub mod link;
pub mod lock;
pub mod machine;
pub mod mappings;
pub mod memory;
pub mod module;
pub mod neighbour;
pub mod netlink;
pub mod netns;
pub mod nftables;
pub mod perf;
pub mod privilege;
pub mod process;
pub mod processor;
pub mod procfs;
pub mod ring;
pub mod route;
pub mod sched;
pub mod service;
pub mod signal;
pub mod sock_diag;
pub mod socket;
pub mod sysctl;
pub mod tc;
pub mod tcp_info;
pub mod terminal;
pub mod timestamp;
pub mod usage;
pub mod wait;
pub mod wireguard;
pub mod wireless;
pub mod zeroes;

mod bytes;
#[cfg(fuzzing)]
pub mod fuzzing;

pub use netlink::{Netlink, NetlinkError};
pub use netns::Netns;

#[cfg(test)]
mod testutil;
