//! Allocator settings of this process.

/// Returns freed memory to the kernel that glibc would retain (malloc_trim(3)); musl does not
/// retain it.
pub fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim may be called at any time from any thread, and touches free memory only.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Allocations above this size are separate mappings, and this much may stay free at the end of an
/// arena, bytes: glibc's initial values.
#[cfg(target_env = "gnu")]
const THRESHOLD: libc::c_int = 128 << 10;

/// Disables the dynamic mmap threshold of the C library (mallopt(3)): after a load with many
/// samples it retained tens of megabytes at the ends of its arenas, which [`trim`] does not release
/// (glibc 2.36, malloc/malloc.c, `mtrim`).
pub fn keep_little() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt changes settings of the allocator only, under its own lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, THRESHOLD);
        libc::mallopt(libc::M_TRIM_THRESHOLD, THRESHOLD);
    }
}
