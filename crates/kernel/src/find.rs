//! The current image, and images by name: a file, a series or version, or the beginning of a hash.

use std::ffi::OsStr;
use std::path::Path;

use super::cache::Cache;
use super::error::KernelError;
use super::image::Image;
use super::version::version_numbers;

/// Shortest beginning of a hash.
const SHORTEST: usize = 6;

/// The image of a name: a file; `7.2` or `7.2.13` (the newest built or imported image of that
/// series or version; of several of one version, the current one); or at least six digits of its
/// SHA-256.
///
/// # Errors
/// There is no such image, there are several of one version, or it cannot be used.
pub fn find(name: &OsStr) -> Result<Image, KernelError> {
    let file = Path::new(name);
    match name.to_str().filter(|name| !name.contains('/')) {
        Some(name) if !file.is_file() => named(name),
        _ => Image::open(file),
    }
}

/// The image of a name that is not a file.
///
/// # Errors
/// As of [`find`].
pub fn named(name: &str) -> Result<Image, KernelError> {
    find_in(&Cache::from_env()?, name)
}

/// The image to use: the one that `PATHTWIN_KERNEL` names ([`find`]), else the cache's current one.
///
/// # Errors
/// There is no image, or it cannot be used.
pub fn locate() -> Result<Image, KernelError> {
    match std::env::var_os("PATHTWIN_KERNEL") {
        Some(name) if !name.is_empty() => find(&name),
        _ => locate_in(&Cache::from_env()?),
    }
}

/// The current image of a cache.
pub(super) fn locate_in(cache: &Cache) -> Result<Image, KernelError> {
    match cache.current() {
        Some(folder) => Image::cached(&folder),
        None => Err(KernelError::NoImage {
            dir: cache.root().to_path_buf(),
        }),
    }
}

/// All images that were built or imported, newest first.
///
/// # Errors
/// The environment names no folder for the cache.
pub fn images() -> Result<Vec<Image>, KernelError> {
    Ok(images_in(&Cache::from_env()?))
}

pub(super) fn images_in(cache: &Cache) -> Vec<Image> {
    let folders = cache.folders();
    let mut images: Vec<Image> = folders
        .iter()
        .filter_map(|folder| Image::cached(folder).ok())
        .collect();
    images.sort_by_key(|image| (numbers(image), image.sha256.clone()));
    images.reverse();
    images.dedup_by(|a, b| a.sha256 == b.sha256);
    images
}

/// The newest image of a series that a recipe made.
pub(super) fn newest_of(cache: &Cache, series: &str, recipe: &str) -> Option<Image> {
    images_in(cache).into_iter().find(|image| {
        let made = image.meta.as_ref().and_then(|meta| meta.recipe.as_deref());
        made == Some(recipe) && is_of_series(image, series)
    })
}

pub(super) fn find_in(cache: &Cache, name: &str) -> Result<Image, KernelError> {
    let images = images_in(cache);
    let fits: Vec<&Image> = images
        .iter()
        .filter(|image| is_named(image, name))
        .collect();
    let newest = fits.first().map(|image| numbers(image));
    let best: Vec<&Image> = fits
        .into_iter()
        .filter(|image| Some(numbers(image)) == newest)
        .collect();
    if let [only] = best[..] {
        return Ok(only.clone());
    }
    let current = locate_in(cache).ok();
    let current = current.filter(|current| best.iter().any(|image| image.sha256 == current.sha256));
    current.ok_or_else(|| {
        let name = name.to_owned();
        match best.is_empty() {
            true => KernelError::NotNamed {
                name,
                images: images.iter().map(describe).collect(),
            },
            false => KernelError::NamedTwice {
                name,
                images: best.into_iter().map(describe).collect(),
            },
        }
    })
}

/// Returns true if a version or the beginning of a hash names an image.
fn is_named(image: &Image, name: &str) -> bool {
    is_of_series(image, name) || name.len() >= SHORTEST && image.sha256.starts_with(name)
}

fn is_of_series(image: &Image, series: &str) -> bool {
    let rest = version(image).strip_prefix(series);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn version(image: &Image) -> &str {
    image.meta.as_ref().map_or("", |meta| &meta.version)
}

fn numbers(image: &Image) -> Vec<u32> {
    version_numbers(version(image))
}

/// `7.2.13 6db1ae848692`
fn describe(image: &Image) -> String {
    let short = image.sha256.get(..12).unwrap_or(&image.sha256);
    format!("{} {short}", version(image))
}

#[cfg(test)]
mod tests {
    use super::super::cache::write_file;
    use super::super::image::{IMAGE_FILE, Meta};
    use super::*;

    /// A cache with images of these versions and contents; the last is the current one.
    fn cache(images: &[(&str, &str)]) -> (tempfile::TempDir, Cache, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        cache.create().unwrap();
        let lock = cache.lock(None, &mut || ()).unwrap();
        let mut hashes = Vec::new();
        for (number, (version, text)) in images.iter().enumerate() {
            let staged = cache.root().join("staged");
            std::fs::create_dir_all(&staged).unwrap();
            write_file(&staged.join(IMAGE_FILE), text.as_bytes()).unwrap();
            let meta =
                Meta::from_config((*version).to_owned(), text.as_bytes(), String::new(), None);
            meta.write(&staged).unwrap();
            hashes.push(meta.sha256.clone());
            cache
                .install(&lock, &staged, &format!("key{number}"))
                .unwrap();
        }
        (folder, cache, hashes)
    }

    #[test]
    fn a_series_is_its_newest_image_and_a_hash_is_one_image() {
        let (_folder, cache, hashes) = cache(&[
            ("6.1.170", "a"),
            ("7.2.9", "b"),
            ("7.2.13", "c"),
            ("6.12.3", "d"),
        ]);
        let found = |name: &str| find_in(&cache, name).unwrap().sha256;
        assert_eq!(found("7.2"), hashes[2]);
        assert_eq!(found("7.2.9"), hashes[1]);
        // 6.1 is not 6.12.
        assert_eq!(found("6.1"), hashes[0]);
        assert_eq!(found(&hashes[3][..8]), hashes[3]);
        assert_eq!(images_in(&cache).len(), 4);
    }

    #[test]
    fn of_two_images_of_one_version_the_current_one_is_meant() {
        let (_folder, cache, hashes) = cache(&[("7.2.13", "a"), ("7.2.13", "b")]);
        assert_eq!(find_in(&cache, "7.2").unwrap().sha256, hashes[1]);
        let (_folder, cache, _) = self::cache(&[("7.2.13", "a"), ("7.2.13", "b"), ("6.1.1", "c")]);
        let error = find_in(&cache, "7.2").unwrap_err().to_string();
        assert!(
            error.contains("7.2.13 ") && !error.contains("6.1.1"),
            "{error}"
        );
    }

    #[test]
    fn an_unknown_image_name_lists_the_existing_ones() {
        let (_folder, cache, hashes) = cache(&[("7.2.13", "a")]);
        let error = find_in(&cache, "9.9").unwrap_err().to_string();
        assert!(
            error.contains("9.9") && error.contains(&hashes[0][..12]),
            "{error}"
        );
        assert!(find_in(&cache, "7").is_ok());
        // Too short for a hash.
        assert!(find_in(&cache, &hashes[0][..4]).is_err());
    }
}
