//! The command line of `pathtwin tune`.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};
use model::{
    change::{ChangeId, QueueOf, Setting, SettingError, Shaper, parse::Scope},
    spec::quantity,
};

/// Change settings of this host with a way back
///
/// A change is made in the running kernel only. Unless it is confirmed before its deadline, it is
/// undone: by its keeper, by the next command, or by a reboot.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  pathtwin tune plan --set cc=bbr --scope route:10.0.0.0/8
  sudo pathtwin tune apply --queue eth0=fq_codel --probe far.example:22
  sudo pathtwin tune apply --shape wan=95% --queue cake \\
      --findings findings.json --end near
  sudo pathtwin tune confirm  (within a minute, better from a new login)
  sudo pathtwin tune undo
States, guarantees and their limits: docs/reference/tune.md. Exit codes: 0
success, 1 undone, 2 usage error, 3 refused or something is missing, 4 undone
with errors.")]
pub(crate) enum Tune {
    Plan(Box<Plan>),
    Apply(Box<Apply>),
    Status(Status),
    Confirm(Confirm),
    Undo(Undo),
    List(List),
    #[cfg(feature = "watch")]
    Recheck(Recheck),
    #[command(hide = true)]
    Ready(Ready),
    #[command(hide = true)]
    Aside(Switch),
    #[command(hide = true)]
    Again(Switch),
    #[command(hide = true)]
    Counted(Counted),
    #[command(hide = true)]
    Keep(Keep),
}

/// Location of the journals.
#[derive(Debug, Default, Args)]
pub(crate) struct Journal {
    /// Folder of the journals of changes; default: $PATHTWIN_JOURNAL, or /var/lib/pathtwin/tune
    /// (/etc/pathtwin/tune on OpenWrt)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) journal: Option<PathBuf>,
}

/// Settings to change.
#[derive(Debug, Args)]
pub(crate) struct Settings {
    /// A congestion control (cc=bbr) or a kernel parameter (net.ipv4.tcp_ecn=1)
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,

    /// Connections that cc is for: host, or route:PREFIX
    #[arg(long, value_name = "SCOPE", default_value = "host")]
    pub(crate) scope: Scope,

    /// Root queue discipline of a device, as "eth0=fq_codel target=5ms"; or the queue of --shape
    /// and --shape-ingress: cake, fq_codel or fq
    #[arg(long, value_name = "DEVICE=QUEUE|QUEUE")]
    pub(crate) queue: Vec<QueueOf>,

    /// Egress shaper of a device, as "wan=47.5mbit" or "wan=47.5mbit fq_codel" (default: cake); or
    /// "wan=95%" of the capacity that --findings or --advice have
    #[arg(long, value_name = "DEVICE=RATE")]
    pub(crate) shape: Vec<Shaper>,

    /// Ingress shaper of a device, in the same form
    #[arg(long, value_name = "DEVICE=RATE")]
    pub(crate) shape_ingress: Vec<Shaper>,

    /// Allow shapers below half of the capacity that --findings or --advice have
    #[arg(long)]
    pub(crate) force: bool,

    /// Largest MSS of forwarded connections, bytes; mtu = from the MTU of their route
    #[arg(long, value_name = "BYTES|mtu", value_parser = Setting::parse_mss_clamp)]
    pub(crate) mss_clamp: Vec<Setting>,

    /// An offload of a device, as "eth0=rx-gro off"
    #[arg(long, value_name = "DEVICE=FEATURE on|off", value_parser = Setting::parse_offload)]
    pub(crate) offload: Vec<Setting>,

    /// Processors for the packets that a device receives (RPS); 0 = only the processor that handles
    /// the interrupt
    #[arg(long, value_name = "DEVICE=N", value_parser = Setting::parse_receive_steering)]
    pub(crate) receive_steering: Vec<Setting>,

    /// Processors that send over the queues of a device (XPS), distributed over them; 0 = the
    /// kernel chooses a queue by flow
    #[arg(long, value_name = "DEVICE=N", value_parser = Setting::parse_transmit_steering)]
    pub(crate) transmit_steering: Vec<Setting>,

    /// UDP GRO of packets that the host forwards, as "eth0=on"
    #[arg(long, value_name = "DEVICE=on|off", value_parser = udp_gro_forwarding)]
    pub(crate) udp_gro_forwarding: Vec<Several>,

    /// Sizes of the rings of a device, packets, as "eth0=rx=4096 tx=4096"
    #[arg(long, value_name = "DEVICE=rx=N tx=N", value_parser = Setting::parse_rings)]
    pub(crate) rings: Vec<Setting>,

    /// Numbers of queues of a device, as "eth0=combined=4" or "eth0=rx=2 tx=2"
    #[arg(long, value_name = "DEVICE=combined=N", value_parser = Setting::parse_channels)]
    pub(crate) channels: Vec<Setting>,

    /// A module of the kernel to load
    #[arg(long, value_name = "NAME", value_parser = Setting::parse_module)]
    pub(crate) module: Vec<Setting>,

    /// MTU of a device, bytes
    #[arg(long, value_name = "DEVICE=BYTES", value_parser = Setting::parse_mtu)]
    pub(crate) mtu: Vec<Setting>,

    /// Length of the transmit queue of a device, packets
    #[arg(long, value_name = "DEVICE=PACKETS", value_parser = Setting::parse_queue_length)]
    pub(crate) queue_length: Vec<Setting>,

    /// Remedies for this host from findings: a file of `explain --output json`, or -
    #[arg(long, value_name = "FILE", requires = "end")]
    pub(crate) findings: Option<String>,

