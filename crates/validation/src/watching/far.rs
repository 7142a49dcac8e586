//! `pathtwin serve` on the server of a watched path, and its boot of another kernel.

use std::process::{Child, Command, Stdio};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sys::clock;

use super::line::sleep_until;

/// Time that a boot takes, s.
const BOOT_S: f64 = 45.0;

/// The far end.
#[derive(Debug, Serialize, Deserialize)]
pub struct Script {
    /// Program.
    pub pathtwin: String,
    /// When it boots another kernel, since the boot of the guest, s; absent = never.
    pub other_kernel_at_s: Option<f64>,
}

impl Script {
    /// Serves until the guest ends. At the time of the other kernel it is gone for as long as a
    /// boot takes, and then serves under another release.
    ///
    /// # Errors
    /// The server does not start, or ended by itself.
    pub fn run(&self) -> anyhow::Result<()> {
        let mut serving = self.start(&[])?;
        if let Some(at_s) = self.other_kernel_at_s {
            sleep_until(at_s);
            serving.kill().context("end the server")?;
            serving.wait().context("wait for the server")?;
            sleep_until(clock::boottime_ns() as f64 / 1e9 + BOOT_S);
            // All nodes of a path share the guest's kernel. To a process with the personality
            // UNAME26, uname(2) says 2.6.60 and up (kernel/sys.c, override_release).
            serving = self.start(&["setarch", "--uname-2.6"])?;
        }
        let status = serving.wait().context("wait for the server")?;
        anyhow::bail!("the server ended by itself ({status})");
    }

    fn start(&self, before: &[&str]) -> anyhow::Result<Child> {
        let serve = [self.pathtwin.as_str(), "serve", "--open", "--user", "root"];
        let argv: Vec<&str> = before.iter().copied().chain(serve).collect();
        Command::new(argv[0])
            .args(&argv[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("start the server")
    }
}
