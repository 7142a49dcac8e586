#![allow(clippy::unwrap_used)]

use std::os::unix::fs::symlink;

use super::*;

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("pathtwin-files-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let list = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = list
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_private_file_is_readable_by_its_owner_only() {
    let folder = Folder::new("mode");
    let file = folder.at("key");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    write(&file, Readers::Owner, Existing::Replace, b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(mode(&file), 0o600);
    assert_eq!(folder.names(), ["key"]);
}

/// A measurement of minutes was lost because its file could not be written.
#[test]
fn what_cannot_be_written_is_known_before() {
    let folder = Folder::new("check");
    fs::write(folder.at("file"), "").unwrap();
    let kind = |path: &Path| check(path).map_err(|e| e.kind());
    for good in ["new", "file", "below/two/folders"] {
        assert_eq!(kind(&folder.at(good)), Ok(()), "{good}");
    }
    assert_eq!(kind(Path::new("/dev/null")), Ok(()));
    // The folder of the process may be another user's: either answer, but the same by both names.
    let here = std::env::current_dir().unwrap();
    assert_eq!(kind(Path::new("name")), kind(&here.join("name")));
    assert_eq!(kind(&folder.0), Err(io::ErrorKind::IsADirectory));
    let below = kind(&folder.at("file/below"));
    assert_eq!(below, Err(io::ErrorKind::NotADirectory));
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn a_planted_file_is_neither_followed_nor_reused() {
    let folder = Folder::new("planted");
    let (victim, file) = (folder.at("victim"), folder.at("key"));
    fs::write(&victim, "not to be touched").unwrap();
    // Names contain a counter: occupy many of the next ones.
    let name = |n: u32| folder.at(&format!(".pathtwin-{}-{n}.partial", std::process::id()));
    for n in 0..60 {
        if n % 2 == 0 {
            symlink(&victim, name(n)).unwrap();
        } else {
            fs::write(name(n), "reused").unwrap();
        }
    }
    write(&file, Readers::Owner, Existing::Replace, b"secret").unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"not to be touched");
    assert_eq!(fs::read(&file).unwrap(), b"secret");
    for n in (1..60).step_by(2) {
        assert_eq!(fs::read(name(n)).unwrap(), b"reused");
    }
}

#[test]
fn a_symbolic_link_is_replaced_and_not_followed() {
    let folder = Folder::new("link");
    let (victim, file) = (folder.at("victim"), folder.at("key"));
    fs::write(&victim, "as it was").unwrap();
    symlink(&victim, &file).unwrap();
    let kept = write(&file, Readers::Owner, Existing::Keep, b"new").unwrap_err();
    assert_eq!(kept.kind(), io::ErrorKind::AlreadyExists);
    write(&file, Readers::Owner, Existing::Replace, b"new").unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"as it was");
    assert!(fs::symlink_metadata(&file).unwrap().is_file());
    assert_eq!(folder.names(), ["key", "victim"]);
}

#[test]
fn of_two_concurrent_writers_of_a_new_file_one_fails_without_leftovers() {
    let folder = Folder::new("race");
    let file = folder.at("key");
    let made = std::thread::scope(|scope| {
        let write = |n: u8| write(&file, Readers::Owner, Existing::Keep, &[n]).is_ok();
        let all: Vec<_> = (0..8).map(|n| scope.spawn(move || write(n))).collect();
        all.into_iter()
            .map(|t| t.join().unwrap())
            .filter(|ok| *ok)
            .count()
    });
    assert_eq!(made, 1);
    assert_eq!(fs::read(&file).unwrap().len(), 1);
    assert_eq!(folder.names(), ["key"]);
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = Folder::new("failed");
    let file = folder.at("run.json");
    fs::write(&file, "old").unwrap();
    let failed = write_by(&file, Readers::ByUmask, Existing::Replace, |out| {
        out.write_all(b"half")?;
        Err(io::Error::other("the disk is full"))
    });
    assert!(failed.is_err());
    assert_eq!(fs::read(&file).unwrap(), b"old");
    assert_eq!(folder.names(), ["run.json"]);
}

#[test]
fn a_file_that_was_open_to_others_can_be_taken_back() {
    let folder = Folder::new("taken");
    let file = folder.at("history.db");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    assert!(make_private(&file).unwrap());
    assert_eq!(mode(&file), 0o600);
    assert!(!make_private(&file).unwrap());
}

#[test]
fn a_secret_that_others_can_read_is_refused_with_the_command_that_mends_it() {
    let folder = Folder::new("secret");
    let file = folder.at("key");
    fs::write(&file, "secret").unwrap();
    for mode in [0o644, 0o604, 0o602, 0o666] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let error = read_secret(&file, 100).unwrap_err().to_string();
        assert!(
            error.contains(&format!("chmod 600 {}", file.display())),
            "{error}"
        );
        assert!(error.contains(&format!("mode {mode:03o}")), "{error}");
    }
    for mode in [0o600, 0o400] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(read_secret(&file, 100).unwrap(), b"secret");
    }
    assert!(matches!(
        read_secret(&file, 5),
        Err(SecretError::TooLong(..))
    ));
}

