//! The image as `make dist` packs it, imported into an empty cache: it boots, and is the same one.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    common::{kernel, parse, pathtwin, rows, spec, text},
    images, shared_folder, without_root,
};

/// The archive, as the script of `make dist` writes it; `None` where its source is not kept.
fn packed() -> Option<&'static Path> {
    static PACKED: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let out = shared_folder("dist");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let output = Command::new(root.join("scripts/dist"))
            .arg(&out)
            .env("PATHTWIN", env!("CARGO_BIN_EXE_pathtwin"))
            .output()
            .expect("run scripts/dist");
        let said = text(&output.stderr);
        if said.contains("no longer exists") || said.contains("no image.json") {
            eprintln!("skipped: {said}");
            return None;
        }
        assert!(output.status.success(), "{said}");
        let archive = text(&output.stdout).lines().last().map(PathBuf::from);
        Some(archive.expect("the archive"))
    });
    PACKED.as_deref()
}

fn import(file: &Path, cache: &Path) -> Output {
    pathtwin()
        .env("PATHTWIN_CACHE", cache)
        .args(["lab", "kernel", "import"])
        .arg(file)
        .output()
        .expect("run pathtwin")
}

fn sha256(file: &Path) -> String {
    let output = Command::new("sha256sum").arg(file).output();
    let said = text(&output.expect("run sha256sum").stdout);
    said.split(' ').next().expect("a hash").to_owned()
}

const CELL: &str = "name = \"cell\"\nduration = \"1s\"\nwarmup = \"1s\"\n\
                    [path]\nrtt = \"10ms\"\nrate = \"20mbit\"\n";

#[test]
fn the_archive_of_a_release_is_imported_into_an_empty_cache_and_runs_the_same_cell() {
    let Some(archive) = packed() else { return };
    let beside = fs::read_to_string(format!("{}.sha256", archive.display()));
    assert!(beside.expect("read it").starts_with(&sha256(archive)));
    let cache = tempfile::tempdir().expect("make a folder");
    let output = import(archive, cache.path());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(" imported"), "{said}");

    let image = PathBuf::from(text(&output.stdout).trim());
    assert!(image.starts_with(cache.path()), "{}", image.display());
    let meta = fs::read(kernel().with_file_name("image.json")).expect("read the document");
    let meta: Value = serde_json::from_slice(&meta).expect("a document");
    assert_eq!(meta["sha256"], sha256(&image));
    assert!(images(cache.path()).starts_with("* "));

    let (_folder, path) = spec(CELL);
    let run = pathtwin()
        .env("PATHTWIN_CACHE", cache.path())
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(parse(&run)[0]["digest"], rows(&path, &[])[0]["digest"]);
}

/// Imports what must be refused; returns what was said.
fn refused(file: &Path) -> String {
    let cache = tempfile::tempdir().expect("make a folder");
    let output = import(file, cache.path());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        output.stdout.is_empty() && !said.contains(" imported"),
        "{said}"
    );
    assert!(images(cache.path()).is_empty(), "{}", images(cache.path()));
    assert!(
        said.contains(&file.display().to_string()),
        "no place: {said}"
    );
    said
}

#[test]
fn an_archive_that_was_cut_or_altered_on_its_way_is_refused_with_place_and_remedy() {
    let Some(archive) = packed() else { return };
    let folder = tempfile::tempdir().expect("make a folder");
    let whole = fs::read(archive).expect("read the archive");
    let file = folder.path().join("kernel.tar.xz");
    let mut altered = whole.clone();
    altered[whole.len() / 2] ^= 1;
    for bytes in [&whole[..whole.len() / 2], &altered] {
        fs::write(&file, bytes).expect("write an archive");
        let said = refused(&file);
        for part in ["cut or changed", "xz: ", "get it again"] {
            assert!(said.contains(part), "no {part} in: {said}");
        }
    }
}

/// A folder with the files of the archive, of which some are replaced.
fn with(archive: &Path, image: &[u8], change: impl Fn(&mut Value)) -> TempDir {
    let folder = tempfile::tempdir().expect("make a folder");
    let status = Command::new("tar")
        .args(["--strip-components=1", "--extract", "--file"])
        .arg(archive)
        .arg("--directory")
        .arg(folder.path())
        .status();
    assert!(status.expect("run tar").success());
    fs::write(folder.path().join("linux"), image).expect("write the image");
    let file = folder.path().join("image.json");
    let mut meta = serde_json::from_slice(&fs::read(&file).expect("read it")).expect("a document");
    change(&mut meta);
    fs::write(file, meta.to_string()).expect("write the document");
    folder
}

#[test]
fn an_image_that_is_not_the_one_of_its_document_is_refused() {
    let Some(archive) = packed() else { return };
    let mut image = fs::read(kernel()).expect("read the image");
    let middle = image.len() / 2;
    image[middle] ^= 1;
    let folder = with(archive, &image, |_| ());
    let said = refused(folder.path());
    assert!(said.contains("describes another image"), "{said}");
    assert!(
        said.contains("lab kernel build --force"),
        "no remedy: {said}"
    );
}

/// Whatever its document says, an image that does not boot is not imported.
#[test]
fn an_image_that_does_not_boot_is_not_called_imported() {
    let Some(archive) = packed() else { return };
    let image = without_root();
    let folder = with(archive, &image, |_| ());
    let hash = sha256(&folder.path().join("linux"));
    let folder = with(archive, &image, |meta| meta["sha256"] = hash.clone().into());
    let cache = tempfile::tempdir().expect("make a folder");
    let output = import(folder.path(), cache.path());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("does not boot on this host: "), "{said}");
    assert!(
        output.stdout.is_empty() && images(cache.path()).is_empty(),
        "{said}"
    );
}
