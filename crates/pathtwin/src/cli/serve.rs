//! The command line of `pathtwin serve`.

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

At its first start it makes a key, and says where it is and how to bring it to the other host. One
TCP and one UDP port of the same number must be reachable. Nothing is sent to an address that has not proved to
receive, and only who holds the key may measure. Root is left for nobody once the ports are open and
the key is read; what is kept is the right to choose any congestion control, which bbr may need.

Exit codes: 0 ended by Ctrl-C, 2 wrong use, 3 root cannot be left, 4 the port cannot be used.")]
pub(crate) struct Serve {
    /// Address to listen on; default: every address. May be given several times
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Vec<IpAddr>,
    /// TCP and UDP port
    #[arg(long, value_name = "N", default_value_t = PORT)]
    pub(crate) port: u16,
    /// File with the key; made if it is not there. Default: ~/.config/pathtwin/key
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    pub(crate) key: Option<PathBuf>,
    /// Let everybody measure who reaches the port
    #[arg(long)]
    pub(crate) open: bool,
    /// Highest rate of all loads of a client together, in each direction
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub(crate) max_rate: Option<Rate>,
    /// Highest rate of all clients together, in each direction
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    pub(crate) total_rate: Option<Rate>,
    /// Longest load
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = quantity::duration)]
    pub(crate) max_time: Duration,
    /// Most bytes of a client's session
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub(crate) max_bytes: Option<Bytes>,
    /// Most connections of a load; a client may have one load of so many each way
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub(crate) max_flows: u32,
    /// Most clients at once; half of them from one address (IPv6: one /64), three quarters from one
    /// network (IPv4: a /24, IPv6: a /56)
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) max_clients: usize,
    /// Also speak the protocol of iperf3, on this port, within the same limits; whoever reaches it
    /// may use it
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "5201")]
    pub(crate) iperf3: Option<u16>,
    /// Whom to become once the ports are open, if started by root; `root` to stay it
    #[arg(long, value_name = "NAME", default_value = "nobody")]
    pub(crate) user: String,
}