#[test]
fn results_are_read_only_from_regular_files() {
    let folder = Folder::new("untrusted");
    let (secret, link, pipe) = (folder.at("secret"), folder.at("output"), folder.at("pipe"));
    fs::write(&secret, "of the caller").unwrap();
    symlink(&secret, &link).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from(0o600),
        0,
    )
    .unwrap();
    assert_eq!(read_untrusted(&secret, 100).unwrap(), b"of the caller");
    assert!(read_untrusted(&secret, 3).is_err());
    assert!(read_untrusted(&link, 100).is_err());
    assert!(read_untrusted(&pipe, 100).is_err());
    assert!(read_untrusted(&folder.0, 100).is_err());
}

#[test]
fn a_file_that_others_may_write_is_not_own() {
    let folder = Folder::new("own");
    let file = folder.at("config");
    fs::write(&file, "text").unwrap();
    for (mode, own) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false)] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let read = read_own(&file, 4).unwrap();
        assert_eq!(read, own.then(|| "text".to_owned()), "{mode:o}");
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&file, folder.at("link")).unwrap();
    assert!(read_own(&folder.at("link"), 4).unwrap().is_some());
    assert!(read_own(&file, 3).is_err(), "longer");
    assert_eq!(read_own(Path::new("/dev/null"), 3).unwrap(), None);
}

#[test]
fn devices_and_descriptors_are_streams_and_files_are_not() {
    for path in ["/dev/null", "/dev/stdout", "/proc/self/fd/1"] {
        assert!(is_stream(Path::new(path)), "{path}");
    }
    for path in ["/etc/passwd", "not there"] {
        assert!(!is_stream(Path::new(path)), "{path}");
    }
}

#[test]
fn a_file_has_its_mode_as_soon_as_it_has_its_name() {
    let folder = Folder::new("given-mode");
    for given in [0o755, 0o640, 0o666] {
        let file = folder.at(&format!("{given:o}"));
        write(&file, Readers::Mode(given), Existing::Keep, b"x").unwrap();
        assert_eq!(mode(&file), given);
    }
}

#[test]
fn temporary_files_of_killed_processes_are_removed_and_no_others() {
    let folder = Folder::new("partial");
    let names = [".pathtwin-77-0.partial", ".pathtwin-77", "x.partial"];
    for name in names {
        fs::write(folder.at(name), "half").unwrap();
    }
    remove_partial(&folder.0).unwrap();
    assert_eq!(folder.names(), [".pathtwin-77", "x.partial"]);
    remove_partial(&folder.at("missing")).unwrap();
}

#[test]
fn missing_folders_are_made_below_one_that_exists() {
    let folder = Folder::new("folders");
    let deep = folder.at("a/b/c");
    make_folder(&deep).unwrap();
    make_folder(&deep).unwrap();
    assert!(deep.is_dir());
}

/// Bug: a segment's file that another start had replaced before it was opened by its name was that
/// start's.
#[test]
fn a_file_that_is_written_and_returned_open_is_that_file_even_if_its_name_is_another_one() {
    let folder = Folder::new("open");
    let (name, kept) = (folder.at("name"), folder.at("kept"));
    let mut file = write_open(&name, Readers::Owner, Existing::Keep, b"one\n").unwrap();
    fs::hard_link(&name, &kept).unwrap();
    write(&name, Readers::Owner, Existing::Replace, b"another\n").unwrap();
    file.write_all(b"two\n").unwrap();
    assert_eq!(fs::read(&kept).unwrap(), b"one\ntwo\n");
    assert_eq!(fs::read(&name).unwrap(), b"another\n");
}
