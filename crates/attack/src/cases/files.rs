//! Attacks by other users of the host, who prepare the locations of files.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use traffic::wire::Key;

use super::documents::a_run;
use crate::{
    case::{Case, Seen, Target},
    trouble::Trouble,
};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "key-through-a-link",
        attack: "other user: a link named key.new where serve makes its key",
        bound: "what it leads to is left alone; the key is a file of 0600",
        run: key_link,
    },
    Case {
        name: "key-into-a-file",
        attack: "other user: a file of 0666 named key.new where serve makes its key",
        bound: "the key is a file of 0600",
        run: key_file,
    },
    Case {
        name: "readable-key",
        attack: "other user: reads a key of mode 0644",
        bound: "serve refuses it, or reports it",
        run: readable_key,
    },
    Case {
        name: "key-in-the-log",
        attack: "other user: reads the log of serve's first start",
        bound: "the key is not in it",
        run: key_in_log,
    },
    Case {
        name: "output-through-a-link",
        attack: "other user: a link named NAME.partial where --out writes NAME",
        bound: "what it leads to is left alone; the output is whole",
        run: partial_link,
    },
    Case {
        name: "history-for-all",
        attack: "other user: reads the history under umask 022",
        bound: "mode 0600, its folder 0700 or its own",
        run: history_mode,
    },
    Case {
        name: "password-as-a-name",
        attack: "by accident: --store 'sslrootcert=x password=y'",
        bound: "no file of that name",
        run: password_name,
    },
    Case {
        name: "killed-while-writing",
        attack: "kill -9 at 30 moments while --out writes over a file",
        bound: "the old bytes or the new, whole",
        run: killed,
    },
];

/// The program with a separate home.
fn program(target: &Target, home: &Path) -> Command {
    let mut command = Command::new(&target.program);
    command
        .env("HOME", home)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME")
        .env_remove("PATHTWIN_STORE")
        .env_remove("PATHTWIN_KEY")
        .current_dir(home)
        .stdin(Stdio::null());
    command
}

/// Output of `serve` when started in a separate home, for a second.
fn serve(target: &Target, home: &Path) -> Result<Output, Trouble> {
    let mut child = program(target, home)
        .args(["serve", "--listen", "127.0.0.1", "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    thread::sleep(Duration::from_secs(1));
    let _ = child.kill();
    Ok(child.wait_with_output()?)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).map_or(0, |m| m.permissions().mode() & 0o777)
}

/// A home with a folder for the key.
fn home() -> Result<(tempfile::TempDir, std::path::PathBuf), Trouble> {
    let home = tempfile::tempdir()?;
    let folder = home.path().join(".config/pathtwin");
    fs::create_dir_all(&folder)?;
    Ok((home, folder))
}

/// Records whether the key is a file with mode 0600, or was not created.
fn judge_key(folder: &Path, seen: &mut Seen) {
    let key = folder.join("key");
    match fs::symlink_metadata(&key) {
        Err(_) => seen.note("no key was made"),
        Ok(meta) => {
            seen.check(meta.is_file(), "the key is a file");
            seen.check(mode(&key) == 0o600, format!("its mode is {:o}", mode(&key)));
        }
    }
}

fn key_link(target: &Target) -> Result<Seen, Trouble> {
    let (home, folder) = home()?;
    let victim = home.path().join("victim");
    fs::write(&victim, "precious")?;
    symlink(&victim, folder.join("key.new"))?;
    serve(target, home.path())?;
    let mut seen = Seen::default();
    let left = fs::read(&victim).is_ok_and(|bytes| bytes == b"precious");
    seen.check(left, format!("what it leads to is left alone: {left}"));
    judge_key(&folder, &mut seen);
    Ok(seen)
}

fn key_file(target: &Target) -> Result<Seen, Trouble> {
    let (home, folder) = home()?;
    let file = folder.join("key.new");
    fs::write(&file, "")?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666))?;
    serve(target, home.path())?;
    let mut seen = Seen::default();
    judge_key(&folder, &mut seen);
    Ok(seen)
}

fn readable_key(target: &Target) -> Result<Seen, Trouble> {
    let (home, folder) = home()?;
    let file = folder.join("key");
    fs::write(&file, format!("{}\n", Key::generate()?))?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
    let output = serve(target, home.path())?;
    let message = String::from_utf8_lossy(&output.stderr).to_lowercase();
    let warned = ["0600", "mode", "permission", "others", "readable"];
    let warned = warned.iter().any(|word| message.contains(word));
    let mut seen = Seen::default();
    seen.check(warned, format!("it reports it: {warned}"));
    Ok(seen)
}

