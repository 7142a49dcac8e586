//! Command line of `pathtwin serve`.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::Args;
use model::{
    spec::quantity,
    units::{Bytes, Rate},
};
use traffic::wire::PORT;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin serve
  pathtwin serve --listen 192.0.2.1 --max-rate 500mbit --max-bytes 20GB
  pathtwin serve --key /etc/pathtwin/key --user pathtwin

At its first start it generates a key, and prints its path and how to copy it to
the other host. One TCP and one UDP port of the same number must be reachable.
Only clients with the key may measure, and nothing is sent to an address that
has not proved that it receives. Once the ports are open and the key is read,
root privileges are dropped to user nobody, except the capability to choose any
congestion control, which bbr may need.

Exit codes: 0 ended by Ctrl-C, 2 usage error, 3 root privileges cannot be
dropped, 4 the port cannot be used.")]
pub(crate) struct Serve {
    /// Address to listen on; default: every address. May be given several times
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Vec<IpAddr>,
    /// TCP and UDP port
    #[arg(long, value_name = "N", default_value_t = PORT)]
    pub(crate) port: u16,
    /// File with the key; created if it does not exist. Default: ~/.config/pathtwin/key
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    pub(crate) key: Option<PathBuf>,
    /// Accept clients without a key: anyone who can reach the port may measure
    #[arg(long)]
    pub(crate) open: bool,
    /// Rate limit of each client, over all its loads, in each direction
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub(crate) max_rate: Option<Rate>,
    /// Rate limit of all clients together, in each direction
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub(crate) total_rate: Option<Rate>,
    /// Time limit of a load
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = quantity::duration)]
    pub(crate) max_time: Duration,
    /// Byte limit of a client's session
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub(crate) max_bytes: Option<Bytes>,
    /// Limit of connections of a load; a client may have one load of that size in each direction
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub(crate) max_flows: u32,
    /// Limit of clients at a time; half of them from one address (IPv6: one /64), three quarters
    /// from one network (IPv4: a /24, IPv6: a /56)
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) max_clients: usize,
    /// Also serve iperf3 clients on this port, within the same limits and without a key
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "5201")]
    pub(crate) iperf3: Option<u16>,
    /// Also serve the speed test for browsers on this port, within the same limits: a page, and the
    /// protocols of ndt7 and LibreSpeed. Without --open, readers must show a token: see --web-token
    #[cfg(feature = "page")]
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "5380")]
    pub(crate) web: Option<u16>,
    /// File with the token of the speed test; created if it does not exist. Default:
    /// ~/.config/pathtwin/web-token
    #[cfg(feature = "page")]
    #[arg(long, value_name = "FILE", requires = "web", conflicts_with = "open")]
    pub(crate) web_token: Option<PathBuf>,
    /// User to become once the ports are open, if started by root; `root` keeps all privileges
    #[arg(long, value_name = "NAME", default_value = "nobody")]
    pub(crate) user: String,
}
