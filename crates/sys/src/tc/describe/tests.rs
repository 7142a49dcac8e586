//! Descriptions match the configuration.

use proptest::prelude::*;

use super::*;
use crate::link::{self, NewLink};
use crate::tc::{
    Cake, CakeFlowMode, FqCodel, Htb, HtbClass, Netem, Qdisc, Tbf, add, add_htb_class, replace,
};
use crate::testutil::netns;

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_panic(
        kind in proptest::sample::select(vec!["fq", "cake", "tbf", "htb", "netem", "red", "pfifo", "x"]),
        handle in any::<u32>(),
        options in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let mut m = Message::new(36, 0);
        m.raw(&tcmsg(1, Handle::from_raw(handle), Handle::ROOT, 0))
            .str(TCA_KIND, kind)
            .attr(TCA_OPTIONS, &options);
        prop_assert_eq!(parse(m.payload()).map(|d| d.kind), Some(kind.to_owned()));
        let _ = parse(&options);
    }
}

fn map(options: &[(&str, &str)]) -> Options {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    options.iter().map(owned).collect()
}

#[test]
fn a_tree_of_queues_is_described() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    link::create_veth(&mut nl, &NewLink::named("a0"), &NewLink::named("a1")).unwrap();
    let a0 = link::index(&mut nl, "a0").unwrap();
    let a1 = link::index(&mut nl, "a1").unwrap();
    let (root, class) = (Handle::new(1, 0), Handle::new(1, 0x10));
    let htb = Qdisc::Htb(Htb {
        default_class: 0x10,
        direct_qlen: None,
    });
    add(&mut nl, a0, Handle::ROOT, root, &htb).unwrap();
    let options = HtbClass {
        rate_bps: 48_000_000,
        ceil_bps: None,
        burst_bytes: None,
        ceil_burst_bytes: None,
        quantum_bytes: None,
        priority: 0,
    };
    add_htb_class(&mut nl, a0, root, class, &options).unwrap();
    let leaf = Qdisc::Pfifo { limit: Some(777) };
    replace(&mut nl, a0, class, Handle::new(2, 0), &leaf).unwrap();
    let tree = describe(&mut nl, a0).unwrap();
    let of = |handle| tree.iter().find(|d| d.handle == handle).unwrap();
    assert_eq!(of(root).options, map(&[("default_class", "10")]));
    assert_eq!(
        (of(root).parent, of(root).kind.as_str()),
        (Handle::ROOT, "htb")
    );
    let rates = map(&[("rate_bps", "48000000"), ("ceil_bps", "48000000")]);
    assert_eq!(of(class).options, rates);
    let leaf = of(Handle::new(2, 0));
    assert_eq!((leaf.parent, leaf.kind.as_str()), (class, "pfifo"));
    assert_eq!(leaf.options, map(&[("limit_packets", "777")]));

    // 50 Gbit/s does not fit the 32-bit rate.
    let tbf = Qdisc::Tbf(Tbf {
        rate_bps: 50_000_000_000,
        burst_bytes: 20_000,
        limit_bytes: 100_000,
        table_mtu_bytes: None,
        peak: None,
    });
    replace(&mut nl, a1, Handle::ROOT, root, &tbf).unwrap();
    let described = describe(&mut nl, a1).unwrap();
    let wanted = map(&[("rate_bps", "50000000000"), ("limit_bytes", "100000")]);
    assert_eq!(described[0].options, wanted);
}

/// The options sent for a kind have the format of its listing.
fn encoded(qdisc: &Qdisc) -> Options {
    let mut m = Message::new(36, 0);
    m.raw(&tcmsg(1, Handle::NONE, Handle::ROOT, 0))
        .str(TCA_KIND, qdisc.kind());
    qdisc.encode(&mut m);
    parse(m.payload()).unwrap().options
}

#[test]
fn options_of_single_kinds() {
    let netem = Netem {
        delay_ns: 20_000_000,
        jitter_ns: 2_000_000,
        limit_packets: Some(5000),
        ..Netem::default()
    };
    let wanted = map(&[
        ("delay_us", "20000"),
        ("jitter_us", "2000"),
        ("limit_packets", "5000"),
    ]);
    assert_eq!(encoded(&Qdisc::Netem(netem)), wanted);
    let codel = FqCodel {
        limit_packets: Some(777),
        ecn: Some(false),
        ce_threshold_us: Some(u32::MAX),
        ..FqCodel::default()
    };
    let wanted = map(&[("limit_packets", "777"), ("ecn", "off")]);
    assert_eq!(encoded(&Qdisc::FqCodel(codel)), wanted);
    let cake = Cake {
        rate_bps: Some(47_000_000),
        overhead_bytes: Some(-4),
        flow_mode: Some(CakeFlowMode::DualSrcHost),
        rtt_us: Some(100_000),
        ..Cake::default()
    };
    let wanted = map(&[
        ("rate_bps", "47000000"),
        ("overhead_bytes", "-4"),
        ("flow_mode", "dual-srchost"),
        ("rtt_us", "100000"),
        ("target_us", "5000"),
        ("autorate_ingress", "off"),
    ]);
    assert_eq!(encoded(&Qdisc::Cake(cake)), wanted);
}
