//! Requests and responses over TCP: each on a separate connection, or many by HTTP/1.1 on a
//! keep-alive connection.

mod body;
pub mod client;
mod exchange;
mod http;
pub mod server;
mod short;

pub use client::RequestClient;
pub use exchange::Exchange;
pub use server::RequestServer;
pub use short::Connect;

#[cfg(test)]
mod tests;
