//! Tests on the running kernel, in a temporary namespace, with kinds that every kernel has.

use crate::testutil::{netns, pair};

use super::super::*;

#[test]
fn a_tbf_can_be_added_sampled_and_removed() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let index = pair(&mut nl);
    let tbf = |rate_bps| {
        Qdisc::Tbf(Tbf {
            rate_bps,
            burst_bytes: 20_000,
            limit_bytes: 100_000,
            table_mtu_bytes: None,
            peak: None,
        })
    };
    let handle = Handle::new(1, 0);
    replace(&mut nl, index, Handle::ROOT, handle, &tbf(10_000_000)).unwrap();
    replace(&mut nl, index, Handle::ROOT, handle, &tbf(50_000_000_000)).unwrap();
    let listed = stats(&mut nl, Some(index)).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].kind.as_str(), listed[0].handle), ("tbf", handle));
    let mut reader = StatsReader::root(ns.route().unwrap(), index);
    let sample = reader.read().unwrap();
    assert_eq!((sample.kind.as_str(), sample.parent), ("tbf", Handle::ROOT));
    reader.read().unwrap();
    delete(&mut nl, index, Handle::ROOT).unwrap();
    assert_ne!(reader.read().unwrap().kind.as_str(), "tbf");
}

#[test]
fn htb_with_classes_and_leaves() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let index = pair(&mut nl);
    let (root, class) = (Handle::new(1, 0), Handle::new(1, 0x10));
    let htb = Qdisc::Htb(Htb {
        default_class: 0x10,
        direct_qlen: None,
    });
    add(&mut nl, index, Handle::ROOT, root, &htb).unwrap();
    let options = HtbClass {
        rate_bps: 10_000_000,
        ..HtbClass::default()
    };
    add_htb_class(&mut nl, index, root, class, &options).unwrap();
    let leaf = Qdisc::Pfifo { limit: Some(100) };
    add(&mut nl, index, class, Handle::new(2, 0), &leaf).unwrap();
    let mut reader = StatsReader::below(ns.route().unwrap(), index, class);
    assert_eq!(reader.read().unwrap().kind.as_str(), "pfifo");
    let mut reader = StatsReader::of_handle(ns.route().unwrap(), index, Handle::new(2, 0));
    assert_eq!(reader.read().unwrap().handle, Handle::new(2, 0));
}

#[test]
fn a_refusal_names_the_link_and_carries_the_kernels_words() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let index = pair(&mut nl);
    let error = delete(&mut nl, index, Handle::new(7, 0)).unwrap_err();
    assert!(
        error.to_string().contains(&format!("link {index}")),
        "{error}"
    );
    assert!(error.kernel_message.is_some(), "{error}");
}

#[test]
fn filters_on_clsact_count_drops() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let index = pair(&mut nl);
    if let Err(e) = add(&mut nl, index, Handle::CLSACT, Handle::NONE, &Qdisc::Clsact) {
        println!("skipped: {e}");
        return;
    }
    if let Err(e) = add_matchall(&mut nl, index, Hook::Egress, 1, &[Action::DropEvery(2)]) {
        println!("skipped: {e}");
        return;
    }
    let counted = action_drops(&mut nl, index, Hook::Egress).unwrap();
    assert_eq!(counted.len(), 1);
    assert_eq!(counted[0].kind.as_str(), "gact");
    delete_filters(&mut nl, index, Hook::Egress, 1).unwrap();
    assert!(
        action_drops(&mut nl, index, Hook::Egress)
            .unwrap()
            .is_empty()
    );
}
