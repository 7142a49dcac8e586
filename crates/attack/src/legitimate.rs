//! The legitimate client during an attack: `pathtwin measure` of the build under attack.

use std::{
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use model::run::Run;

use crate::{case::Seen, served::Served, trouble::Trouble};

/// Its figures: datagrams down, datagrams up, goodput down in bit/s.
pub type Figures = [f64; 3];

/// Low rates that leave most of a processor free, so that the program is compared, not the machine.
const PLAN: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "udp"
direction = "down"
rate_bps = 4_000_000
payload = 1000
duration_s = 1
[[step]]
kind = "udp"
direction = "up"
rate_bps = 4_000_000
payload = 1000
duration_s = 1
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["reno"]
warmup_s = 0.3
duration_s = 1
repeat = true
"#;

/// Limits the rate of TCP sent by the server, so that it does not depend on the machine.
pub const PACED: &str = "--max-rate=40mbit";

/// Maximum relative difference of its figures from those without an attack.
const WITHIN: f64 = 0.05;

/// A measuring client.
pub struct Client {
    child: Child,
}

impl Client {
    /// Starts measuring with the first address of a server.
    ///
    /// # Errors
    /// The program does not start.
    pub fn start(served: &Served) -> Result<Self, Trouble> {
        Self::start_at(served, served.address())
    }

    /// Starts measuring with one of its addresses.
    ///
    /// # Errors
    /// The program does not start.
    pub fn start_at(served: &Served, address: SocketAddr) -> Result<Self, Trouble> {
        let plan = served.folder.path().join("plan.toml");
        std::fs::write(&plan, PLAN)?;
        let child = Command::new(&served.target.program)
            .args([
                "measure",
                &address.to_string(),
                "--output",
                "json",
                "--no-store",
            ])
            .arg("--key")
            .arg(served.key_file())
            .arg("--plan")
            .arg(&plan)
            // The suite must not use the user's keys.
            .env("XDG_CONFIG_HOME", served.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Self { child })
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// The measurement failed.
    pub fn figures(self) -> Result<Figures, Trouble> {
        let output = self.child.wait_with_output()?;
        // Exit code 4 with a run: too few valid samples, since the attack keeps the processors
        // busy.
        let measured = output.status.code() == Some(4) && !output.stdout.is_empty();
        if !output.status.success() && !measured {
            return Err(Trouble::Command {
                command: "measure",
                message: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        let run = Run::parse(&output.stdout)?;
        let figure = |s: &model::run::Sample| {
            let received = s.udp.as_ref().map(|u| u.received as f64);
            received.or(s.tcp.as_ref().map(|t| t.goodput_bps))
        };
        let failed = |s: &model::run::Sample| (!s.invalid.is_empty()).then(|| s.invalid.clone());
        let invalid: Vec<_> = run.samples.iter().filter_map(failed).collect();
        let figures: Vec<f64> = run.samples.iter().filter_map(figure).collect();
        figures
            .try_into()
            .map_err(|figures| Trouble::Figures { figures, invalid })
    }
}

/// Records the figures of a legitimate client compared with the expected ones.
pub fn compare(with: Result<Figures, Trouble>, without: Figures, seen: &mut Seen) {
    match with {
        Ok(with) => {
            let shares = [0, 1, 2].map(|i| with[i] / without[i]);
            let holds = shares.iter().all(|s| (s - 1.0).abs() <= WITHIN);
            seen.check(
                holds,
                format!(
                    "a legitimate client got {:.1}, {:.1} and {:.1} % of its figures (UDP down, up, TCP)",
                    shares[0] * 100.0,
                    shares[1] * 100.0,
                    shares[2] * 100.0
                ),
            );
        }
        Err(trouble) => seen.check(false, trouble),
    }
}
