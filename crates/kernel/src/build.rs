//! Builds: from a source to an installed image.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::cache::{Cache, Lock};
use super::compile::Compilation;
use super::config;
use super::error::{Context as _, KernelError, RejectionReason, TrialError};
use super::find::newest_of;
use super::image::Image;
use super::note::Note;
use super::progress::{Progress, Report, Stage, report_stage};
use super::recipe::{Toolchain, inputs, key, known, recipe};
use super::run::Runner;
use super::search::{Candidate, Search};
use super::source::{self, Source};
use super::tools::{self, SourceKind};

/// Configuration of a build.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// A kernel tarball, a `linux-source` package or a folder; else the pinned Debian package, or
    /// if that cannot be downloaded another one of a tested series.
    pub source: Option<PathBuf>,
    /// Options of the kernel beyond those of the lab, as a Kconfig fragment. Such an image does not
    /// become the current one.
    pub config: Option<String>,
    /// A series, such as `6.12`, of whose package in an archive the image is built. Such an image
    /// does not become the current one.
    pub series: Option<String>,
    /// Also use a package of a series that was not tested.
    pub untested: bool,
    /// Search for a newer source and build even if there is already an image.
    pub force: bool,
    /// Becomes true when the user stops the build.
    pub cancel: Option<&'static AtomicBool>,
}

/// The result of a build or an import.
#[derive(Debug)]
pub struct Built {
    /// The image, which is now the current one unless a series or further options were given.
    pub image: Image,
    /// False if it was in the cache already.
    pub fresh: bool,
    /// Messages for the user: sources that were rejected and why, another source than the
    /// pinned one.
    pub notes: Vec<Note>,
}

impl Built {
    /// An image that was already in the cache.
    fn known(image: Image) -> Self {
        Self {
            image,
            fresh: false,
            notes: Vec::new(),
        }
    }
}

/// Boots an image before it is installed; the error states why it cannot be used here.
pub type Trial<'a> = &'a mut dyn FnMut(&Image) -> Result<(), TrialError>;

/// Builds the lab's kernel, unless it is in the cache, and makes it the current one, unless a
/// series or further options are given. A source whose image fails the trial is rejected, and the
/// next one is tried.
///
/// # Errors
/// If a tool is missing, no source can be downloaded, no image passes the trial, or a step fails;
/// the text names the remedy.
pub fn build(
    options: &BuildOptions,
    trial: Trial<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Built, KernelError> {
    build_in(&Cache::from_env()?, options, trial, progress)
}

/// Same as [`build`], in a given cache.
pub(super) fn build_in(
    cache: &Cache,
    options: &BuildOptions,
    trial: Trial<'_>,
    report: Report<'_>,
) -> Result<Built, KernelError> {
    let kind = match &options.source {
        Some(path) => source::kind_of(path)?,
        None => SourceKind::Archive,
    };
    let (config, series) = (options.config.as_deref(), options.series.as_deref());
    let any_will_do = options.source.is_none() && !options.force;
    if any_will_do && let Some(image) = up_to_date(cache, config, series) {
        return Ok(Built::known(image));
    }
    tools::check(kind, config::has_modules(config))?;
    cache.create()?;
    let lock = lock(cache, options.cancel, report)?;
    // The previous holder of the lock may have built this one.
    if any_will_do && let Some(image) = up_to_date(cache, config, series) {
        return Ok(Built::known(image));
    }
    let mut builder = Builder {
        cache,
        lock: &lock,
        runner: Runner::new(cache.log(), options.cancel)?,
        toolchain: Toolchain::installed()?,
        config,
        series,
        force: options.force,
        trial,
        report,
    };
    let built = match &options.source {
        Some(path) => builder.build_given(path, kind),
        None => builder.build_best(options.untested),
    };
    if built.is_err() {
        builder.runner.check_cancelled()?;
    }
    built
}

/// Waits for the lock of a cache, and reports that it does.
pub(super) fn lock(
    cache: &Cache,
    cancel: Option<&AtomicBool>,
    report: Report<'_>,
) -> Result<Lock, KernelError> {
    cache.lock(cancel, &mut || {
        report_stage(report, Stage::Wait, "another process builds a kernel");
    })
}

/// State shared by all attempts of one build.
struct Builder<'a> {
    cache: &'a Cache,
    lock: &'a Lock,
    runner: Runner,
    toolchain: Toolchain,
    config: Option<&'a str>,
    series: Option<&'a str>,
    force: bool,
    trial: Trial<'a>,
    report: Report<'a>,
}

