//! Handles of queue disciplines and classes.

use std::fmt;

/// A `major:minor` number. A queue discipline has minor 0; a class has its discipline's major.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(u32);

impl Handle {
    /// None given: the kernel chooses (`TC_H_UNSPEC`).
    pub const NONE: Handle = Handle(0);
    /// Parent of a link's root queue discipline (`TC_H_ROOT`).
    pub const ROOT: Handle = Handle(0xffff_ffff);
    /// Parent of a link's clsact queue discipline (`TC_H_CLSACT`).
    pub const CLSACT: Handle = Handle(0xffff_fff1);
    /// Parent of filters on received packets (`TC_H_CLSACT`, `TC_H_MIN_INGRESS`).
    pub const INGRESS: Handle = Handle(0xffff_fff2);
    /// Parent of filters on packets to transmit, before the queue (`TC_H_CLSACT`,
    /// `TC_H_MIN_EGRESS`).
    pub const EGRESS: Handle = Handle(0xffff_fff3);

    /// The handle `major:minor`.
    pub const fn new(major: u16, minor: u16) -> Handle {
        Handle((major as u32) << 16 | minor as u32)
    }

    /// The handle from the kernel's number.
    pub const fn from_raw(raw: u32) -> Handle {
        Handle(raw)
    }

    /// The kernel's number.
    pub const fn raw(self) -> u32 {
        self.0
    }

    /// The upper half.
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The lower half.
    pub const fn minor(self) -> u16 {
        self.0 as u16
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Handle::NONE => f.write_str("none"),
            Handle::ROOT => f.write_str("root"),
            Handle::CLSACT => f.write_str("clsact"),
            Handle::INGRESS => f.write_str("ingress"),
            Handle::EGRESS => f.write_str("egress"),
            _ if self.minor() == 0 => write!(f, "{:x}:", self.major()),
            _ => write!(f, "{:x}:{:x}", self.major(), self.minor()),
        }
    }
}
