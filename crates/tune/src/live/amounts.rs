//! Sizes of rings and numbers of queues of a device.

use model::{
    change::{Saved, Setting},
    remedy::Flow,
    text,
    text::Text,
};
use sys::ethtool::Ethtool;

use super::queues;
use crate::error::{HostError, Refusal, RefusalReason};

pub(super) fn read_rings(index: u32) -> Result<Saved, HostError> {
    let now = Ethtool::open()?.rings(index)?;
    Ok(Saved::Rings {
        rx: now.rx,
        tx: now.tx,
    })
}

pub(super) fn check_rings(
    setting: &Setting,
    index: u32,
    wanted: [Option<u32>; 2],
) -> Result<Vec<Text>, Refusal> {
    let now = Ethtool::open().and_then(|mut eth| eth.rings(index));
    let now = now.map_err(|error| Refusal::unreadable(setting, error))?;
    fits(setting, wanted.into_iter().zip([now.rx_max, now.tx_max]))?;
    Ok(vec![reset(setting)])
}

pub(super) fn write_rings(index: u32, [rx, tx]: [Option<u32>; 2]) -> Result<(), HostError> {
    Ok(Ethtool::open()?.set_rings(index, rx, tx)?)
}

pub(super) fn restore_rings(index: u32, setting: &Setting, old: &Saved) -> Result<(), HostError> {
    let Saved::Rings { rx, tx } = *old else {
        return Err(HostError::unusable(setting));
    };
    let mut eth = Ethtool::open()?;
    let now = eth.rings(index)?;
    let other = |old: u32, now: u32| (old != now).then_some(old);
    Ok(eth.set_rings(index, other(rx, now.rx), other(tx, now.tx))?)
}

/// The numbers, and the masks of processors: the kernel discards the masks of removed queues
/// (net/core/dev.c: `netif_set_real_num_tx_queues`, Linux 6.18).
pub(super) fn read_channels(index: u32, device: &str) -> Result<Saved, HostError> {
    let now = Ethtool::open()?.channels(index)?;
    Ok(Saved::Channels {
        rx: now.rx,
        tx: now.tx,
        combined: now.combined,
        receive: queues::read(device, Flow::Ingress)?,
        transmit: queues::read(device, Flow::Egress)?,
    })
}

pub(super) fn check_channels(
    setting: &Setting,
    index: u32,
    wanted: [Option<u32>; 3],
) -> Result<Vec<Text>, Refusal> {
    let now = Ethtool::open().and_then(|mut eth| eth.channels(index));
    let now = now.map_err(|error| Refusal::unreadable(setting, error))?;
    if now.max == [0; 3] {
        return Err(Refusal::new(setting, RefusalReason::FixedQueues));
    }
    fits(setting, wanted.into_iter().zip(now.max))?;
    let [rx, tx, combined] = wanted;
    let after = |wanted: Option<u32>, now: u32| wanted.unwrap_or(now) > 0;
    let both = after(combined, now.combined);
    // net/ethtool/channels.c: `ethnl_set_channels`, Linux 6.18.
    if !both && !(after(rx, now.rx) && after(tx, now.tx)) {
        return Err(Refusal::new(setting, RefusalReason::NoQueueLeft));
    }
    Ok(vec![reset(setting)])
}

pub(super) fn write_channels(index: u32, wanted: [Option<u32>; 3]) -> Result<(), HostError> {
    Ok(Ethtool::open()?.set_channels(index, wanted)?)
}

pub(super) fn restore_channels(
    index: u32,
    device: &str,
    setting: &Setting,
    old: &Saved,
) -> Result<(), HostError> {
    let Saved::Channels {
        rx,
        tx,
        combined,
        receive,
        transmit,
    } = old
    else {
        return Err(HostError::unusable(setting));
    };
    let mut eth = Ethtool::open()?;
    let now = eth.channels(index)?;
    let old = [(*rx, now.rx), (*tx, now.tx), (*combined, now.combined)];
    let wanted = old.map(|(old, now)| (old != now).then_some(old));
    if wanted != [None; 3] {
        eth.set_channels(index, wanted)?;
    }
    queues::restore(device, Flow::Ingress, receive)?;
    queues::restore(device, Flow::Egress, transmit)
}

/// Checks that each is at most its maximum; 0 = the device has none of the kind.
fn fits(
    setting: &Setting,
    wanted: impl Iterator<Item = (Option<u32>, u32)>,
) -> Result<(), Refusal> {
    let mut over = wanted.filter(|(wanted, most)| wanted.is_some_and(|wanted| wanted > *most));
    match over.next() {
        None => Ok(()),
        Some((_, 0)) => Err(Refusal::new(setting, RefusalReason::NoneOfTheKind)),
        Some((_, most)) => Err(Refusal::new(setting, RefusalReason::AboveMaximum { most })),
    }
}

fn reset(setting: &Setting) -> Text {
    text!(
        "{setting}: many drivers reset the link for seconds when this is set",
        setting = setting
    )
}
