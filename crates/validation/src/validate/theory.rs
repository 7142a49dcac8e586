//! Formulas of the sources, independent of the lab.

/// Bytes of a full packet on the wire with its Ethernet header, MTU 1500.
pub(super) const FRAME: f64 = 1514.0;

/// Payload of a full UDP datagram over IPv4 at MTU 1500: 20 (IPv4) + 8 (UDP) bytes of headers.
pub(super) const DATAGRAM: f64 = FRAME - 42.0;

/// Bytes on the wire of a TCP acknowledgement over IPv4: 14 (Ethernet) + 20 (IPv4) + 20 (TCP) + 12
/// (timestamps).
pub(super) const ACK: f64 = 66.0;

/// Payload of a full TCP segment at MTU 1500: 20 (IPv4) + 20 (TCP) + 12 (timestamps, RFC 7323)
/// bytes of headers.
pub(super) const MSS: f64 = 1448.0;

/// The same over IPv6, whose header has 40 bytes.
pub(super) const MSS_V6: f64 = 1428.0;

/// The same over IPv4 in a tunnel with the default MTU of 1420.
pub(super) const MSS_TUNNEL: f64 = 1368.0;

/// Bytes that WireGuard adds to a packet over IPv4: 20 (IP) + 8 (UDP) + 16 (its header) + 16 (tag).
pub(super) const WIREGUARD_V4: f64 = 60.0;

/// The same over IPv6.
pub(super) const WIREGUARD_V6: f64 = 80.0;

/// CUBIC's multiplicative decrease (RFC 9438 section 4.6).
pub(super) const BETA: f64 = 0.7;

/// CUBIC's constant C (RFC 9438 section 5).
pub(super) const C: f64 = 0.4;

/// 99 % of a normal distribution lie within this many standard deviations.
pub(super) const SIGMA_99: f64 = 2.575_829;

/// Average window of an AIMD flow with increase `alpha` and decrease `beta`, in segments, when one
/// packet in `1 / p` is lost (RFC 9438 section 4.3, figure 3). With (1, 0.5) it is that of Reno,
/// 1.22 / sqrt(p) (Mathis et al. 1997).
pub(super) fn aimd_window(alpha: f64, beta: f64, p: f64) -> f64 {
    (alpha * (1.0 + beta) / (2.0 * (1.0 - beta) * p)).sqrt()
}

/// Average window of Reno.
pub(super) fn reno_window(p: f64) -> f64 {
    aimd_window(1.0, 0.5, p)
}

/// Average window of CUBIC (RFC 9438 section 5.1, figure 6), or that of its Reno-friendly region
/// (section 4.3) where that is larger.
pub(super) fn cubic_window(p: f64, rtt_s: f64) -> f64 {
    let friendly = aimd_window(3.0 * (1.0 - BETA) / (1.0 + BETA), BETA, p);
    cubic_region_window(p, rtt_s).max(friendly)
}

/// Average window of CUBIC outside of the Reno-friendly region (RFC 9438 section 5.1, figure 5).
pub(super) fn cubic_region_window(p: f64, rtt_s: f64) -> f64 {
    let constant = (C * (3.0 + BETA) / (4.0 * (1.0 - BETA))).powf(0.25);
    constant * (rtt_s / p).powf(0.75)
}

/// Time CUBIC takes to get back to the window before the loss, s (RFC 9438 section 4.2, figure 2).
pub(super) fn cubic_k(window_max: f64) -> f64 {
    (window_max * (1.0 - BETA) / C).cbrt()
}

/// BBR's share of a FIFO shared with loss-based flows (Ware et al., IMC 2019, section 4): `bdps` is
/// the buffer in BDP, `packets` the same in packets, `flows` BBR's flows.
pub(super) fn bbr_share(bdps: f64, packets: f64, flows: f64, buffer_s: f64, rtt_s: f64) -> f64 {
    let others = (0.5 - 1.0 / (2.0 * bdps) - 4.0 * flows / packets).max(0.0);
    // Each 10 s it stays below 4 packets until its own have left the queue, and 0.2 s longer.
    let probing = (buffer_s + 0.2 + rtt_s) / 10.0;
    (1.0 - others) * (1.0 - probing)
}

/// Half width of the 99 % interval of a count of independent events.
pub(super) fn binomial_99(n: f64, p: f64) -> f64 {
    SIGMA_99 * (n * p * (1.0 - p)).sqrt()
}

/// Share of a link that BBR uses if packets are lost after it with probability `p`. It estimates
/// the rate from the arrivals, 1 - p of the link's; it paces at 0.99 of that
/// (`bbr_pacing_margin_percent`, net/ipv4/tcp_bbr.c), of which 1 - p arrives. Each 10 s it drains
/// the path and waits 0.2 s, which at an RTT of 0.1 s costs 0.3 s.
pub(super) fn bbr_after_bottleneck(p: f64) -> f64 {
    0.99 * (1.0 - p).powi(2) * (1.0 - 0.3 / 10.3)
}
