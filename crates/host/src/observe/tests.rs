#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use model::observation::Figure;
use proptest::prelude::*;
use sys::Netlink;
use sys::sock_diag::{SocketMemory, WITH_DATA, tcp_sockets};
use sys::tcp_info::TcpInfo;

use super::*;

const SECOND: u64 = 1_000_000;

/// A sender at one time; tests set the counters that change.
fn sender() -> (TcpSocket, TcpInfo) {
    let info = TcpInfo {
        state: 1,
        rtt_us: 30_000,
        min_rtt_us: Some(20_000),
        snd_cwnd: 10,
        snd_ssthresh: 0x7fff_ffff,
        delivery_rate_bytes_s: Some(1_000_000),
        bytes_acked: Some(0),
        bytes_received: Some(0),
        bytes_sent: Some(0),
        bytes_retrans: Some(0),
        busy_time_us: Some(0),
        rwnd_limited_us: Some(0),
        sndbuf_limited_us: Some(0),
        ..TcpInfo::default()
    };
    let socket = TcpSocket {
        cookie: 1,
        state: 1,
        local: "192.0.2.1:40000".parse().unwrap(),
        remote: "192.0.2.2:443".parse().unwrap(),
        bound_to: None,
        uid: 0,
        inode: None,
        receive_queue_bytes: 0,
        send_queue_bytes: 0,
        congestion: Some("cubic".to_owned()),
        info: None,
        bbr: None,
        memory: Some(SocketMemory {
            receive_limit_bytes: 100_000,
            ..SocketMemory::default()
        }),
    };
    (socket, info)
}

/// Verdict on a connection that is sampled each second for ten, `change` being given the second.
fn seen(change: impl Fn(u64, &mut TcpSocket, &mut TcpInfo)) -> ObservedSocket {
    let mut watch = Watch::default();
    for second in 0..=10 {
        let (mut socket, mut info) = sender();
        change(second, &mut socket, &mut info);
        socket.info = Some(info);
        watch.add(second * SECOND, vec![socket], |_| None);
    }
    watch.observation(None).sockets.remove(0)
}

/// A sender of 1 MB a second that always has data to send.
fn busy(second: u64, info: &mut TcpInfo) {
    info.bytes_acked = Some(second * 1_000_000);
    info.bytes_sent = Some(second * 1_010_000);
    info.bytes_retrans = Some(second * 10_000);
    info.busy_time_us = Some(second * SECOND);
}

#[test]
fn figures_are_differences_over_the_time_observed() {
    let socket = seen(|second, socket, info| {
        busy(second + 100, info);
        info.bytes_received = Some(second * 100);
        info.reord_seen = Some(5 + second as u32);
        socket.congestion = Some("bbr".to_owned());
    });
    assert_eq!((socket.samples, socket.observed_us), (11, 10 * SECOND));
    assert_eq!(socket.goodput_out_bps, Some(8e6));
    assert_eq!(socket.goodput_in_bps, Some(800.0));
    assert_eq!(socket.retransmission_rate, Some(10_000.0 / 1_010_000.0));
    assert_eq!(socket.retransmitted_bytes, Some(100_000));
    assert_eq!(
        (socket.rtt_us, socket.rtt_over_min),
        (Some(30_000.0), Some(1.5))
    );
    assert_eq!((socket.busy, socket.cwnd_limited), (Some(1.0), Some(1.0)));
    assert_eq!((socket.reord_seen, socket.dsack_dups), (Some(10), None));
    assert_eq!(socket.ssthresh, None);
    assert_eq!(socket.cc.as_deref(), Some("bbr"));
}

#[test]
fn the_congestion_window_limits_unless_another_limit_applies() {
    let socket = seen(|second, _, info| busy(second, info));
    assert_eq!(socket.verdict, Verdict::LossOrPath);
    assert_eq!(socket.because.figure, Figure::CwndLimited);
}

#[test]
fn windows_and_buffers_limit_above_their_bound_only() {
    let with = |rwnd: u64, sndbuf: u64| {
        seen(|second, _, info| {
            busy(second, info);
            info.rwnd_limited_us = Some(second * rwnd * SECOND / 100);
            info.sndbuf_limited_us = Some(second * sndbuf * SECOND / 100);
        })
        .verdict
    };
    assert_eq!(with(16, 0), Verdict::ReceiveWindow);
    assert_eq!(with(0, 16), Verdict::SendBuffer);
    assert_eq!(with(30, 20), Verdict::ReceiveWindow);
    assert_eq!(with(20, 30), Verdict::SendBuffer);
    assert_eq!(with(15, 15), Verdict::LossOrPath);
}

