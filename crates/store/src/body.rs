//! Stored bodies of documents.

use std::io::Read;

use crate::{Document, StoreError};

/// Whether two bodies are the same document; an archive has other white space than the file it was
/// made of.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    let value = |text| serde_json::from_slice::<serde_json::Value>(text).ok();
    a == b || value(a).is_some_and(|a| Some(a) == value(b))
}

pub(crate) fn compress(document: &Document) -> Result<Vec<u8>, StoreError> {
    zstd::encode_all(document.body.as_slice(), 6).map_err(|e| StoreError::Format {
        what: format!("the {} {}", document.kind, document.id),
        why: e.to_string(),
    })
}

/// Why a body was not unpacked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unpack {
    /// It has this many bytes, more than are read.
    TooLarge(u64),
    /// Its content does not fit its description.
    Damaged(String),
}

/// Unpacks a body that is to have `size` bytes. A few kilobytes of a compressed stream can hold
/// gigabytes: no more is unpacked, and no more memory taken, than was promised, and no more is
/// promised than `largest`.
pub(crate) fn decompress(data: &[u8], size: i64, largest: u64) -> Result<Vec<u8>, Unpack> {
    let damaged = |why: String| Unpack::Damaged(why);
    let size =
        u64::try_from(size).map_err(|_| damaged(format!("its size of {size} bytes cannot be")))?;
    if size > largest {
        return Err(Unpack::TooLarge(size));
    }
    let fault = |e: std::io::Error| damaged(e.to_string());
    let stream = zstd::stream::read::Decoder::with_buffer(data).map_err(fault)?;
    let mut body = Vec::new();
    stream
        .take(size + 1)
        .read_to_end(&mut body)
        .map_err(fault)?;
    match body.len() as u64 {
        n if n == size => Ok(body),
        n if n > size => Err(damaged(format!(
            "it has more than the {size} bytes of its size"
        ))),
        n => Err(damaged(format!("it has {n} bytes in place of {size}"))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// 1 GiB of blanks is 33 kB.
    #[test]
    fn a_small_stream_that_holds_a_gigabyte_takes_no_gigabyte() {
        let mut packed = zstd::Encoder::new(Vec::new(), 6).unwrap();
        let blanks = vec![b' '; 1 << 20];
        for _ in 0..1024 {
            std::io::Write::write_all(&mut packed, &blanks).unwrap();
        }
        let packed = packed.finish().unwrap();
        assert!(packed.len() < 100_000, "{}", packed.len());
        let most = 1 << 20;
        assert_eq!(
            decompress(&packed, 1 << 30, most),
            Err(Unpack::TooLarge(1 << 30))
        );
        // A wrong size: as much as that is unpacked, and a byte more.
        let lie = decompress(&packed, 1000, most);
        assert!(matches!(lie, Err(Unpack::Damaged(why)) if why.contains("more than the 1000")));
        assert!(matches!(
            decompress(&packed, -1, most),
            Err(Unpack::Damaged(_))
        ));
        assert!(matches!(
            decompress(b"no stream", 5, most),
            Err(Unpack::Damaged(_))
        ));
    }
}
