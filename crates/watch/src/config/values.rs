//! Values that only a config has.

/// Hours of the local day; they may include midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// The first minute of the day.
    pub from: u32,
    /// The end minute, exclusive.
    pub to: u32,
}

impl QuietHours {
    /// Returns true if they contain this minute of the day.
    pub fn has(self, minute: u32) -> bool {
        match self.from <= self.to {
            true => (self.from..self.to).contains(&minute),
            false => minute >= self.from || minute < self.to,
        }
    }
}

/// Billing of a line: a metered line gets probes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metered {
    /// Detected from the system.
    Auto,
    /// It does.
    Yes,
    /// It does not, or loads are allowed anyway.
    No,
}
