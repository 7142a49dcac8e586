//! `pathtwin watch` on the client of a watched path, and its memory over time.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use sys::clock;

use super::line::sleep_until;

/// Folder of the guest's memory for all that the watch writes.
const FOLDER: &str = "/tmp/watch";
/// Time between two samples of its memory, s.
const SAMPLE_S: f64 = 6.0 * 3600.0;
/// Time for the watch to end, s.
const END_S: f64 = 120.0;

/// The watch of one path.
#[derive(Debug, Serialize, Deserialize)]
pub struct Script {
    /// Program.
    pub pathtwin: String,
    /// Name of the path.
    pub name: String,
    /// Budget in a month, bytes.
    pub month_bytes: u64,
    /// Length of the watch, days.
    pub days: f64,
}

/// Results of a watch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// The messages that its command received.
    pub messages: Vec<watch::message::Message>,
    /// Its state at the end.
    pub state: serde_json::Value,
    /// Its memory over time.
    pub memory: Vec<Memory>,
    /// The end of its log.
    pub log: String,
}

/// Memory of the watch at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Since boot, s.
    pub at_s: f64,
    /// Resident set, kB.
    pub rss_kb: u64,
}

impl Script {
    /// The config: the default pace but for probes every five minutes, and less for each load, as
    /// befits a slow line.
    fn config(&self) -> String {
        format!(
            "state = \"{FOLDER}/state\"\nstore = \"{FOLDER}/history.db\"\n\
             [budget]\nmonth = \"{}B\"\n\
             [alarm]\ncommand = [\"sh\", \"-c\", \"cat >> {FOLDER}/messages && echo >> {FOLDER}/messages\"]\n\
             [[path]]\nname = \"{}\"\nhost = \"server\"\nopen = true\nprobe = \"5m\"\ncc = []\n\
             load_bytes = \"9MB\"\nfull_bytes = \"80MB\"\n",
            self.month_bytes, self.name
        )
    }

    /// Watches until the days are over, ends the watch as a service manager does, and returns what
    /// it said and wrote.
    ///
    /// # Errors
    /// The watch does not start, or ended by itself.
    pub fn run(&self) -> anyhow::Result<Watched> {
        let folder = Path::new(FOLDER);
        fs::create_dir_all(folder).context("make a folder")?;
        let config = folder.join("watch.toml");
        fs::write(&config, self.config()).context("write the config")?;
        let log = folder.join("log");
        let said = fs::File::create(&log).context("make the log")?;
        let mut watch = Command::new(&self.pathtwin)
            .args(["watch", "--config"])
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .context("start the watch")?;
        let memory = self.sample(&mut watch, &log)?;
        end(&mut watch)?;
        let messages = fs::read_to_string(folder.join("messages")).unwrap_or_default();
        let messages = messages
            .lines()
            .filter(|line| !line.is_empty())
            .map(serde_json::from_str);
        let state = fs::read(folder.join("state/watch.json")).context("read its state")?;
        Ok(Watched {
            messages: messages
                .collect::<Result<_, _>>()
                .context("read its messages")?,
            state: serde_json::from_slice(&state).context("read its state")?,
            memory,
            log: tail(&log),
        })
    }

    fn sample(&self, watch: &mut Child, log: &Path) -> anyhow::Result<Vec<Memory>> {
        let mut memory = Vec::new();
        let begun = clock::boottime_ns() as f64 / 1e9;
        let end = 86_400.0 * self.days;
        let mut at_s = (begun + 600.0).min(end);
        loop {
            sleep_until(at_s);
            if let Some(status) = watch.try_wait().context("look at the watch")? {
                bail!("the watch ended by itself ({status}): {}", tail(log));
            }
            let rss_kb = rss_kb(watch.id()).context("read its memory")?;
            memory.push(Memory { at_s, rss_kb });
            if at_s >= end {
                return Ok(memory);
            }
            at_s = (at_s + SAMPLE_S).min(end);
        }
    }
}

fn rss_kb(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn end(watch: &mut Child) -> anyhow::Result<()> {
    let asked = Command::new("kill").arg(watch.id().to_string()).status();
    asked.context("ask the watch to end")?;
    let deadline = clock::boottime_ns() as f64 / 1e9 + END_S;
    while watch.try_wait().context("wait for the watch")?.is_none() {
        let now = clock::boottime_ns() as f64 / 1e9;
        if now > deadline {
            watch.kill().context("kill the watch")?;
            bail!("the watch did not end");
        }
        sleep_until(now + 1.0);
    }
    Ok(())
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(200)..].join("\n")
}
