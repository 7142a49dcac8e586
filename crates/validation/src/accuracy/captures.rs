//! Droppers named from captures of TCP transfers with a known cause of loss (`bench/policing`).

mod table;

use model::run::Series;
use serde::{Deserialize, Serialize};
use twin::policing::{Dropper, Judgement, Rule};

pub use table::markdown;

/// A capture, as `bench/policing` writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// Name of its file.
    pub name: String,
    /// The true path.
    pub truth: Truth,
    /// The sender's samples.
    pub sent: Series,
}

/// The path of a capture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Its bottleneck.
    pub kind: Bottleneck,
    /// Its rate, bit/s.
    pub rate_bps: f64,
    /// Its token bucket, bytes; absent = the default of the device.
    pub burst_bytes: Option<f64>,
    /// Share of packets lost at random.
    pub loss: f64,
    /// Other traffic through it.
    pub cross: Vec<Cross>,
}

/// A kind of bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// It drops above its rate.
    Policer,
    /// It delays above its rate, with a queue.
    Shaper,
}

/// Other traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cross {
    /// A second transfer of the same kind.
    Transfer,
    /// A bulk TCP flow.
    Bulk,
}

/// A capture with what was named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Name of the capture.
    pub name: String,
    /// The true path.
    pub truth: Truth,
    /// Segments lost.
    pub lost: u64,
    /// The dropper that was named.
    pub dropper: Dropper,
    /// The rule that decided.
    pub rule: Rule,
    /// Rate of the best bucket, bit/s of payload.
    pub rate_bps: Option<u64>,
    /// Its size, bytes of payload.
    pub burst_bytes: Option<u64>,
}

/// What a judgement is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// It names the dropper, or none where the loss is random.
    Right,
    /// It names another.
    Wrong,
    /// It names none.
    Untold,
    /// It names none, and nothing was lost.
    NothingLost,
}

impl Capture {
    /// Names the dropper.
    pub fn judge(&self) -> Judged {
        let judged = Judgement::of(&self.sent);
        let whole = |value: Option<f64>| value.map(|v| v.round() as u64);
        Judged {
            name: self.name.clone(),
            truth: self.truth.clone(),
            lost: judged.lost.round() as u64,
            dropper: judged.dropper,
            rule: judged.rule,
            rate_bps: whole(judged.rate_bps),
            burst_bytes: whole(judged.burst_bytes),
        }
    }
}

impl Judged {
    /// True if the thresholds may have been chosen with this capture: half of them, by a hash of
    /// the name (FNV-1a).
    pub fn is_of_training(&self) -> bool {
        let hash = self
            .name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        // The low bit of this hash is only the parity of the bytes.
        (hash >> 32).is_multiple_of(2)
    }

    /// Compares with the truth.
    pub fn worth(&self) -> Worth {
        let true_one = match self.truth.kind {
            _ if self.truth.loss > 0.0 => Dropper::Unknown,
            Bottleneck::Policer => Dropper::Policer,
            Bottleneck::Shaper => Dropper::Queue,
        };
        match self.dropper {
            named if named == true_one => Worth::Right,
            Dropper::Unknown if self.lost == 0 => Worth::NothingLost,
            Dropper::Unknown => Worth::Untold,
            _ => Worth::Wrong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kind: Bottleneck, loss: f64, lost: u64, dropper: Dropper) -> Worth {
        let truth = Truth {
            kind,
            rate_bps: 1e6,
            burst_bytes: None,
            loss,
            cross: Vec::new(),
        };
        let judged = Judged {
            name: String::new(),
            truth,
            lost,
            dropper,
            rule: Rule::Bucket,
            rate_bps: None,
            burst_bytes: None,
        };
        judged.worth()
    }

    #[test]
    fn a_policer_that_dropped_nothing_is_not_missed() {
        use Bottleneck::{Policer, Shaper};
        assert_eq!(
            judged(Policer, 0.0, 0, Dropper::Unknown),
            Worth::NothingLost
        );
        assert_eq!(judged(Policer, 0.0, 9, Dropper::Unknown), Worth::Untold);
        assert_eq!(judged(Policer, 0.0, 9, Dropper::Queue), Worth::Wrong);
        assert_eq!(judged(Shaper, 0.01, 9, Dropper::Unknown), Worth::Right);
        assert_eq!(judged(Shaper, 0.01, 9, Dropper::Queue), Worth::Wrong);
        assert_eq!(judged(Shaper, 0.0, 0, Dropper::Queue), Worth::Right);
    }
}
