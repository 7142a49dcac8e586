//! Programs in the lab that attack the host.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use crate::{
    case::{Case, Seen, Target},
    trouble::Trouble,
};

const PATH: &str = "[path]\nrtt = \"30ms\"\nrate = \"50mbit\"\n";

pub(super) const CASES: &[Case] = &[
    Case {
        name: "host-files-by-remount",
        attack: "guest program: remounts / for writing, and writes a file of the host",
        bound: "no file of the host is made or changed",
        run: remount,
    },
    Case {
        name: "host-files-by-hostfs",
        attack: "guest program: mounts the host's / by hostfs, and writes a file of the host",
        bound: "no file of the host is made or changed",
        run: hostfs,
    },
    Case {
        name: "guest-mappings",
        attack: "guest program: touches 90,000 pages out of order, which takes more mappings than the host's vm.max_map_count",
        bound: "it ends, or is ended, within 60 s",
        run: mappings,
    },
];

/// A folder of the caller that is visible in the guest, unlike the temporary folders.
fn folder() -> Result<tempfile::TempDir, Trouble> {
    let home = std::env::home_dir().ok_or(Trouble::Needs("a home folder"))?;
    Ok(tempfile::tempdir_in(home)?)
}

/// Runs a script on a node.
fn exec(target: &Target, folder: &std::path::Path, script: &str) -> Result<Output, Trouble> {
    let spec = folder.join("spec.toml");
    fs::write(&spec, PATH)?;
    let mut command = Command::new(&target.program);
    if let Some(guest) = &target.guest {
        command.env("PATHTWIN_GUEST", guest);
    }
    let output = command
        .args(["lab", "exec", "--limit", "30", "--wall-limit", "60"])
        .arg(&spec)
        .args(["--on", "client", "--", "sh", "-c", script])
        .stdin(Stdio::null())
        .output()?;
    match output.status.code() {
        Some(3) => Err(Trouble::Needs(
            "the lab's kernel and guest (make build kernel)",
        )),
        _ => Ok(output),
    }
}

/// Runs a script that tries to write the existing file `old` and the new file `new`.
fn writes(target: &Target, templates: &[&str]) -> Result<Seen, Trouble> {
    let folder = folder()?;
    let place = folder.path().display().to_string();
    let [old, new]: [PathBuf; 2] = ["old", "new"].map(|name| folder.path().join(name));
    let mut seen = Seen::default();
    fs::write(&old, "precious")?;
    for template in templates {
        let script = template.replace("FOLDER", &place);
        let output = exec(
            target,
            folder.path(),
            &format!("echo begun; {script}; echo ended"),
        )?;
        let message = String::from_utf8_lossy(&output.stdout).into_owned();
        if !message.contains("begun") {
            return Err(Trouble::Command {
                command: "lab exec",
                message: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        let kept = fs::read(&old).is_ok_and(|bytes| bytes == b"precious");
        seen.check(kept, format!("a file is unchanged: {kept}"));
        seen.check(!new.exists(), format!("a file was made: {}", new.exists()));
    }
    Ok(seen)
}

fn remount(target: &Target) -> Result<Seen, Trouble> {
    let write = "echo x > FOLDER/new; echo x > FOLDER/old; chmod 777 FOLDER/old; rm -f FOLDER/old";
    let plain = format!("mount -o remount,rw /; {write}");
    let bound = format!("mount -o remount,rw,bind /; mount -n -o remount,rw / /; {write}");
    writes(target, &[&plain, &bound])
}

fn hostfs(target: &Target) -> Result<Seen, Trouble> {
    let under = |place: &str| {
        format!("echo x > {place}FOLDER/new; echo x > {place}FOLDER/old; rm -f {place}FOLDER/old")
    };
    // The root of the guest's hostfs is its cell's folder, in which `host` refers to the host's
    // root.
    let again = format!(
        "mkdir -p /tmp/m; mount -t hostfs -o /host none /tmp/m; {}",
        under("/tmp/m")
    );
    let link = format!(
        "mkdir -p /tmp/n; mount -t hostfs none /tmp/n; {}",
        under("/tmp/n/host")
    );
    let part = "mkdir -p /tmp/o; mount -t hostfs -o /hostFOLDER none /tmp/o; echo x > /tmp/o/new; echo x > /tmp/o/old";
    writes(target, &[&again, &link, part])
}

fn mappings(target: &Target) -> Result<Seen, Trouble> {
    let folder = folder()?;
    // Pages are allocated in the order of first access: with random access, adjacent pages are not
    // adjacent in the guest's memory, and each needs a mapping of the host.
    let script = "python3 -c '\nimport mmap, random\nn = 90000\nm = mmap.mmap(-1, n * 4096)\np = list(range(n))\nrandom.Random(1).shuffle(p)\nfor i in p: m[i * 4096] = 1\nprint(n)'";
    let begun = Instant::now();
    let output = exec(target, folder.path(), script)?;
    let took = begun.elapsed();
    let mut seen = Seen::default();
    seen.note(format!("exit {:?}", output.status.code()));
    seen.check(
        took < Duration::from_secs(50),
        format!("it took {:.0} s", took.as_secs_f64()),
    );
    Ok(seen)
}
