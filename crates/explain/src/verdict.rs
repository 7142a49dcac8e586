//! Verdicts of rules.

use model::{
    cause::CauseCode,
    findings::{EvidenceItem, Severity, Value},
    net::Side,
    text,
    text::Text,
};
use serde::{Deserialize, Serialize};

/// Verdict of one rule for one place.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The cause is present.
    Confirmed(Box<Confirmed>),
    /// The cause is absent or has no effect.
    RuledOut {
        /// Reason, with the figure.
        why: Text,
    },
    /// The Run is inconclusive.
    Undecided {
        /// Missing or contradictory data.
        because: Text,
        /// Measurement that would decide it.
        settle: Text,
    },
}

/// Strength of a finding before calibration as a probability ([`crate::calibration`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// A single indication, and none against it.
    Weak,
    /// Several consistent signs.
    Fair,
    /// The decisive figure is far beyond its threshold, and another confirms it.
    Strong,
}

impl Strength {
    /// All, weakest first.
    pub const ALL: [Self; 3] = [Self::Weak, Self::Fair, Self::Strong];

    /// From the number of further signs.
    pub fn of(signs: &[bool]) -> Self {
        match signs.iter().filter(|s| **s).count() {
            0 => Self::Weak,
            1 => Self::Fair,
            _ => Self::Strong,
        }
    }
}

/// A confirmed cause.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// Strength of the evidence.
    pub strength: Strength,
    /// Severity, if different from the cause's.
    pub severity: Option<Severity>,
    /// Description in one sentence, with figures.
    pub text: Text,
    /// Evidence.
    pub evidence: Vec<EvidenceItem>,
    /// Measurement that would confirm or refute it.
    pub settle: Option<Text>,
    /// Further causes with the same symptoms as this evidence, in addition to those of the cause.
    pub masked_by: &'static [CauseCode],
}

/// A confirmed cause with this text and evidence.
pub(crate) fn confirmed(strength: Strength, text: Text, evidence: Vec<EvidenceItem>) -> Verdict {
    Verdict::Confirmed(Box::new(Confirmed {
        strength,
        severity: None,
        text,
        evidence,
        settle: None,
        masked_by: &[],
    }))
}

impl Verdict {
    /// With this severity.
    pub(crate) fn at(mut self, severity: Severity) -> Self {
        if let Self::Confirmed(holds) = &mut self {
            holds.severity = Some(severity);
        }
        self
    }

    /// Masked by any of these causes.
    pub(crate) fn masked_by(mut self, masked_by: &'static [CauseCode]) -> Self {
        if let Self::Confirmed(holds) = &mut self {
            holds.masked_by = masked_by;
        }
        self
    }

    /// With a measurement that would decide it.
    pub(crate) fn settled_by(mut self, settle: Text) -> Self {
        if let Self::Confirmed(holds) = &mut self {
            holds.settle = Some(settle);
        }
        self
    }
}

/// A cause that is ruled out.
pub(crate) fn ruled_out(why: Text) -> Verdict {
    Verdict::RuledOut { why }
}

/// The Run is inconclusive.
pub(crate) fn undecided(because: Text, settle: Text) -> Verdict {
    Verdict::Undecided { because, settle }
}

/// An item of evidence.
pub(crate) fn figure(name: Text, value: Value) -> EvidenceItem {
    EvidenceItem {
        name,
        value,
        bound: None,
        decides: false,
        arithmetic: None,
        samples: Vec::new(),
        end: None,
    }
}

/// An item of evidence with a text as value.
pub(crate) fn text_figure(name: Text, value: Text) -> EvidenceItem {
    figure(name, Value::Text(value))
}

/// Builder methods of evidence items.
pub(crate) trait Figure: Sized {
    /// With the threshold it was compared with.
    fn bound(self, bound: Text) -> Self;
    /// Marked as decisive.
    fn decisive(self) -> Self;
    /// With the formula it was computed by.
    fn formula(self, arithmetic: Text) -> Self;
    /// With the samples it is based on.
    fn samples(self, samples: &[u32]) -> Self;
    /// With the host it is based on.
    fn end(self, end: Side) -> Self;
}

impl Figure for EvidenceItem {
    fn bound(mut self, bound: Text) -> Self {
        self.bound = Some(bound);
        self
    }

    fn decisive(mut self) -> Self {
        self.decides = true;
        self
    }

    fn formula(mut self, arithmetic: Text) -> Self {
        self.arithmetic = Some(arithmetic);
        self
    }

    fn samples(mut self, samples: &[u32]) -> Self {
        self.samples = samples.to_vec();
        self
    }

    fn end(mut self, end: Side) -> Self {
        self.end = Some(end);
        self
    }
}

/// Name of an end in sentences.
pub(crate) fn end(side: Side) -> Text {
    match side {
        Side::Near => text!("near host"),
        Side::Far => text!("far host"),
    }
}
