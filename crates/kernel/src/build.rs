//! From a source to an installed image.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::cache::{Cache, Lock, write_file};
use super::config::{self, Config};
use super::error::{Context as _, KernelError};
use super::image::{IMAGE_FILE, Image, META_FILE, Meta};
use super::patches;
use super::recipe::{Toolchain, inputs, key, known, recipe};
use super::run::{Runner, plain};
use super::search::{Candidate, Search};
use super::source::{self, Source};
use super::tested::remark;
use super::tools::{self, SourceKind};

/// Objects that Linux 7.2 compiles with the lab's fragment; other versions differ by some percent.
const USUAL_OBJECTS: u32 = 850;

/// What to build, and how.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// A kernel tarball, a `linux-source` package or a folder; else the pinned Debian package, or
    /// where that cannot be had another of a tested series.
    pub source: Option<PathBuf>,
    /// Also take a package of a series that was not tested.
    pub untested: bool,
    /// Look for a newer source and build even if there is an image already.
    pub force: bool,
    /// Set it to stop the build.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// A step of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Another process builds; its result may serve.
    Wait,
    /// The source is being found and downloaded.
    Fetch,
    /// The source is being unpacked.
    Unpack,
    /// The patches are being applied.
    Patch,
    /// The configuration is being made and checked.
    Configure,
    /// Objects are being compiled.
    Compile,
    /// The image is being booted.
    Try,
    /// The image is being put in its place.
    Install,
}

/// Where a build stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The step.
    pub stage: Stage,
    /// On what: an archive, a file, an option that did not take.
    pub detail: &'a str,
    /// Objects that were compiled.
    pub done: u32,
    /// Objects in all: an estimate, 0 outside of [`Stage::Compile`].
    pub total: u32,
}

/// The result of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The image that is now the current one.
    pub image: Image,
    /// False if it was in the cache already.
    pub fresh: bool,
    /// What the user should know: sources that were not taken and why, another source than the
    /// pinned one.
    pub notes: Vec<String>,
}

impl Built {
    fn known(image: Image) -> Self {
        Self {
            image,
            fresh: false,
            notes: Vec::new(),
        }
    }
}

/// Boots an image before it is called built; the error says why it does not serve here.
pub type Trial<'a> = &'a mut dyn FnMut(&Image) -> Result<(), String>;

pub(super) type Report<'a> = &'a mut dyn FnMut(Progress<'_>);

pub(super) fn tell(report: Report<'_>, stage: Stage, detail: &str) {
    report(Progress {
        stage,
        detail,
        done: 0,
        total: 0,
    });
}

/// Builds the lab's kernel, unless the cache has it, and makes it the current one. A source whose
/// image does not pass the trial is passed over for the next one.
///
/// # Errors
/// If a tool is missing, no source can be had, no image passes the trial, or a step fails; the text
/// says what to do.
pub fn build(
    options: &BuildOptions,
    trial: Trial<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Built, KernelError> {
    build_in(&Cache::from_env()?, options, trial, progress)
}

/// As [`build`], in a given cache.
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
    let any_will_do = options.source.is_none() && !options.force;
    if any_will_do && let Some(image) = up_to_date(cache) {
        return Ok(Built::known(image));
    }
    tools::check(kind)?;
    cache.create()?;
    let lock = cache.lock(options.cancel.as_deref(), &mut || {
        tell(report, Stage::Wait, "another process builds a kernel")
    })?;
    // Whoever held the lock may have built just this.
    if any_will_do && let Some(image) = up_to_date(cache) {
        return Ok(Built::known(image));
    }
    let mut bench = Bench {
        cache,
        lock: &lock,
        runner: Runner::new(cache.log(), options.cancel.clone())?,
        toolchain: Toolchain::installed()?,
        force: options.force,
        trial,
        report,
    };
    match &options.source {
        Some(path) => {
            tell(bench.report, Stage::Fetch, &path.to_string_lossy());
            let scratch = cache.scratch(&lock)?;
            bench.make(&source::open(path, kind, None)?, scratch.path())
        }
        None => bench.best(options.untested),
    }
}

/// What all attempts of one build share.
struct Bench<'a> {
    cache: &'a Cache,
    lock: &'a Lock,
    runner: Runner,
    toolchain: Toolchain,
    force: bool,
    trial: Trial<'a>,
    report: Report<'a>,
}

