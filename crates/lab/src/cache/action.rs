//! The few fields of an `ActionResult` of Bazel's remote execution API, version 2
//! (`build/bazel/remote/execution/v2/remote_execution.proto`), in the wire format of Protocol
//! Buffers: servers such as bazel-remote reject other content under `/ac/`, and store a blob of
//! `/cas/` as long as an action refers to it.

/// Path of the only output file of our actions.
const PATH: &[u8] = b"result";

/// SHA-256 and size of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// SHA-256, in lower-case hex.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

/// An action with one output file.
pub fn encode(digest: &Digest) -> Vec<u8> {
    // Digest: hash = 1, size_bytes = 2. OutputFile: path = 1, digest = 2. ActionResult:
    // output_files = 2.
    let mut blob = bytes(1, digest.sha256.as_bytes());
    blob.extend(varint(2 << 3));
    blob.extend(varint(digest.size));
    let file = [bytes(1, PATH), bytes(2, &blob)].concat();
    bytes(2, &file)
}

/// The digest of the output file of one of our actions. Servers add fields, such as the address of
/// the host that uploaded it.
pub fn decode(text: &[u8]) -> Option<Digest> {
    let files = fields(text)?;
    files.iter().find_map(|(number, file)| {
        let Value::Bytes(file) = file else {
            return None;
        };
        let file = (*number == 2).then(|| fields(file)).flatten()?;
        let path = field(&file, 1)?;
        let blob = fields(field(&file, 2).filter(|_| path == PATH)?)?;
        let sha256 = std::str::from_utf8(field(&blob, 1)?).ok()?;
        let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        let size = blob.iter().find_map(|(number, value)| match value {
            Value::Number(size) if *number == 2 => Some(*size),
            _ => None,
        });
        (sha256.len() == 64 && sha256.bytes().all(hex)).then(|| Digest {
            sha256: sha256.to_owned(),
            // A size of 0 is not written.
            size: size.unwrap_or(0),
        })
    })
}

/// A field's value.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The first field of a number that holds bytes.
fn field<'a>(fields: &[(u64, Value<'a>)], wanted: u64) -> Option<&'a [u8]> {
    fields.iter().find_map(|(number, value)| match value {
        Value::Bytes(bytes) if *number == wanted => Some(*bytes),
        _ => None,
    })
}

/// All fields of a message; `None` if it is malformed.
fn fields(mut text: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut fields = Vec::new();
    while !text.is_empty() {
        let tag = read_varint(&mut text)?;
        let value = match tag & 7 {
            0 => Value::Number(read_varint(&mut text)?),
            1 => Value::Bytes(take(&mut text, 8)?),
            2 => {
                let length = usize::try_from(read_varint(&mut text)?).ok()?;
                Value::Bytes(take(&mut text, length)?)
            }
            5 => Value::Bytes(take(&mut text, 4)?),
            _ => return None,
        };
        fields.push((tag >> 3, value));
    }
    Some(fields)
}

fn take<'a>(text: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (bytes, rest) = text.split_at_checked(length)?;
    *text = rest;
    Some(bytes)
}

fn read_varint(text: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *take(text, 1)?.first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut text = Vec::new();
    while value >= 0x80 {
        text.push(value as u8 | 0x80);
        value >>= 7;
    }
    text.push(value as u8);
    text
}

/// A field of bytes.
fn bytes(number: u64, value: &[u8]) -> Vec<u8> {
    let mut text = varint(number << 3 | 2);
    text.extend(varint(value.len() as u64));
    text.extend_from_slice(value);
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Manually derived from the wire format (protobuf.dev/programming-guides/encoding): field 2 of
    /// 79 bytes, in it field 1 `result` and field 2 of 69 bytes, in that field 1 of 64 bytes and
    /// field 2, 300.
    #[test]
    fn the_bytes_are_those_of_the_wire_format() {
        let sha256 = "ab".repeat(32);
        let digest = Digest {
            sha256: sha256.clone(),
            size: 300,
        };
        let mut expected = b"\x12\x4f\x0a\x06result\x12\x45\x0a\x40".to_vec();
        expected.extend(sha256.as_bytes());
        expected.extend(b"\x10\xac\x02");
        assert_eq!(encode(&digest), expected);
    }

    proptest! {
        #[test]
        fn an_action_round_trips_also_with_fields_of_the_server(
            hash in "[0-9a-f]{64}", size in any::<u64>(), other in 3u64..1000, more in ".{0,20}"
        ) {
            let digest = Digest { sha256: hash, size };
            let mut text = bytes(other, more.as_bytes());
            text.extend(encode(&digest));
            text.extend(bytes(other, more.as_bytes()));
            prop_assert_eq!(decode(&text), Some(digest));
        }

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&text);
        }

        #[test]
        fn a_cut_action_is_none(at in 0usize..80) {
            let text = encode(&Digest { sha256: "0".repeat(64), size: 7 });
            prop_assert_eq!(decode(&text[..at.min(text.len() - 1)]), None);
        }
    }
}
