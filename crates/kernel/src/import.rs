//! Import of an image that was built elsewhere into the cache.

use std::path::{Path, PathBuf};

use super::build::{Built, Trial, lock, try_and_install};
use super::cache::Cache;
use super::error::{Context as _, ImageFault, KernelError};
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
    Runner::new(cache.log(), None)?.run("unpacking the image", &mut command)?;
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
