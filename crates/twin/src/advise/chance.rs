//! What the chance of random loss alone does to the goodput of one trial.
//!
//! A remedy makes packets meet other losses, also with the same seed. Of two dozen remedies without
//! an effect the luckiest one then seems to help.

use std::time::Duration;

use model::path::{Limit, Line, Loss};

/// Share of the rate below which a flow is limited by loss.
const LIMITED: f64 = 0.8;
/// Bytes of a packet without its headers.
const PACKET: f64 = 1448.0;

/// Returns true if a flow of this goodput, bit/s, does not fill a line; false if its rate is not
/// known.
pub(super) fn leaves_room(line: &Line, goodput_bps: f64) -> bool {
    match line.rate_bps.as_ref().map(|rate| &rate.value) {
        Some(Limit::At(rate)) => goodput_bps < LIMITED * rate.bps() as f64,
        Some(Limit::Unlimited) => true,
        None => false,
    }
}

/// Loss events by packet.
fn by_packet(line: &Line) -> f64 {
    match &line.loss {
        Some(Loss::Random { share }) => share.value.get(),
        // One by bad state, as TCP reacts, and those of the good one.
        Some(Loss::Bursts { p, r, good, .. }) => {
            let [p, r, good] = [p, r, good].map(|known| known.value.get());
            good + if p + r > 0.0 { p * r / (p + r) } else { 0.0 }
        }
        Some(Loss::Every { .. }) | None => 0.0,
    }
}

/// Variance of the logarithm of the goodput, bit/s, of one flow over this time: it follows
/// 1 / sqrt(p) (Mathis et al., CCR 27(3), 1997), and n independent losses leave an uncertainty of
/// 1 / (2 sqrt(n)) in it. 0 for a flow that its losses do not limit.
pub(super) fn variance(line: &Line, goodput_bps: f64, time: Duration) -> f64 {
    let by_packet = by_packet(line);
    if by_packet <= 0.0 || !leaves_room(line, goodput_bps) {
        return 0.0;
    }
    let packets = goodput_bps / 8.0 / PACKET * time.as_secs_f64();
    0.25 / (packets * by_packet).max(1.0)
}

#[cfg(test)]
mod tests {
    use model::{
        path::Parameter,
        units::{Rate, Share},
    };

    use super::*;

    fn line(loss: Loss) -> Line {
        Line {
            rate_bps: Some(Parameter::given(Limit::At(Rate::from_bps(20_000_000)))),
            loss: Some(loss),
            ..Line::default()
        }
    }

    fn share(percent: f64) -> Parameter<Share> {
        Parameter::given(Share::new(percent / 100.0).unwrap())
    }

    #[test]
    fn eighteen_losses_leave_an_eighth_of_uncertainty_and_a_full_line_none() {
        let line = line(Loss::Random { share: share(1.0) });
        let six = Duration::from_secs(6);
        // 3.5 Mbit/s are 302 packets/s, and 18 losses in 6 s.
        let deviation = variance(&line, 3.5e6, six).sqrt();
        assert!((deviation - 0.5 / 18.1_f64.sqrt()).abs() < 1e-3);
        assert!(variance(&line, 1.9e7, six).abs() < 1e-12);
    }

    #[test]
    fn a_burst_counts_once_and_regular_loss_is_no_chance() {
        let minute = Duration::from_secs(60);
        let single = line(Loss::Random { share: share(0.1) });
        let bursts = line(Loss::Bursts {
            p: share(0.1),
            r: share(25.0),
            bad: share(100.0),
            good: share(0.0),
        });
        let [single, bursts] = [single, bursts].map(|line| variance(&line, 1e7, minute));
        assert!((bursts / single - 1.004).abs() < 1e-3, "{bursts} {single}");
        let every = line(Loss::Every {
            packets: Parameter::given(100),
        });
        assert!(variance(&every, 1e6, minute).abs() < 1e-12);
    }
}
