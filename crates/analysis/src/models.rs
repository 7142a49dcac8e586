//! Rates of a flow by theory, to compare the measured ones with.
//!
//! Rates are payload, bit/s; `loss` is the probability that a packet is lost; `rtt_s` is the round
//! trip while loaded, in seconds; `mss` the payload of a segment, bytes.

/// Source of [`reno_window`].
pub const RENO_SOURCE: &str = "Mathis, Semke, Mahdavi, Ott: The Macroscopic Behavior of the TCP \
    Congestion Avoidance Algorithm, CCR 27(3), 1997, for one acknowledgement a segment";
/// Source of [`cubic_window`].
pub const CUBIC_SOURCE: &str = "RFC 9438 section 5.1, with C = 0.4 and beta = 0.7, and the Reno-friendly region of section 4.3";
/// Source of [`bbr_bps`].
pub const BBR_SOURCE: &str = "Linux net/ipv4/tcp_bbr.c: the rate follows what is delivered, and \
    bbr_lt_loss_thresh, 50/256, takes more loss for a policer";

/// Payload of a segment on an Ethernet path of 1500 bytes, with timestamps: the default where it is
/// not known (RFC 9293 section 3.7.1, RFC 7323).
pub const ETHERNET_MSS: f64 = 1448.0;
/// Full packet on Ethernet, bytes (RFC 894).
pub const ETHERNET_PACKET: f64 = 1500.0;

/// CUBIC's constant of growth, packets a second cubed.
const C: f64 = 0.4;
/// Factor by which CUBIC multiplies its window after a loss.
const BETA: f64 = 0.7;

/// Loss from which BBR (version 1) assumes a policer: `bbr_lt_loss_thresh` of the kernel.
pub const BBR_CLIFF: f64 = 50.0 / 256.0;

/// Mean window of Reno under random loss, packets: the square root of 3 / (2 p).
pub fn reno_window(loss: f64) -> f64 {
    (1.5 / loss).sqrt()
}

/// Mean window of CUBIC under random loss, packets: the larger of its own growth,
/// (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), and that of a Reno-friendly flow.
pub fn cubic_window(loss: f64, rtt_s: f64) -> f64 {
    let own = (C * (3.0 + BETA) / (4.0 * (1.0 - BETA))).powf(0.25) * (rtt_s / loss).powf(0.75);
    own.max(reno_window(loss))
}

/// Source of [`cubic_growth`].
pub const GROWTH_SOURCE: &str = "Linux net/ipv4/tcp_cubic.c, bictcp_update: until the first loss 5 % a round trip or \
    C t^3 (RFC 9438 section 4.2), whichever is more";

/// Mean window of CUBIC, packets, from `from_s` to `to_s` seconds after slow start ended at `start`
/// packets without a loss, if no loss follows. A window that reaches `most`, the capacity of the
/// path, remains there.
pub fn cubic_growth(start: f64, from_s: f64, to_s: f64, rtt_s: f64, most: f64) -> f64 {
    const STEPS: u32 = 2000;
    let step_s = to_s / f64::from(STEPS);
    let (mut window, mut sum, mut n) = (start.min(most), 0.0, 0.0);
    for step in 0..STEPS {
        let t = (f64::from(step) + 0.5) * step_s;
        let by_share = 0.05 * window / rtt_s;
        let by_cube = 3.0 * C * t * t;
        window = (window + by_share.max(by_cube) * step_s).min(most);
        if t >= from_s {
            sum += window;
            n += 1.0;
        }
    }
    if n > 0.0 { sum / n } else { window }
}

/// Rate of a window of packets.
pub fn window_bps(packets: f64, mss: f64, rtt_s: f64) -> f64 {
    window_bytes_bps(packets * mss, rtt_s)
}

/// Rate of a window of bytes: W / RTT.
pub fn window_bytes_bps(bytes: f64, rtt_s: f64) -> f64 {
    bytes * 8.0 / rtt_s
}

/// Window that a rate needs, bytes: rate times RTT.
pub fn needed_bytes(rate_bps: f64, rtt_s: f64) -> f64 {
    rate_bps * rtt_s / 8.0
}

/// Rate of BBR (version 1) on a path that carries `capacity_bps`: (1 - p) of it up to the cliff,
/// and unknown above.
pub fn bbr_bps(loss: f64, capacity_bps: f64) -> Option<f64> {
    (loss < BBR_CLIFF).then_some((1.0 - loss) * capacity_bps)
}

