//! Entry to the lab: its configuration, and runs of jobs through pool and cache.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use kernel::Image;
use model::{cell::Cell, plan::Plan};

use crate::{
    LabError,
    cache::{Cache, Tiers, entry},
    check,
    guest::{self, Boot, Mode},
    images::Images,
    job::{Artifacts, Job},
    native,
    pool::{self, Done, One},
    sandbox::Sandbox,
};

/// Kernel that runs the jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The lab's own kernel, as a process for each job, in virtual time, without privileges.
    #[default]
    Uml,
    /// This host's, in real time, as root: one job after the other, because they share its
    /// processors and its clock, and uncached, because their results depend on both.
    Native,
}

/// Configuration of the lab.
#[derive(Clone, Debug)]
pub struct Config {
    /// Kernel that runs the jobs.
    pub engine: Engine,
    /// True to store results in the cache and to use cached ones.
    pub cache: bool,
    /// Maximum number of concurrent guests; absent = one per processor, the fastest.
    pub jobs: Option<NonZeroUsize>,
    /// Real time after which a guest is ended.
    pub wall_limit: Duration,
    /// The guest program; absent = [`guest::program`].
    pub guest: Option<PathBuf>,
    /// The kernel image; absent = [`kernel::locate`].
    pub image: Option<Image>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            engine: Engine::default(),
            cache: true,
            jobs: None,
            wall_limit: Duration::from_secs(600),
            guest: None,
            image: None,
        }
    }
}

/// The lab: an engine, a guest program, the folders of the guests, and the cached results. Jobs of
/// every kind run through it.
///
/// Results are neither read from nor written to the cache with `cache: false`, or if the job is not
/// [`Job::is_cacheable`]: programs of the host (`lab exec`) are in no key and may have changed.
#[derive(Debug)]
pub struct Lab {
    /// Absent = the host's own kernel.
    images: Option<Images>,
    program: PathBuf,
    guest_hash: blake3::Hash,
    sandbox: Sandbox,
    cache: Option<Cache>,
    jobs: NonZeroUsize,
    wall_limit: Duration,
    /// False if the user turned the faster mode of running programs off.
    seccomp: bool,
}

impl Lab {
    /// Finds the image, the guest program and the cache.
    ///
    /// # Errors
    /// The kernel image, the guest program or a folder for the cache is missing or cannot be used;
    /// for the native engine, this is not root.
    pub fn open(config: &Config) -> Result<Self, LabError> {
        let native = config.engine == Engine::Native;
        let image = match &config.image {
            _ if native => None,
            Some(image) => Some(image.clone()),
            None => Some(kernel::locate()?),
        };
        if native {
            native::check_rights()?;
        }
        let guest = match &config.guest {
            Some(guest) => guest.clone(),
            None => guest::program()?,
        };
        let program = fs::read(&guest).map_err(LabError::file("read", &guest))?;
        let cache = match config.cache && !native {
            true => Some(Cache::new(Tiers::from_env()?, &guest)?),
            false => None,
        };
        let processors = sys::sched::allowed_cpus().map_or(1, |cpus| cpus.len());
        let all = NonZeroUsize::new(processors).unwrap_or(NonZeroUsize::MIN);
        let jobs = match native {
            true => NonZeroUsize::MIN,
            false => config.jobs.unwrap_or(all),
        };
        Ok(Self {
            images: image.map(Images::new).transpose()?,
            guest_hash: blake3::hash(&program),
            sandbox: Sandbox::new(&guest)?,
            program: guest,
            cache,
            jobs,
            wall_limit: config.wall_limit,
            seccomp: guest::seccomp_allowed()?,
        })
    }

    /// The usual kernel image: of jobs that name none.
    ///
    /// # Errors
    /// The engine is the native one.
    pub fn image(&self) -> Result<&Image, LabError> {
        let images = self.images.as_ref().ok_or(LabError::NoImage)?;
        Ok(images.usual())
    }

    /// SHA-256 of the kernel images that cells need.
    ///
    /// # Errors
    /// An image is missing or cannot be used, or the engine is the native one.
    pub fn image_hashes(&self, cells: &[Cell]) -> Result<String, LabError> {
        let images = self.images.as_ref().ok_or(LabError::NoImage)?;
        images.hashes(cells)
    }

    /// Checks, before anything is run, that the engine's kernel has the features that the cells
    /// need. The lab's own kernel has all queues and tunnels that a spec can name, but not all
    /// congestion controls.
    ///
    /// # Errors
    /// The kernel lacks something, or cannot be probed.
    pub fn check(&self, cells: &[Cell]) -> Result<(), LabError> {
        match &self.images {
            Some(images) => check::cells(images, cells),
            None => native::check_needs(cells),
        }
    }

