//! Fixed-size reads from byte strings of the kernel, which return `None` if the string is too
//! short.

/// Copies `N` bytes at `offset`.
pub(crate) fn array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    let end = offset.checked_add(N)?;
    bytes.get(offset..end)?.try_into().ok()
}

/// Reads a `u8` at `offset`.
pub(crate) fn u8_at(bytes: &[u8], offset: usize) -> Option<u8> {
    bytes.get(offset).copied()
}

/// Reads a `u16` in host byte order at `offset`.
pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    array(bytes, offset).map(u16::from_ne_bytes)
}

/// Reads a `u32` in host byte order at `offset`.
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    array(bytes, offset).map(u32::from_ne_bytes)
}

/// Reads an `i32` in host byte order at `offset`.
pub(crate) fn i32_at(bytes: &[u8], offset: usize) -> Option<i32> {
    array(bytes, offset).map(i32::from_ne_bytes)
}

/// Reads a `u64` in host byte order at `offset`.
pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    array(bytes, offset).map(u64::from_ne_bytes)
}