/// Returns the size of a buffer that delays by `delay_s` at `rate_bps`, bytes: delay times rate.
pub fn buffer_bytes(delay_s: f64, rate_bps: f64) -> f64 {
    delay_s * rate_bps / 8.0
}

/// Time that a backlog takes to leave at a rate, s: the delay of a packet behind it, and the
/// inverse of [`buffer_bytes`].
pub fn drain_s(backlog_bytes: f64, rate_bps: f64) -> f64 {
    backlog_bytes * 8.0 / rate_bps
}

/// Time that a full packet takes at a rate, µs.
pub fn packet_us(rate_bps: f64) -> f64 {
    drain_s(ETHERNET_PACKET, rate_bps) * 1e6
}

/// Returns the throughput of a loss-based congestion control under random loss; `None` for one that
/// is not loss-based, or not known.
pub fn loss_based_bps(cc: &str, loss: f64, rtt_s: f64, mss: f64) -> Option<f64> {
    let window = match cc {
        "cubic" => cubic_window(loss, rtt_s),
        "reno" => reno_window(loss),
        _ => return None,
    };
    Some(window_bps(window, mss, rtt_s))
}

/// Returns true if a congestion control is known as one that slows down at each loss.
pub fn is_loss_based(cc: &str) -> bool {
    loss_based_bps(cc, 0.5, 1.0, 1.0).is_some()
}

/// The loss that would limit a loss-based congestion control to a rate: the inverse of
/// [`loss_based_bps`].
pub fn loss_for_bps(cc: &str, rate_bps: f64, rtt_s: f64, mss: f64) -> Option<f64> {
    let (mut low, mut high) = (1e-9_f64, 0.5_f64);
    loss_based_bps(cc, low, rtt_s, mss)?;
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if loss_based_bps(cc, middle, rtt_s, mss)? > rate_bps {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some((low * high).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_are_those_of_the_papers() {
        assert!((reno_window(1.0) - 1.2247).abs() < 1e-4);
        // RFC 9438 section 5.1: 1.054 for C = 0.4.
        assert!((cubic_window(1e-6, 1.0) / 1e6_f64.powf(0.75) - 1.054).abs() < 1e-3);
    }

    #[test]
    fn cubic_is_never_slower_than_reno() {
        for loss in [1e-6, 1e-4, 1e-2, 0.1] {
            for rtt in [0.0005, 0.01, 0.3] {
                assert!(cubic_window(loss, rtt) >= reno_window(loss));
            }
        }
    }

    #[test]
    fn the_loss_for_a_rate_gives_that_rate() {
        for loss in [1e-5, 1e-3, 0.02] {
            let rate = loss_based_bps("cubic", loss, 0.05, 1448.0).unwrap();
            let back = loss_for_bps("cubic", rate, 0.05, 1448.0).unwrap();
            assert!((back / loss - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn growth_at_long_round_trips_is_the_cube_of_the_time() {
        // The mean of 0.4 t^3 from 2 to 10 s is 0.4 (10^4 - 2^4) / (4 * 8).
        let mean = cubic_growth(30.0, 2.0, 10.0, 1e9, 1e9);
        assert!((mean - 30.0 - 0.4 * 9984.0 / 32.0).abs() < 0.2, "{mean}");
    }

    #[test]
    fn growth_at_short_round_trips_is_five_percent_each() {
        // 100 round trips in the last tenth of a second from 100 packets on: e^(0.05 * 100) = 148.
        let end = cubic_growth(100.0, 0.0999, 0.1, 0.001, 1e9);
        assert!((end / 14_841.0 - 1.0).abs() < 0.02, "{end}");
    }

    #[test]
    fn a_window_grows_no_larger_than_the_path() {
        assert_eq!(cubic_growth(30.0, 5.0, 10.0, 0.01, 200.0), 200.0);
    }

    #[test]
    fn a_buffer_is_delay_times_rate() {
        assert_eq!(buffer_bytes(0.2, 50e6), 1_250_000.0);
        assert_eq!(needed_bytes(100e6, 0.08), 1_000_000.0);
        assert_eq!(drain_s(1_250_000.0, 50e6), 0.2);
    }
}
