//! Names of keys in tables and histories.

use std::str::FromStr;

use super::{Key, StepKind};
use crate::{
    net::{Direction, IpVersion, Layer},
    spec::quantity,
};

/// A name that no key of this version has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} does not name a measurement: expected one such as `tunnel/v4 tcp down x1 cubic`")]
pub struct UnknownKey(pub String);

impl FromStr for Key {
    type Err = UnknownKey;

    /// Reads a name that `Display` wrote: no other form is accepted, so that names and keys
    /// correspond one to one.
    fn from_str(name: &str) -> Result<Self, UnknownKey> {
        let key = Settings::of(name).and_then(Settings::key);
        key.filter(|key| key.to_string() == name)
            .ok_or_else(|| UnknownKey(name.to_owned()))
    }
}

/// The settings in a name, in order; each is consumed by the first parser that accepts it.
struct Settings<'a> {
    place: &'a str,
    step: &'a str,
    rest: std::iter::Peekable<std::str::Split<'a, char>>,
}

impl<'a> Settings<'a> {
    fn of(name: &'a str) -> Option<Self> {
        let mut words = name.split(' ');
        Some(Self {
            place: words.next()?,
            step: words.next()?,
            rest: words.peekable(),
        })
    }

    /// The next setting, if it is one of this kind.
    fn take<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = self.rest.peek().and_then(|word| read(word))?;
        self.rest.next();
        Some(found)
    }

    fn key(mut self) -> Option<Key> {
        let (layer, family) = self.place.split_once('/')?;
        let named = |kind: &StepKind| kind.to_string() == self.step;
        let key = Key {
            step: StepKind::ALL.into_iter().find(named)?,
            layer: one_of([Layer::Underlay, Layer::Tunnel], layer)?,
            family: one_of([IpVersion::V4, IpVersion::V6], family)?,
            direction: self.take(|word| one_of([Direction::Down, Direction::Up], word)),
            bidirectional: self
                .take(|word| (word == "bidirectional").then_some(()))
                .is_some(),
            flows: self.take(|word| word.strip_prefix('x')?.parse().ok()),
            cc: self.take(|word| is_free(word).then(|| word.to_owned())),
            rate_bps: self.take(|word| Some(quantity::rate(word).ok()?.bps())),
            bytes: self.take(|word| Some(quantity::size(word).ok()?.0)),
        };
        self.rest.next().is_none().then_some(key)
    }
}

/// Returns true if a word may name a congestion control: rates and sizes begin with a digit, which
/// no such name does, and other words have another meaning.
fn is_free(word: &str) -> bool {
    let is_quantity = word.starts_with(|first: char| first.is_ascii_digit());
    !is_quantity && !["", "down", "up", "bidirectional", "opposed"].contains(&word)
}

fn one_of<T: ToString, const N: usize>(all: [T; N], name: &str) -> Option<T> {
    all.into_iter().find(|one| one.to_string() == name)
}

#[cfg(test)]
mod tests {
    use proptest::{option, prelude::*, sample::select};

    use super::*;

    fn keys() -> impl Strategy<Value = Key> {
        let place = (
            select(&StepKind::ALL[..]),
            select(vec![Layer::Underlay, Layer::Tunnel]),
            select(vec![IpVersion::V4, IpVersion::V6]),
            option::of(select(vec![Direction::Down, Direction::Up])),
        );
        let settings = (
            any::<bool>(),
            option::of(any::<u32>()),
            // The names in Linux 7.2, net/ipv4/tcp_*.c, that are not plain words among them.
            option::of("bbr|cubic|reno|cdg|nv|yeah|illinois|dctcp-reno|bbr_v3"),
            option::of(1..=1_000_000_000_000_u64),
            option::of(0..=1_000_000_000_000_u64),
        );
        (place, settings).prop_map(|(place, settings)| {
            let (step, layer, family, direction) = place;
            let (bidirectional, flows, cc, rate_bps, bytes) = settings;
            Key {
                step,
                layer,
                family,
                direction,
                bidirectional,
                flows,
                cc,
                rate_bps,
                bytes,
            }
        })
    }

    proptest! {
        #[test]
        fn a_name_round_trips_as_a_key(key in keys()) {
            prop_assert_eq!(key.to_string().parse(), Ok(key));
        }

        /// For any input: no panic, and the parsed value is written the same.
        #[test]
        fn a_name_that_is_read_is_written_the_same(
            name in "(underlay|tunnel)/v[46] (idle|tcp|udp)( (down|up|bidirectional|x0?[0-9]|[a-z]{1,5}|0?[0-9]mbit|[0-9]\\.?0?kB)){0,5} ?"
        ) {
            if let Ok(key) = name.parse::<Key>() {
                prop_assert_eq!(key.to_string(), name);
            }
        }
    }

    #[test]
    fn names_of_other_versions_are_not_read() {
        for name in [
            "",
            "tunnel/v4",
            "tunnel/v4 ",
            "tunnel tcp down",
            "tunnel/v4 tcp down opposed x1",
            "tunnel/v4 tcp x1 down",
            "tunnel/v4 teleport down",
            "tunnel/v4 tcp down x01",
            "tunnel/v4 udp down 1000kbit",
            "tunnel/v4 tcp down x1 cubic reno",
        ] {
            assert_eq!(name.parse::<Key>(), Err(UnknownKey(name.to_owned())));
        }
    }
}
