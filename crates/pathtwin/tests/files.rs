//! Files that the program writes for its user alone, and files that it refuses to read.

#![allow(clippy::expect_used)]

mod common;

use std::{
    fs,
    io::Write,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::Path,
    process::{Command, Output, Stdio},
};

use common::{pathtwin, server::Server, text};

const KEY: &str = "ptk1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("stat the file").mode() & 0o7777
}

/// The program under the usual umask.
fn usual(arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "umask 022; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_pathtwin"))
        .args(arguments);
    command
}

fn measure_with(key: &str) -> Output {
    // A port of loopback without a listener: the key is read first.
    pathtwin()
        .args([
            "measure",
            "127.0.0.1:9",
            "--quick",
            "--no-store",
            "--key",
            key,
        ])
        .output()
        .expect("run pathtwin")
}

#[test]
fn a_key_that_others_can_read_is_refused_with_the_command_that_mends_it() {
    let folder = tempfile::tempdir().expect("make a folder");
    let key = folder.path().join("key");
    fs::write(&key, KEY).expect("write the key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).expect("set the mode");
    let serves = pathtwin()
        .args(["serve", "--port", "0", "--listen", "127.0.0.1", "--key"])
        .arg(&key)
        .output()
        .expect("run pathtwin");
    for output in [serves, measure_with(&key.display().to_string())] {
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains(&format!("chmod 600 {}", key.display())),
            "{message}"
        );
        assert!(!message.contains(KEY), "{message}");
    }
}

#[test]
fn a_new_key_does_not_go_where_a_link_points() {
    let folder = tempfile::tempdir().expect("make a folder");
    let (key, victim) = (folder.path().join("key"), folder.path().join("victim"));
    fs::write(&victim, "as it was").expect("write");
    // Links that earlier versions followed, or wrote into.
    symlink(&victim, folder.path().join("key.new")).expect("link");
    let server = Server::start(pathtwin(), &key, &["--user", "root"]);
    drop(server);
    assert_eq!(fs::read_to_string(&victim).expect("read"), "as it was");
    assert_eq!(mode(&key), 0o600);
    // A link at the key's own name, to nothing: it is not made through it.
    let dangling = folder.path().join("dangling");
    symlink(folder.path().join("elsewhere"), &dangling).expect("link");
    let output = pathtwin()
        .args(["serve", "--port", "0", "--listen", "127.0.0.1", "--key"])
        .arg(&dangling)
        .output()
        .expect("run pathtwin");
    assert!(!output.status.success());
    assert!(!folder.path().join("elsewhere").exists());
}

#[test]
fn a_key_on_the_command_line_is_taken_and_warned_of() {
    let message = text(&measure_with(KEY).stderr);
    assert!(message.contains("visible to every user"), "{message}");
    let mut child = pathtwin()
        .args([
            "measure",
            "127.0.0.1:9",
            "--quick",
            "--no-store",
            "--key",
            "-",
        ])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run pathtwin");
    let mut input = child.stdin.take().expect("its input");
    writeln!(input, "{KEY}").expect("give the key");
    drop(input);
    let output = child.wait_with_output().expect("wait for it");
    let message = text(&output.stderr);
    // It got as far as the port without a listener.
    assert!(
        message.contains("127.0.0.1:9") && !message.contains("not a key"),
        "{message}"
    );
    assert!(!message.contains("visible to every user"), "{message}");
}

#[cfg(feature = "history")]
#[test]
fn a_history_is_its_users_alone_under_the_usual_umask() {
    let folder = tempfile::tempdir().expect("make a folder");
    let data = folder.path().join("data");
    let output = usual(&["history", "list"])
        .env("XDG_DATA_HOME", &data)
        .env_remove("PATHTWIN_STORE")
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let own = data.join("pathtwin");
    assert_eq!(mode(&own), 0o700);
    let file = own.join("history.db");
    assert_eq!(mode(&file), 0o600);
    // A key made by an earlier version.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("set the mode");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).expect("set the mode");
    let output = usual(&["history", "list"])
        .env("XDG_DATA_HOME", &data)
        .env_remove("PATHTWIN_STORE")
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!((mode(&own), mode(&file)), (0o700, 0o600));
}

#[cfg(feature = "history")]
#[test]
fn a_connection_string_makes_no_file_of_that_name() {
    let folder = tempfile::tempdir().expect("make a folder");
    let output = pathtwin()
        .current_dir(folder.path())
        .args([
            "history",
            "list",
            "--store",
            "sslrootcert=x password=s3cret",
        ])
        .output()
        .expect("run pathtwin");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("postgres://") && !message.contains("s3cret"),
        "{message}"
    );
    assert_eq!(fs::read_dir(folder.path()).expect("list").count(), 0);
}

#[cfg(feature = "page")]
#[test]
fn a_result_is_written_to_a_device_or_pipe_and_replaces_neither() {
    let before = fs::symlink_metadata("/dev/null").expect("stat").rdev();
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/tests/data/run-1.json");
    let output = pathtwin()
        .arg("report")
        .arg(run)
        .args(["--format", "markdown", "--out", "/dev/stdout"])
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!output.stdout.is_empty());
    assert_eq!(
        fs::symlink_metadata("/dev/null").expect("stat").rdev(),
        before
    );
    assert!(
        fs::symlink_metadata("/dev/stdout")
            .expect("stat")
            .is_symlink()
    );
}
