#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::ethtool::{Offload, set_offload};
use crate::link::{NewLink, create_veth};
use crate::testutil::netns;

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_link_mode(&bytes);
        let _ = text(&bytes, 3, 32);
        let names = (0..40).map(|i| i.to_string()).collect();
        prop_assert!(read_features(names, &bytes).len() <= 40);
    }
}

#[test]
fn a_veth_reports_its_driver() {
    let Some(ns) = netns() else { return };
    let near = NewLink {
        queues: Some(2),
        ..NewLink::named("a0")
    };
    create_veth(&mut ns.route().unwrap(), &near, &NewLink::named("a1")).unwrap();
    ns.run(|| {
        assert_eq!(driver("a0").unwrap().0, "veth");
        // drivers/net/veth.c: `veth_get_link_ksettings` reports 10 Gbit/s, full duplex.
        let mode = link_mode("a0").unwrap();
        assert_eq!(mode.speed_bps, Some(10_000_000_000));
        assert_eq!(mode.full_duplex, Some(true));
        let counts = channels("a0").unwrap();
        assert_eq!((counts.rx, counts.tx), (2, 2));
        assert!(rings("a0").is_err());
        let names = statistic_names("a0").unwrap();
        assert_eq!(names[0], "peer_ifindex");
        assert_eq!(statistics("a0", names.len()).unwrap().len(), names.len());
        assert!(statistics("a0", names.len() - 1).is_err());
        assert!(driver("none").is_err());
    })
    .unwrap();
}

#[test]
fn a_feature_follows_its_switch() {
    let Some(ns) = netns() else { return };
    let ends = (NewLink::named("a0"), NewLink::named("a1"));
    create_veth(&mut ns.route().unwrap(), &ends.0, &ends.1).unwrap();
    ns.run(|| {
        for on in [true, false] {
            set_offload("a0", Offload::Gro, on).unwrap();
            assert_eq!(features("a0").unwrap().get("rx-gro"), Some(&on));
        }
        assert!(features("a0").unwrap().contains_key("tx-udp-segmentation"));
    })
    .unwrap();
}
