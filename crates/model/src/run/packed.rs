//! Compact lists of integers.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{SeqAccess, Visitor},
};

/// A list of integers, some absent; serialized as a plain list. In memory each value is stored as
/// its difference from the previous one, in two bytes on average instead of sixteen: a long run
/// holds millions of counter samples, and a lab guest has little memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// Variable-length integers (base 128, low digits first): 0 if absent, otherwise 1 plus the
    /// zigzag code of the difference from the last present value.
    bytes: Vec<u8>,
}

impl Packed {
    /// The values.
    pub fn iter(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        let (mut bytes, mut last) = (self.bytes.iter(), 0u64);
        std::iter::from_fn(move || {
            let code = digits(&mut bytes)?;
            Some(code.checked_sub(1).map(|zigzag| {
                let distance = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
                last = last.wrapping_add(distance as u64);
                last
            }))
        })
    }
}

/// The next variable-length integer, of up to 65 bits.
fn digits<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<u128> {
    let (mut code, mut shift) = (0, 0);
    loop {
        let byte = *bytes.next()?;
        code |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(code);
        }
        shift += 7;
    }
}

impl FromIterator<Option<u64>> for Packed {
    fn from_iter<I: IntoIterator<Item = Option<u64>>>(values: I) -> Self {
        let (mut bytes, mut last) = (Vec::new(), 0u64);
        for value in values {
            let mut code = value.map_or(0, |value| {
                let distance = value.wrapping_sub(last) as i64;
                last = value;
                u128::from((distance << 1 ^ distance >> 63) as u64) + 1
            });
            while code >= 0x80 {
                bytes.push(code as u8 | 0x80);
                code >>= 7;
            }
            bytes.push(code as u8);
        }
        bytes.shrink_to_fit();
        Self { bytes }
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Packed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of integers or nulls")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Packed, A::Error> {
                let mut failed = None;
                let values = std::iter::from_fn(|| {
                    list.next_element().unwrap_or_else(|error| {
                        failed = Some(error);
                        None
                    })
                });
                let packed = values.collect();
                failed.map_or(Ok(packed), Err)
            }
        }
        from.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = Option<u64>> {
        prop_oneof![
            Just(None),
            (0u64..300).prop_map(Some),
            any::<u64>().prop_map(Some),
            Just(Some(u64::MAX)),
            Just(Some(1 << 63)),
        ]
    }

    proptest! {
        #[test]
        fn numbers_round_trip(values in prop::collection::vec(number(), 0..200)) {
            let packed: Packed = values.iter().copied().collect();
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), values.clone());
            // The same form as a list.
            let text = serde_json::to_string(&packed).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&values).unwrap());
            prop_assert_eq!(serde_json::from_str::<Packed>(&text).unwrap(), packed);
        }
    }

    #[test]
    fn a_counter_takes_two_bytes_per_sample() {
        let packed: Packed = (0..1000).map(|n| Some(1_000_000_000 + 5_000 * n)).collect();
        assert!(packed.bytes.len() <= 2 * 1000 + 3);
    }

    #[test]
    fn invalid_numbers_are_refused() {
        for text in ["[1, \"a\"]", "[-1]", "[1.5]", "{}", "[1"] {
            assert!(serde_json::from_str::<Packed>(text).is_err(), "{text}");
        }
    }
}
