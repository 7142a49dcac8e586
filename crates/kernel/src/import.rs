//! Import of an image that was built elsewhere into the cache.

use std::path::{Path, PathBuf};

use super::build::{Built, Trial, lock, try_and_install};
use super::cache::Cache;
use super::error::{Context as _, ImageFault, KernelError, StepEnd};
use super::image::{IMAGE_FILE, Image, META_FILE};
use super::note::Note;
use super::progress::{Progress, Report, Stage, report_stage};
use super::recipe::{inputs, known};
use super::run::{Runner, plain};

/// Adds an image, or the image in an archive (`.tar`, `.tar.xz`, ...) or folder with its
/// `image.json`, to the cache and makes it the current one, after it has passed the trial.
///
/// # Errors
/// The file is not an image of the lab's kernel, its hash differs from its document, or it fails
/// the trial.
pub fn import(
    file: &Path,
    trial: Trial<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Built, KernelError> {
    import_in(&Cache::from_env()?, file, trial, progress)
}

/// Same as [`import`], into a given cache.
fn import_in(
    cache: &Cache,
    file: &Path,
    trial: Trial<'_>,
    report: Report<'_>,
) -> Result<Built, KernelError> {
    cache.create()?;
    let lock = lock(cache, None, report)?;
    let scratch = cache.scratch(&lock)?;
    report_stage(report, Stage::Unpack, &file.to_string_lossy());
    let found = find(cache, file, &scratch.path().join("unpacked"))?;
    let image = Image::open(&found)?;
    let bad = |fault| KernelError::image(file, fault);
    let beside = found.with_file_name(META_FILE);
    let mut meta = image.meta.ok_or_else(|| bad(ImageFault::NoConfig))?;
    if beside.exists() && meta.recipe.is_none() {
        return Err(bad(ImageFault::OtherDocument));
    }
    if !meta.seeded {
        return Err(bad(ImageFault::NotSeeded));
    }
    meta.imported = true;
    let same_inputs = known(&meta.sha256) || meta.inputs.as_deref() == Some(&inputs(None));
    let notes = match same_inputs {
        true => Vec::new(),
        false => vec![Note::OtherInputs],
    };
    let staged = scratch.path().join("image");
    std::fs::create_dir_all(&staged).on("create", &staged)?;
    std::fs::copy(&found, staged.join(IMAGE_FILE)).on("copy", &found)?;
    meta.write(&staged)?;
    let key = format!("imported-{}", &meta.sha256[..23]);
    Ok(Built {
        image: try_and_install(
            cache,
            &lock,
            (staged.as_path(), key.as_str()),
            Cache::install,
            trial,
            report,
        )?,
        fresh: true,
        notes,
    })
}

/// The image itself, at the path named by the user.
fn find(cache: &Cache, file: &Path, unpacked: &Path) -> Result<PathBuf, KernelError> {
    let none = || KernelError::image(file, ImageFault::NotInside);
    let name = file
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if file.is_dir() {
        return inside(file).ok_or_else(none);
    }
    if !name.contains(".tar") && !name.ends_with(".tgz") {
        return Ok(file.to_path_buf());
    }
    std::fs::create_dir_all(unpacked).on("create", unpacked)?;
    let mut command = plain("tar");
    command
        .args(["--no-same-owner", "--extract", "--file"])
        .arg(file)
        .arg("--directory")
        .arg(unpacked);
    match Runner::new(cache.log(), None)?.run("unpacking the image", &mut command) {
        Err(KernelError::Step {
            end: StepEnd::Status(_),
            tail,
            ..
        }) => {
            // tar's own lines are about the end of the program that decompresses.
            let line = tail.lines().find(|line| !line.is_empty());
            let why = line.unwrap_or("tar gives no reason").to_owned();
            return Err(KernelError::image(file, ImageFault::Archive(why)));
        }
        unpacked => unpacked?,
    }
    inside(unpacked).ok_or_else(none)
}

/// The image in a folder, or in the one folder in it.
fn inside(folder: &Path) -> Option<PathBuf> {
    let here = folder.join(IMAGE_FILE);
    if here.is_file() {
        return Some(here);
    }
    let below = std::fs::read_dir(folder).ok()?.flatten();
    below
        .map(|entry| entry.path().join(IMAGE_FILE))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What tar said was printed before, and neither which file it was about nor what to do.
    #[test]
    fn an_archive_that_was_cut_or_altered_is_refused_by_name_with_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(&dir.path().join("cache"));
        let (inner, file) = (dir.path().join("linux"), dir.path().join("kernel.tar.xz"));
        let text: String = (0..20_000).map(|n| format!("{n}\n")).collect();
        std::fs::write(&inner, text).unwrap();
        let mut pack = plain("tar");
        pack.args(["--create", "--xz", "--file"]).arg(&file);
        pack.arg("--directory").arg(dir.path()).arg("linux");
        assert!(pack.status().unwrap().success());
        let whole = std::fs::read(&file).unwrap();
        let mut altered = whole.clone();
        altered[whole.len() / 2] ^= 1;
        for bytes in [&whole[..whole.len() / 2], &altered] {
            std::fs::write(&file, bytes).unwrap();
            let error = import_in(&cache, &file, &mut |_| Ok(()), &mut |_| ()).unwrap_err();
            let said = error.to_string();
            let place = format!("{} is not a usable kernel image", file.display());
            for part in [place.as_str(), "cut or changed", "xz: ", "get it again"] {
                assert!(said.contains(part), "no {part} in: {said}");
            }
            assert_eq!(error.exit_code(), 3);
        }
        assert_eq!(cache.current(), None);
    }

    #[test]
    fn a_file_that_is_not_an_image_is_refused_and_the_cache_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(&dir.path().join("cache"));
        let file = dir.path().join("linux");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        for named in [&file, dir.path()] {
            let error = import_in(&cache, named, &mut |_| Ok(()), &mut |_| ()).unwrap_err();
            assert!(error.to_string().contains("not a program"), "{error}");
        }
        let empty = dir.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        let error = import_in(&cache, &empty, &mut |_| Ok(()), &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("no file linux in it"), "{error}");
        assert_eq!(cache.current(), None);
    }
}