#[test]
fn an_application_that_gives_little_is_the_limit() {
    let pauses = seen(|second, _, info| {
        busy(second, info);
        info.busy_time_us = Some(second * SECOND * 2 / 5);
        // Even if the receive window limits the small amount of data.
        info.rwnd_limited_us = Some(second * SECOND / 5);
    });
    assert_eq!(pauses.verdict, Verdict::Application);
    assert_eq!(pauses.because.figure, Figure::Busy);
    assert_eq!(pauses.because.value, Some(0.4));
    let trickle = seen(|second, _, info| {
        busy(second, info);
        info.delivery_rate_app_limited = second % 3 != 0;
    });
    assert_eq!(trickle.verdict, Verdict::Application);
    assert_eq!(trickle.because.figure, Figure::AppLimited);
}

/// Bug: iperf3 3.18 sends 10 Mbit/s as bursts of 128 kB. Of 104 ms, 66 were busy, most of them
/// after all was sent, and the congestion window was called the limit.
#[test]
fn an_application_that_writes_bursts_is_the_limit() {
    let with = |every: u64| {
        seen(|second, _, info| {
            busy(second, info);
            info.busy_time_us = Some(second * SECOND * 2 / 3);
            info.notsent_bytes = Some(if second % every == 0 { 65_536 } else { 0 });
        })
    };
    let bursts = with(4);
    assert_eq!(bursts.verdict, Verdict::Application);
    assert_eq!(bursts.because.figure, Figure::AllSent);
    assert_eq!(with(1).verdict, Verdict::LossOrPath);
}

#[test]
fn a_pacing_rate_limits_a_sender_that_reaches_it() {
    let with = |rate| {
        seen(|second, _, info| {
            busy(second, info);
            info.max_pacing_rate_bytes_s = Some(rate);
        })
        .verdict
    };
    assert_eq!(with(1_050_000), Verdict::PacingLimit);
    assert_eq!(with(10_000_000), Verdict::LossOrPath);
}

#[test]
fn a_receiver_is_distinguished_from_one_that_does_not_read() {
    let receiving = |unread| {
        seen(|second, socket, info| {
            info.bytes_received = Some(second * 1_000_000);
            info.bytes_acked = Some(second * 1_000);
            socket.receive_queue_bytes = unread;
        })
        .verdict
    };
    assert_eq!(receiving(0), Verdict::ReceivingOnly);
    assert_eq!(receiving(40_000), Verdict::NotRead);
}

#[test]
fn a_resting_connection_is_idle_and_a_stuck_one_is_not() {
    assert_eq!(seen(|_, _, _| {}).verdict, Verdict::Idle);
    let stuck = seen(|second, _, info| {
        info.busy_time_us = Some(second * SECOND);
        info.rwnd_limited_us = Some(second * SECOND);
    });
    assert_eq!(stuck.verdict, Verdict::ReceiveWindow);
}

#[test]
fn a_kernel_without_the_counters_is_not_guessed_about() {
    let old = seen(|second, _, info| {
        busy(second, info);
        info.busy_time_us = None;
        info.rwnd_limited_us = None;
        info.sndbuf_limited_us = None;
    });
    assert_eq!(old.verdict, Verdict::CannotTell);
    assert_eq!(
        (old.because.figure, old.because.value),
        (Figure::Busy, None)
    );
    assert_eq!(
        (old.busy, old.rwnd_limited, old.cwnd_limited),
        (None, None, None)
    );
    let older = seen(|_, _, info| info.bytes_acked = None);
    assert_eq!(older.verdict, Verdict::CannotTell);
}

#[test]
fn few_samples_are_undecided() {
    for (times, figure) in [
        (vec![0], Figure::Samples),
        (vec![0, SECOND], Figure::Samples),
        (vec![0, 1000, 2000], Figure::ObservedUs),
    ] {
        let mut watch = Watch::default();
        for time in times {
            let (mut socket, mut info) = sender();
            busy(time, &mut info);
            socket.info = Some(info);
            watch.add(time, vec![socket], |_| None);
        }
        let socket = watch.observation(None).sockets.remove(0);
        assert_eq!(socket.verdict, Verdict::CannotTell);
        assert_eq!(socket.because.figure, figure);
    }
}

#[test]
fn a_reused_port_is_another_connection() {
    let mut watch = Watch::default();
    for second in 0..10 {
        let (mut socket, mut info) = sender();
        info.bytes_acked = Some(1_000_000 - second * 1000);
        socket.cookie = second / 5;
        socket.info = Some(info);
        watch.add(second * SECOND, vec![socket.clone(), socket], |_| None);
    }
    let seen = watch.observation(None).sockets;
    assert_eq!(seen.len(), 2);
    assert_eq!(seen.iter().filter(|s| s.ended).count(), 1);
    // A decreasing counter is no evidence.
    assert!(
        seen.iter()
            .all(|s| s.samples == 5 && s.goodput_out_bps.is_none())
    );
}

