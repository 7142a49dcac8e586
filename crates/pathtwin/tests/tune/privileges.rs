//! Changes by an ordinary user: the missing capabilities are reported before anything is done.

use std::{os::unix::fs::PermissionsExt, path::Path, process::Stdio};

use super::{
    ECN,
    common::{copy_program, text},
    ecn, namespace, tune,
};

/// The program as a user without privileges, who can execute it and write to a folder.
fn as_ordinary_user(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    as_user(folder, "-all", arguments)
}

/// As a user with these capabilities.
fn as_user(folder: &Path, capabilities: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let copy = folder.join("pathtwin");
    if !copy.exists() {
        copy_program(Path::new(env!("CARGO_BIN_EXE_pathtwin")), &copy);
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
    }
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .args(["bounding-set", "inh-caps", "ambient-caps"].map(|s| format!("--{s}={capabilities}")))
        .arg("--")
        .arg(&copy)
        .args(arguments)
        .env("PATHTWIN_JOURNAL", folder.join("journal"))
        // The folder of the user who runs the tests is not this one's.
        .env("HOME", folder)
        .stdin(Stdio::null())
        .output()
        .expect("run setpriv");
    let message = text(&output.stdout) + &text(&output.stderr);
    (output.status.code(), message)
}

#[test]
fn an_ordinary_user_plans_and_gets_the_capability_that_each_step_needs() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let journal = folder.join("journal");
    let before = ecn();
    let settings = [ECN[0], ECN[1], "--queue-length", "lo=777"];
    let with = |command: &[&'static str], more: &[&'static str]| {
        as_ordinary_user(folder, &[command, &settings, more].concat())
    };
    let (code, message) = with(&["tune", "plan"], &[]);
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("needs CAP_NET_ADMIN"), "{message}");
    let (code, message) = with(&["tune", "apply"], &["--dry-run"]);
    assert_eq!(code, Some(0), "{message}");
    assert!(
        message.contains("sysctl -w") && message.contains("txqueuelen 777"),
        "{message}"
    );
    // Not even a connection is tried before the check.
    let nobody = ["--probe", "192.0.2.1:1"];
    for more in [&[][..], &nobody, &["--prove", "192.0.2.1"]] {
        let (code, message) = with(&["tune", "apply"], more);
        assert_eq!(code, Some(3), "{message}");
        assert!(message.contains("nothing was changed"), "{message}");
        for step in [
            "net.ipv4.tcp_ecn = 1 needs CAP_NET_ADMIN",
            "777 packets needs CAP_NET_ADMIN",
        ] {
            assert!(message.contains(step), "{step} is missing in {message}");
        }
    }
    assert!(!journal.exists(), "a folder was made for nothing");
    assert_eq!(ecn(), before);
}

#[cfg(feature = "lab")]
#[test]
fn fix_names_what_an_ordinary_user_lacks_before_it_measures() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Nothing listens there: a measurement would fail with another message.
    let arguments = [
        "fix",
        "127.0.0.1:1",
        "--open",
        "--yes",
        "--budget-time",
        "0s",
    ];
    let (code, message) = as_ordinary_user(folder.path(), &arguments);
    assert_eq!(code, Some(3), "{message}");
    for part in ["nothing was measured", "CAP_NET_ADMIN", "CAP_SYS_MODULE"] {
        assert!(message.contains(part), "{part} is missing in {message}");
    }
}

/// A program in place of ssh, whose login runs commands as `user` makes it; the result of a `fix`
/// that would change that far host, where nothing listens: a measurement would fail with another
/// message.
#[cfg(feature = "lab")]
fn fixed_by_ssh(folder: &Path, user: &str) -> (Option<i32>, String) {
    let ssh = folder.join("ssh");
    let script = format!(
        "#!/bin/sh\nshift 4\nPATH=$PATH:{}\n{user}\n",
        folder.display()
    );
    std::fs::write(folder.join("script"), script).unwrap();
    copy_program(&folder.join("script"), &ssh);
    std::fs::set_permissions(&ssh, PermissionsExt::from_mode(0o755)).unwrap();
    let output = super::common::pathtwin()
        .args([
            "fix",
            "127.0.0.1:1",
            "--open",
            "--yes",
            "--budget-time",
            "0s",
        ])
        .args(["--far-ssh", "far"])
        .env("PATHTWIN_SSH", &ssh)
        .env("PATHTWIN_JOURNAL", folder.join("journal"))
        .stdin(Stdio::null())
        .output()
        .expect("run pathtwin");
    let message = text(&output.stdout) + &text(&output.stderr);
    (output.status.code(), message)
}

/// Bug: it was found after the measurement, the twin and the question.
#[cfg(feature = "lab")]
#[test]
fn fix_names_what_the_far_host_lacks_before_it_measures() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lacks = |user: &str, parts: &[&str]| {
        let (code, message) = fixed_by_ssh(folder, user);
        assert_eq!(code, Some(3), "{message}");
        for part in ["nothing was measured", "far"].iter().chain(parts) {
            assert!(message.contains(part), "{part} is missing in {message}");
        }
    };
    let no_login = "echo Permission denied >&2; exit 255";
    lacks(no_login, &["Permission denied", "hint: the login"]);
    lacks("exec sh -c \"$*\"", &["not found", "search path"]);
    copy_program(
        Path::new(env!("CARGO_BIN_EXE_pathtwin")),
        &folder.join("pathtwin"),
    );
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    let other = "exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \"$*\"";
    let no_sudo = format!("PATH={}:/bin\n{other}", folder.display());
    let has_sudo = Path::new("/bin/sudo").exists();
    lacks(
        &no_sudo,
        &[if has_sudo { "password" } else { "not found" }, "hint: "],
    );
    let bounded = "exec setpriv --bounding-set=-all --inh-caps=-all sh -c \"$*\"";
    lacks(bounded, &["CAP_NET_ADMIN, which this user lacks"]);
    let (_, message) = fixed_by_ssh(folder, "exec sh -c \"$*\"");
    assert!(!message.contains("nothing was measured"), "{message}");
    assert!(
        !folder.join("journal").exists(),
        "a folder was made for nothing"
    );
}

/// The journals are of root, who applied the change.
#[test]
fn an_ordinary_user_can_neither_keep_nor_undo_a_change_of_root() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let journal = folder.join("journal");
    let before = ecn();
    let (code, message) = tune(&journal, &["apply", ECN[0], ECN[1]]);
    assert_eq!(code, Some(0), "{message}");
    for command in ["confirm", "undo", "status", "list"] {
        let (code, message) = as_ordinary_user(folder, &["tune", command]);
        assert_eq!(code, Some(3), "{command}: {message}");
        for part in ["CAP_DAC_OVERRIDE", "CAP_NET_ADMIN", "as root"] {
            assert!(message.contains(part), "{command}: {message}");
        }
    }
    // With the capability that was named; undoing needs the other one, and says so in time.
    let dac = |command| as_user(folder, "-all,+dac_override", &["tune", command]);
    for command in ["status", "list"] {
        let (code, message) = dac(command);
        assert_eq!(code, Some(0), "{command}: {message}");
        assert!(message.contains("net.ipv4.tcp_ecn = 1"), "{message}");
    }
    let (code, message) = dac("undo");
    assert_eq!(code, Some(3), "{message}");
    assert!(
        message.contains("tcp_ecn = 1 needs CAP_NET_ADMIN"),
        "{message}"
    );
    assert_eq!(ecn(), "1\n");
    let (code, message) = tune(&journal, &["undo"]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(ecn(), before);
}