impl Bench<'_> {
    /// Builds the best source that an archive has and whose image boots here.
    fn best(&mut self, untested: bool) -> Result<Built, KernelError> {
        let scratch = self.cache.scratch(self.lock)?;
        let downloads = self.cache.downloads();
        let mut say = |what: &str| tell(self.report, Stage::Fetch, what);
        let mut search = Search::new(
            &self.runner,
            &scratch.path().join("apt"),
            &downloads,
            &mut say,
        )?;
        for (n, candidate) in search.candidates(untested).iter().enumerate() {
            let folder = scratch.path().join(n.to_string());
            match self.attempt(&search, candidate, &downloads, &folder) {
                Ok(mut built) => {
                    if !built.notes.is_empty() {
                        let not_taken = search.tried.iter();
                        built
                            .notes
                            .extend(not_taken.map(|(place, why)| format!("{place}: {why}")));
                    }
                    return Ok(built);
                }
                Err(KernelError::Cancelled) => return Err(KernelError::Cancelled),
                // The next one may serve: nothing of this one was installed.
                Err(error) => {
                    let (place, name) = candidate.describe();
                    search.tried.push((place, format!("{name}: {error}")));
                }
            }
        }
        Err(KernelError::NoSource {
            tried: search.tried,
            remedy: search.remedy,
        })
    }

    fn attempt(
        &mut self,
        search: &Search,
        candidate: &Candidate,
        downloads: &Path,
        folder: &Path,
    ) -> Result<Built, KernelError> {
        let (_, name) = candidate.describe();
        tell(self.report, Stage::Fetch, &name);
        let package = search.fetch(&self.runner, candidate, downloads)?;
        let source = source::open(&package.file, SourceKind::Archive, Some(package.archive))?;
        std::fs::create_dir_all(folder).on("create", folder)?;
        let mut built = self.make(&source, folder)?;
        let (package, version) = name.split_once(' ').unwrap_or((&name, ""));
        built
            .notes
            .extend(remark(package, version, &source.info.sha256));
        Ok(built)
    }

    /// Builds one source, tries the image and installs it.
    fn make(&mut self, source: &Source, folder: &Path) -> Result<Built, KernelError> {
        let recipe = recipe(&self.toolchain);
        let key = key(&source.info.sha256, &recipe);
        if !self.force
            && let Ok(image) = Image::cached(&self.cache.folder(&key))
        {
            self.cache.point_to(&key)?;
            return Ok(Built::known(image));
        }
        let job = Job {
            runner: &self.runner,
            source,
            compiler: self.toolchain.compiler.clone(),
            recipe,
            folder,
        };
        let staged = job.make(self.report)?;
        let image = Image::cached(&staged)?;
        try_out(&image, self.trial, self.report)?;
        install(self.cache, self.lock, &staged, &key, source, self.report)
    }
}

/// Boots an image.
pub(super) fn try_out(
    image: &Image,
    trial: Trial<'_>,
    report: Report<'_>,
) -> Result<(), KernelError> {
    let version = image
        .meta
        .as_ref()
        .map_or("of unknown version", |meta| &meta.version);
    tell(report, Stage::Try, version);
    trial(image).map_err(|why| KernelError::Trial {
        version: version.to_owned(),
        why,
    })
}

/// The current image, if it was made by today's recipe and tools.
fn up_to_date(cache: &Cache) -> Option<Image> {
    let image = Image::cached(&cache.current()?).ok()?;
    // Without a compiler nothing could be built anew, so the image that is there serves.
    let Ok(toolchain) = Toolchain::installed() else {
        return Some(image);
    };
    let meta = image.meta.as_ref()?;
    // An imported image was made by another host's compiler, from the same inputs.
    let imported =
        meta.imported && (known(&meta.sha256) || meta.inputs.as_deref() == Some(&inputs()));
    (imported || meta.recipe.as_deref() == Some(&recipe(&toolchain))).then_some(image)
}

fn install(
    cache: &Cache,
    lock: &Lock,
    staged: &Path,
    key: &str,
    source: &Source,
    report: Report<'_>,
) -> Result<Built, KernelError> {
    tell(report, Stage::Install, key);
    let folder = cache.install(lock, staged, key)?;
    if source.info.archive.is_some() {
        keep_only(&source.path);
    }
    Ok(Built {
        image: Image::cached(&folder)?,
        fresh: true,
        notes: Vec::new(),
    })
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
        // A file that stays costs space and nothing else.
        let _ = std::fs::remove_file(file);
    }
}

/// One build in its own folder.
struct Job<'a> {
    runner: &'a Runner,
    source: &'a Source,
    compiler: String,
    recipe: String,
    folder: &'a Path,
}

