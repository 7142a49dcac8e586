//! A server of PostgreSQL for the time of a test.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use store::Place;

/// A running server; it ends with this value.
pub struct Server {
    folder: tempfile::TempDir,
    pub port: u16,
    child: Child,
}

/// The programs of the newest installed version of Debian's package `postgresql`.
fn programs() -> PathBuf {
    let folder =
        fs::read_dir("/usr/lib/postgresql").expect("no PostgreSQL: run scripts/setup test");
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = folder
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("bin/initdb").exists())
        .max_by_key(version);
    newest
        .expect("no PostgreSQL: run scripts/setup test")
        .join("bin")
}

/// A command that does not run as root, which the server refuses.
fn unprivileged(program: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    command.arg(program);
    command
}

/// A new folder of data, owned by the server.
fn initialise(data: &Path) {
    let mut command = unprivileged(&programs().join("initdb"));
    command
        .args(["--no-sync", "--auth=trust", "--username=pathtwin"])
        .args(["--encoding=UTF8", "--locale=C", "-D"])
        .arg(data)
        .current_dir("/");
    succeed(&mut command);
}

/// Runs a command to its good end.
pub fn succeed(command: &mut Command) {
    let made = command.stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{command:?}: {message}");
}

impl Server {
    /// A server with a Unix socket only.
    pub fn start() -> Self {
        Self::start_with(&["listen_addresses="], &[])
    }

    /// A server that also listens on 127.0.0.1, with settings, and files in its data folder.
    pub fn start_on_tcp(settings: &[&str], files: &[(&str, &[u8])]) -> Self {
        let settings = [&["listen_addresses=127.0.0.1"], settings].concat();
        Self::start_with(&settings, files)
    }

    fn start_with(settings: &[&str], files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let data = folder.path().join("data");
        initialise(&data);
        let owner = fs::metadata(&data).unwrap();
        for (name, content) in files {
            let file = data.join(name);
            fs::write(&file, content).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        // Free until this returns, and not likely to be given to another soon after.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut command = unprivileged(&programs().join("postgres"));
        command.arg("-D").arg(&data).arg("-k").arg(folder.path());
        command.args(["-p", &port.to_string()]);
        for setting in [&["fsync=off", "max_connections=40"], settings].concat() {
            command.args(["-c", setting]);
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()
            .unwrap();
        let server = Self {
            folder,
            port,
            child,
        };
        server.wait();
        server
    }

    pub fn url(&self, database: &str) -> String {
        format!(
            "postgresql:///{database}?user=pathtwin&port={}&host={}",
            self.port,
            self.folder.path().display()
        )
    }

    /// A database at 127.0.0.1 under the name `host`.
    pub fn url_on_tcp(&self, host: &str, database: &str, query: &str) -> String {
        format!(
            "postgresql://pathtwin@{host}:{}/{database}?hostaddr=127.0.0.1&{query}",
            self.port
        )
    }

    pub fn client(&self, database: &str) -> Result<postgres::Client, postgres::Error> {
        postgres::Client::connect(&self.url(database), postgres::NoTls)
    }

    fn wait(&self) {
        for _ in 0..600 {
            if self.client("postgres").is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the server does not answer");
    }

    /// A new, empty database.
    pub fn database(&self, name: &str) -> Place {
        let mut client = self.client("postgres").unwrap();
        client
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .unwrap();
        Place::parse(&self.url(name)).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGKILL would leave its children and shared memory; SIGINT is its "fast" end.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        let _ = self.child.wait();
    }
}