#[test]
fn a_window_of_time_moves_on() {
    let mut watch = Watch::default();
    for second in 0..=20 {
        let (mut socket, mut info) = sender();
        // Fast at first, then slow.
        info.bytes_acked = Some(second.min(10) * 1_000_000 + second * 1000);
        socket.info = Some(info);
        watch.add(second * SECOND, vec![socket], |_| None);
    }
    watch.forget_before(10 * SECOND);
    let observation = watch.observation(None);
    assert_eq!(
        (observation.dumps, observation.observed_us),
        (11, 10 * SECOND)
    );
    assert_eq!(observation.sockets[0].goodput_out_bps, Some(8000.0));
    watch.forget_before(21 * SECOND);
    assert!(watch.observation(None).sockets.is_empty());
}

#[test]
fn limited_connections_come_first_then_the_busiest() {
    let mut watch = Watch::default();
    for second in 0..=10 {
        let sockets = [(1, 0), (2, 500), (3, 900), (4, 700)].map(|(cookie, speed)| {
            let (mut socket, mut info) = sender();
            busy(second * speed / 1000, &mut info);
            info.bytes_acked = Some(second * speed);
            info.busy_time_us = Some(second * SECOND * u64::from(cookie % 2 == 0));
            socket.cookie = cookie;
            socket.info = Some(info);
            socket
        });
        watch.add(second * SECOND, sockets.to_vec(), |_| None);
    }
    let verdicts: Vec<_> = watch
        .observation(None)
        .sockets
        .iter()
        .map(|s| s.verdict)
        .collect();
    let expected = [
        Verdict::LossOrPath,
        Verdict::LossOrPath,
        Verdict::Application,
        Verdict::Idle,
    ];
    assert_eq!(verdicts, expected);
    let two = watch.observation(Some(2));
    assert_eq!((two.sockets.len(), two.left_out), (2, 2));
    assert!(two.sockets[0].goodput_out_bps > two.sockets[1].goodput_out_bps);
}

proptest! {
    /// For any counters: shares are in 0..=1, and there is a verdict.
    #[test]
    fn shares_are_shares(
        series in proptest::collection::vec(
            (0u64..SECOND, any::<[u64; 7]>(), any::<[u32; 4]>(), any::<bool>()), 0..8),
    ) {
        let mut watch = Watch::default();
        let mut now = 0;
        for (step, long, short, flag) in series {
            now += step;
            let (mut socket, mut info) = sender();
            info.bytes_acked = Some(long[0]).filter(|v| v % 5 > 0);
            info.bytes_received = Some(long[1] >> 1);
            info.bytes_sent = Some(long[2]);
            info.bytes_retrans = Some(long[3]);
            info.busy_time_us = Some(long[4]).filter(|v| v % 5 > 0);
            info.rwnd_limited_us = Some(long[5]);
            info.sndbuf_limited_us = Some(long[6]);
            info.rtt_us = short[0];
            info.min_rtt_us = Some(short[1]);
            info.delivery_rate_app_limited = flag;
            info.notsent_bytes = flag.then_some(short[3] % 3);
            socket.receive_queue_bytes = short[2];
            socket.memory = Some(SocketMemory { receive_limit_bytes: short[3], ..SocketMemory::default() });
            socket.info = Some(info);
            watch.add(now, vec![socket], |_| None);
        }
        for s in watch.observation(None).sockets {
            let shares = [s.retransmission_rate, s.busy, s.rwnd_limited, s.sndbuf_limited,
                s.app_limited, s.all_sent, s.cwnd_limited, s.receive_buffer_used];
            for share in shares.into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&share), "{s:?}");
            }
        }
    }
}

/// Lists the sockets between two ports for a while and returns what was observed of each end.
fn watch(near: &TcpStream, span: Duration) -> [ObservedSocket; 2] {
    let (near_at, far_at) = (near.local_addr().unwrap(), near.peer_addr().unwrap());
    let mut watch = Watch::new(Filter {
        dst: None,
        port: Some(far_at.port()),
    });
    let mut nl = Netlink::sock_diag().unwrap();
    let start = Instant::now();
    while start.elapsed() < span {
        let sockets = tcp_sockets(&mut nl, WITH_DATA).unwrap();
        watch.add(start.elapsed().as_micros() as u64, sockets, |_| None);
        thread::sleep(Duration::from_millis(20));
    }
    let seen = watch.observation(None).sockets;
    [near_at, far_at].map(|at: SocketAddr| seen.iter().find(|s| s.local == at).unwrap().clone())
}

/// On the real kernel, an application that does not read is the limit at its own end, and its
/// receive window is the limit at the other.
#[test]
fn both_ends_of_a_reader_that_stops_are_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (_far, _) = listener.accept().unwrap();
    near.set_nonblocking(true).unwrap();
    while near.write(&[0; 65536]).is_ok() {}
    let [sender, receiver] = watch(&near, Duration::from_millis(300));
    assert_eq!(sender.verdict, Verdict::ReceiveWindow, "{sender:?}");
    assert!(sender.rwnd_limited > Some(0.9), "{sender:?}");
    assert_eq!(receiver.verdict, Verdict::NotRead, "{receiver:?}");
}
