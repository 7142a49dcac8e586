//! The part of a value that is a setting's own: offloads, rings and numbers of queues of a device are
//! read together, and another step or change may set the others.

use std::collections::BTreeSet;

use model::change::{Saved, Setting};

/// `now` with the part of a setting as in `value`; `value` if all of it is the setting's.
pub(crate) fn over(setting: &Setting, value: &Saved, now: &Saved) -> Saved {
    let mut all = now.clone();
    match (setting, value, &mut all) {
        (
            Setting::Offload { feature, .. },
            Saved::Offloads { requested, active },
            Saved::Offloads {
                requested: requested_now,
                active: active_now,
            },
        ) => {
            put(feature, requested, requested_now);
            put(feature, active, active_now);
        }
        (
            Setting::Rings { rx, tx, .. },
            Saved::Rings { rx: a, tx: b },
            Saved::Rings { rx: c, tx: d },
        ) => lay([(rx, a, c), (tx, b, d)]),
        (
            Setting::Channels {
                rx, tx, combined, ..
            },
            Saved::Channels {
                rx: a,
                tx: b,
                combined: c,
                receive,
                transmit,
            },
            Saved::Channels {
                rx: d,
                tx: e,
                combined: f,
                receive: receive_now,
                transmit: transmit_now,
            },
        ) => {
            lay([(rx, a, d), (tx, b, e), (combined, c, f)]);
            receive_now.clone_from(receive);
            transmit_now.clone_from(transmit);
        }
        _ => return value.clone(),
    }
    all
}

/// Returns true if the offload of a setting is requested alike in both values. Whether it is active
/// then also depends on the other offloads (net/core/dev.c: `netdev_fix_features`, Linux 6.18).
pub(crate) fn is_requested_alike(setting: &Setting, a: &Saved, b: &Saved) -> bool {
    match (setting, a, b) {
        (
            Setting::Offload { feature, .. },
            Saved::Offloads { requested: a, .. },
            Saved::Offloads { requested: b, .. },
        ) => a.contains(feature) == b.contains(feature),
        _ => false,
    }
}

fn put(feature: &String, from: &BTreeSet<String>, to: &mut BTreeSet<String>) {
    match from.contains(feature) {
        true => to.insert(feature.clone()),
        false => to.remove(feature),
    };
}

/// Lays the numbers that are given over the present ones.
fn lay<const N: usize>(numbers: [(&Option<u32>, &u32, &mut u32); N]) {
    for (given, value, now) in numbers {
        if given.is_some() {
            *now = *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offload(feature: &str) -> Setting {
        Setting::Offload {
            device: "eth0".to_owned(),
            feature: feature.to_owned(),
            on: false,
        }
    }

    fn offloads(names: &[&str]) -> Saved {
        let all: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Saved::Offloads {
            requested: all.clone(),
            active: all,
        }
    }

    #[test]
    fn of_several_offloads_only_that_of_the_setting_is_restored() {
        let now = offloads(&["sg"]);
        let old = offloads(&["gro", "sg", "tso"]);
        assert_eq!(over(&offload("gro"), &old, &now), offloads(&["gro", "sg"]));
        assert_eq!(over(&offload("sg"), &old, &now), now);
        assert_eq!(over(&offload("gro"), &now, &old), offloads(&["sg", "tso"]));
    }

    #[test]
    fn of_both_rings_only_that_of_the_setting_is_restored() {
        let setting = Setting::Rings {
            device: "eth0".to_owned(),
            rx: Some(512),
            tx: None,
        };
        let rings = |rx, tx| Saved::Rings { rx, tx };
        assert_eq!(
            over(&setting, &rings(256, 256), &rings(512, 1024)),
            rings(256, 1024)
        );
    }

    #[test]
    fn of_the_numbers_of_queues_only_those_of_the_setting_are_restored_and_all_masks() {
        let setting = Setting::Channels {
            device: "eth0".to_owned(),
            rx: None,
            tx: None,
            combined: Some(1),
        };
        let channels = |rx, combined, masks: &[&str]| Saved::Channels {
            rx,
            tx: 0,
            combined,
            receive: masks.iter().map(|mask| (*mask).to_owned()).collect(),
            transmit: Vec::new(),
        };
        let (old, now) = (channels(0, 4, &["1", "2"]), channels(2, 1, &["0"]));
        assert_eq!(over(&setting, &old, &now), channels(2, 4, &["1", "2"]));
    }

    #[test]
    fn a_value_that_is_of_another_kind_now_is_the_settings_own() {
        let old = offloads(&["gro"]);
        assert_eq!(over(&offload("gro"), &old, &Saved::NoDevice), old);
        let old = Saved::Number { value: 1 };
        assert_eq!(
            over(&offload("gro"), &old, &Saved::Number { value: 2 }),
            old
        );
    }
}
