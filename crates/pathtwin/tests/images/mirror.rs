//! A mirror of the Debian archive on loopback, with two kernel sources, for the real program, apt
//! and make. What make compiles is a copy of an image, so that a build takes no minutes.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

use crate::{
    common::{is_root, kernel, pathtwin, text},
    shared_folder, without_root,
};

const PROGRAMS: &[&str] = &[
    "apt-get",
    "dpkg-deb",
    "dpkg-scanpackages",
    "gpg",
    "make",
    "patch",
    "tar",
    "unshare",
    "xz",
];
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The patches that every source must take (crates/kernel/patches/series).
const REQUIRED: &[&str] = &["0001-um-hz-1000.patch", "0002-um-seeded-entropy.patch"];

/// The mirror, and the folder that it serves.
pub(crate) struct Mirror {
    folder: PathBuf,
    port: u16,
}

/// One mirror for all tests; `None` where this host cannot have one.
pub(crate) fn mirror() -> Option<&'static Mirror> {
    static MIRROR: LazyLock<Option<Mirror>> = LazyLock::new(|| {
        missing().map_or_else(
            || Some(Mirror::new()),
            |what| {
                eprintln!("skipped: {what}");
                None
            },
        )
    });
    MIRROR.as_ref()
}

/// What a mirror in place of the host's needs, and is not there.
fn missing() -> Option<String> {
    for program in PROGRAMS {
        let found = Command::new("sh")
            .args(["-c", "command -v \"$0\"", program])
            .output();
        if !found.is_ok_and(|output| output.status.success()) {
            return Some(format!("there is no {program}"));
        }
    }
    if !Path::new(KEYRING).exists() {
        return Some(format!("there is no {KEYRING} to put another one over"));
    }
    let tried = Command::new("unshare")
        .args(own_mounts())
        .arg("true")
        .status();
    (!tried.is_ok_and(|status| status.success())).then(|| "no mount namespaces here".to_owned())
}

/// Flags of unshare, for a caller who is root and for others.
fn own_mounts() -> &'static [&'static str] {
    match is_root() {
        true => &["--mount"],
        false => &["--mount", "--map-root-user"],
    }
}

impl Mirror {
    fn new() -> Self {
        let mirror = Self {
            folder: shared_folder("mirror"),
            port: 0,
        };
        let good = fs::read(kernel()).expect("read the image");
        mirror.source("7.2", "7.2.14", &without_root());
        mirror.source("6.12", "6.12.200", &good);
        mirror.index();
        mirror.serve()
    }

    /// Runs `pathtwin lab kernel build` where this is the host's only mirror.
    pub(crate) fn build(&self, cache: &Path, more: &[&str]) -> Output {
        let sources = self.folder.join("sources.list.d");
        fs::create_dir_all(&sources).expect("make a folder");
        let line = format!("deb http://127.0.0.1:{}/debian unstable main\n", self.port);
        fs::write(sources.join("mirror.list"), line).expect("write the sources");
        let program = pathtwin();
        let mut command = Command::new("unshare");
        command.args(own_mounts()).args(["sh", "-c"]).arg(
            "mount --bind \"$0\" /etc/apt/sources.list.d && mount --bind \"$1\" \"$2\" || exit 99
            ! [ -e /etc/apt/sources.list ] || mount --bind /dev/null /etc/apt/sources.list || exit 99
            shift 2; exec \"$@\"",
        );
        command
            .arg(&sources)
            .arg(self.folder.join("key.gpg"))
            .arg(KEYRING)
            .arg(program.get_program())
            .args(["lab", "kernel", "build"])
            .args(more);
        for (name, value) in program.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command
            .env("PATHTWIN_CACHE", cache)
            .env("no_proxy", "127.0.0.1");
        command.output().expect("run pathtwin")
    }

    fn debian(&self) -> PathBuf {
        self.folder.join("debian")
    }

