//! A server of PostgreSQL for the time of a test.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use store::Place;

/// A running server; it ends with this value.
pub struct Server {
    folder: tempfile::TempDir,
    child: Child,
}

/// The programs of the newest version that Debian's package `postgresql` has put here.
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

impl Server {
    pub fn start() -> Self {
        let programs = programs();
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let data = folder.path().join("data");
        let made = unprivileged(&programs.join("initdb"))
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=pathtwin",
                "--encoding=UTF8",
            ])
            .arg("--locale=C")
            .arg("-D")
            .arg(&data)
            .stdin(Stdio::null())
            .current_dir("/")
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let child = unprivileged(&programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(folder.path())
            .args([
                "-c",
                "listen_addresses=",
                "-c",
                "fsync=off",
                "-c",
                "max_connections=40",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()
            .unwrap();
        let server = Self { folder, child };
        server.wait();
        server
    }

    fn url(&self, database: &str) -> String {
        format!(
            "postgresql:///{database}?user=pathtwin&host={}",
            self.folder.path().display()
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
