//! The command line of `pathtwin measure`.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::{ArgGroup, Args};
use model::{spec::quantity, units::Bytes};

use super::Format;

/// The options of one test, which runs no plan: the group that clap makes of
/// [`super::iperf3::Test`].
const TEST: &str = "Test";

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("end").required(true)))]
#[command(after_help = "Examples:
  ssh server.example cat .config/pathtwin/key | pathtwin measure \\
      server.example --key -
  pathtwin measure 192.0.2.7 --via 100.64.0.7 --quick
      (baseline and tunnel side by side)
  pathtwin measure server.example --third gateway
      (is it the Wi-Fi, or the line?)
  pathtwin measure --lab cases/1-dorm/twin.toml --quick
  pathtwin measure server.example --budget-bytes 2GB --out run.json
  pathtwin measure iperf3://server.example  (the steps that iperf3 supports)
  pathtwin measure iperf3://server.example -R -C bbr      (one test)

The far end runs `pathtwin serve`, which prints the command for this end. A key
that opened a session is remembered for that host. `pathtwin HOST` is short for
`pathtwin measure HOST`. Ctrl-C ends a run early; the samples so far are kept,
and the run is marked. Plans and their keys: docs/reference/plan.md.

Exit codes: 0 success, 1 an iperf3 sample is not valid, 2 usage error, 3
something is missing, 4 the run failed or was cut short, 130 stopped by Ctrl-C.")]
pub(crate) struct Measure {
    /// The far end: HOST, HOST:PORT (an IPv6 address with a port in brackets), or iperf3://HOST
    #[arg(group = "end")]
    pub(crate) host: Option<String>,
    /// Address of the far end inside a tunnel; may be given several times
    #[arg(long, value_name = "ADDRESS", requires = "host", conflicts_with = TEST)]
    pub(crate) via: Vec<IpAddr>,
    /// Port of the far end's `pathtwin serve` (TCP and UDP) or iperf3, if HOST has none
    #[arg(long, value_name = "N", requires = "host")]
    pub(crate) port: Option<u16>,
    #[command(flatten)]
    pub(crate) third: Third,
    #[command(flatten)]
    pub(crate) lab: Path,
    /// File with the key; - is standard input. Default: $PATHTWIN_KEY, else the key that this host
    /// was measured with before, else ~/.config/pathtwin/key
    #[arg(long, value_name = "KEY", requires = "host", conflicts_with = TEST)]
    pub(crate) key: Option<String>,
    /// The far end runs with --open and needs no key
    #[arg(long, conflicts_with_all = ["key", TEST])]
    pub(crate) open: bool,
    /// A short plan of about a minute
    #[arg(long, group = "which", conflicts_with = TEST)]
    pub(crate) quick: bool,
    /// A long plan with more repeats, for narrow intervals
    #[arg(long, group = "which", conflicts_with = TEST)]
    pub(crate) thorough: bool,
    /// A custom plan (TOML)
    #[arg(long, value_name = "FILE", group = "which", conflicts_with = TEST)]
    pub(crate) plan: Option<PathBuf>,
    /// Limit of payload bytes, both directions together
    #[arg(long, value_name = "SIZE", value_parser = quantity::size, conflicts_with = TEST)]
    pub(crate) budget_bytes: Option<Bytes>,
    /// Limit of time
    #[arg(long, value_name = "TIME", value_parser = quantity::duration, conflicts_with = TEST)]
    pub(crate) budget_time: Option<Duration>,
    /// Only print the plan, with its estimated time and bytes
    #[arg(long, conflicts_with = TEST)]
    pub(crate) dry_run: bool,
    /// Also show all tables and all evidence on a terminal
    #[arg(long, conflicts_with = TEST)]
    pub(crate) all: bool,
    /// Write the run to this file, as JSON
    #[arg(long, value_name = "FILE", conflicts_with = TEST)]
    pub(crate) out: Option<PathBuf>,
    /// Add a label to the run in the history, such as change=bbr; may be given several times
    #[cfg(feature = "history")]
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::history::pair, conflicts_with = TEST)]
    pub(crate) label: Vec<(String, String)>,
    /// Do not add the run to the history (runs on lab paths are added only with --store)
    #[cfg(feature = "history")]
    #[arg(long, conflicts_with_all = ["store", TEST])]
    pub(crate) no_store: bool,
    #[cfg(feature = "history")]
    #[command(flatten)]
    pub(crate) place: super::history::StoreArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
    #[command(
        flatten,
        next_help_heading = "For one test with iperf3://HOST instead of a plan"
    )]
    pub(crate) iperf3: super::iperf3::Test,
}

/// A third point, which divides the path into two segments.
#[derive(Debug, Args)]
pub(crate) struct Third {
    /// Probe a third point beside the load, to see on which segment delay and loss arise: `gateway`
    /// (the first router), or a host on the way with `pathtwin serve` (HOST or HOST:PORT) or, if it
    /// has none, whose kernel answers ICMP echo or TCP
    #[arg(long, value_name = "PEER", requires = "host")]
    pub(crate) third: Option<String>,
    /// File with the key of the third point's `pathtwin serve`. Default: the key that this host was
    /// measured with before, else none (--open)
    #[arg(long, value_name = "FILE", requires = "third")]
    pub(crate) third_key: Option<String>,
    /// Also measure TCP between this host and the third point, for the rate of that segment
    #[arg(long, requires = "third")]
    pub(crate) third_load: bool,
}

/// The path, if it is one of the lab.
#[cfg(feature = "lab")]
#[derive(Debug, Args)]
pub(crate) struct Path {
    /// Measure between the ends of this lab path (a spec), in virtual time
    #[arg(long, value_name = "SPEC", group = "end", conflicts_with = TEST)]
    pub(crate) lab: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cells: super::Cells,
    /// With --lab: measure even if the result of this path, plan and seed is cached
    #[arg(long, requires = "lab")]
    pub(crate) no_cache: bool,
}

/// The path is never one of the lab.
#[cfg(not(feature = "lab"))]
#[derive(Debug, Args)]
pub(crate) struct Path {
    /// Seed of the order of the steps
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}
