//! The command line of `pathtwin fix`.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{ArgGroup, Args};
use model::spec::quantity;

/// Measure, find the cause, try remedies on a twin, keep what helps
///
/// The best remedy of the twin is applied to the hosts, and undone unless it helps there too.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("end").required(true)))]
#[command(after_help = "Examples:
  sudo pathtwin fix server.example
  sudo pathtwin fix server.example --via 100.64.0.7 \\
      --far-ssh admin@server.example
  sudo pathtwin fix server.example --router-ssh root@192.168.1.1
  pathtwin fix --lab cases/4-speedtest/twin.toml --at-a-cost --yes
  pathtwin fix --lab cases/3-narrow/twin.toml --for latency \\
      --keep 'goodput>=90%' --yes

`tune` changes the host that the remedy belongs to: this one, the far one by
--far-ssh, a router by --router-ssh, or the hosts of a lab path in the guest's
kernel. The path is measured in turns with the change and without, and the
change is undone unless the figure of the goal improves significantly and no
other figure becomes worse beyond its bound. Without --far-ssh, the command for
the far host is printed, and this end waits until it has been run there.
$PATHTWIN_SSH replaces the program ssh. Decision rules: docs/reference/tune.md.

Exit codes: 0 kept, or there is nothing to change, 1 undone or refused, 2 usage
error, 3 something is missing, 4 a run failed, 130 stopped by Ctrl-C.")]
pub(crate) struct Fix {
    /// The far end, which runs `pathtwin serve`: HOST or HOST:PORT
    #[arg(group = "end")]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) far: super::proof::FarEnd,
    /// The user of the far end for ssh: settings that affect what it sends are changed there, by
    /// `sudo pathtwin tune`
    #[arg(long, value_name = "USER@HOST", requires = "host", value_parser = login)]
    pub(crate) far_ssh: Option<String>,
    /// The user of a router of the path for ssh, such as the one at home: remedies that belong to
    /// it are applied there, by `pathtwin tune`
    #[arg(long, value_name = "USER@HOST", requires = "host", value_parser = login)]
    pub(crate) router_ssh: Option<String>,
    /// Maximum time to wait for manual changes of the far end, without --far-ssh
    #[arg(long, value_name = "TIME", value_parser = quantity::duration, default_value = "30m")]
    pub(crate) wait: Duration,
    /// A lab path (a spec) instead of a far end
    #[arg(long, value_name = "SPEC", group = "end", conflicts_with_all = ["via", "port", "key", "open"])]
    pub(crate) lab: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) journal: super::tune::Journal,
    #[command(flatten)]
    pub(crate) cells: super::Cells,
    /// Measure with the default plan instead of the quick one
    #[arg(long)]
    pub(crate) long: bool,
    #[command(flatten)]
    pub(crate) proof: super::proof::Proof,
    /// Apply the advised remedies without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Try remedies even if no cause was found
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Take the best remedy that helps at a cost, such as more retransmissions, if it is worth more
    /// than any without. The bound of retransmissions is then waived; those of goodput and delay
    /// still apply
    #[arg(long)]
    pub(crate) at_a_cost: bool,
    /// Longest time of the search for a twin, and of the trial after it; default: 2m, and more from
    /// 180 Mbit/s on, up to 375s from 1 Gbit/s on. With 0s, the remedies that the findings propose
    /// are tried on the hosts without a twin
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) budget_time: Option<Duration>,
    /// Parallel runs in the lab; default: one per processor
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Run everything, even if the result is cached
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// The history of predictions and outcomes; those of lab paths are stored only if this is given
    #[cfg(feature = "history")]
    #[command(flatten)]
    pub(crate) place: super::history::StoreArgs,
    /// File for a page with everything, before and after
    #[cfg(feature = "page")]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = super::twin::TwinForm::Text)]
    pub(crate) output: super::twin::TwinForm,
}

/// A login name that is a single word for ssh and without special characters for a shell.
fn login(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-@:[]%".contains(c);
    match text.starts_with('-') || !text.chars().all(plain) || text.is_empty() {
        true => Err("write USER@HOST".to_owned()),
        false => Ok(text.to_owned()),
    }
}
