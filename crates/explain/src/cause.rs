//! Causes as values of the registry.

use analysis::view::{DirectionView, Host, View};
use model::{
    findings::{RemedyClass, Severity},
    remedy::Action,
    text,
    text::Text,
};

pub(crate) use model::cause::CauseCode;

use crate::{scope::Scope, verdict::Verdict};

/// Share of the capacity from which TCP counts as filling the path.
pub(crate) const FULL: f64 = 0.85;

/// Share of the capacity from which what a cause takes of it matters: derived truths count it from
/// there, too (docs/drawn.md).
pub(crate) const COSTS: f64 = 0.1;

/// A possible cause.
#[derive(Debug)]
pub struct Cause {
    /// Stable code.
    pub code: CauseCode,
    /// Short title.
    pub title: &'static str,
    /// Severity, unless its test returns another.
    pub severity: Severity,
    /// Data that the Run must contain; otherwise the result is undecided.
    pub needs: &'static [Need],
    /// Codes of causes with the same symptoms: if one of them is confirmed in the same place, this
    /// one is not judged.
    pub masked_by: &'static [CauseCode],
    /// Codes of causes that this one requires: if none of them is confirmed in the same place, this
    /// one is ruled out.
    pub depends_on: &'static [CauseCode],
    /// The test.
    pub test: Test,
    /// Remedies.
    pub remedy: Remedies,
    /// Text of its page: description, symptoms, and how it is distinguished from others.
    pub about: &'static str,
    /// Sources of rule, thresholds and remedy.
    pub sources: &'static [&'static str],
}

/// Scope of a test.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// Each measured direction.
    Direction(fn(&DirectionView) -> Verdict),
    /// Each of the two hosts.
    Host(fn(&Host) -> Verdict),
    /// The path as a whole.
    Path(fn(&View) -> Verdict),
}

/// Remedies of a cause: actions, and where they belong.
#[derive(Debug)]
pub struct Remedies {
    /// The host they apply to.
    pub on: On,
    /// Reason for that host rather than another.
    pub why: &'static str,
    /// Actions with values of a Run, most effective first; without a Run all that the cause can
    /// call for, with unknown values absent.
    pub actions: fn(&Scope) -> Vec<Action>,
}

impl Remedies {
    /// The actions without a Run.
    pub fn in_general(&self) -> Vec<Action> {
        (self.actions)(&Scope::default())
    }

    /// Kind of the first remedy.
    pub fn class(&self) -> RemedyClass {
        let first = self.in_general().into_iter().next();
        first.map_or(RemedyClass::None, |action| action.class())
    }

    /// The host that one of the actions belongs to.
    pub(crate) fn host_of(&self, action: &Action) -> On {
        match action {
            Action::MssClamp { .. } => On::Router,
            Action::AskProvider { .. } | Action::Measure { .. } => On::Elsewhere,
            _ => self.on,
        }
    }
}

/// The host a remedy applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The sender of the data.
    Sender,
    /// The receiver of the data.
    Receiver,
    /// The host of the finding.
    Here,
    /// A router between the ends that the user controls.
    Router,
    /// Neither end, or both, as explained by the reason.
    Elsewhere,
}

/// Data that a rule needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Idle latency.
    Idle,
    /// Bulk TCP in this direction.
    Tcp,
    /// Probes during the TCP load.
    LoadedProbes,
    /// A UDP rate sweep in this direction.
    Sweep,
    /// The underlay of a tunnel.
    Below,
    /// `TCP_INFO` of the sender.
    TcpInfo,
    /// Probes of a third point during the TCP load. Without a third point such a cause is not
    /// judged at all.
    Third,
}

impl Need {
    /// Description of the missing data.
    pub fn missing(self) -> Text {
        match self {
            Self::Idle => text!("idle latency was not measured"),
            Self::Tcp => text!("no bulk TCP was measured in this direction"),
            Self::LoadedProbes => text!("no latency probes ran during the TCP load"),
            Self::Sweep => text!("no UDP rate sweep was run in this direction"),
            Self::Below => text!("the path below the tunnel was not measured"),
            Self::TcpInfo => text!("the sending kernel reported nothing about its sockets"),
            Self::Third => text!("no probes of the third point ran during the TCP load"),
        }
    }

    /// Returns the measurement to make.
    pub fn settle(self) -> Text {
        match self {
            Self::Idle => text!("a plan with the step `idle`"),
            Self::Tcp => text!("a plan with a `tcp` step in each direction"),
            Self::LoadedProbes => text!("a plan with `probe_ms`"),
            Self::Sweep => text!("a plan with a `udp_sweep` step in each direction"),
            Self::Below => {
                text!(
                    "the same plan with the far end's underlay address in addition to the tunnel's"
                )
            }
            Self::TcpInfo => text!("the same plan with pathtwin on Linux as the sending end"),
            Self::Third => text!("a plan with `probe_ms` and `tcp`, and --third"),
        }
    }

    /// Returns true if a direction has it.
    pub fn met(self, dir: &DirectionView) -> bool {
        match self {
            Self::Idle => dir.view.idle().is_some(),
            Self::Tcp => dir.default_load().is_some(),
            Self::LoadedProbes => dir.default_load().is_some_and(|l| l.probe_p50_us.is_some()),
            Self::Sweep => dir.sweep().is_some(),
            Self::Below => dir.view.underlay().is_some(),
            Self::TcpInfo => dir.default_load().is_some_and(|l| l.rtt_p50_us.is_some()),
            Self::Third => dir.segments().is_some(),
        }
    }

    /// Returns true if a Run has it for the whole path, in any direction.
    pub fn met_by(self, view: &View) -> bool {
        view.directions().iter().any(|dir| self.met(dir))
    }
}