    /// Host of that run that this host is
    #[arg(long, value_enum)]
    pub(crate) end: Option<End>,

    /// Remedies for this host from an Advice: a file of `advise --output json`, or -
    #[arg(long, value_name = "FILE", requires_all = ["end", "toward"], conflicts_with = "findings")]
    pub(crate) advice: Option<String>,

    /// Address of the other end of that path
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) toward: Option<IpAddr>,

    /// Targets to which new connections must succeed before and after, over each address family:
    /// HOST:PORT by TCP, or udp://HOST, a name server
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) probe: Vec<String>,
}

/// The settings of one option.
#[derive(Clone, Debug)]
pub(crate) struct Several(pub(crate) Vec<Setting>);

fn udp_gro_forwarding(text: &str) -> Result<Several, SettingError> {
    Setting::parse_udp_gro_forwarding(text).map(Several)
}

/// A host of the path of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum End {
    /// The host that ran `measure`
    Near,
    /// The host that ran `serve`
    Far,
    /// A router between them, which forwards their connections
    Router,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TuneForm {
    /// For people
    Text,
    /// The changes as JSON documents
    Json,
}

/// Show the planned changes and any objections to them; changes nothing
#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) settings: Settings,

    /// Output format
    #[arg(long, value_enum, default_value_t = TuneForm::Text)]
    pub(crate) output: TuneForm,
}

/// Change settings; undone at the deadline unless confirmed
#[derive(Debug, Args)]
pub(crate) struct Apply {
    #[command(flatten)]
    pub(crate) settings: Settings,

    #[command(flatten)]
    pub(crate) journal: Journal,

    /// A plan of `tune plan --output json` instead of settings
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<String>,

    /// Time to confirm it; default: 60s, or 120s if it resets the link of the device in use
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) window: Option<Duration>,

    /// Confirm at once if all new connections of --probe succeed
    #[arg(long, requires = "probe")]
    pub(crate) yes: bool,

    /// Only print the commands that a person would type
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// With --dry-run: format of the output
    #[arg(long, value_enum, requires = "dry_run", value_name = "FORM")]
    pub(crate) snippet: Option<Snippet>,

    /// Measure against this far end, which runs `pathtwin serve`, in turns with the change and
    /// without, and keep it only if it helps
    #[arg(long, value_name = "HOST", conflicts_with_all = ["yes", "dry_run"])]
    pub(crate) prove: Option<String>,

    /// Observe the connections that this host has anyway for so long, before and after
    #[arg(long, value_name = "TIME", value_parser = quantity::duration,
        conflicts_with_all = ["yes", "dry_run", "prove"])]
    pub(crate) observe: Option<Duration>,

    #[command(flatten)]
    pub(crate) far: super::proof::FarEnd,

    #[command(flatten)]
    pub(crate) proof: super::proof::Proof,

    /// The history of predictions and outcomes, for --prove with --advice
    #[cfg(feature = "history")]
    #[command(flatten)]
    pub(crate) place: super::history::StoreArgs,

    /// With --yes: also write it to files, so that it persists across boots
    #[arg(long, requires = "yes")]
    pub(crate) persist: bool,
}

/// A form of settings for other means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Snippet {
    /// A script
    Shell,
    /// Tasks of a play
    Ansible,
    /// A module
    Nixos,
    /// User data
    CloudInit,
}

/// Show the pending change; undo those whose keeper died
#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) journal: Journal,

    /// Output format
    #[arg(long, value_enum, default_value_t = TuneForm::Text)]
    pub(crate) output: TuneForm,
}

/// Keep the pending change until the next boot
#[derive(Debug, Args)]
pub(crate) struct Confirm {
    /// The beginning of its id
    pub(crate) id: Option<String>,

    #[command(flatten)]
    pub(crate) journal: Journal,

    /// Also write it to files of the system, so that it persists across boots
    #[arg(long, conflicts_with = "prolong")]
    pub(crate) persist: bool,

    /// Only set the deadline to this time from now
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) prolong: Option<Duration>,
}

/// Undo a pending or confirmed change
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The beginning of its id; default: the pending one
    pub(crate) id: Option<String>,

    #[command(flatten)]
    pub(crate) journal: Journal,
}

/// Undo a kept change that `pathtwin watch` found to help no longer, if its config permits that
///
/// Reads the request in the folder of the state of the watch. Run by pathtwin-undo.timer.
#[cfg(feature = "watch")]
#[derive(Debug, Args)]
pub(crate) struct Recheck {
    /// The config of the watch, which only root may write; its undo_when_useless names the changes
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    #[command(flatten)]
    pub(crate) journal: Journal,
}

/// List all changes
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) journal: Journal,

    /// Output format
    #[arg(long, value_enum, default_value_t = TuneForm::Text)]
    pub(crate) output: TuneForm,
}

/// Check that this user may change this host; prints what may still be missing
#[derive(Debug, Args)]
pub(crate) struct Ready {
    #[command(flatten)]
    pub(crate) journal: Journal,
}

/// Suspend the pending change, or apply it again
#[derive(Debug, Args)]
pub(crate) struct Switch {
    /// The beginning of its id
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) journal: Journal,
}

/// Evidence of counters that the settings of a change acted, as JSON
#[derive(Debug, Args)]
pub(crate) struct Counted {
    pub(crate) id: ChangeId,

    #[command(flatten)]
    pub(crate) journal: Journal,
}

/// The keeper of a change
#[derive(Debug, Args)]
pub(crate) struct Keep {
    pub(crate) id: ChangeId,

    #[command(flatten)]
    pub(crate) journal: Journal,
}
