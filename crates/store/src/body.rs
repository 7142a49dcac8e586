//! Stored bodies of documents.

use std::io::Read;

use model::{
    text,
    text::{Text, Value},
};

use crate::{Document, StoreError};

/// Returns true if two bodies are the same document; an archive differs in white space from the
/// original file.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    let value = |text| serde_json::from_slice::<serde_json::Value>(text).ok();
    a == b || value(a).is_some_and(|a| Some(a) == value(b))
}

pub(crate) fn compress(document: &Document) -> Result<Vec<u8>, StoreError> {
    zstd::encode_all(document.body.as_slice(), 6).map_err(|e| StoreError::Format {
        what: document.text(),
        why: e.into(),
    })
}

/// Error unpacking a body.
#[derive(Debug)]
pub(crate) enum Unpack {
    /// It has this many bytes, more than are read.
    TooLarge(u64),
    /// Its content does not fit its description.
    Damaged(Fault),
}

/// Defect of a stored body.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub(crate) enum Fault {
    /// Its size is negative.
    Size(i64),
    /// It is not valid output of the compression.
    Stream(#[from] std::io::Error),
    /// It is longer than it was.
    Longer(u64),
    /// It is shorter than it was.
    Shorter {
        /// Its bytes.
        found: u64,
        /// Those it had.
        size: u64,
    },
}

impl Fault {
    /// The fault with its values, for reports in any language.
    pub(crate) fn text(&self) -> Text {
        let bytes = |n: &u64| Value::Bytes(*n as f64);
        match self {
            Self::Size(size) => text!(
                "its size of {size} bytes is impossible",
                size = size.to_string()
            ),
            Self::Stream(error) => Text::from(error),
            Self::Longer(size) => text!("it is longer than its {size}", size = bytes(size)),
            Self::Shorter { found, size } => text!(
                "it has {found} instead of {size}",
                found = bytes(found),
                size = bytes(size)
            ),
        }
    }
}

/// Unpacks a body that is to have `size` bytes. A few kilobytes of a compressed stream can hold
/// gigabytes: no more is unpacked, and no more memory taken, than was promised, and no more is
/// promised than `largest`.
pub(crate) fn decompress(data: &[u8], size: i64, largest: u64) -> Result<Vec<u8>, Unpack> {
    let size = u64::try_from(size).map_err(|_| Unpack::Damaged(Fault::Size(size)))?;
    if size > largest {
        return Err(Unpack::TooLarge(size));
    }
    let fault = |e: std::io::Error| Unpack::Damaged(e.into());
    let stream = zstd::stream::read::Decoder::with_buffer(data).map_err(fault)?;
    let mut body = Vec::new();
    stream
        .take(size + 1)
        .read_to_end(&mut body)
        .map_err(fault)?;
    match body.len() as u64 {
        n if n == size => Ok(body),
        n if n > size => Err(Unpack::Damaged(Fault::Longer(size))),
        found => Err(Unpack::Damaged(Fault::Shorter { found, size })),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// 1 GiB of blanks is 33 kB.
    #[test]
    fn a_small_stream_that_inflates_to_a_gigabyte_is_bounded() {
        let mut packed = zstd::Encoder::new(Vec::new(), 6).unwrap();
        let blanks = vec![b' '; 1 << 20];
        for _ in 0..1024 {
            std::io::Write::write_all(&mut packed, &blanks).unwrap();
        }
        let packed = packed.finish().unwrap();
        assert!(packed.len() < 100_000, "{}", packed.len());
        let most = 1 << 20;
        let large = decompress(&packed, 1 << 30, most);
        assert!(matches!(large, Err(Unpack::TooLarge(n)) if n == 1 << 30));
        // A wrong size: as much as that is unpacked, and a byte more.
        let lie = decompress(&packed, 1000, most);
        assert!(matches!(lie, Err(Unpack::Damaged(Fault::Longer(1000)))));
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
