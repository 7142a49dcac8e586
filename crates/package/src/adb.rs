//! Container format of apk-tools 3: values in one block, each written once, followed by data blocks
//! (apk-v3(5) of apk-tools 3.0; the numbers of the fields are in its src/apk_adb.h).
//!
//! A value is a word of 32 bits: 4 bits of type, and 28 bits that are a small number or the offset
//! of the rest in the block. Objects and arrays are a count of words and those words.

use std::collections::HashMap;

/// A value, in the form of its keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value(u32);

impl Value {
    /// Nothing; such fields at the end of an object are not written.
    pub(crate) const NULL: Self = Self(0);
}

const INT: u32 = 0x1 << 28;
const INT_32: u32 = 0x2 << 28;
const INT_64: u32 = 0x3 << 28;
const BLOB_8: u32 = 0x8 << 28;
const BLOB_16: u32 = 0x9 << 28;
const BLOB_32: u32 = 0xa << 28;
const ARRAY: u32 = 0xd << 28;
const OBJECT: u32 = 0xe << 28;

/// The block of values while it is written.
pub(crate) struct Values {
    bytes: Vec<u8>,
    /// Offsets of equal bytes already written.
    known: HashMap<Vec<u8>, usize>,
}

impl Values {
    /// A block with space for the format version (0) and the root.
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; 8],
            known: HashMap::new(),
        }
    }

    /// A place with these bytes, at a multiple of `align`.
    fn place(&mut self, bytes: Vec<u8>, align: usize) -> usize {
        if let Some(at) = self.known.get(&bytes).filter(|at| *at % align == 0) {
            return *at;
        }
        let at = self.append(&bytes, align);
        self.known.insert(bytes, at);
        at
    }

    fn append(&mut self, bytes: &[u8], align: usize) -> usize {
        let at = self.bytes.len().next_multiple_of(align);
        self.bytes.resize(at, 0);
        self.bytes.extend(bytes);
        at
    }

    fn blob_parts(bytes: &[u8]) -> (u32, Vec<u8>, usize) {
        let size = bytes.len();
        let (kind, head) = match size {
            0..=0xff => (BLOB_8, vec![low(size)]),
            0x100..=0xffff => (BLOB_16, vec![low(size), low(size >> 8)]),
            _ => (BLOB_32, (0..4).map(|i| low(size >> (8 * i))).collect()),
        };
        let align = head.len();
        (kind, [&head, bytes].concat(), align)
    }

    /// Text or other bytes; empty ones are the null value.
    pub(crate) fn blob(&mut self, bytes: &[u8]) -> Value {
        if bytes.is_empty() {
            return Value::NULL;
        }
        let (kind, bytes, align) = Self::blob_parts(bytes);
        let at = self.place(bytes, align);
        word(kind, at)
    }

    /// Bytes that are set later: returns the value and their offset.
    pub(crate) fn room(&mut self, size: u8) -> (Value, usize) {
        let (kind, bytes, align) = Self::blob_parts(&vec![0; usize::from(size)]);
        let at = self.append(&bytes, align);
        (word(kind, at), at + align)
    }

    /// A number.
    pub(crate) fn int(&mut self, number: u64) -> Value {
        match u32::try_from(number) {
            Ok(small) if small < 1 << 28 => Value(INT | small),
            Ok(middle) => {
                let at = self.place(middle.to_le_bytes().to_vec(), 4);
                word(INT_32, at)
            }
            Err(_) => {
                let at = self.place(number.to_le_bytes().to_vec(), 4);
                word(INT_64, at)
            }
        }
    }

    /// Fields by their number, from 1.
    pub(crate) fn object(&mut self, fields: &[Value]) -> Value {
        self.words(OBJECT, fields)
    }

    /// Items of one kind.
    pub(crate) fn array(&mut self, items: &[Value]) -> Value {
        self.words(ARRAY, items)
    }

    fn words(&mut self, kind: u32, all: &[Value]) -> Value {
        let used = all.iter().rposition(|value| *value != Value::NULL);
        let Some(last) = used else {
            return Value::NULL;
        };
        let count = u32::try_from(last + 2).unwrap_or(u32::MAX);
        let words = std::iter::once(count).chain(all[..=last].iter().map(|value| value.0));
        let bytes = words.flat_map(u32::to_le_bytes).collect();
        let at = self.place(bytes, 4);
        word(kind, at)
    }

    /// The finished block.
    pub(crate) fn finish(mut self, root: Value) -> Vec<u8> {
        self.bytes[4..8].copy_from_slice(&root.0.to_le_bytes());
        self.bytes
    }
}

fn low(number: usize) -> u8 {
    u8::try_from(number & 0xff).unwrap_or_default()
}

/// The lists of a package of a few files are far below 256 MB.
fn word(kind: u32, at: usize) -> Value {
    Value(kind | u32::try_from(at).unwrap_or_default() & 0x0fff_ffff)
}

/// Types of blocks.
#[derive(Clone, Copy)]
pub(crate) enum Block {
    /// Values.
    Adb = 0,
    /// The contents of a file.
    Data = 2,
}

/// Appends a block: its type and size in a word, its bytes, and zeroes up to a multiple of 8.
pub(crate) fn block(out: &mut Vec<u8>, kind: Block, parts: &[&[u8]]) {
    let size = 4 + parts.iter().map(|part| part.len()).sum::<usize>();
    let size = u32::try_from(size).unwrap_or_default() & 0x3fff_ffff;
    out.extend(((kind as u32) << 30 | size).to_le_bytes());
    parts.iter().for_each(|part| out.extend(*part));
    out.resize(out.len().next_multiple_of(8), 0);
}

/// Magic number of a container with a package.
pub(crate) const PACKAGE: &[u8; 8] = b"ADB.pckg";

/// Magic number of a container compressed by deflate.
pub(crate) const DEFLATED: &[u8; 4] = b"ADBd";
