//! What a cause is: a value in the registry.

use analysis::view::{DirectionView, Host, View};
use model::{
    findings::{RemedyClass, Severity},
    remedy::Action,
    text,
    text::Text,
};

use crate::{advice::Scope, verdict::Verdict};

/// A cause that can be found.
#[derive(Debug)]
pub struct Cause {
    /// Stable name.
    pub code: &'static str,
    /// The cause in a few words.
    pub title: &'static str,
    /// How much it matters, unless its test says otherwise.
    pub severity: Severity,
    /// What the Run must hold; without it the answer is "cannot tell".
    pub needs: &'static [Need],
    /// Codes of causes that make the same picture: if one of them holds in the same place, this one
    /// is not judged.
    pub masked_by: &'static [&'static str],
    /// Codes of causes that it only makes sense beside: if none of them holds in the same place,
    /// this one is not there.
    pub depends_on: &'static [&'static str],
    /// The test.
    pub test: Test,
    /// What to do.
    pub remedy: Advice,
    /// What it is, how it shows, and how it is told from others: the text of its page.
    pub about: &'static str,
    /// Where rule, thresholds and remedy come from.
    pub sources: &'static [&'static str],
}

/// What a test looks at.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// Each measured direction.
    Direction(fn(&DirectionView) -> Verdict),
    /// Each of the two hosts.
    Host(fn(&Host) -> Verdict),
    /// The path as a whole.
    Path(fn(&View) -> Verdict),
}

/// What to do about a cause.
#[derive(Debug)]
pub struct Advice {
    /// Kind of the first of the actions.
    pub class: RemedyClass,
    /// What, in one sentence for all Runs.
    pub what: &'static str,
    /// On which host.
    pub on: On,
    /// Why there, and why not on the others.
    pub why: &'static str,
    /// The same with the values of a Run; what helps most comes first.
    pub actions: fn(&Scope) -> Vec<Action>,
}

/// The host a remedy goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The one that sends the data.
    Sender,
    /// The one that receives the data.
    Receiver,
    /// The host the finding is on.
    Here,
    /// A router between the ends that is the user's own.
    Router,
    /// Neither end, or both: the reason says where.
    Elsewhere,
}

/// What a Run must hold for a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Latency without load.
    Idle,
    /// Bulk TCP in this direction.
    Tcp,
    /// Probes beside the TCP load.
    LoadedProbes,
    /// UDP at rising rates in this direction.
    Sweep,
    /// The path below the tunnel.
    Below,
    /// What the sender's kernel says of its sockets.
    TcpInfo,
}

impl Need {
    /// What is missing, in words.
    pub fn missing(self) -> Text {
        match self {
            Self::Idle => text!("latency without load was not measured"),
            Self::Tcp => text!("no bulk TCP was measured in this direction"),
            Self::LoadedProbes => text!("no latency probes ran beside the TCP load"),
            Self::Sweep => text!("UDP at rising rates was not measured in this direction"),
            Self::Below => text!("the path below the tunnel was not measured"),
            Self::TcpInfo => text!("the sending kernel said nothing of its sockets"),
        }
    }

    /// What to measure.
    pub fn settle(self) -> Text {
        match self {
            Self::Idle => text!("a plan with the step `idle`"),
            Self::Tcp => text!("a plan with a `tcp` step in this direction"),
            Self::LoadedProbes => text!("a plan with `probe_ms`"),
            Self::Sweep => text!("a plan with a `udp_sweep` step in this direction"),
            Self::Below => {
                text!("the same plan with the far end's own address beside the tunnel's")
            }
            Self::TcpInfo => text!("the same plan with pathtwin on Linux as the sending end"),
        }
    }

    /// Whether a direction has it.
    pub fn met(self, way: &DirectionView) -> bool {
        match self {
            Self::Idle => way.view.idle().is_some(),
            Self::Tcp => way.default_load().is_some(),
            Self::LoadedProbes => way.default_load().is_some_and(|l| l.probe_p50_us.is_some()),
            Self::Sweep => way.sweep().is_some(),
            Self::Below => way.view.underlay().is_some(),
            Self::TcpInfo => way.default_load().is_some_and(|l| l.rtt_p50_us.is_some()),
        }
    }

    /// Whether a Run has it for the path as a whole: in any direction.
    pub fn met_by(self, view: &View) -> bool {
        view.directions().iter().any(|way| self.met(way))
    }
}
