//! The part of a value that is a setting's own: offloads, rings and numbers of queues of a device
//! are read together, and another step or change may set the others.

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

/// Returns true if the part of a setting is `now` as in `value`. Of the masks of processors only
/// those of queues that are in both count: with fewer queues, the others are gone.
pub(crate) fn is_alike(setting: &Setting, value: &Saved, now: &Saved) -> bool {
    let mut own = over(setting, value, now);
    if let (
        Saved::Channels {
            receive, transmit, ..
        },
        Saved::Channels {
            receive: receive_now,
            transmit: transmit_now,
            ..
        },
    ) = (&mut own, now)
    {
        on_both(receive, receive_now);
        on_both(transmit, transmit_now);
    }
    own == *now
}

/// The settings of single numbers that a setting consists of.
pub(crate) fn singly(setting: &Setting) -> Vec<Setting> {
    match setting {
        Setting::Rings { device, rx, tx } => {
            let ring = |rx, tx| Setting::Rings {
                device: device.clone(),
                rx,
                tx,
            };
            let each = [
                rx.map(|n| ring(Some(n), None)),
                tx.map(|n| ring(None, Some(n))),
            ];
            each.into_iter().flatten().collect()
        }
        Setting::Channels {
            device,
            rx,
            tx,
            combined,
        } => {
            let queues = |rx, tx, combined| Setting::Channels {
                device: device.clone(),
                rx,
                tx,
                combined,
            };
            let each = [
                rx.map(|n| queues(Some(n), None, None)),
                tx.map(|n| queues(None, Some(n), None)),
                combined.map(|n| queues(None, None, Some(n))),
            ];
            each.into_iter().flatten().collect()
        }
        _ => vec![setting.clone()],
    }
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

/// Takes the masks of queues that are there now, and its own number of them.
fn on_both(masks: &mut Vec<String>, now: &[String]) {
    let own = std::mem::replace(masks, now.to_vec());
    masks
        .iter_mut()
        .zip(own)
        .for_each(|(mask, own)| *mask = own);
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
        let own = over(&setting, &old, &now);
        assert_eq!(own, channels(2, 4, &["1", "2"]));
        assert!(!is_alike(&setting, &old, &now));
        // With fewer queues than before, of another kind.
        assert!(is_alike(&setting, &old, &channels(1, 4, &["1"])));
        assert!(!is_alike(&setting, &old, &channels(1, 4, &["3"])));
    }

    #[test]
    fn a_setting_of_two_numbers_consists_of_two_settings() {
        let rings = |rx, tx| Setting::Rings {
            device: "eth0".to_owned(),
            rx,
            tx,
        };
        let both = rings(Some(1), Some(2));
        let each = [rings(Some(1), None), rings(None, Some(2))];
        assert_eq!(singly(&both), each);
        assert!(each.iter().all(|one| one.is_same_place(&both)));
        assert!(!each[0].is_same_place(&each[1]));
        assert_eq!(singly(&offload("gro")), [offload("gro")]);
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
