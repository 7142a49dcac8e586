//! The outside of the guest: kernel image, boot, cells, cache, parallel jobs, checks
