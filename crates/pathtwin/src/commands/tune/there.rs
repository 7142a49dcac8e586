//! A far host whose settings are changed by the same program there, over the user's own ssh.

use std::{
    io::Write,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, anyhow};
use model::{
    advice::Advice,
    change::{Change, ChangeId},
    proof::Acted,
    run::Run,
};
use tune::{HostError, TuneError};

use super::prove::Site;
use crate::exit::{Failure, code};

/// A change on the far host.
pub(crate) struct There {
    login: String,
    plan: Change,
}

impl There {
    /// Plans there what an Advice has for the far end. `toward` is this host, as the far one sees
    /// it.
    ///
    /// # Errors
    /// The far host cannot be reached, has no such program, or refuses.
    pub(crate) fn plan(login: &str, advice: &Advice, toward: &str) -> Result<Self, Failure> {
        let advice = serde_json::to_vec(advice).context("write the advice as JSON")?;
        let words = [
            "plan", "--advice", "-", "--end", "far", "--toward", toward, "--output", "json",
        ];
        let planned = ran(login, &words, &advice)?;
        let plan = Change::parse(&planned)
            .with_context(|| format!("read the plan of {login}"))
            .map_err(|e| Failure::new(code::FAILED, e))?;
        Ok(Self {
            login: login.to_owned(),
            plan,
        })
    }

    /// Whether there is nothing to change.
    pub(crate) fn is_empty(&self) -> bool {
        self.plan.steps.is_empty()
    }

    /// Applies it, and lets it wait as long as the turns take.
    ///
    /// # Errors
    /// It is not applied, or was undone.
    pub(crate) fn apply(&self, window: Duration) -> Result<(), Failure> {
        let plan = self.plan.to_json().context("write the plan as JSON")?;
        ran(&self.login, &["apply", "--plan", "-"], &plan)?;
        let window = format!("{}s", window.as_secs());
        let id = self.plan.id.as_str();
        ran(&self.login, &["confirm", id, "--prolong", &window], b"")?;
        Ok(())
    }
}

impl Site for There {
    fn set(&self, on: bool) -> Result<(), TuneError> {
        let word = if on { "again" } else { "aside" };
        let done = ran(&self.login, &[word, self.plan.id.as_str()], b"");
        done.map(|_| ()).map_err(|failure| {
            HostError::Io {
                op: format!("switch the change of {}", self.login),
                error: std::io::Error::other(failure.error.to_string()),
            }
            .into()
        })
    }

    fn evidence(&self, run: &Run) -> Vec<Acted> {
        tune::evidence_of_far(&self.plan, run)
    }

    fn settle(&self, keep: bool) -> Result<(), Failure> {
        let word = if keep { "confirm" } else { "undo" };
        ran(&self.login, &[word, self.plan.id.as_str()], b"").map(|_| ())
    }

    fn change(&self) -> Option<Change> {
        let all = ran(&self.login, &["list", "--output", "json"], b"").ok()?;
        let all: Vec<Change> = serde_json::from_slice(&all).ok()?;
        all.into_iter().find(|change| change.id == self.plan.id)
    }

    fn id(&self) -> &ChangeId {
        &self.plan.id
    }
}

/// Runs `pathtwin tune WORDS` as root there; its output. No word has anything that a shell expands.
fn ran(login: &str, words: &[&str], input: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut child = Command::new("ssh")
        .args([
            "-o",
            "BatchMode=yes",
            "--",
            login,
            "sudo",
            "-n",
            "pathtwin",
            "tune",
        ])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("run ssh")
        .map_err(|e| Failure::new(code::LACKS, e))?;
    if let Some(mut to) = child.stdin.take() {
        // Whoever does not read it says why on its standard error.
        let _ = to.write_all(input);
    }
    let output = child.wait_with_output().context("wait for ssh")?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let word = words.first().copied().unwrap_or_default();
    let error = anyhow!("`pathtwin tune {word}` on {login} failed: {said}");
    let code = match output.status.code() {
        Some(n @ 1..=4) => n as u8,
        _ => code::FAILED,
    };
    Err(Failure::new(code, error))
}
