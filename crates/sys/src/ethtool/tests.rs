#![allow(clippy::unwrap_used)]

use super::*;
use crate::link::{NewLink, create_veth};
use crate::testutil::netns;

#[test]
fn offloads_of_a_veth_can_be_switched_off() {
    let Some(ns) = netns() else { return };
    create_veth(
        &mut ns.route().unwrap(),
        &NewLink::named("a0"),
        &NewLink::named("a1"),
    )
    .unwrap();
    ns.run(|| {
        set_offloads("a0", Offloads::OFF).unwrap();
        assert_eq!(offloads("a0").unwrap(), Offloads::OFF);
        set_offload("a0", Offload::Gro, true).unwrap();
        assert!(offloads("a0").unwrap().gro);
        let error = offloads("none").unwrap_err().to_string();
        assert!(error.contains("none"), "{error}");
    })
    .unwrap();
}
