//! The body of a document, as the database has it.

use crate::{Document, StoreError};

/// Largest document that is read back, bytes.
const LARGEST: i64 = 1 << 30;

/// Whether two bodies say the same; an archive has other blanks than the file it was made of.
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

pub(crate) fn decompress(data: &[u8], size: i64) -> Result<Vec<u8>, String> {
    if !(0..=LARGEST).contains(&size) {
        return Err(format!("its size of {size} bytes cannot be"));
    }
    let body = zstd::bulk::decompress(data, size as usize).map_err(|e| e.to_string())?;
    if body.len() as i64 == size {
        Ok(body)
    } else {
        Err(format!("it has {} bytes in place of {size}", body.len()))
    }
}
