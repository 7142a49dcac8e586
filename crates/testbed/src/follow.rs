//! Start of the rates that change over time.

use std::{io, sync::Arc};

use sys::{clock::Instant, sched};

use crate::bed::{BuildError, Testbed, kernel, system};

/// Starts the changes of a path's rates, with their times counted from `zero`. They run until this
/// process ends.
///
/// A shaper whose rate changes resets its bucket, and a packet that waits for the old rate still
/// waits as long as that required (`tbf_change`, `tbf_dequeue`, net/sched/sch_tbf.c, Linux 7.2): a
/// change takes effect one packet's time late at most.
///
/// # Errors
/// A namespace could not be entered, or a thread could not be started.
pub fn follow(bed: &Arc<Testbed>, zero: Instant) -> Result<(), BuildError> {
    for changes in bed.rate_changes.iter().cloned() {
        let node = &bed.hosts[changes.host];
        let name = node.name;
        let mut nl = node.ns.route().map_err(kernel(name))?;
        // The namespace lives as long as its path.
        let bed = bed.clone();
        let spawned = std::thread::Builder::new().spawn(move || {
            let _ = sched::set_timer_slack(1);
            if let Err(error) = changes.run(&mut nl, zero) {
                eprintln!("change the rate on {name}: {error}");
            }
            drop(bed);
        });
        spawned.map(drop).map_err(|e: io::Error| system(name)(e))?;
    }
    Ok(())
}