impl Builder<'_> {
    fn build_given(&mut self, path: &Path, kind: SourceKind) -> Result<Built, KernelError> {
        report_stage(self.report, Stage::Fetch, &path.to_string_lossy());
        let scratch = self.cache.scratch(self.lock)?;
        self.build(&source::open(path, kind, None)?, scratch.path())
    }

    /// Builds the best source that can be downloaded and whose image boots here: the pinned one, or
    /// else the best that an archive offers; of a series, the newest.
    fn build_best(&mut self, untested: bool) -> Result<Built, KernelError> {
        let scratch = self.cache.scratch(self.lock)?;
        let downloads = self.cache.downloads();
        let mut search = Search::of(self.series);
        if search.wants_pinned() {
            let mut on_archive = |name: &str| report_stage(self.report, Stage::Fetch, name);
            let pinned = search.pinned(&self.runner, &downloads, &mut on_archive)?;
            let candidates = Vec::from_iter(pinned);
            if let Some(built) = self.build_first(&mut search, &candidates, scratch.path())? {
                return Ok(built);
            }
        }
        let mut on_archive = |name: &str| report_stage(self.report, Stage::Fetch, name);
        search.query_all(&self.runner, &scratch.path().join("apt"), &mut on_archive)?;
        let candidates = search.candidates(untested);
        let built = self.build_first(&mut search, &candidates, scratch.path())?;
        built.ok_or(KernelError::NoSource(search.rejected))
    }

    /// Builds the first of some candidates whose image boots here.
    fn build_first(
        &mut self,
        search: &mut Search,
        candidates: &[Candidate],
        scratch: &Path,
    ) -> Result<Option<Built>, KernelError> {
        let downloads = self.cache.downloads();
        for candidate in candidates {
            let folder = tempfile::tempdir_in(scratch).on("make a folder in", scratch)?;
            match self.build_candidate(search, candidate, &downloads, folder.path()) {
                Ok(mut built) => {
                    let rejected = std::mem::take(&mut search.rejected).into_iter();
                    built.notes.extend(rejected.map(Note::NotUsed));
                    return Ok(Some(built));
                }
                // Nothing of this one was installed: the next one is tried, unless the user stopped
                // it. Programs of the build get the terminal's Ctrl-C, too, and fail.
                Err(error) => {
                    self.runner.check_cancelled()?;
                    let (place, package) = candidate.describe();
                    let error = Box::new(error);
                    search.reject(&place, RejectionReason::Build { package, error });
                }
            }
        }
        Ok(None)
    }

    fn build_candidate(
        &mut self,
        search: &Search,
        candidate: &Candidate,
        downloads: &Path,
        folder: &Path,
    ) -> Result<Built, KernelError> {
        let (_, name) = candidate.describe();
        report_stage(self.report, Stage::Fetch, &name);
        let package = search.fetch(&self.runner, candidate, downloads)?;
        let source = source::open(&package.file, SourceKind::Archive, Some(package.archive))?;
        std::fs::create_dir_all(folder).on("create", folder)?;
        let mut built = self.build(&source, folder)?;
        let (package, version) = name.split_once(' ').unwrap_or((&name, ""));
        built
            .notes
            .extend(Note::on_source(package, version, &source.info.sha256));
        Ok(built)
    }

    /// Builds one source, tries the image and installs it.
    fn build(&mut self, source: &Source, folder: &Path) -> Result<Built, KernelError> {
        let recipe = recipe(&self.toolchain, self.config);
        let key = key(&source.info.sha256, &recipe);
        if !self.force
            && let Ok(image) = Image::cached(&self.cache.folder(&key))
        {
            if !self.is_beside() {
                self.cache.point_to(&key)?;
            }
            return Ok(Built::known(image));
        }
        let compilation = Compilation {
            runner: &self.runner,
            source,
            compiler: self.toolchain.compiler.clone(),
            recipe,
            config: self.config,
            folder,
        };
        let staged = compilation.run(self.report)?;
        let install = match self.is_beside() {
            false => Cache::install,
            true => Cache::put,
        };
        try_and_install(
            self.cache,
            self.lock,
            (staged.as_path(), key.as_str()),
            install,
            self.trial,
            self.report,
        )
        .map(|image| {
            if source.info.archive.is_some() && !self.is_beside() {
                keep_only(&source.path);
            }
            Built {
                image,
                fresh: true,
                notes: Vec::new(),
            }
        })
    }

    /// The image is put beside the current one.
    fn is_beside(&self) -> bool {
        self.config.is_some() || self.series.is_some()
    }
}

