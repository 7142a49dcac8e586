//! Search for bytes within bytes.

pub(super) fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    find(haystack, needle).is_some()
}

/// Position of the first occurrence.
pub(super) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(at) = haystack[from..].iter().position(|byte| *byte == first) {
        let start = from + at;
        if haystack[start..].starts_with(needle) {
            return Some(start);
        }
        from = start + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found() {
        assert_eq!(find(b"aab aabc", b"aabc"), Some(4));
        assert_eq!(find(b"aab", b"c"), None);
        assert_eq!(find(b"", b"c"), None);
    }
}
