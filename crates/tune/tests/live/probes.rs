//! New flows of each protocol and family: one that a change breaks is noticed, whatever works
//! beside it.

use std::net::{TcpListener, UdpSocket};

use super::*;

/// Answers each query by a refusal, as a name server that knows nothing.
fn refuse(socket: UdpSocket) {
    std::thread::spawn(move || {
        let mut message = [0; 512];
        while let Ok((n, from)) = socket.recv_from(&mut message) {
            message[2] |= 0x80;
            message[3] = 5;
            let _ = socket.send_to(&message[..n], from);
        }
    });
}

#[test]
fn a_change_that_breaks_one_protocol_or_family_alone_is_not_confirmed() {
    if !scene() {
        return;
    }
    let ns = other_host();
    let far = ns.run(|| {
        sh("ip addr add 10.1.0.2/24 dev v1 && ip addr add fd00::2/64 dev v1 nodad");
        sh("ip link set v1 up");
        refuse(UdpSocket::bind("[::]:53").unwrap());
        TcpListener::bind("[::]:7777").unwrap()
    });
    let _far = far.unwrap();
    sh("ip addr add fd00::1/64 dev v0 nodad");
    let probes = [
        "10.1.0.2:7777",
        "[fd00::2]:7777",
        "udp://10.1.0.2",
        "udp://[fd00::2]",
    ];
    let harmless = [sysctl("net.ipv4.tcp_ecn=1")];
    let rollback = applied_with_probe(&harmless, &probes, |env| {
        let named = ["udp://10.1.0.2:53", "udp://[fd00::2]:53"];
        for (object, target) in [
            ("rule", named[0]),
            ("-6 rule", named[1]),
            ("-6 route", probes[1]),
        ] {
            let what = match object {
                "-6 route" => "unreachable fd00::2",
                _ => "ipproto udp dport 53 prohibit",
            };
            sh(&format!("ip {object} add {what}"));
            let kept = tune::confirm(env, None, &mut NewFlows);
            sh(&format!("ip {object} del {what}"));
            let Err(TuneError::ProbeAfter { target: broken, .. }) = kept else {
                panic!("{object}: {kept:?}");
            };
            assert_eq!(broken, target);
        }
        tune::confirm(env, None, &mut NewFlows).unwrap();
    });
    assert!(rollback.is_complete(), "{rollback}");
}
