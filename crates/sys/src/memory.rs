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
