//! The lab's guest, whose clock and kernel are its own, and the modules of that kernel.

use std::{fs, io::ErrorKind, path::Path, thread, time::Duration};

use sys::module::{Places, needed, remove};

/// A module that no setting needs.
const QUEUE_MODULE: &str = "sch_sfb";
/// A congestion control whose module needs another one, and that module after those that need it.
const MODULES: [&str; 2] = ["tcp_yeah", "tcp_vegas"];

/// True if it is a guest in which a module can be loaded: those of this machine are not for tests.
fn has_module(name: &str) -> bool {
    is_guest() && Path::new("/sbin/modprobe").exists() && needed(&Places::own(), name).is_some()
}

/// A module to load by itself, if there is one.
pub fn module() -> Option<&'static str> {
    has_module(QUEUE_MODULE).then_some(QUEUE_MODULE)
}

/// The congestion control of a route: one of a module, if this kernel has any. As the default of a
/// host, the kernel allows those of modules in its first namespace only.
pub fn congestion_control() -> &'static str {
    match has_module(MODULES[0]) {
        true => "yeah",
        false => "reno",
    }
}

/// Removes the modules that plans load, which a boot does. Another namespace whose sockets used one
/// is removed some time after its last process.
pub fn unload() {
    let pause = Duration::from_millis(100);
    let all = MODULES.iter().chain([&QUEUE_MODULE]);
    for name in all.filter(|name| has_module(name)) {
        let is_left = || !matches!(remove(name), Err(e) if e.kind() == ErrorKind::NotFound);
        (0..50)
            .take_while(|_| is_left())
            .for_each(|_| thread::sleep(pause));
    }
}

/// Returns true if this is the lab's guest, which has its own clock and kernel.
pub fn is_guest() -> bool {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    cpus.contains("User Mode Linux")
}
