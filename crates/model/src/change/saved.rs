//! Values of settings as read from a host.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A value as read, which is enough to set it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Saved {
    /// A kernel parameter.
    Parameter {
        /// Its value; words are separated by one space.
        value: String,
        /// The list of congestion controls that programs may choose, which the kernel extends by
        /// every default (net/ipv4/tcp_cong.c: `tcp_set_default_congestion_control`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allowed: Option<String>,
    },
    /// A route that exists.
    Route {
        /// The message of the kernel.
        entry: Blob,
    },
    /// No route with this destination.
    NoRoute,
    /// The queue disciplines of a device.
    Queues {
        /// Disciplines, parents first.
        qdiscs: Vec<QueueNode>,
        /// Classes, parents first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        classes: Vec<QueueNode>,
    },
    /// The table of the MSS clamp.
    MssClamp {
        /// True if it exists.
        present: bool,
    },
    /// Offloads of a device by the kernel's names; fixed ones are left out.
    Offloads {
        /// The requested ones.
        requested: BTreeSet<String>,
        /// The active ones.
        active: BTreeSet<String>,
    },
    /// Masks of processors, one for each receive queue, as the kernel writes them.
    Processors {
        /// Hexadecimal words with commas between them.
        masks: Vec<String>,
    },
    /// Sizes of the rings of a device, packets.
    Rings {
        /// Received packets.
        rx: u32,
        /// Packets to send.
        tx: u32,
    },
    /// Numbers of queues of a device, and the settings that the kernel discards with a queue.
    Channels {
        /// Queues that only receive.
        rx: u32,
        /// Queues that only send.
        tx: u32,
        /// Queues that do both.
        combined: u32,
        /// Masks of processors of each receive queue (RPS).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        receive: Vec<String>,
        /// Masks of processors of each transmit queue (XPS); empty where there is only one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        transmit: Vec<String>,
    },
    /// A module of the kernel with those that it depends on.
    Modules {
        /// The modules that are loaded or built in.
        present: BTreeSet<String>,
    },
    /// A device whose received packets pass no hook of traffic control.
    NoIngress,
    /// A device whose received packets pass a hook of traffic control.
    Ingress {
        /// Kind of the hook, `ingress` or `clsact`; absent = it is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hook: Option<String>,
        /// Disciplines of the intermediate device of a shaper, parents first.
        qdiscs: Vec<QueueNode>,
        /// Their classes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        classes: Vec<QueueNode>,
    },
    /// The MTU of a device.
    Mtu {
        /// Its MTU.
        bytes: u32,
        /// Devices above it, whose MTU the kernel lowers with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        above: Vec<LinkMtu>,
        /// The MTU of IPv6, which routers may announce lower.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ipv6_bytes: Option<u32>,
        /// IPv6 routes of the device with an MTU of their own, which the kernel changes with it
        /// (net/ipv6/route.c: `rt6_mtu_change_route`).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        routes: Vec<Blob>,
    },
    /// A number.
    Number {
        /// Its value.
        value: u64,
    },
    /// The device does not exist.
    NoDevice,
}

/// A device and its MTU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkMtu {
    /// Name.
    pub device: String,
    /// Bytes.
    pub bytes: u32,
}

/// A queue discipline or class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueNode {
    /// Kind.
    pub kind: String,
    /// Handle, as the kernel's number.
    pub handle: u32,
    /// Parent, as the kernel's number.
    pub parent: u32,
    /// Options as the kernel's bytes.
    pub options: Blob,
}

/// Bytes of the kernel, hexadecimal in documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Blob(pub Vec<u8>);

impl From<Blob> for String {
    fn from(blob: Blob) -> Self {
        blob.0.iter().map(|b| format!("{b:02x}")).collect()
    }
}

impl TryFrom<String> for Blob {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digits: Option<Vec<u8>> = text
            .chars()
            .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
            .collect();
        let digits = digits.ok_or("not hexadecimal")?;
        if digits.len() % 2 == 1 {
            return Err("half a byte");
        }
        Ok(Self(digits.chunks(2).map(|d| d[0] << 4 | d[1]).collect()))
    }
}