fn key_in_log(target: &Target) -> Result<Seen, Trouble> {
    let (home, folder) = home()?;
    let output = serve(target, home.path())?;
    let key = fs::read_to_string(folder.join("key"))?;
    let message = [output.stdout, output.stderr].concat();
    let message = String::from_utf8_lossy(&message);
    let leaked = message.contains(key.trim());
    let mut seen = Seen::default();
    seen.check(!leaked, format!("the key is in the log: {leaked}"));
    Ok(seen)
}

fn partial_link(target: &Target) -> Result<Seen, Trouble> {
    let home = tempfile::tempdir()?;
    let run = home.path().join("run.json");
    fs::write(&run, serde_json::to_vec(&a_run()?)?)?;
    let victim = home.path().join("victim");
    fs::write(&victim, "precious")?;
    symlink(&victim, home.path().join("report.partial"))?;
    let output = program(target, home.path())
        .args(["report", "run.json", "--out", "report.html"])
        .output()?;
    let mut seen = Seen::default();
    let left = fs::read(&victim).is_ok_and(|bytes| bytes == b"precious");
    seen.check(left, format!("what it leads to is left alone: {left}"));
    let out = home.path().join("report.html");
    let made = fs::symlink_metadata(&out).is_ok_and(|m| m.is_file() && m.len() > 1000);
    seen.check(
        made || !output.status.success(),
        format!("the output is a whole file: {made}"),
    );
    Ok(seen)
}

fn history_mode(target: &Target) -> Result<Seen, Trouble> {
    let home = tempfile::tempdir()?;
    let run = home.path().join("run.json");
    fs::write(&run, serde_json::to_vec(&a_run()?)?)?;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "umask 022; exec \"$0\" history import run.json"])
        .arg(&target.program)
        .env("HOME", home.path())
        .env_remove("XDG_DATA_HOME")
        .env_remove("PATHTWIN_STORE")
        .current_dir(home.path());
    let output = shell.output()?;
    if !output.status.success() {
        return Err(Trouble::Command {
            command: "history import",
            message: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    let mut seen = Seen::default();
    for file in below(&home.path().join(".local"))? {
        let bits = mode(&file);
        let name = file.file_name().map(|n| n.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        seen.check(bits & 0o077 == 0, format!("{name}: mode {bits:o}"));
    }
    seen.check(!seen.seen().is_empty(), "there is a history");
    Ok(seen)
}

/// The files below a folder.
fn below(folder: &Path) -> Result<Vec<std::path::PathBuf>, Trouble> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        if entry.path().is_dir() {
            files.extend(below(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn password_name(target: &Target) -> Result<Seen, Trouble> {
    let home = tempfile::tempdir()?;
    let text = "sslrootcert=x password=secret";
    let output = program(target, home.path())
        .args(["history", "list", "--store", text])
        .output()?;
    let mut seen = Seen::default();
    let names: Vec<_> = below(home.path())?;
    seen.check(names.is_empty(), format!("{} files made", names.len()));
    seen.check(!output.status.success(), "it is refused");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    seen.check(!message.contains("secret"), "the password is not repeated");
    Ok(seen)
}

fn killed(target: &Target) -> Result<Seen, Trouble> {
    let home = tempfile::tempdir()?;
    let run = home.path().join("run.json");
    fs::write(&run, serde_json::to_vec(&a_run()?)?)?;
    let out = home.path().join("report.html");
    let make = || {
        let mut command = program(target, home.path());
        command.args(["report", "run.json", "--out", "report.html"]);
        command.stderr(Stdio::null());
        command
    };
    let made = make().status()?;
    let whole = fs::read(&out)?;
    if !made.success() || whole.is_empty() {
        return Err(Trouble::Command {
            command: "report",
            message: made.to_string(),
        });
    }
    let begun = std::time::Instant::now();
    make().status()?;
    let takes = begun.elapsed();
    let mut seen = Seen::default();
    let (mut old, mut new, mut torn) = (0, 0, 0);
    for moment in 0..30 {
        fs::write(&out, "old")?;
        let mut child = make().spawn()?;
        thread::sleep(takes * moment / 25);
        let _ = child.kill();
        child.wait()?;
        match fs::read(&out)? {
            bytes if bytes == b"old" => old += 1,
            bytes if bytes == whole => new += 1,
            _ => torn += 1,
        }
    }
    seen.note(format!("{old} old, {new} new"));
    seen.at_most("torn", f64::from(torn), 0.0);
    Ok(seen)
}
