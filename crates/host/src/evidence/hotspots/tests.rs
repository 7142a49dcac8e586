#![allow(clippy::unwrap_used)]

use std::net::UdpSocket;

use proptest::prelude::*;

use super::*;

const TEXT: &str = "\
0000000000000000 A fixed_percpu_data\n\
ffffffff81000000 T _text\n\
ffffffff81002000 t tcp_ack\n\
ffffffff81001000 T _copy_to_iter\n\
ffffffff81003000 D some_variable\n\
ffffffffc0001000 t wg_packet_encrypt_worker\t[wireguard]\n\
ffffffffc0002000 t helper\t[mlx5_core]\n";

proptest! {
    #[test]
    fn any_text_is_parsed_without_panic(text in "([0-9a-f]{0,17} [tTdD] \\PC{0,10}\n){0,5}\\PC{0,40}", at in any::<u64>()) {
        if let Some(symbols) = Symbols::find(&[at], text.as_bytes()).unwrap() {
            let _ = symbols.at(at);
        }
    }

    #[test]
    fn shares_sum_to_one(counts in proptest::collection::btree_map(0xffff_ffff_8100_0000u64..0xffff_ffff_c000_3000, 1u64..99, 1..20), user in 0u64..99) {
        let addresses: Vec<u64> = counts.keys().copied().collect();
        let samples = Samples { kernel: counts, user, ..Samples::default() };
        let symbols = Symbols::find(&addresses, TEXT.as_bytes()).unwrap().unwrap();
        let spots = summary(&samples, &symbols, 997);
        prop_assert!((spots.shares.values().sum::<f64>() - 1.0).abs() < 1e-9);
        prop_assert!(spots.top.len() <= MAX_FUNCTIONS);
    }
}

#[test]
fn an_address_belongs_to_the_function_before_it() {
    let addresses = [
        5,
        0xffff_ffff_8100_1fff,
        0xffff_ffff_8100_2000,
        0xffff_ffff_8100_2fff,
        0xffff_ffff_c000_2010,
    ];
    let symbols = Symbols::find(&addresses, TEXT.as_bytes()).unwrap().unwrap();
    assert_eq!(symbols.at(5), None);
    assert_eq!(symbols.at(addresses[1]), Some(("_copy_to_iter", "")));
    assert_eq!(symbols.at(addresses[2]), Some(("tcp_ack", "")));
    assert_eq!(symbols.at(addresses[3]), Some(("tcp_ack", "")));
    let (name, module) = symbols.at(addresses[4]).unwrap();
    assert_eq!(class(name, module), HotSpotClass::Driver);
}

/// Lines that a reader without privilege is shown.
#[test]
fn hidden_addresses_are_not_symbols() {
    let text = "0000000000000000 T _text\n0000000000000000 t tcp_ack\n";
    assert!(Symbols::find(&[7], text.as_bytes()).unwrap().is_none());
}

#[test]
fn functions_have_their_classes() {
    use HotSpotClass::*;
    for (name, module, wanted) in [
        (
            "chacha20poly1305_encrypt_sg_inplace",
            "libchacha20poly1305",
            Crypto,
        ),
        ("aesni_ctr_enc", "", Crypto),
        ("_copy_from_iter", "", Copy),
        ("csum_partial", "", Copy),
        ("skb_copy_datagram_iter", "", Copy),
        ("do_syscall_64", "", Syscall),
        ("__x64_sys_sendto", "", Syscall),
        ("__napi_poll", "", Softirq),
        ("tcp_gro_receive", "", Softirq),
        ("__netif_receive_skb_core", "", Softirq),
        ("udp_sendmsg", "", Softirq),
        ("__tcp_transmit_skb", "", Tcp),
        ("bbr_main", "tcp_bbr", Tcp),
        ("virtnet_poll", "virtio_net", Driver),
        ("wg_xmit", "wireguard", Driver),
        ("tun_get_user", "tun", Driver),
        ("schedule", "", Other),
    ] {
        assert_eq!(class(name, module), wanted, "{name}");
    }
}

/// Datagrams over loopback are copied in and out, and cross the network stack.
#[test]
fn a_load_is_classified_by_its_functions() {
    let recording = match Recording::start() {
        Ok(recording) => recording,
        Err(e) => {
            println!("skipped: {e}");
            return;
        }
    };
    let (a, b) = (
        UdpSocket::bind("127.0.0.1:0").unwrap(),
        UdpSocket::bind("127.0.0.1:0").unwrap(),
    );
    let mut buffer = vec![0; 60_000];
    for _ in 0..10_000 {
        a.send_to(&buffer, b.local_addr().unwrap()).unwrap();
        b.recv(&mut buffer).unwrap();
    }
    match recording.stop() {
        Ok(spots) => {
            let share = |class| spots.shares.get(&class).copied().unwrap_or(0.0);
            assert!(share(HotSpotClass::Copy) > 0.0, "{spots:?}");
            assert!(
                share(HotSpotClass::Copy) > share(HotSpotClass::Crypto),
                "{spots:?}"
            );
        }
        Err(e) => println!("skipped: {e}"),
    }
}
