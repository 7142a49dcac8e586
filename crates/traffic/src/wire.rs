//! Pathtwin's own protocol between `measure` and `serve`; docs/reference/protocol.md describes it.
//!
//! One TCP port and one UDP port of the same number. A TCP connection states in its first bytes
//! whether it is for control or for data. Control is a Noise channel under a shared key; all else
//! is agreed on in it, and proves by a ticket that it belongs to it.

pub mod channel;
pub mod datagram;
pub mod greeting;
pub mod http;
pub mod key;
pub mod message;
mod paced;
pub mod prove;
pub mod ticket;

pub use channel::{Channel, ChannelError};
pub use greeting::{Greeting, Refusal};
pub use key::{Key, PublicKey, Token};
pub use ticket::Ticket;

/// Version of the protocol, as in a greeting. Ends of different versions refuse each other and
/// report it.
pub const VERSION: u8 = 2;

/// The port, unless another is named.
pub const PORT: u16 = 5301;
