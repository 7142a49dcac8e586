//! Congestion control by route.
//!
//! The whole entry is written each time, because the kernel forgets every metric that is not. Only
//! the congestion control is undone.

use model::{
    change::{Blob, Saved, Setting},
    prefix::Prefix,
    text,
    text::Text,
};
use sys::{
    Netlink,
    route::table::{self, Entry, MAIN},
};

use super::parameter;
use crate::error::{HostError, Refusal, RefusalReason};

/// `RTPROT_RA` and `RTPROT_DHCP` (include/uapi/linux/rtnetlink.h, Linux 7.2).
const RA: u8 = 9;
const DHCP: u8 = 16;

/// The route with exactly this destination.
pub(super) fn read(
    nl: &mut Netlink,
    to: Prefix,
    in_table: Option<u32>,
) -> Result<Saved, HostError> {
    Ok(match exact(nl, to, in_table)? {
        Some(entry) => Saved::Route {
            entry: blob(&entry),
        },
        None => Saved::NoRoute,
    })
}

pub(super) fn check(
    nl: &mut Netlink,
    setting: &Setting,
    to: Prefix,
    in_table: Option<u32>,
    cc: &str,
) -> Result<Vec<Text>, Refusal> {
    parameter::available(setting, cc)?;
    // Not the one that was saved, whose bytes do not tell whether it expires.
    let found = exact(nl, to, in_table).map_err(|error| Refusal::unreadable(setting, error))?;
    let own = found.is_some();
    let entry = match found {
        Some(found) => Some(found),
        None => covering(nl, setting, to)?,
    };
    let Some(entry) = entry else {
        return Err(Refusal::new(setting, RefusalReason::UnreadableRoute));
    };
    if !entry.is_unicast() {
        return Err(Refusal::new(setting, RefusalReason::NoGateway));
    }
    if own && is_advertised(&entry) {
        return Err(Refusal::new(setting, RefusalReason::Advertised));
    }
    let mut notes = Vec::new();
    if entry.protocol() == DHCP && own {
        notes.push(text!(
            "{setting}: a renewal by DHCP rewrites this route",
            setting = setting
        ));
    }
    if !own {
        notes.push(text!(
            "{setting}: a separate route is added, as a copy of the one in use",
            setting = setting
        ));
    }
    notes.push(text!(
        "{setting}: only connections that this host opens or accepts from now on use it",
        setting = setting
    ));
    let parameter = parameter::forwarding_of(to);
    notes.extend(parameter::forwards(setting, &[parameter]));
    Ok(notes)
}

pub(super) fn write(
    nl: &mut Netlink,
    setting: &Setting,
    to: Prefix,
    cc: &str,
    old: &Saved,
) -> Result<(), HostError> {
    match old {
        Saved::Route { entry } => {
            let entry = Entry::from_bytes(&entry.0).ok_or_else(|| HostError::unusable(setting))?;
            table::replace(nl, &entry.with_congestion_control(cc))?;
        }
        Saved::NoRoute => {
            let used = table::entry_for(nl, to.address())?;
            let own = used.toward((to.address(), to.length()));
            table::add(nl, &own.with_congestion_control(cc))?;
        }
        _ => return Err(HostError::unusable(setting)),
    }
    Ok(())
}

pub(super) fn restore(
    nl: &mut Netlink,
    setting: &Setting,
    to: Prefix,
    in_table: Option<u32>,
    old: &Saved,
) -> Result<(), HostError> {
    match old {
        Saved::Route { entry } => {
            let old = Entry::from_bytes(&entry.0).ok_or_else(|| HostError::unusable(setting))?;
            // The next hop of another boot may be none of this one.
            let now = exact(nl, to, in_table)?;
            let entry = now.map(|now| now.with_congestion_control_of(&old));
            table::replace(nl, &entry.unwrap_or(old))?;
        }
        Saved::NoRoute => {
            if let Some(own) = exact(nl, to, in_table)? {
                table::delete(nl, &own)?;
            }
        }
        _ => return Err(HostError::unusable(setting)),
    }
    Ok(())
}

/// Returns true if router advertisements write an entry: the kernel alone can set when it expires,
/// and what they may rewrite.
pub(super) fn is_advertised(entry: &Entry) -> bool {
    entry.protocol() == RA || entry.expires()
}

/// The preferred entry with this destination.
fn exact(nl: &mut Netlink, to: Prefix, in_table: Option<u32>) -> Result<Option<Entry>, HostError> {
    let wanted = (to.address(), to.length());
    let mut all = table::entries(nl)?;
    all.retain(|entry| {
        entry.prefix() == Some(wanted)
            && entry.table() == Some(in_table.unwrap_or(MAIN))
            && entry.is_unicast()
    });
    // Stable: of several with one priority, the kernel uses and replaces the first.
    all.sort_by_key(Entry::priority);
    Ok(all.into_iter().next())
}

/// The current entry, from which a more specific one can be copied.
fn covering(nl: &mut Netlink, setting: &Setting, to: Prefix) -> Result<Option<Entry>, Refusal> {
    let entry = table::entry_for(nl, to.address())
        .map_err(|error| Refusal::new(setting, RefusalReason::Unroutable(Box::new(error))))?;
    let in_main = entry.table() == Some(MAIN);
    if !in_main {
        let table = entry.table().unwrap_or_default();
        return Err(Refusal::new(setting, RefusalReason::OtherTable { table }));
    }
    let narrower = entry
        .prefix()
        .is_some_and(|(_, length)| length < to.length());
    if !narrower {
        return Err(Refusal::new(setting, RefusalReason::PartlyRouted));
    }
    Ok(Some(entry))
}

fn blob(entry: &Entry) -> Blob {
    Blob(entry.bytes().to_vec())
}
