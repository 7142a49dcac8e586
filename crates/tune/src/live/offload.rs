//! Offloads of a device, and the processors of its receive path.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use model::{
    change::{Saved, Setting, processors},
    text,
    text::Text,
};
use sys::ethtool::{Feature, feature_states, set_features};

use super::unusable;
use crate::error::{HostError, Operation, Refusal, RefusalReason};

pub(super) fn read(device: &str) -> Result<Saved, HostError> {
    let mut all = states(device)?;
    all.retain(|_, feature| !feature.fixed);
    let names = |of: fn(&Feature) -> bool| -> BTreeSet<String> {
        let on = all.iter().filter(|(_, feature)| of(feature));
        on.map(|(name, _)| name.clone()).collect()
    };
    Ok(Saved::Offloads {
        requested: names(|f| f.requested),
        active: names(|f| f.active),
    })
}

pub(super) fn check(
    setting: &Setting,
    device: &str,
    feature: &str,
    on: bool,
) -> Result<Vec<Text>, Refusal> {
    let all = states(device).map_err(|error| Refusal::unreadable(setting, error))?;
    match all.get(feature) {
        None => Err(Refusal::new(setting, RefusalReason::NoOffload)),
        Some(state) if state.active != on && (state.fixed || !state.available) => {
            Err(Refusal::new(setting, RefusalReason::FixedOffload))
        }
        Some(_) => Ok(vec![text!(
            "{setting}: some drivers reset the link for seconds when an offload is switched",
            setting = setting
        )]),
    }
}

pub(super) fn write(device: &str, feature: &str, on: bool) -> Result<(), HostError> {
    switch(device, &BTreeMap::from([(feature.to_owned(), on)]))
}

/// Restores the requested state of before; the resulting state is as it was.
pub(super) fn restore(device: &str, setting: &Setting, old: &Saved) -> Result<(), HostError> {
    let Saved::Offloads { requested, .. } = old else {
        return Err(unusable(setting));
    };
    let now = states(device)?;
    let other = now
        .iter()
        .filter(|(name, state)| !state.fixed && state.requested != requested.contains(*name));
    let wanted: BTreeMap<String, bool> = other
        .map(|(name, state)| (name.clone(), !state.requested))
        .collect();
    match wanted.is_empty() {
        true => Ok(()),
        false => switch(device, &wanted),
    }
}

fn states(device: &str) -> Result<BTreeMap<String, Feature>, HostError> {
    feature_states(device).map_err(Operation::ReadOffloads(device.to_owned()).failed())
}

fn switch(device: &str, wanted: &BTreeMap<String, bool>) -> Result<(), HostError> {
    set_features(device, wanted).map_err(Operation::SwitchOffloads(device.to_owned()).failed())
}

/// Masks of all receive queues.
pub(super) fn read_steering(device: &str) -> Result<Saved, HostError> {
    let read = |file: &PathBuf| fs::read_to_string(file).map(|mask| mask.trim().to_owned());
    let masks: io::Result<Vec<String>> = files(device)?.iter().map(read).collect();
    let masks = masks.map_err(Operation::ReadProcessors(device.to_owned()).failed())?;
    Ok(Saved::Processors { masks })
}

pub(super) fn check_steering(
    setting: &Setting,
    cpus: u32,
    old: &Saved,
) -> Result<Vec<Text>, Refusal> {
    let Saved::Processors { masks } = old else {
        return Ok(Vec::new());
    };
    if masks.is_empty() {
        return Err(Refusal::new(setting, RefusalReason::NoReceiveQueues));
    }
    let there = std::thread::available_parallelism().map_or(1, |n| n.get());
    if cpus as usize > there {
        let reason = RefusalReason::TooManyProcessors { has: there };
        return Err(Refusal::new(setting, reason));
    }
    Ok(Vec::new())
}

pub(super) fn write_steering(device: &str, cpus: u32) -> Result<(), HostError> {
    let mask = processors(cpus);
    let write = |file: PathBuf| fs::write(file, &mask);
    let done: io::Result<()> = files(device)?.into_iter().try_for_each(write);
    done.map_err(Operation::SetProcessors(device.to_owned()).failed())
}

pub(super) fn restore_steering(
    device: &str,
    setting: &Setting,
    old: &Saved,
) -> Result<(), HostError> {
    let Saved::Processors { masks } = old else {
        return Err(unusable(setting));
    };
    let files = files(device)?;
    if files.len() != masks.len() {
        return Err(unusable(setting));
    }
    let mut both = files.into_iter().zip(masks);
    both.try_for_each(|(file, mask)| fs::write(file, mask))
        .map_err(Operation::SetProcessors(device.to_owned()).failed())
}

/// Files of the masks, in the order of the queues.
fn files(device: &str) -> Result<Vec<PathBuf>, HostError> {
    let folder = Path::new("/sys/class/net").join(device).join("queues");
    let entries =
        fs::read_dir(&folder).map_err(Operation::ListQueues(device.to_owned()).failed())?;
    let mut numbered: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let number = name.to_str()?.strip_prefix("rx-")?.parse().ok()?;
            Some((number, entry.path().join("rps_cpus")))
        })
        .filter(|(_, file)| file.exists())
        .collect();
    numbered.sort();
    Ok(numbered.into_iter().map(|(_, file)| file).collect())
}
