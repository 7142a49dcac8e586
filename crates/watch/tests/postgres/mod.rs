//! A server of PostgreSQL that can be stopped, held, and started again.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use store::{Place, Store};

/// It ends with this value.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    child: Option<Child>,
}

/// A program of the newest installed version of Debian's package `postgresql`.
fn program(name: &str) -> PathBuf {
    let all = fs::read_dir("/usr/lib/postgresql").expect("no PostgreSQL: run scripts/setup test");
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let folders = all.flatten().map(|entry| entry.path());
    let newest = folders
        .filter(|folder| folder.join("bin").join(name).exists())
        .max_by_key(version);
    newest
        .expect("no PostgreSQL: run scripts/setup test")
        .join("bin")
        .join(name)
}

/// A command that does not run as root, which the server refuses.
fn unprivileged(name: &str, data: &Path) -> Command {
    let mut command = match rustix::process::geteuid().is_root() {
        false => Command::new(program(name)),
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
            command.arg(program(name));
            command
        }
    };
    command.arg("-D").arg(data).current_dir("/");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

impl Server {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let all = fs::Permissions::from_mode(0o777);
        fs::set_permissions(folder.path(), all).expect("open it");
        let mut initdb = unprivileged("initdb", &folder.path().join("data"));
        initdb.args([
            "--no-sync",
            "--auth=trust",
            "--username=pathtwin",
            "--locale=C",
        ]);
        assert!(initdb.status().expect("run initdb").success());
        let mut server = Self {
            folder,
            child: None,
        };
        server.run();
        server
    }

    /// The history in it.
    pub(crate) fn place(&self) -> Place {
        let url = format!(
            "postgresql:///postgres?user=pathtwin&host={}",
            self.folder.path().display()
        );
        Place::parse(&url).expect("a URL")
    }

    /// Starts it, and waits until it answers.
    pub(crate) fn run(&mut self) {
        let mut command = unprivileged("postgres", &self.folder.path().join("data"));
        command.arg("-k").arg(self.folder.path());
        command.args(["-c", "fsync=off", "-c", "listen_addresses="]);
        self.child = Some(command.spawn().expect("start it"));
        let end = Instant::now() + Duration::from_secs(60);
        while Store::open(&self.place()).is_err() {
            assert!(Instant::now() < end, "the server does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends a signal to all of its processes.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.as_ref().expect("it runs").id().to_string();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.expect("its children");
        let all = children.split_whitespace().chain([id.as_str()]);
        let mut kill = Command::new("kill");
        kill.arg(format!("-{name}")).args(all);
        kill.status().expect("send it");
    }

    /// Ends it; its data stays.
    pub(crate) fn stop(&mut self) {
        if self.child.is_none() {
            return;
        }
        // A process that is held does not end.
        self.signal("CONT");
        let Some(mut child) = self.child.take() else {
            return;
        };
        // Its "fast" end: SIGKILL would leave its children and shared memory.
        let pid = rustix::process::Pid::from_child(&child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        let _ = child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
