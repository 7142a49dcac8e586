//! From a source to an installed image.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::apt;
use super::cache::{Cache, Lock, write_file};
use super::config::{self, Config};
use super::error::{Context as _, KernelError};
use super::image::{IMAGE_FILE, Image, META_FILE, Meta};
use super::patches;
use super::recipe::{Toolchain, key, recipe};
use super::run::{Runner, plain};
use super::source::{self, Source};
use super::tools::{self, SourceKind};

/// Objects that Linux 7.2 compiles with the lab's fragment; other versions differ by some percent.
const USUAL_OBJECTS: u32 = 850;

/// What to build, and how.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// A kernel tarball, a `linux-source` package or a folder; else the newest signed Debian source.
    pub source: Option<PathBuf>,
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
}

type Report<'a> = &'a mut dyn FnMut(Progress<'_>);

fn tell(report: Report<'_>, stage: Stage, detail: &str) {
    report(Progress {
        stage,
        detail,
        done: 0,
        total: 0,
    });
}

/// Builds the lab's kernel, unless the cache has it, and makes it the current one.
///
/// # Errors
/// If a tool is missing, no source can be had, or a step fails; the text says what to do.
pub fn build(
    options: &BuildOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Built, KernelError> {
    build_in(&Cache::from_env()?, options, progress)
}

/// As [`build`], in a given cache.
pub(super) fn build_in(
    cache: &Cache,
    options: &BuildOptions,
    report: Report<'_>,
) -> Result<Built, KernelError> {
    let kind = match &options.source {
        Some(path) => source::kind_of(path)?,
        None => SourceKind::Archive,
    };
    let any_will_do = options.source.is_none() && !options.force;
    if any_will_do && let Some(image) = up_to_date(cache) {
        return Ok(Built {
            image,
            fresh: false,
        });
    }
    tools::check(kind)?;
    cache.create()?;
    let lock = cache.lock(options.cancel.as_deref(), &mut || {
        tell(report, Stage::Wait, "another process builds a kernel")
    })?;
    // Whoever held the lock may have built just this.
    if any_will_do && let Some(image) = up_to_date(cache) {
        return Ok(Built {
            image,
            fresh: false,
        });
    }
    let runner = Runner::new(cache.log(), options.cancel.clone())?;
    let scratch = cache.scratch(&lock)?;
    let source = obtain(cache, options, kind, &runner, scratch.path(), report)?;
    let toolchain = Toolchain::installed()?;
    let recipe = recipe(&toolchain);
    let key = key(&source.info.sha256, &recipe);
    if !options.force
        && let Ok(image) = Image::cached(&cache.folder(&key))
    {
        cache.point_to(&key)?;
        return Ok(Built {
            image,
            fresh: false,
        });
    }
    let job = Job {
        runner: &runner,
        source: &source,
        compiler: toolchain.compiler,
        recipe,
        folder: scratch.path(),
    };
    let staged = job.make(report)?;
    install(cache, &lock, &staged, &key, &source, report)
}

/// The current image, if it was made by today's recipe and tools.
fn up_to_date(cache: &Cache) -> Option<Image> {
    let image = Image::cached(&cache.current()?).ok()?;
    // Without a compiler nothing could be built anew, so the image that is there serves.
    let Ok(toolchain) = Toolchain::installed() else {
        return Some(image);
    };
    let made_by = image.meta.as_ref()?.recipe.as_deref()?;
    (made_by == recipe(&toolchain)).then_some(image)
}

fn obtain(
    cache: &Cache,
    options: &BuildOptions,
    kind: SourceKind,
    runner: &Runner,
    scratch: &Path,
    report: Report<'_>,
) -> Result<Source, KernelError> {
    if let Some(path) = &options.source {
        tell(report, Stage::Fetch, &path.to_string_lossy());
        return source::open(path, kind, None);
    }
    let mut say = |what: &str| tell(report, Stage::Fetch, what);
    let apt_folder = scratch.join("apt");
    let package = apt::newest_source(runner, &apt_folder, &cache.downloads(), &mut say)?;
    say(&package.name);
    source::open(&package.file, kind, Some(package.archive))
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
            // Kconfig asks these for their versions, and the answers stay in the image's own copy of
            // its configuration; nothing here is built with them.
            "RUSTC=none",
            "BINDGEN=none",
            "PAHOLE=none",
            // Nine tenths of the time go into reading headers; to remember of every token which macro
            // it came from, for the sake of messages, is a seventh of that (gcc 12, Linux 7.2).
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
        let error = build_in(&cache, &options, &mut |_| ()).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
        assert!(!cache.root().exists());
    }
}
