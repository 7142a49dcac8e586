//! Compilation of one source: unpack, patch, configure, `make`, strip, describe.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cache::write_file;
use super::config::{self, Config};
use super::error::{Context as _, KernelError};
use super::image::{IMAGE_FILE, Meta};
use super::patches::{self, PatchState};
use super::profile;
use super::progress::{Progress, Report, Stage, report_stage};
use super::recipe::inputs;
use super::run::{Runner, plain};
use super::source::{self, Source};

/// Objects that Linux 7.2 compiles with the lab's fragment; other versions differ by some percent.
const USUAL_OBJECTS: u32 = 850;

/// One compilation in a separate folder.
pub(super) struct Compilation<'a> {
    pub(super) runner: &'a Runner,
    pub(super) source: &'a Source,
    /// First line of `gcc --version`.
    pub(super) compiler: String,
    pub(super) recipe: String,
    /// Options beyond those of the lab.
    pub(super) config: Option<&'a str>,
    pub(super) folder: &'a Path,
}

impl Compilation<'_> {
    /// Makes the image; returns a folder with it and its document.
    pub(super) fn run(self, report: Report<'_>) -> Result<PathBuf, KernelError> {
        report_stage(report, Stage::Unpack, &self.source.info.name);
        let left_out = source::left_out(self.config);
        let (tree, version) = source::unpack(self.runner, self.source, self.folder, &left_out)?;
        report_stage(report, Stage::Patch, &version);
        let patches = patches::apply(self.runner, &tree, &version)?;
        for patch in patches.iter().filter(|p| p.state == PatchState::Skipped) {
            let detail = format!(
                "{} does not fit Linux {version}: built without it",
                patch.name
            );
            report_stage(report, Stage::Patch, &detail);
        }
        let profiled = profile::fits(&self.source.info.sha256, &self.compiler, self.config);
        if profiled {
            profile::unpack(self.runner, &tree)?;
        }
        report_stage(report, Stage::Configure, &version);
        let config = self.configure(&tree, &version, profiled, report)?;
        let modules = config::has_modules(self.config);
        self.compile(&tree, modules, report)?;

        let staged = self.folder.join("image");
        std::fs::create_dir_all(&staged).on("create", &staged)?;
        let image = staged.join(IMAGE_FILE);
        self.strip(&tree, &image)?;
        if modules {
            self.install_modules(&tree, &staged)?;
        }
        let bytes = std::fs::read(&image).on("read", &image)?;
        let mut meta = Meta::from_config(version, &bytes, config, self.config);
        meta.source = Some(self.source.info.clone());
        meta.recipe = Some(self.recipe);
        meta.inputs = Some(inputs(self.config));
        meta.compiler = Some(self.compiler);
        meta.patches = patches;
        meta.write(&staged)?;
        Ok(staged)
    }

    fn strip(&self, tree: &Path, image: &Path) -> Result<(), KernelError> {
        let mut strip = plain("strip");
        strip
            .arg("--strip-all")
            .arg("-o")
            .arg(image)
            .arg(tree.join("linux"));
        self.runner.run("stripping the image", &mut strip)
    }

    /// `make` in the tree, with fixed values for everything that would affect the image.
    fn make_command(tree: &Path) -> Command {
        let mut command = plain("make");
        command.current_dir(tree).arg("ARCH=um").args([
            "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
            "KBUILD_BUILD_USER=pathtwin",
            "KBUILD_BUILD_HOST=pathtwin",
            "KBUILD_BUILD_VERSION=1",
            // Otherwise the version of a source in a git tree is "7.2.13+": the random generator
            // hashes the version, so every random number would differ.
            "LOCALVERSION=",
            // Kconfig queries the versions of these tools and stores them in the image's copy of
            // its configuration; they are not used by this build.
            "RUSTC=none",
            "BINDGEN=none",
            "PAHOLE=none",
            // Nine tenths of the time are spent reading headers; tracking the macro of every token,
            // for the sake of messages, is a seventh of that (gcc 12, Linux 7.2).
            "KCFLAGS=-ftrack-macro-expansion=0 -Wno-tautological-compare",
        ]);
        command
    }

    fn configure(
        &self,
        tree: &Path,
        version: &str,
        profiled: bool,
        report: Report<'_>,
    ) -> Result<String, KernelError> {
        let profile = profiled.then(|| format!("{}=y", profile::OPTION));
        let wanted = config::wanted(profile.as_deref().or(self.config));
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
            report_stage(
                report,
                Stage::Configure,
                &format!("Linux {version} has no {}", w.name),
            );
        }
        Ok(text)
    }

    /// Installs the modules below `lib/modules` beside the image, as a host has them.
    fn install_modules(&self, tree: &Path, staged: &Path) -> Result<(), KernelError> {
        let mut command = Self::make_command(tree);
        command
            .arg(format!("INSTALL_MOD_PATH={}", staged.display()))
            .args(["INSTALL_MOD_STRIP=1", "modules_install"]);
        self.runner.run("installing the modules", &mut command)?;
        let all = staged.join("lib/modules");
        for kernel in std::fs::read_dir(&all).on("list", &all)?.flatten() {
            // It refers to the tree, which is removed.
            let link = kernel.path().join("build");
            std::fs::remove_file(&link).on("remove", &link)?;
        }
        Ok(())
    }

    fn compile(&self, tree: &Path, modules: bool, report: Report<'_>) -> Result<(), KernelError> {
        let jobs = std::thread::available_parallelism().map_or(2, NonZero::get);
        let mut command = Self::make_command(tree);
        command.arg(format!("-j{jobs}")).arg("linux");
        if modules {
            // They lie above the 2 GB that patch 0008 relies on.
            command.args(["modules", "CFLAGS_MODULE=-mcmodel=large"]);
        }
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
}