/// Way to move a finished folder to its key.
pub(super) type Install = fn(&Cache, &Lock, &Path, &str) -> Result<PathBuf, KernelError>;

/// Boots the image of a staged folder, and installs it under a key.
pub(super) fn try_and_install(
    cache: &Cache,
    lock: &Lock,
    (staged, key): (&Path, &str),
    install: Install,
    trial: Trial<'_>,
    report: Report<'_>,
) -> Result<Image, KernelError> {
    let image = Image::cached(staged)?;
    let version = image
        .meta
        .as_ref()
        .map_or("of unknown version", |meta| &meta.version);
    report_stage(report, Stage::Try, version);
    trial(&image).map_err(|why| KernelError::Trial {
        version: version.to_owned(),
        why,
    })?;
    report_stage(report, Stage::Install, key);
    Image::cached(&install(cache, lock, staged, key)?)
}

/// The image made by today's recipe and tools: the current one, or one of a series or with these
/// options.
fn up_to_date(cache: &Cache, config: Option<&str>, series: Option<&str>) -> Option<Image> {
    if let (None, Some(series)) = (config, series) {
        let wanted = recipe(&Toolchain::installed().ok()?, None);
        return newest_of(cache, series, &wanted);
    }
    if config.is_some() {
        let wanted = recipe(&Toolchain::installed().ok()?, config);
        let is_wanted = |image: &Image| {
            let meta = image.meta.as_ref();
            meta.is_some_and(|meta| meta.recipe.as_ref() == Some(&wanted))
        };
        let all = cache.folders().into_iter();
        return all.filter_map(|f| Image::cached(&f).ok()).find(is_wanted);
    }
    let image = Image::cached(&cache.current()?).ok()?;
    // Without a compiler no other could be built, so the present image is used.
    let Ok(toolchain) = Toolchain::installed() else {
        return Some(image);
    };
    let meta = image.meta.as_ref()?;
    // An imported image was made by another host's compiler, from the same inputs.
    let imported =
        meta.imported && (known(&meta.sha256) || meta.inputs.as_deref() == Some(&inputs(None)));
    (imported || meta.recipe.as_deref() == Some(&recipe(&toolchain, None))).then_some(image)
}

/// Removes the packages of earlier versions.
fn keep_only(package: &Path) {
    let Some(siblings) = package.parent().and_then(|dir| std::fs::read_dir(dir).ok()) else {
        return;
    };
    for file in siblings
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file != package)
    {
        // A remaining file only takes disk space.
        let _ = std::fs::remove_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_source_is_refused_before_anything_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(&dir.path().join("cache"));
        let options = BuildOptions {
            source: Some(dir.path().join("absent.deb")),
            ..BuildOptions::default()
        };
        let error = build_in(&cache, &options, &mut |_| Ok(()), &mut |_| ()).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
        assert!(!cache.root().exists());
    }
}
