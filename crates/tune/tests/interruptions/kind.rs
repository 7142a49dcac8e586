//! Kinds of interruptions, and their point by the seed.

use super::{
    process::{Stop, What},
    scene::Random,
};

/// Interruption of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The controller is killed at a point; the keeper undoes.
    Controller,
    /// Both are killed at a point; the next start undoes.
    Both,
    /// The keeper is killed while it undoes; the next start completes it.
    Keeper,
    /// The keeper alone is killed while the change is applied; the controller undoes it.
    KeeperWhileApplied,
    /// The keeper alone is killed while the change is pending; the next start undoes it.
    KeeperWhilePending,
    /// It is suspended and applied again in turns, and the controller is killed at a point; the
    /// keeper undoes it at the deadline.
    Turns,
    /// The same, and the keeper is killed before.
    TurnsBoth,
    /// No confirmation.
    Deadline,
    /// The device goes down and up at a point; no confirmation.
    LinkDown,
    /// The change itself drops every packet: it cannot be confirmed.
    Blackhole,
    /// The clock jumps by years at a point, in a guest only.
    Clock,
    /// The disk with the journals is full from a point on.
    Full,
    /// It becomes read-only at a point.
    ReadOnly,
    /// The power is cut at a point: all processes end, and the host starts as it always does.
    PowerOff,
    /// The folder of journals disappears.
    NoJournal,
    /// It is confirmed and undone later.
    Undone,
    /// It is confirmed.
    Confirmed,
    /// The process that confirms it is killed at a point.
    Confirm,
    /// The process that writes its files is killed at a point.
    Persist,
    /// The process that undoes it with its files is killed at a point.
    UndoFiles,
}

/// All kinds; a seed has one by its remainder.
pub const KINDS: &[Kind] = &[
    Kind::Controller,
    Kind::Persist,
    Kind::Both,
    Kind::UndoFiles,
    Kind::Confirm,
    Kind::KeeperWhileApplied,
    Kind::LinkDown,
    Kind::ReadOnly,
    Kind::Keeper,
    Kind::KeeperWhilePending,
    Kind::Turns,
    Kind::TurnsBoth,
    Kind::Deadline,
    Kind::Blackhole,
    Kind::Clock,
    Kind::Full,
    Kind::PowerOff,
    Kind::NoJournal,
    Kind::Undone,
    Kind::Confirmed,
];

impl Kind {
    pub fn of(seed: u64) -> Self {
        KINDS[(seed % KINDS.len() as u64) as usize]
    }

    /// Returns true if it needs a disk of its own for the journals.
    pub fn needs_disk(self) -> bool {
        matches!(self, Self::Full | Self::ReadOnly)
    }

    /// Time for a confirmation, milliseconds.
    pub fn window_ms(self) -> u64 {
        match self {
            Self::Keeper | Self::Deadline | Self::LinkDown | Self::NoJournal | Self::Blackhole => {
                800
            }
            Self::Full | Self::ReadOnly => 1500,
            Self::Undone | Self::Confirmed | Self::Persist | Self::UndoFiles => 60_000,
            // Its confirmation is in time, also on a busy machine.
            Self::Confirm | Self::Turns | Self::TurnsBoth => 8000,
            _ => 3000,
        }
    }

    pub fn turns(self) -> u32 {
        match self {
            Self::Turns | Self::TurnsBoth => 2,
            _ => 0,
        }
    }

    /// The event in the process that applies a plan, and the point at which the keeper is killed.
    pub fn events(self, random: &mut Random, steps: usize) -> (Stop, usize) {
        let what = match self {
            Self::Controller | Self::Turns => What::Kill,
            Self::Both | Self::TurnsBoth | Self::PowerOff => What::KillBoth,
            Self::KeeperWhileApplied => What::KillKeeper,
            Self::LinkDown => What::LinkDown,
            Self::Full => What::Fill,
            Self::ReadOnly => What::ReadOnly,
            Self::Clock => What::Clock([-3650, 3650, 400][random.below(3) as usize]),
            Self::Keeper => {
                // A state, and two points, for each step; and the last state.
                let point = random.below(4 * steps as u64 + 2) as usize;
                return (Stop::never(), point);
            }
            _ => return (Stop::never(), Stop::never().point),
        };
        // Three states, two points of the keeper, a state and two points for each step.
        let applying = 8 + 4 * steps;
        // For each half of a turn, two states and a point for each step.
        let turning = 2 * self.turns() as usize * (4 + steps);
        let (first, count) = match self {
            // Its keeper runs.
            Self::KeeperWhileApplied => (4, applying - 6),
            _ if turning > 0 => (applying, turning),
            _ => (0, applying),
        };
        let point = first + random.below(count as u64) as usize;
        (Stop { point, what }, Stop::never().point)
    }
}
