//! A separate `pathtwin serve` on loopback.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

/// What a child prints on its stderr until a line contains a text. Later output is passed on.
pub fn says(child: &mut Child, last: &str) -> String {
    let mut err = BufReader::new(child.stderr.take().expect("its stderr"));
    let mut said = String::new();
    while !said.contains(last) {
        let n = err.read_line(&mut said).expect("read what it says");
        assert!(n > 0, "it ended: {said}");
    }
    thread::spawn(move || std::io::copy(&mut err, &mut std::io::stderr()));
    said
}

/// The address after a text, with or without a `/` at its end.
pub fn after(said: &str, text: &str) -> SocketAddr {
    let (_, rest) = said.split_once(text).expect("the text before it");
    let word = rest.split_whitespace().next().expect("an address");
    word.trim_end_matches('/').parse().expect("an address")
}

/// A running server; killed when dropped.
pub struct Server {
    pub child: Child,
    pub address: SocketAddr,
    /// Its output until it was ready.
    pub message: String,
}

impl Server {
    /// Starts a program that is `pathtwin serve` with these arguments, on a port of the kernel's
    /// choice at 127.0.0.1 by default, and waits until it serves. Later output is passed on.
    pub fn start(mut program: Command, key: &Path, arguments: &[&str]) -> Self {
        let mut child = program
            .args(["serve", "--port", "0", "--key"])
            .arg(key)
            .args(["--listen", "127.0.0.1"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the server");
        // The last line before it serves is about the key.
        let message = says(&mut child, "on the other host:");
        let address = after(&message, "pathtwin: serving on ");
        Self {
            child,
            address,
            message,
        }
    }

    /// A number of a line of /proc/PID/status, such as `VmHWM` in kB.
    pub fn status(&self, key: &str) -> String {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("read its status");
        let line = status.lines().find_map(|l| l.strip_prefix(key));
        let line = line.expect("the line").trim_start_matches(':');
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A size of /proc/PID/status, KiB.
    pub fn kib(&self, key: &str) -> u64 {
        let line = self.status(key);
        let number = line.split_whitespace().next();
        number.and_then(|n| n.parse().ok()).expect("a size")
    }

    /// Returns the number of its open descriptors.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
