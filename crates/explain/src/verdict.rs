//! What a rule answers.

use model::{
    findings::{EvidenceItem, Severity, Value},
    net::Side,
    text,
    text::Text,
};
use serde::{Deserialize, Serialize};

/// The answer of one rule for one place.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The cause is there.
    Holds(Box<Holds>),
    /// It is not, or it limits nothing.
    RuledOut {
        /// Why, with the figure.
        why: Text,
    },
    /// The Run does not say.
    CannotTell {
        /// What is missing, or contradicts.
        because: Text,
        /// What measurement would settle it.
        settle: Text,
    },
}

/// How strong a finding is before calibration. What each is worth as a probability was counted on
/// the corpus: [`crate::calibration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// One sign, and nothing against it.
    Weak,
    /// Several signs that agree.
    Fair,
    /// The figure that decides is far beyond its bound, and another confirms it.
    Strong,
}

impl Strength {
    /// All, the weakest first.
    pub const ALL: [Self; 3] = [Self::Weak, Self::Fair, Self::Strong];

    /// By the number of signs beyond the first.
    pub fn of(signs: &[bool]) -> Self {
        match signs.iter().filter(|s| **s).count() {
            0 => Self::Weak,
            1 => Self::Fair,
            _ => Self::Strong,
        }
    }
}

/// A cause that is there.
#[derive(Clone, Debug)]
pub struct Holds {
    /// How strong the evidence is.
    pub strength: Strength,
    /// Severity here, if it is another than the cause's own.
    pub severity: Option<Severity>,
    /// One sentence with the figures.
    pub text: Text,
    /// The figures.
    pub evidence: Vec<EvidenceItem>,
    /// What would change or settle it.
    pub settle: Option<Text>,
    /// Causes that make the same picture where the evidence is no better than this; beside those of
    /// the cause itself.
    pub masked_by: &'static [&'static str],
}

/// The cause is there, with this sentence and these figures.
pub(crate) fn holds(strength: Strength, text: Text, evidence: Vec<EvidenceItem>) -> Verdict {
    Verdict::Holds(Box::new(Holds {
        strength,
        severity: None,
        text,
        evidence,
        settle: None,
        masked_by: &[],
    }))
}

impl Verdict {
    /// With another severity than the cause's own.
    pub(crate) fn at(mut self, severity: Severity) -> Self {
        if let Self::Holds(holds) = &mut self {
            holds.severity = Some(severity);
        }
        self
    }

    /// Not to be said beside one of these causes.
    pub(crate) fn unless(mut self, masked_by: &'static [&'static str]) -> Self {
        if let Self::Holds(holds) = &mut self {
            holds.masked_by = masked_by;
        }
        self
    }

    /// With a measurement that would settle it.
    pub(crate) fn settled_by(mut self, settle: Text) -> Self {
        if let Self::Holds(holds) = &mut self {
            holds.settle = Some(settle);
        }
        self
    }
}

/// It is not there.
pub(crate) fn not(why: Text) -> Verdict {
    Verdict::RuledOut { why }
}

/// The Run does not say.
pub(crate) fn unknown(because: Text, settle: Text) -> Verdict {
    Verdict::CannotTell { because, settle }
}

/// A figure of the evidence.
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

/// A figure of the evidence that is words.
pub(crate) fn worded(name: Text, value: Text) -> EvidenceItem {
    figure(name, Value::Text(value))
}

/// The parts of a figure, one after the other.
pub(crate) trait Figure: Sized {
    /// What it was held against.
    fn against(self, bound: Text) -> Self;
    /// It decides.
    fn deciding(self) -> Self;
    /// How it was computed.
    fn by(self, arithmetic: Text) -> Self;
    /// The samples it comes from.
    fn of(self, samples: &[u32]) -> Self;
    /// The host it comes from.
    fn on(self, end: Side) -> Self;
}

impl Figure for EvidenceItem {
    fn against(mut self, bound: Text) -> Self {
        self.bound = Some(bound);
        self
    }

    fn deciding(mut self) -> Self {
        self.decides = true;
        self
    }

    fn by(mut self, arithmetic: Text) -> Self {
        self.arithmetic = Some(arithmetic);
        self
    }

    fn of(mut self, samples: &[u32]) -> Self {
        self.samples = samples.to_vec();
        self
    }

    fn on(mut self, end: Side) -> Self {
        self.end = Some(end);
        self
    }
}

/// An end, in sentences.
pub(crate) fn end(side: Side) -> Text {
    match side {
        Side::Near => text!("near host"),
        Side::Far => text!("far host"),
    }
}
