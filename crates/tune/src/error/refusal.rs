//! Reasons why a setting is refused, found before anything is changed.

use std::fmt;

use model::{
    change::Setting,
    text,
    text::{Text, Value},
};
use sys::NetlinkError;

use super::host::HostError;

/// A setting that is not changed.
#[derive(Debug)]
pub struct Refusal {
    /// The setting.
    pub setting: Setting,
    /// The reason.
    pub reason: RefusalReason,
}

/// Reason for refusing to change a setting.
#[derive(Debug)]
pub enum RefusalReason {
    /// Another value is given for it.
    Twice,
    /// It cannot be read.
    Unreadable(Box<HostError>),
    /// Its device does not exist.
    NoDevice(String),
    /// A parameter that is not known to be independent of others.
    Dependent,
    /// A parameter without write permission in this network namespace.
    ReadOnly,
    /// A parameter has another number of values.
    ValueCount {
        /// Number it has.
        has: usize,
        /// Number given.
        given: usize,
        /// Its present value.
        now: String,
    },
    /// The kernel lacks a congestion control, or has not loaded it.
    NoCongestionControl {
        /// Its name.
        name: String,
        /// The available ones, separated by spaces.
        available: Box<str>,
    },
    /// A congestion control that is not allowed in this network namespace.
    NotAllowed {
        /// The allowed ones, separated by spaces.
        allowed: Box<str>,
    },
    /// The current congestion control could not be restored in this network namespace.
    NoWayBack {
        /// The present one.
        old: String,
        /// The allowed ones, separated by spaces.
        allowed: Box<str>,
    },
    /// The present queue has filters.
    Filters,
    /// The current queue has its own classes.
    Classes {
        /// Its kind.
        kind: String,
    },
    /// The kernel takes the present queue back with other options than it reported.
    AlteredBack,
    /// The kernel does not take the present queue back.
    NotTakenBack(Box<NetlinkError>),
    /// The kernel rejects the queue.
    QueueRefused {
        /// Its kind.
        kind: &'static str,
        /// The kernel's error.
        error: Box<NetlinkError>,
    },
    /// A transmit queue of length 0.
    NoPackets,
    /// Another program has a hook for packets that the device receives.
    HookTaken {
        /// Kind of the hook.
        kind: String,
    },
    /// An earlier shaper was not removed completely.
    LeftoverDevice,
    /// A shaper of received packets without a rate.
    NoRate,
    /// A shaper far below the measured capacity.
    Starves {
        /// Its rate, bit/s.
        rate_bps: u64,
        /// The measured capacity, bit/s.
        measured_bps: u64,
    },
    /// The table of the clamp exists.
    TableExists {
        /// Its name.
        table: &'static str,
    },
    /// An MTU below the minimum of IPv4.
    BelowIpv4 {
        /// The least, bytes.
        least: u32,
    },
    /// An MTU below the minimum of IPv6, on a device that has IPv6 addresses.
    BelowIpv6 {
        /// The device.
        device: String,
        /// The least, bytes.
        least: u32,
    },
    /// An offload that the kernel does not know.
    NoOffload,
    /// An offload that the driver does not switch.
    FixedOffload,
    /// A device without receive queues that can be steered.
    NoReceiveQueues,
    /// A device with one transmit queue, which needs no choice.
    OneTransmitQueue,
    /// A device whose number of queues is fixed.
    FixedQueues,
    /// A device would have no queue to receive or to send.
    NoQueueLeft,
    /// A device has no ring or queue of the kind.
    NoneOfTheKind,
    /// A ring size or number of queues above the maximum of the driver.
    AboveMaximum {
        /// The maximum.
        most: u32,
    },
    /// A kernel that cannot load modules.
    NoModules,
    /// A module that is not installed.
    NoModule {
        /// Folder of the modules of this kernel.
        folder: String,
    },
    /// A kernel with module loading disabled (`kernel.modules_disabled`).
    ModulesLocked,
    /// More processors than the host has.
    TooManyProcessors {
        /// Number it has.
        has: usize,
    },
    /// The entry of the route cannot be parsed.
    UnreadableRoute,
    /// The kernel knows no route.
    Unroutable(Box<NetlinkError>),
    /// The route is a prohibition or the like.
    NoGateway,
    /// The route comes from router advertisements.
    Advertised,
    /// The route belongs to another program's table.
    OtherTable {
        /// Its number.
        table: u32,
    },
    /// Only a part of the prefix has a route.
    PartlyRouted,
}

