//! NetBird and Tailscale: their clients on this host, and the queries of their status.

use std::{net::IpAddr, path::Path};

use model::{facts::Product, text, text::Text};

use super::{
    command::{self, CommandError},
    netbird,
    notes::Notes,
    status::Status,
    tailscale,
};

/// The client of a product.
#[derive(Clone, Copy)]
pub(super) struct Client {
    pub(super) product: Product,
    /// Name of its daemon's program.
    pub(super) daemon: &'static str,
    /// Beginning of the names of its devices.
    pub(super) device: &'static str,
    /// Firewall mark that excludes its own packets from its tunnel.
    pub(super) mark: u32,
    /// Socket by which the command line tool reaches the daemon.
    socket: &'static str,
    /// The command that prints the status as JSON.
    command: &'static [&'static str],
    parse: fn(&str, IpAddr) -> Option<Status>,
    /// Usual reason if it prints none.
    hint: fn() -> Text,
}

/// NetBird (mark: client/net/net.go, `ControlPlaneMark`).
pub(super) const NETBIRD: Client = Client {
    product: Product::Netbird,
    daemon: "netbird",
    device: "wt",
    mark: 0x1bd00,
    socket: "/var/run/netbird.sock",
    command: &["netbird", "status", "--json"],
    parse: netbird::parse,
    hint: || text!("is its daemon logged in?"),
};

/// Tailscale (mark: net/netns, `tailscaleBypassMark`).
pub(super) const TAILSCALE: Client = Client {
    product: Product::Tailscale,
    daemon: "tailscaled",
    device: "tailscale",
    mark: 0x80000,
    socket: "/var/run/tailscale/tailscaled.sock",
    command: &["tailscale", "status", "--json"],
    parse: tailscale::parse,
    hint: || text!("is its daemon running?"),
};

/// The client of a product, if there is one.
pub(super) fn client(product: Product) -> Option<Client> {
    match product {
        Product::Netbird => Some(NETBIRD),
        Product::Tailscale => Some(TAILSCALE),
        Product::None => None,
    }
}

impl Client {
    /// Returns true if the daemon's socket exists.
    pub(super) fn is_running(&self) -> bool {
        Path::new(self.socket).exists()
    }

    /// Runs the status command, and notes why if there is no status.
    pub(super) fn status(&self, toward: IpAddr, notes: &mut Notes) -> Option<Status> {
        let text = notes.keep(command::output(self.command), CommandError::text)?;
        let status = (self.parse)(&text, toward);
        if status.is_none() {
            let command = self.command.join(" ");
            notes.add(text!(
                "{command} printed no status: {hint}",
                command = command,
                hint = (self.hint)()
            ));
        }
        status
    }
}
