//! The rate of a congestion control on a path at any loss, by theory.

use crate::{
    models,
    view::{DirectionView, Load},
};

/// A congestion control on a path: the input of the models.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The congestion control.
    pub cc: String,
    /// Round trip while loaded, s.
    pub rtt_s: f64,
    /// Payload of a segment, bytes.
    pub mss: f64,
    /// Connections.
    pub flows: f64,
    /// Capacity of the path, bit/s of payload.
    pub capacity_bps: f64,
}

impl Curve {
    /// The curve of a load on its path; `None` without a round trip, a capacity, or a model of the
    /// congestion control.
    pub fn of(direction: &DirectionView<'_>, load: &Load) -> Option<Self> {
        Self {
            cc: load.cc.clone(),
            rtt_s: load.rtt_us()? / 1e6,
            mss: load.mss_bytes(),
            flows: f64::from(load.flows),
            capacity_bps: direction.payload_capacity_bps(load)?,
        }
        .known()
    }

    /// Returns the curve if there is a model of its congestion control.
    pub fn known(self) -> Option<Self> {
        self.at(0.01).is_some().then_some(self)
    }

    /// Payload at a loss, bit/s; `None` where there is no model.
    pub fn at(&self, loss: f64) -> Option<f64> {
        let one = match self.cc.as_str() {
            "bbr" => return models::bbr_bps(loss, self.capacity_bps),
            cc => models::loss_based_bps(cc, loss, self.rtt_s, self.mss)?,
        };
        Some((one * self.flows).min(self.capacity_bps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(cc: &str) -> Curve {
        Curve {
            cc: cc.to_owned(),
            rtt_s: 0.1,
            mss: 1448.0,
            flows: 1.0,
            capacity_bps: 100e6,
        }
    }

    #[test]
    fn reno_follows_the_square_root_of_mathis_up_to_the_line() {
        // sqrt(1.5 / 0.0001) = 122.5 packets of 1448 bytes in 100 ms.
        let at = curve("reno").at(1e-4).unwrap_or(0.0);
        assert!((at / (122.474 * 1448.0 * 8.0 / 0.1) - 1.0).abs() < 1e-4);
        assert_eq!(curve("reno").at(1e-9), Some(100e6));
    }

    #[test]
    fn bbr_ends_at_its_cliff_and_an_unknown_control_has_no_curve() {
        assert!(curve("bbr").at(0.19).is_some() && curve("bbr").at(0.2).is_none());
        assert_eq!(curve("vegas").known(), None);
    }
}