    /// Checks, before anything is run, that the lab's kernel has the features that a plan names.
    ///
    /// # Errors
    /// It has no such congestion control.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), LabError> {
        match &self.images {
            Some(images) => check::plan(images.usual(), plan),
            None => Ok(()),
        }
    }

    /// BLAKE3 of the guest program. With the kernel image it determines the result of a job.
    pub fn guest_hash(&self) -> blake3::Hash {
        self.guest_hash
    }

    /// Runs all jobs side by side, and reports each as it ends, in any order. Returns when all have
    /// ended or were stopped; those that did not start are never reported. Finished results stay
    /// cached.
    pub fn each<J: Job>(
        &self,
        jobs: &[J],
        stop: &AtomicBool,
        on_done: &mut dyn FnMut(Done<J::Output>),
    ) {
        let one = |index: usize| self.one(&jobs[index], stop);
        pool::each(jobs.len(), self.jobs, stop, one, on_done);
        if let Some(cache) = &self.cache {
            cache.trim();
        }
    }

    /// Same as [`Self::each`], with the results in the order of the jobs; absent = not started.
    pub fn all<J: Job>(
        &self,
        jobs: &[J],
        stop: &AtomicBool,
        on_done: &mut dyn FnMut(&Done<J::Output>),
    ) -> Vec<Option<Result<J::Output, LabError>>> {
        let mut results: Vec<_> = jobs.iter().map(|_| None).collect();
        self.each(jobs, stop, &mut |done| {
            on_done(&done);
            let place = done.index;
            results[place] = Some(done.result);
        });
        results
    }

    /// Runs a single job.
    ///
    /// # Errors
    /// It failed, or was stopped.
    pub fn run<J: Job>(
        &self,
        job: &J,
        stop: &AtomicBool,
        on_done: &mut dyn FnMut(&Done<J::Output>),
    ) -> Result<J::Output, LabError> {
        let results = self.all(std::slice::from_ref(job), stop, on_done);
        let result = results.into_iter().flatten().next();
        result.unwrap_or(Err(LabError::Stopped))
    }

    /// The result of a job: the cached one, or by a guest.
    fn one<J: Job>(&self, job: &J, stop: &AtomicBool) -> One<J::Output> {
        let Some(images) = &self.images else {
            let host = native::Host {
                program: &self.program,
                sandbox: &self.sandbox,
                wall_limit: self.wall_limit,
                stop,
            };
            let artifacts = native::run(host, job);
            return fresh(artifacts.and_then(|artifacts| job.result(artifacts)));
        };
        let known = match images.of(job.kernel()) {
            Ok(known) => known,
            Err(error) => return fresh(Err(error)),
        };
        let boot = Boot {
            kernel: &known,
            mode: Mode::of(&known.image, self.seccomp),
            sandbox: &self.sandbox,
            wall_limit: self.wall_limit,
            stop,
        };
        let cache = self.cache.as_ref().filter(|_| job.is_cacheable());
        let Some(cache) = cache else {
            let artifacts = run_guest(boot, job);
            return fresh(artifacts.and_then(|artifacts| job.result(artifacts)));
        };
        match cache.key(job, &known.image.sha256) {
            Ok(key) => cached_or_run(cache, &key, boot, job),
            Err(error) => fresh(Err(error)),
        }
    }
}

/// Returns the cached result of a key, or runs the job in a guest and stores its result.
fn cached_or_run<J: Job>(
    cache: &Cache,
    key: &blake3::Hash,
    boot: Boot<'_>,
    job: &J,
) -> One<J::Output> {
    let found = cache.find(key, |artifacts| job.result(artifacts).ok());
    let mut notes = found.notes;
    if let Some(result) = found.result {
        return One {
            result: Ok(result),
            cached: true,
            notes,
        };
    }
    let result = run_guest(boot, job).and_then(|artifacts| {
        let text = entry::encode(key, &artifacts);
        let result = job.result(artifacts)?;
        notes.extend(cache.put(key, &text));
        Ok(result)
    });
    One {
        result,
        cached: false,
        notes,
    }
}

/// A result that is not cached.
fn fresh<T>(result: Result<T, LabError>) -> One<T> {
    One {
        result,
        cached: false,
        notes: Vec::new(),
    }
}

/// Runs a job in a guest.
fn run_guest<J: Job>(boot: Boot<'_>, job: &J) -> Result<Artifacts, LabError> {
    let folder = boot.sandbox.cell_folder()?;
    let artifacts = in_folder(boot, job, &folder);
    boot.sandbox.remove(&folder);
    // Not a result of another image under the key of this one.
    boot.kernel.check()?;
    artifacts
}

fn in_folder<J: Job>(boot: Boot<'_>, job: &J, folder: &Path) -> Result<Artifacts, LabError> {
    job.prepare(folder)?;
    let arguments = guest::arguments(job.memory_mb(), job.is_mostly_idle());
    let cost = guest::run(boot, folder, &job.guest_job(), job.seed(), arguments)?;
    Artifacts::read(folder, job.files(), cost)
}