impl Refusal {
    /// A refusal from its parts.
    pub fn new(setting: &Setting, reason: RefusalReason) -> Self {
        Self {
            setting: setting.clone(),
            reason,
        }
    }

    /// A refusal of a setting that cannot be read.
    pub(crate) fn unreadable(setting: &Setting, error: impl Into<HostError>) -> Self {
        let error = Box::new(error.into());
        Self::new(setting, RefusalReason::Unreadable(error))
    }

    /// The setting, the reason and the action that helps, for reports in any language.
    pub fn text(&self) -> Text {
        text!(
            "{setting}: {reason}; {hint}",
            setting = &self.setting,
            reason = self.reason.text(),
            hint = self.hint()
        )
    }

    /// Returns the action that helps.
    fn hint(&self) -> Text {
        if let RefusalReason::Unreadable(_) = &self.reason {
            return match &self.setting {
                Setting::MssClamp { .. } => {
                    text!("try {command}", command = "`modprobe nf_tables`")
                }
                Setting::Queue { .. } | Setting::Ingress { .. } => {
                    text!("check {command}", command = "`tc qdisc show`")
                }
                Setting::Offload { .. } => offloads(),
                Setting::Rings { .. } => text!("`ethtool -g` shows the rings of the device"),
                Setting::Channels { .. } => channels(),
                _ => text!("check its name"),
            };
        }
        self.reason.hint()
    }
}

fn channels() -> Text {
    text!("`ethtool -l` shows the queues of the device")
}

fn offloads() -> Text {
    text!("`ethtool -k` lists those of the device")
}

