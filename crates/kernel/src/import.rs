//! Taking an image that was built elsewhere into the cache.

use std::path::{Path, PathBuf};

use super::build::{Built, Progress, Stage, Trial, tell, try_out};
use super::cache::{Cache, write_file};
use super::error::{Context as _, KernelError};
use super::image::{IMAGE_FILE, Image, META_FILE};
use super::recipe::{inputs, known};
use super::run::{Runner, plain};

/// Takes an image, or the archive (`.tar`, `.tar.xz`, ...) or folder that holds one with its
/// `image.json`, into the cache and makes it the current one, after it has passed the trial.
///
/// # Errors
/// If the file is no image of the lab's kernel, its hash is not the one that its document states,
/// or it does not pass the trial.
pub fn import(
    file: &Path,
    trial: Trial<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Built, KernelError> {
    import_in(&Cache::from_env()?, file, trial, progress)
}

/// As [`import`], into a given cache.
fn import_in(
    cache: &Cache,
    file: &Path,
    trial: Trial<'_>,
    report: &mut dyn FnMut(Progress<'_>),
) -> Result<Built, KernelError> {
    cache.create()?;
    let lock = cache.lock(None, &mut || {
        tell(report, Stage::Wait, "another process builds a kernel")
    })?;
    let scratch = cache.scratch(&lock)?;
    tell(report, Stage::Unpack, &file.to_string_lossy());
    let found = find(cache, file, &scratch.path().join("unpacked"))?;
    let image = Image::open(&found)?;
    let bad = |why: &str| KernelError::BadImage {
        path: file.to_path_buf(),
        why: why.to_owned(),
    };
    let beside = found.with_file_name(META_FILE);
    let mut meta = image
        .meta
        .ok_or_else(|| bad("it does not tell its configuration (CONFIG_IKCONFIG)"))?;
    if beside.exists() && meta.recipe.is_none() {
        return Err(bad(
            "the image.json beside it tells about another image: one of the two was changed",
        ));
    }
    if !meta.seeded {
        return Err(bad("it has no seeded entropy, so no run of it repeats"));
    }
    meta.imported = true;
    let notes = match known(&meta.sha256) || meta.inputs.as_deref() == Some(&inputs()) {
        true => Vec::new(),
        false => vec![
            "the image was not made from this version's patches and configuration: results may differ from \
             those of images that were, and the next `lab kernel build` replaces it"
                .to_owned(),
        ],
    };
    let staged = scratch.path().join("image");
    std::fs::create_dir_all(&staged).on("create", &staged)?;
    std::fs::copy(&found, staged.join(IMAGE_FILE)).on("copy", &found)?;
    let text = serde_json::to_vec_pretty(&meta)
        .map_err(std::io::Error::from)
        .on("write", &staged)?;
    write_file(&staged.join(META_FILE), &text)?;
    try_out(&Image::cached(&staged)?, trial, report)?;
    let key = format!("imported-{}", &meta.sha256[..23]);
    tell(report, Stage::Install, &key);
    let folder = cache.install(&lock, &staged, &key)?;
    Ok(Built {
        image: Image::cached(&folder)?,
        fresh: true,
        notes,
    })
}

/// The image itself, in what the user named.
fn find(cache: &Cache, file: &Path, unpacked: &Path) -> Result<PathBuf, KernelError> {
    let name = file
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if file.is_dir() {
        return inside(file).ok_or_else(|| none_in(file));
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
    inside(unpacked).ok_or_else(|| none_in(file))
}

fn none_in(file: &Path) -> KernelError {
    KernelError::BadImage {
        path: file.to_path_buf(),
        why: format!("there is no file {IMAGE_FILE} in it"),
    }
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
    fn what_is_no_image_is_refused_and_leaves_the_cache_as_it_was() {
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