impl Job<'_> {
    /// Returns a folder with the image and its document.
    fn make(self, report: Report<'_>) -> Result<PathBuf, KernelError> {
        tell(report, Stage::Unpack, &self.source.info.name);
        let (tree, version) = source::unpack(self.runner, self.source, self.folder)?;
        tell(report, Stage::Patch, &version);
        let patches = patches::apply(self.runner, &tree, &version)?;
        for patch in patches
            .iter()
            .filter(|patch| patch.state == patches::PatchState::Skipped)
        {
            tell(
                report,
                Stage::Patch,
                &format!(
                    "{} does not fit Linux {version}: built without it",
                    patch.name
                ),
            );
        }
        tell(report, Stage::Configure, &version);
        let config = self.configure(&tree, &version, report)?;
        self.compile(&tree, report)?;

        let staged = self.folder.join("image");
        std::fs::create_dir_all(&staged).on("create", &staged)?;
        let image = staged.join(IMAGE_FILE);
        let mut strip = plain("strip");
        strip
            .arg("--strip-all")
            .arg("-o")
            .arg(&image)
            .arg(tree.join("linux"));
        self.runner.run("stripping the image", &mut strip)?;
        let bytes = std::fs::read(&image).on("read", &image)?;
        let mut meta = Meta::from_config(version, &bytes, config);
        meta.source = Some(self.source.info.clone());
        meta.recipe = Some(self.recipe);
        meta.inputs = Some(inputs());
        meta.compiler = Some(self.compiler);
        meta.patches = patches;
        let text = serde_json::to_vec_pretty(&meta)
            .map_err(std::io::Error::from)
            .on("write", &staged)?;
        write_file(&staged.join(META_FILE), &text)?;
        Ok(staged)
    }

    /// `make` in the tree, with everything fixed that would show in the image.
    fn make_command(tree: &Path) -> Command {
        let mut command = plain("make");
        command.current_dir(tree).arg("ARCH=um").args([
            "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
            "KBUILD_BUILD_USER=pathtwin",
            "KBUILD_BUILD_HOST=pathtwin",
            "KBUILD_BUILD_VERSION=1",
            // Kconfig asks these for their versions, and the answers stay in the image's own copy
            // of its configuration; nothing here is built with them.
            "RUSTC=none",
            "BINDGEN=none",
            "PAHOLE=none",
            // Nine tenths of the time go into reading headers; to remember of every token which
            // macro it came from, for the sake of messages, is a seventh of that (gcc 12, Linux
            // 7.2).
            "KCFLAGS=-ftrack-macro-expansion=0 -Wno-tautological-compare",
        ]);
        command
    }

    fn configure(
        &self,
        tree: &Path,
        version: &str,
        report: Report<'_>,
    ) -> Result<String, KernelError> {
        let wanted = config::parse_fragment(config::FRAGMENT);
        write_file(
            &tree.join("lab.config"),
            config::for_kconfig(&wanted).as_bytes(),
        )?;
        let mut command = Self::make_command(tree);
        command
            .env("KCONFIG_ALLCONFIG", "lab.config")
            .arg("allnoconfig");
        self.runner.run("configuring the kernel", &mut command)?;
        let file = tree.join(".config");
        let text = std::fs::read_to_string(&file).on("read", &file)?;
        let missing = Config::parse(&text);
        let missing = missing.missing(&wanted);
        let required: Vec<_> = missing
            .iter()
            .filter(|w| w.required)
            .map(|w| format!("{}={}", w.name, w.value))
            .collect();
        if !required.is_empty() {
            return Err(KernelError::Config {
                version: version.to_owned(),
                options: required,
            });
        }
        for w in missing {
            tell(
                report,
                Stage::Configure,
                &format!("Linux {version} has no {}", w.name),
            );
        }
        Ok(text)
    }

    fn compile(&self, tree: &Path, report: Report<'_>) -> Result<(), KernelError> {
        let jobs = std::thread::available_parallelism().map_or(2, NonZero::get);
        let mut command = Self::make_command(tree);
        command.arg(format!("-j{jobs}")).arg("linux");
        let mut done = 0;
        self.runner
            .lines("compiling the kernel", &mut command, &mut |line| {
                if let Some(file) = compiled(line) {
                    done += 1;
                    report(Progress {
                        stage: Stage::Compile,
                        detail: file,
                        done,
                        total: USUAL_OBJECTS.max(done),
                    });
                }
            })
    }
}

/// The file in a line of `make` like `  CC      net/ipv4/tcp.o`.
fn compiled(line: &str) -> Option<&str> {
    let mut words = line.strip_prefix("  ")?.split_whitespace();
    let (tool, file) = (words.next()?, words.next()?);
    matches!(tool, "CC" | "AS").then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_counted() {
        assert_eq!(compiled("  CC      net/ipv4/tcp.o"), Some("net/ipv4/tcp.o"));
        assert_eq!(
            compiled("  AS      arch/x86/um/setjmp_64.o"),
            Some("arch/x86/um/setjmp_64.o")
        );
        assert_eq!(compiled("  AR      net/built-in.a"), None);
        assert_eq!(compiled("warning: CC x"), None);
    }

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
