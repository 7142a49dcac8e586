//! Offloads of a device.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    change::{Saved, Setting},
    text,
    text::Text,
};
use sys::ethtool::{Feature, feature_states, set_features};

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
        return Err(HostError::unusable(setting));
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
