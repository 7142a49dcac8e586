//! Telling a service manager about this process: systemd's notification protocol (sd_notify(3)).
//!
//! One datagram of lines `NAME=VALUE` to the socket named in `$NOTIFY_SOCKET`, which begins with
//! `/`, or with `@` for an abstract one (unix(7)).

use std::{
    ffi::OsStr,
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    },
    time::Duration,
};

/// The connection to the service manager.
#[derive(Debug)]
pub struct Manager {
    socket: UnixDatagram,
    watchdog: Option<Duration>,
}

impl Manager {
    /// The service manager that started this process, by its environment; `None` without one, or if
    /// its socket cannot be reached.
    pub fn of_environment() -> Option<Self> {
        let name = std::env::var_os("NOTIFY_SOCKET")?;
        let variable = |name| std::env::var(name).ok();
        // The watchdog may be meant for another process (sd_watchdog_enabled(3)).
        let own = variable("WATCHDOG_PID").is_none_or(|pid| pid == std::process::id().to_string());
        let watchdog = variable("WATCHDOG_USEC").filter(|_| own);
        let watchdog = watchdog
            .and_then(|us| us.parse().ok())
            .map(Duration::from_micros);
        Self::at(&name, watchdog).ok()
    }

    /// The service manager at a socket, which expects a keep-alive within `watchdog`.
    ///
    /// # Errors
    /// The socket does not exist.
    pub fn at(name: &OsStr, watchdog: Option<Duration>) -> io::Result<Self> {
        let bytes = name.as_bytes();
        let address = match bytes.strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name)?,
            None => SocketAddr::from_pathname(name)?,
        };
        let socket = UnixDatagram::unbound()?;
        socket.connect_addr(&address)?;
        Ok(Self { socket, watchdog })
    }

    /// Within which time it expects [`alive`](Self::alive); absent = never.
    pub fn watchdog(&self) -> Option<Duration> {
        self.watchdog
    }

    /// The service has started.
    pub fn ready(&self) {
        self.send("READY=1");
    }

    /// The working loop is alive.
    pub fn alive(&self) {
        self.send("WATCHDOG=1");
    }

    /// Its current activity, for `systemctl status`: one line.
    pub fn status(&self, text: &str) {
        self.send(&format!("STATUS={}", text.replace('\n', " ")));
    }

    /// It is about to end.
    pub fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// A manager that does not listen loses a message, and the service continues.
    fn send(&self, text: &str) {
        let _ = self.socket.send(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn messages_arrive_at_a_named_and_at_an_abstract_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let named = UnixDatagram::bind(&path).unwrap();
        let name = format!("pathtwin-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let hidden = UnixDatagram::bind_addr(&address).unwrap();
        for (socket, name) in [
            (named, path.into_os_string()),
            (hidden, format!("@{name}").into()),
        ] {
            let manager = Manager::at(&name, None).unwrap();
            manager.ready();
            manager.status("two\nlines");
            let mut text = [0; 64];
            let n = socket.recv(&mut text).unwrap();
            assert_eq!(&text[..n], b"READY=1");
            let n = socket.recv(&mut text).unwrap();
            assert_eq!(&text[..n], b"STATUS=two lines");
        }
        assert!(Manager::at(OsStr::new("/nonexistent/notify"), None).is_err());
    }
}