impl RefusalReason {
    /// The reason with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Twice => text!("it is given twice"),
            Self::Unreadable(error) => error.text(),
            Self::NoDevice(device) => text!("there is no device {device}", device = device),
            Self::Dependent => {
                text!("it is not known how to undo a change of this parameter completely")
            }
            Self::ReadOnly => {
                text!("the kernel does not allow it to be changed in this network namespace")
            }
            Self::ValueCount { has, given, .. } => text!(
                "it has {has} values, {given} are given",
                has = *has,
                given = *given
            ),
            Self::NoCongestionControl { available, .. } => {
                text!("the kernel has only {available}", available = &**available)
            }
            Self::NotAllowed { allowed } => text!(
                "this network namespace allows only {allowed}",
                allowed = &**allowed
            ),
            Self::NoWayBack { old, allowed } => text!(
                "{old} could not be set again, as this namespace allows {allowed}",
                old = old,
                allowed = &**allowed
            ),
            Self::NoPackets => text!("a queue of 0 packets drops all"),
            Self::TableExists { table } => {
                text!("there is a table {table} already", table = *table)
            }
            Self::BelowIpv4 { least } => {
                text!("every IPv4 host must accept {least} bytes", least = *least)
            }
            Self::BelowIpv6 { device, least } => text!(
                "{device} has IPv6 addresses, and below {least} bytes the kernel removes them for good",
                device = device,
                least = *least
            ),
            Self::NoOffload => text!("the kernel has no such offload"),
            Self::FixedOffload => text!("the driver cannot switch it"),
            Self::NoReceiveQueues => {
                text!("it has no receive queues whose packets can be moved")
            }
            Self::TooManyProcessors { has } => {
                text!("this host has {has} processors", has = *has)
            }
            Self::OneTransmitQueue => text!("it has one transmit queue"),
            Self::FixedQueues => text!("the number of its queues is fixed"),
            Self::NoQueueLeft => text!("a device needs queues to receive and to send"),
            Self::NoneOfTheKind => text!("the device has none of that kind"),
            Self::AboveMaximum { most } => text!("its driver has at most {most}", most = *most),
            Self::NoModules => text!("this kernel cannot load modules"),
            Self::NoModule { folder } => {
                text!(
                    "there is no module of that name in {folder}",
                    folder = folder
                )
            }
            Self::ModulesLocked => text!("this kernel was told to load no more modules"),
            queue_or_route => queue_or_route.text_of_queue(),
        }
    }

    fn text_of_queue(&self) -> Text {
        match self {
            Self::Filters => text!("its queue has filters, which could not be set up again"),
            Self::Classes { kind } => text!(
                "its {kind} has classes, which could not be set up again",
                kind = kind
            ),
            Self::AlteredBack => text!("its present queue would come back with other options"),
            Self::NotTakenBack(error) => text!(
                "its present queue could not be set up again: {error}",
                error = error.text()
            ),
            Self::QueueRefused { error, .. } => error.text(),
            Self::HookTaken { kind } => text!(
                "its received packets pass the {kind} hook of another program",
                kind = kind
            ),
            Self::LeftoverDevice => text!("an intermediate device is left of an earlier change"),
            Self::NoRate => text!("without a rate, no queue forms after the line"),
            Self::Starves {
                rate_bps,
                measured_bps,
            } => text!(
                "{rate} is less than half of the measured capacity of {capacity}",
                rate = Value::Bps(*rate_bps as f64),
                capacity = Value::Bps(*measured_bps as f64)
            ),
            route => route.text_of_route(),
        }
    }

    fn text_of_route(&self) -> Text {
        match self {
            Self::Unroutable(error) => error.text(),
            Self::NoGateway => text!("there is no route to a gateway or link"),
            Self::Advertised => {
                text!("its route comes from router advertisements, which rewrite it")
            }
            Self::OtherTable { table } => text!(
                "its route is in table {table}, which belongs to another program, such as a VPN",
                table = *table
            ),
            Self::PartlyRouted => text!("a part of it has a route, and the whole has none"),
            _ => text!("its route cannot be read"),
        }
    }

    /// Returns the action that helps; an unreadable setting has a separate hint.
    fn hint(&self) -> Text {
        match self {
            Self::Twice => text!("give one value"),
            Self::NoDevice(_) => text!("`ip link` lists the devices"),
            Self::Unreadable(_) => text!("check its name"),
            Self::Dependent => text!("set it by hand"),
            Self::ReadOnly | Self::NotAllowed { .. } | Self::NoWayBack { .. } => {
                text!("change it in the host's own")
            }
            Self::ValueCount { now, .. } => text!("now it is \"{value}\"", value = now),
            Self::NoCongestionControl { name, .. } => {
                let command = Value::Name(format!("`modprobe tcp_{name}`"));
                text!("try {command}", command = command)
            }
            Self::Filters => text!("remove them first, or leave it"),
            Self::Classes { .. } | Self::AlteredBack | Self::NotTakenBack(_) => {
                text!("remove it first, or leave it")
            }
            Self::QueueRefused { kind, .. } => {
                let command = Value::Name(format!("`modprobe sch_{kind}`"));
                text!("check the options, or try {command}", command = command)
            }
            Self::NoPackets | Self::BelowIpv4 { .. } => text!("give more"),
            Self::HookTaken { .. } | Self::LeftoverDevice => text!(
                "`tc filter show dev DEVICE ingress` shows whose it is; remove it there first"
            ),
            Self::NoRate => text!("give a rate below that of the line"),
            Self::Starves { .. } => text!("check its unit, or confirm it with --force"),
            Self::TableExists { table } => text!(
                "`nft list table inet {table}` shows it; `tune list` whose it is",
                table = *table
            ),
            Self::BelowIpv6 { least, .. } => text!(
                "give {least} or more, or remove IPv6 from the device first",
                least = *least
            ),
            Self::NoOffload | Self::FixedOffload => offloads(),
            Self::NoReceiveQueues => text!("the kernel may lack CONFIG_RPS"),
            Self::TooManyProcessors { .. } | Self::AboveMaximum { .. } => {
                text!("give at most as many")
            }
            Self::OneTransmitQueue | Self::FixedQueues | Self::NoneOfTheKind => channels(),
            Self::NoQueueLeft => text!("give a number above 0"),
            Self::NoModules => text!("another kernel is needed"),
            Self::NoModule { .. } => text!("install its package, or check its name"),
            Self::ModulesLocked => text!("only a boot ends that"),
            Self::UnreadableRoute => text!("name another prefix"),
            Self::Unroutable(_) | Self::NoGateway => text!("name a prefix that is reachable"),
            Self::Advertised => text!("name a narrower prefix"),
            Self::OtherTable { .. } => text!("set it for the host instead"),
            Self::PartlyRouted => text!("name the prefix of a route"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            RefusalReason::Unreadable(error) => Some(error),
            RefusalReason::NotTakenBack(error)
            | RefusalReason::QueueRefused { error, .. }
            | RefusalReason::Unroutable(error) => Some(error),
            _ => None,
        }
    }
}
