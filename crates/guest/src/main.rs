//! Init of the lab guest, and the child of the native engine.
//!
//! As the first process of a guest it mounts the file systems it needs, runs the job in the cell's
//! folder, writes the results and stops the machine. Called as `pathtwin-guest native FOLDER` it
//! runs the job in the host's kernel, and then exits.

mod engine;
mod exec;
mod facts;
mod flows;
mod init;
mod job;
mod measure;
mod prove;
mod run;
mod sampling;
mod times;

use std::{path::Path, process::ExitCode};

use engine::Engine;

/// Keeps what is freed, while that of musl returns each page that is empty: two system calls for
/// many a short-lived block.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    if sys::boot::is_init() {
        // This must not return: the kernel panics when its first process ends.
        if let Err(error) = init::run() {
            eprintln!("pathtwin-guest: {error:#}");
        }
        sys::boot::power_off();
    }
    let mut arguments = std::env::args_os().skip(1);
    let (mode, folder) = (arguments.next(), arguments.next());
    if mode.as_deref() == Some(std::ffi::OsStr::new(prove::KEEPER)) {
        return prove::keeper(folder, arguments.next());
    }
    let result = match (mode, folder) {
        (Some(mode), Some(folder)) if mode == "native" => native(Path::new(&folder)),
        _ => Err(anyhow::anyhow!(
            "usage: pathtwin-guest native FOLDER; or as the init of a guest"
        )),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pathtwin-guest: {error:#}");
            ExitCode::from(4)
        }
    }
}

fn native(folder: &Path) -> anyhow::Result<()> {
    job::work(Engine {
        folder,
        guest: false,
    })
}
