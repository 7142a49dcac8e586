#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::ethtool;
use crate::link::{self, NewLink, create_veth};
use crate::testutil::netns;

/// A message as the kernel sends it back: the attributes that the encoder wrote after the header.
fn payload(fill: impl FnOnce(&mut Message)) -> Vec<u8> {
    let mut m = Message::new(20, 0);
    m.raw(&[0, 1, 0, 0]);
    fill(&mut m);
    m.payload().to_vec()
}

proptest! {
    #[test]
    fn sizes_of_rings_are_read_as_they_are_written(rx: Option<u32>, tx: Option<u32>) {
        let read = read_rings(&payload(|m| write_rings(m, rx, tx)));
        prop_assert_eq!(read.rx, rx.unwrap_or_default());
        prop_assert_eq!(read.tx, tx.unwrap_or_default());
        prop_assert_eq!([read.rx_max, read.tx_max], [0, 0], "a size is no maximum");
    }

    #[test]
    fn numbers_of_queues_are_read_as_they_are_written(wanted: [Option<u32>; 3]) {
        let read = read_channels(&payload(|m| write_channels(m, wanted)));
        let got = [read.rx, read.tx, read.combined];
        prop_assert_eq!(got, wanted.map(Option::unwrap_or_default));
        prop_assert_eq!(read.max, [0; 3]);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let _ = (read_rings(&bytes), read_channels(&bytes));
    }
}

/// The ioctl reads the same numbers.
#[test]
fn queues_of_a_veth_are_as_many_as_set_and_as_the_ioctl_reports() {
    let Some(ns) = netns() else { return };
    let end = |name| NewLink {
        queues: Some(4),
        ..NewLink::named(name)
    };
    let mut nl = ns.route().unwrap();
    create_veth(&mut nl, &end("a0"), &end("a1")).unwrap();
    let index = link::index(&mut nl, "a0").unwrap();
    ns.run(|| {
        let mut eth = Ethtool::open().unwrap();
        assert_eq!(
            eth.channels(index).unwrap(),
            ethtool::channels("a0").unwrap()
        );
        eth.set_channels(index, [Some(2), Some(3), None]).unwrap();
        let now = eth.channels(index).unwrap();
        assert_eq!((now.rx, now.tx, now.max[0], now.max[1]), (2, 3, 4, 4));
        assert_eq!(now, ethtool::channels("a0").unwrap());
        // More queues than exist, and no transmit queue.
        assert!(eth.set_channels(index, [Some(5), None, None]).is_err());
        assert!(eth.set_channels(index, [None, Some(0), None]).is_err());
        assert_eq!(eth.channels(index).unwrap(), now);
        // It has no rings.
        let error = eth.rings(index).unwrap_err();
        assert_eq!(error.errno, libc::EOPNOTSUPP, "{error}");
    })
    .unwrap();
}

/// Read-only, since the rings of a real card belong to the host.
#[test]
fn rings_of_a_card_are_as_the_ioctl_reports_them() {
    let mut nl = Netlink::route().unwrap();
    let Ok(mut eth) = Ethtool::open() else {
        println!("skipped: this kernel has no ethtool netlink");
        return;
    };
    let mut compared = 0;
    for link in link::list(&mut nl).unwrap() {
        if let Ok(rings) = eth.rings(link.index) {
            assert_eq!(rings, ethtool::rings(&link.name).unwrap(), "{}", link.name);
            assert!(rings.rx <= rings.rx_max && rings.tx <= rings.tx_max);
            compared += 1;
        }
    }
    if compared == 0 {
        println!("skipped: no device of this host has rings");
    }
}