    /// A package with a source that make turns into `image`.
    fn source(&self, series: &str, version: &str, image: &[u8]) {
        let folder = tempfile::tempdir().expect("make a folder");
        let name = format!("linux-source-{series}");
        let (tree, package) = (folder.path().join(&name), folder.path().join("package"));
        let (control, src) = (package.join("DEBIAN"), package.join("usr/src"));
        for folder in [&tree, &control, &src, &self.debian()] {
            fs::create_dir_all(folder).expect("make a folder");
        }
        for patch in REQUIRED {
            unpatched(patch, &tree);
        }
        let numbers: Vec<&str> = version.split('.').collect();
        let [major, minor, patch] = numbers[..] else {
            panic!("{version}");
        };
        let makefile = format!(
            "VERSION = {major}\nPATCHLEVEL = {minor}\nSUBLEVEL = {patch}\nEXTRAVERSION =\n\
             allnoconfig:\n\tcp $(KCONFIG_ALLCONFIG) .config\nlinux:\n\tcp image linux\n"
        );
        fs::write(tree.join("Makefile"), makefile).expect("write the source");
        fs::write(tree.join("image"), image).expect("write the source");
        let tarball = src.join(format!("{name}.tar.xz"));
        run(Command::new("tar")
            .args(["--use-compress-program", "xz -1", "--create", "--file"])
            .arg(&tarball)
            .arg("--directory")
            .args([folder.path(), Path::new(&name)]));
        let about = format!(
            "Package: {name}\nVersion: {version}-1\nArchitecture: all\n\
             Maintainer: x <x@example.org>\nDescription: x\n"
        );
        fs::write(control.join("control"), about).expect("write the package");
        run(Command::new("dpkg-deb")
            .args(["--root-owner-group", "-Znone", "--build"])
            .arg(&package)
            .arg(self.debian().join(format!("{name}_{version}-1_all.deb"))));
    }

    /// The index of the packages, signed by a key of its own.
    fn index(&self) {
        let script = "set -e; cd \"$0\"; GNUPGHOME=$(mktemp -d); export GNUPGHOME; cd debian
            binary=dists/unstable/main/binary-amd64; mkdir -p $binary
            dpkg-scanpackages --multiversion . >$binary/Packages
            cd dists/unstable
            { echo 'Suite: unstable'; echo 'Codename: sid'; echo 'Architectures: amd64'
              echo 'Components: main'; LC_ALL=C date -u '+Date: %a, %d %b %Y %T UTC'; echo 'SHA256:'
              set -- main/binary-amd64/Packages
              echo \" $(sha256sum <$1 | cut -d' ' -f1) $(stat -c %s $1) $1\"; } >Release
            sign() { gpg --batch --quiet --pinentry-mode loopback --passphrase '' \"$@\"; }
            sign --quick-generate-key test@example.org rsa2048 sign never
            sign --output \"$0/key.gpg\" --export test@example.org
            sign --output InRelease --clearsign Release
            gpgconf --kill all; rm -rf \"$GNUPGHOME\"";
        run(Command::new("sh").args(["-c", script]).arg(&self.folder));
    }

    fn serve(mut self) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
        self.port = listener.local_addr().expect("an address").port();
        let root = self.folder.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let root = root.clone();
                // What apt no longer waits for may fail.
                std::thread::spawn(move || answer(connection, &root).ok());
            }
        });
        self
    }
}

/// Serves one request, and closes.
fn answer(mut connection: TcpStream, root: &Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(connection.try_clone()?).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    // The rest of the head is read, or closing would reset the connection.
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or("/");
    let file = fs::read(root.join(path.trim_start_matches('/')));
    let (status, body) = match file {
        Ok(bytes) => ("200 OK", bytes),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes())?;
    connection.write_all(&body)
}

/// Writes what a patch changes, as it was before: the lines of its one hunk, at their place.
fn unpatched(name: &str, tree: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel/patches");
    let text = fs::read_to_string(folder.join(name)).expect("read a patch");
    let file = text.lines().find_map(|line| line.strip_prefix("--- a/"));
    let file = tree.join(file.expect("a file"));
    let (_, hunk) = text.split_once("\n@@ -").expect("a hunk");
    let first: usize = hunk
        .split(',')
        .next()
        .and_then(|number| number.parse().ok())
        .expect("a line number");
    let mut before = "\n".repeat(first - 1);
    for line in hunk.lines().skip(1).filter(|line| !line.starts_with('+')) {
        before += line.get(1..).unwrap_or_default();
        before.push('\n');
    }
    fs::create_dir_all(file.parent().expect("a folder")).expect("make a folder");
    fs::write(file, before).expect("write the source");
}

fn run(command: &mut Command) {
    let output = command.output().expect("run a program");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        text(&output.stderr)
    );
}
