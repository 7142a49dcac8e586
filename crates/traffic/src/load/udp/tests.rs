#![allow(clippy::unwrap_used)]

use model::record::UdpSample;
use sys::clock::Instant;

use super::*;
use crate::admission::Lease;

fn pair() -> (UdpSocket, UdpSocket) {
    let [near, far] = [0; 2].map(|_| socket::udp("127.0.0.1:0".parse().unwrap()).unwrap());
    near.connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.local_addr().unwrap()).unwrap();
    (near, far)
}

/// A thousand datagrams a second.
fn config(duration: Duration) -> Config {
    Config {
        rate_bps: 800_000,
        payload: 100,
        zero: Instant::now(),
        lease: Lease::own(duration, None, None),
    }
}

#[test]
fn a_load_sends_as_many_datagrams_as_its_rate_and_time_say() {
    for spacing in [Spacing::Timer, Spacing::Single] {
        let (near, far) = pair();
        let config = config(Duration::from_millis(100));
        let receiver = UdpLoad::receive(far, config.clone()).unwrap();
        let sender = UdpLoad::send_spaced(near, config, spacing).unwrap();
        while receiver.bytes() < 100 * 100 {
            Instant::now().after(Duration::from_millis(5)).wait();
        }
        let (sent, received) = (sender.finish(), receiver.finish());
        assert_eq!((sent.sent, sent.refused, received.received), (100, 0, 100));
        assert_eq!((received.highest, received.reordered), (100, 0));
    }
}

/// Datagrams that wait for the kernel's timer are few enough that the load ends on time.
#[test]
fn datagrams_sent_by_the_kernels_timer_all_arrive() {
    let (near, far) = pair();
    let config = config(Duration::from_millis(200));
    let interval = Duration::from_millis(20);
    let receiver = UdpLoad::receive_sampled(far, config.clone(), interval).unwrap();
    let sender = UdpLoad::send_spaced(near, config.clone(), Spacing::Kernel).unwrap();
    config.zero.after(Duration::from_millis(100)).wait();
    sender.stop();
    receiver.stop();
    let (sent, received) = (sender.finish(), receiver.finish());
    assert!(
        (1..=200).contains(&sent.sent) && sent.refused == 0,
        "{}",
        sent.sent
    );
    assert_eq!(received.received, sent.sent);
    assert!(sent.span_ns >= sent.sent * 1_000_000);
}

/// The owner of both halves stops the sender first: the receiver counts the datagrams in flight.
#[test]
fn a_receiver_that_samples_counts_to_the_last_datagram() {
    let (near, far) = pair();
    let config = config(Duration::MAX);
    let interval = Duration::from_millis(20);
    let receiver = UdpLoad::receive_sampled(far, config.clone(), interval).unwrap();
    let sender = UdpLoad::send_spaced(near, config.clone(), Spacing::Single).unwrap();
    config.zero.after(Duration::from_millis(200)).wait();
    sender.stop();
    receiver.stop();
    let sent = sender.finish_half();
    let received = receiver.finish_half();
    assert!(sent.outcome.sent > 0 && sent.error.is_none());
    assert_eq!(received.outcome.received, sent.outcome.sent);
    let samples = received.samples;
    assert!(!samples.is_empty());
    for pair in samples.windows(2) {
        let apart = pair[1].0.since(pair[0].0);
        assert!(apart >= interval.as_nanos() as i64, "{apart} ns");
        assert!(pair[0].1.received <= pair[1].1.received);
    }
    let whole = |sample: &UdpSample| sample.bytes == 100 * sample.received;
    assert!(samples.iter().all(|(_, sample)| whole(sample)));
}

#[test]
fn a_datagram_that_the_own_host_refuses_for_good_is_reported() {
    let (near, _far) = pair();
    let config = Config {
        // More than a datagram may have.
        payload: 65_508,
        ..config(Duration::from_secs(1))
    };
    let half = UdpLoad::send(near, config).unwrap();
    while half.bytes() == 0 {
        Instant::now().after(Duration::from_millis(5)).wait();
    }
    let half = half.finish_half();
    assert!(half.outcome.refused > 0 && half.error.is_some());
}
