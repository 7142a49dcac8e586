//! Pathtwin's protocol between `measure` and `serve`; docs/reference/protocol.md describes it.
//!
//! One TCP port and one UDP port of the same number. A TCP connection states in its first bytes
//! whether it is for control or for data. Control is a Noise channel under a shared key; everything
//! else is negotiated in it, and authenticated by a ticket.

pub mod channel;
pub mod datagram;
mod errors;
pub mod greeting;
pub mod http;
pub mod key;
pub mod message;
mod paced;
pub mod prove;
pub mod ticket;

pub use channel::{Channel, ChannelError};
pub use errors::Errors;
pub use greeting::{Greeting, Refusal};
pub use key::{Key, PublicKey, Token};
pub use ticket::Ticket;

/// Version of the protocol, as in a greeting. Ends of different versions refuse each other and
/// report it.
pub const VERSION: u8 = 2;

/// The port, unless another is named.
pub const PORT: u16 = 5301;
