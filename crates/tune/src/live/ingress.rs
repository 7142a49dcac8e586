//! Ingress shapers of a device: a filter on it sends every packet through the queue of an
//! intermediate device (drivers/net/ifb.c, Linux 6.18).

use model::{
    change::{Queue, Saved, Setting},
    text,
    text::Text,
};
use sys::{
    Netlink,
    link::{self, NewLink},
    tc::{self, Action, Handle, Hook, Qdisc},
};

use super::{device, placement, queue};
use crate::error::{HostError, Refusal, RefusalReason};

/// Priority of the filter.
const PRIORITY: u16 = 1;

/// Name of the intermediate device for the device of an index: unique, so that a leftover is
/// recognised.
fn name(index: u32) -> String {
    format!("pt-ifb{index}")
}

pub(super) fn read(nl: &mut Netlink, index: u32) -> Result<Saved, HostError> {
    let hook = hook(nl, index)?;
    let ifb = intermediate(nl, index)?;
    if hook.is_none() && ifb.is_none() {
        return Ok(Saved::NoIngress);
    }
    let [qdiscs, classes] = match ifb {
        Some(ifb) => queue::nodes(nl, ifb)?,
        None => Default::default(),
    };
    Ok(Saved::Ingress {
        hook,
        qdiscs,
        classes,
    })
}

pub(super) fn check(
    nl: &mut Netlink,
    setting: &Setting,
    device: &str,
    wanted: &Queue,
    old: &Saved,
) -> Result<Vec<Text>, Refusal> {
    if let Saved::Ingress { hook, .. } = old {
        let reason = match hook {
            Some(kind) => RefusalReason::HookTaken { kind: kind.clone() },
            None => RefusalReason::LeftoverDevice,
        };
        return Err(Refusal::new(setting, reason));
    }
    if wanted.rate_bps().is_none() {
        return Err(Refusal::new(setting, RefusalReason::NoRate));
    }
    let mut notes = queue::rehearse(setting, wanted)?;
    notes.push(text!(
        "{setting}: traffic above its rate is dropped after the line, so the rate must \
         be some percent below that of the line",
        setting = setting
    ));
    let failed = |error: HostError| Refusal::unreadable(setting, error);
    let index = link::index(nl, device).map_err(|e| failed(e.into()))?;
    let tunnels = placement::tunnels(nl, index).map_err(failed)?;
    notes.extend(placement::notes(setting, device, wanted, &tunnels));
    Ok(notes)
}

pub(super) fn write(nl: &mut Netlink, index: u32, wanted: &Queue) -> Result<(), HostError> {
    let name = name(index);
    let new = NewLink {
        // Not one a processor: its queue is one.
        queues: Some(1),
        ..NewLink::named(&name)
    };
    link::create_ifb(nl, &new)?;
    let ifb = link::index(nl, &name)?;
    queue::set(nl, ifb, wanted)?;
    link::set_up(nl, ifb)?;
    tc::add(nl, index, Handle::CLSACT, Handle::NONE, &Qdisc::Clsact)?;
    Ok(tc::add_matchall(
        nl,
        index,
        Hook::Ingress,
        PRIORITY,
        &[Action::Redirect(ifb)],
    )?)
}

pub(super) fn restore(
    nl: &mut Netlink,
    index: u32,
    setting: &Setting,
    old: &Saved,
) -> Result<(), HostError> {
    // Nothing else is ever changed.
    let Saved::NoIngress = old else {
        return Err(HostError::unusable(setting));
    };
    if hook(nl, index)?.is_some() {
        tc::delete(nl, index, Handle::CLSACT)?;
    }
    clear(nl, index)
}

/// Removes the intermediate device, also of a device that is gone.
pub(super) fn clear(nl: &mut Netlink, index: u32) -> Result<(), HostError> {
    if let Some(ifb) = intermediate(nl, index)? {
        link::delete(nl, ifb)?;
    }
    Ok(())
}

/// Kind of the hook for received packets.
fn hook(nl: &mut Netlink, index: u32) -> Result<Option<String>, HostError> {
    let all = tc::stats(nl, Some(index))?;
    let hook = all
        .iter()
        .find(|q| matches!(q.kind.as_str(), "ingress" | "clsact"));
    Ok(hook.map(|q| q.kind.to_string()))
}

pub(super) fn intermediate(nl: &mut Netlink, index: u32) -> Result<Option<u32>, HostError> {
    device::index(nl, &name(index))
}
