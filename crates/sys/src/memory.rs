//! Memory of this process.

/// Gives memory that was freed back to the kernel, where the C library keeps it for later: glibc
/// does (malloc_trim(3)), musl does not.
pub fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim may be called at any time from any thread, and touches free memory only.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes above which an allocation is a mapping of its own, and what may stay free at an arena's
/// end: glibc's own values at the start of a process.
#[cfg(target_env = "gnu")]
const THRESHOLD: libc::c_int = 128 << 10;

/// Keeps the C library from raising its thresholds with every large allocation (mallopt(3),
/// "dynamic mmap threshold"): after a load of many samples it kept tens of megabytes at the ends of
/// its arenas, where [`trim`] does not reach (glibc 2.36, malloc/malloc.c, `mtrim`).
pub fn keep_little() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt changes settings of the allocator only, under its own lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, THRESHOLD);
        libc::mallopt(libc::M_TRIM_THRESHOLD, THRESHOLD);
    }
}
