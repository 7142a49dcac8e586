//! Instances of `pathtwin serve` on loopback.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::SocketAddr,
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use traffic::wire::Key;

use crate::{case::Target, process::Held, trouble::Trouble, usual};

/// Timeout of the start.
const START: Duration = Duration::from_secs(20);

/// A running server; killed when dropped.
pub struct Served {
    child: Child,
    /// Listening addresses, in the order of `--listen`.
    pub addresses: Vec<SocketAddr>,
    /// Address of iperf3's protocol.
    pub iperf3: Option<SocketAddr>,
    /// Address of the speed test for browsers.
    pub web: Option<SocketAddr>,
    /// The key of its clients.
    pub key: Key,
    message: Arc<Mutex<String>>,
    /// Its folder, with the key in the file `key`.
    pub folder: tempfile::TempDir,
    /// The program, for clients of the same build.
    pub target: Target,
}

impl Served {
    /// Starts a server on 127.0.0.1 with these arguments.
    ///
    /// # Errors
    /// The server does not start.
    pub fn start(target: &Target, arguments: &[&str]) -> Result<Self, Trouble> {
        let listen = ["--listen", "127.0.0.1"];
        Self::start_by(
            target,
            Command::new(&target.program),
            &[&listen, arguments].concat(),
        )
    }

    /// Like [`start`](Self::start), with a limit of descriptors.
    ///
    /// # Errors
    /// The server does not start.
    pub fn with_descriptors(
        target: &Target,
        most: u32,
        arguments: &[&str],
    ) -> Result<Self, Trouble> {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {most}; exec \"$0\" \"$@\"")]);
        shell.arg(&target.program);
        let listen = ["--listen", "127.0.0.1"];
        Self::start_by(target, shell, &[&listen, arguments].concat())
    }

    /// Starts a server with a command that its arguments are appended to; they include addresses.
    ///
    /// # Errors
    /// The server does not start.
    pub fn start_by(
        target: &Target,
        mut program: Command,
        arguments: &[&str],
    ) -> Result<Self, Trouble> {
        let folder = tempfile::tempdir()?;
        let key = Key::generate()?;
        let file = folder.path().join("key");
        let mut options = fs::OpenOptions::new();
        let mut out = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&file)?;
        writeln!(out, "{key}")?;
        let mut child = program
            .args(["serve", "--port", "0", "--key"])
            .arg(&file)
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()?;
        let message = Arc::new(Mutex::new(String::new()));
        if let Some(stderr) = child.stderr.take() {
            let message = message.clone();
            thread::spawn(move || listen_to(BufReader::new(stderr), &message));
        }
        let mut served = Self {
            child,
            addresses: Vec::new(),
            iperf3: None,
            web: None,
            key,
            message,
            folder,
            target: target.clone(),
        };
        served.wait(arguments)?;
        Ok(served)
    }

    fn wait(&mut self, arguments: &[&str]) -> Result<(), Trouble> {
        let wanted = arguments.iter().filter(|a| **a == "--listen").count();
        let wants_iperf3 = arguments.contains(&"--iperf3");
        let wants_web = arguments.contains(&"--web");
        let deadline = Instant::now() + START;
        while Instant::now() < deadline {
            let message = self.message();
            self.addresses = after(&message, "serving on ");
            self.iperf3 = after(&message, "iperf3 server on ").first().copied();
            self.web = web(&message);
            if self.addresses.len() >= wanted
                && (self.iperf3.is_some() || !wants_iperf3)
                && (self.web.is_some() || !wants_web)
            {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(Trouble::ServerEnded { status, message });
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(Trouble::NotServing {
            message: self.message(),
        })
    }

    /// The first address.
    pub fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// The file with the key.
    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("key")
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns true if it is still running.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Its log so far.
    pub fn message(&self) -> String {
        self.message
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Idle resources after normal use, so that memory kept by the allocator is included before an
    /// attack.
    ///
    /// # Errors
    /// The server cannot be used, or is gone.
    pub fn at_rest(&self) -> Result<Held, Trouble> {
        usual::session(self.address(), &self.key)?;
        Ok(Held::settled(self.pid())?)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The addresses after some words.
fn after(message: &str, words: &str) -> Vec<SocketAddr> {
    let rest = message.lines().filter_map(|line| line.split_once(words));
    rest.filter_map(|(_, rest)| rest.split_whitespace().next()?.parse().ok())
        .collect()
}

/// The address of the speed test.
fn web(message: &str) -> Option<SocketAddr> {
    let rest = message.split_once("speed test at http://")?.1;
    rest.split_once('/')?.0.parse().ok()
}

fn listen_to(mut from: impl BufRead, message: &Mutex<String>) {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let mut message = message.lock().unwrap_or_else(PoisonError::into_inner);
        // Only the beginning is stored, which contains the needed lines.
        if message.len() < 1 << 20 {
            message.push_str(&String::from_utf8_lossy(&line));
        }
        line.clear();
    }
}
