//! Commands on a far host over the user's own ssh.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use tune::{Remote, RemoteError};

use crate::format;

/// Program used instead of `ssh`, with the same arguments, like `GIT_SSH`.
const SSH: &str = "PATHTWIN_SSH";

const OPTIONS: [&str; 3] = ["-o", "BatchMode=yes", "--"];

/// Command run by the login shell there, before the arguments. The login shell is unknown, so `sh`
/// checks whether sudo is needed: on routers it is missing, and the user is root.
const PROGRAM: &str = r#"sh -c 'test "$(id -u)" = 0 && exec pathtwin tune "$@"; exec sudo -n pathtwin tune "$@"' tune"#;

/// A host that `ssh LOGIN` reaches.
pub(crate) struct Ssh<'a> {
    pub(crate) login: &'a str,
}

impl Remote for Ssh<'_> {
    fn host(&self) -> &str {
        self.login
    }

    fn tune(&self, words: &[&str], input: &[u8]) -> Result<Vec<u8>, RemoteError> {
        let start = |error| RemoteError::Start {
            program: "ssh",
            error,
        };
        let ssh = std::env::var_os(SSH).filter(|program| !program.is_empty());
        let mut child = Command::new(ssh.unwrap_or_else(|| "ssh".into()))
            .args(OPTIONS)
            .arg(self.login)
            .arg(PROGRAM)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(start)?;
        if let Some(mut to) = child.stdin.take() {
            // A reader that does not read it states why on its standard error.
            let _ = to.write_all(input);
        }
        let output = child.wait_with_output().map_err(start)?;
        if output.status.success() {
            if words.first() == Some(&"plan") {
                noted(self.login, &output.stderr);
            }
            return Ok(output.stdout);
        }
        Err(RemoteError::Failed {
            command: words.first().copied().unwrap_or_default().to_owned(),
            host: self.login.to_owned(),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            exit: output.status.code(),
        })
    }
}

/// Says what a plan there leaves out.
fn noted(host: &str, said: &[u8]) {
    for line in String::from_utf8_lossy(said).lines() {
        let line = model::safe::line(line);
        format::say(format_args!("{host}: {line}"));
    }
}
