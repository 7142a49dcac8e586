//! Values that only a config has.

/// Hours of the local day; they may include midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// The first minute of the day.
    pub from: u32,
    /// The first minute that is not one of them.
    pub to: u32,
}

impl QuietHours {
    /// Whether a minute of the day is one of them.
    pub fn has(self, minute: u32) -> bool {
        match self.from <= self.to {
            true => (self.from..self.to).contains(&minute),
            false => minute >= self.from || minute < self.to,
        }
    }
}

/// Whether a line costs by the byte. On such a line there are probes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metered {
    /// As the system reports it.
    Auto,
    /// It does.
    Yes,
    /// It does not, or the loads are wanted anyway.
    No,
}
