//! The command line of `pathtwin dashboard`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

/// Serve the history as pages for a browser
///
/// All paths at a glance, each over time, and every run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin dashboard
  pathtwin dashboard --store postgres://ann@db/runs --listen 127.0.0.1:8080
  pathtwin dashboard --listen 192.0.2.1:5303 \\
      --token ~/.config/pathtwin/dashboard-token
  pathtwin dashboard --name paths.example  (behind a reverse proxy of that name)

Only this host is served unless there is a token: the pages show addresses and
facts of hosts. The pages change nothing. A browser asks for the token, other
programs send it as \"Authorization: Bearer TOKEN\". It is not encrypted on the
way: beyond a trusted network, use a reverse proxy with TLS. See
docs/reference/dashboard.md.

Exit codes: 0 ended by Ctrl-C, 2 usage error, 3 the history cannot be opened, 4
the address cannot be used.")]
pub(crate) struct Dashboard {
    /// The history: a file, or postgres://USER@HOST/DATABASE; default: $PATHTWIN_STORE, else the
    /// user's own
    #[arg(long, value_name = "PLACE")]
    pub(crate) store: Option<String>,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:5303")]
    pub(crate) listen: SocketAddr,
    /// File with the token that readers must show; created if it does not exist. Needed to listen
    /// on other addresses than those of this host alone
    #[arg(long, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,
    /// Name under which the pages are served, such as that of a reverse proxy; may be given several
    /// times
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
}
