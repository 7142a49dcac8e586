//! Decoding of replies as the type that matches the request.
//!
//! Replies and outcomes begin with a field that names them. It is compared with the expected type
//! before anything else is read, so another reply cannot be accepted instead, and a long reply is
//! decoded directly into its type.

use std::{fmt, marker::PhantomData};

use model::{evidence::Evidence, facts::HostFacts, text::Text};
use serde::{
    Deserialize,
    de::{DeserializeOwned, Deserializer, Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use traffic::wire::{
    Token,
    message::{
        Code, EchoOutcome, HttpOutcome, QuicOutcome, ShortOutcome, TcpOutcome, UdpOutcome, Welcome,
    },
    ticket::Secret,
};

/// A part of a message that begins with its name.
pub trait Named: DeserializeOwned {
    /// The field that holds the name.
    const FIELD: &'static str;
    /// The name.
    const NAME: &'static str;
}

/// The outcome of a load or service, as the far end saw it.
pub trait Outcome: Named {}

macro_rules! named {
    ($field:literal: $($type:ty = $name:literal),+ $(,)?) => {
        $(impl Named for $type {
            const FIELD: &'static str = $field;
            const NAME: &'static str = $name;
        })+
    };
}

named!("reply":
    Welcome = "welcome",
    Facts = "facts",
    Counters = "evidence",
    Done = "done",
    Ended = "finished",
    Refusal = "no",
);
named!("outcome":
    TcpOutcome = "tcp",
    UdpOutcome = "udp",
    QuicOutcome = "quic",
    EchoOutcome = "echo",
    ShortOutcome = "short",
    HttpOutcome = "http",
);

impl Outcome for TcpOutcome {}
impl Outcome for UdpOutcome {}
impl Outcome for QuicOutcome {}
impl Outcome for EchoOutcome {}
impl Outcome for ShortOutcome {}
impl Outcome for HttpOutcome {}

/// Facts of the far host.
#[derive(Deserialize)]
pub(super) struct Facts {
    pub(super) facts: HostFacts,
}

/// Changes of the far host's counters.
#[derive(Deserialize)]
pub(super) struct Counters {
    pub(super) evidence: Evidence,
}

/// Reply: the request was carried out.
#[derive(Deserialize)]
pub(super) struct Done {}

/// Reply: a load or service has ended; its outcome is not read.
#[derive(Deserialize)]
pub(super) struct Ended {}

/// Reply: the request was refused.
#[derive(Deserialize)]
pub(super) struct Refusal {
    #[serde(default)]
    pub(super) code: Code,
    pub(super) why: String,
    #[serde(default)]
    pub(super) text: Option<Text>,
}

/// A load or service that the far end has agreed to, with the key `K` that it will show.
#[derive(Deserialize)]
#[serde(bound = "K: DeserializeOwned")]
pub(super) struct Opened<K> {
    pub(super) token: Token,
    pub(super) secret: Secret,
    pub(super) key: K,
}

impl<K: DeserializeOwned> Named for Opened<K> {
    const FIELD: &'static str = "reply";
    const NAME: &'static str = "opened";
}

/// A load or service that has ended.
#[derive(Deserialize)]
#[serde(bound = "O: Outcome")]
pub(super) struct Finished<O> {
    pub(super) outcome: Only<O>,
}

impl<O: Outcome> Named for Finished<O> {
    const FIELD: &'static str = "reply";
    const NAME: &'static str = "finished";
}

/// A value whose name was checked.
pub(super) struct Only<T>(pub(super) T);

impl<'de, T: Named> Deserialize<'de> for Only<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Body::<T, Self>(PhantomData))
    }
}

/// The reply that is due, or the refusal.
pub(super) struct Reply<T>(pub(super) Result<T, Refusal>);

impl<'de, T: Named> Deserialize<'de> for Reply<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Body::<T, Self>(PhantomData))
    }
}

/// Decodes the object that holds a `T`.
struct Body<T, Of>(PhantomData<(T, Of)>);

impl<T: Named, Of> Body<T, Of> {
    /// The name at the start of an object.
    fn name<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
        match map.next_key::<String>()? {
            Some(field) if field == T::FIELD => map.next_value(),
            _ => Err(A::Error::custom(format_args!(
                "it does not begin with `{}`",
                T::FIELD
            ))),
        }
    }

    fn body<'de, A: MapAccess<'de>>(name: &str, map: A) -> Result<T, A::Error> {
        if name == T::NAME {
            return T::deserialize(MapAccessDeserializer::new(map));
        }
        Err(A::Error::custom(format_args!(
            "the {} is `{name}` where `{}` was due",
            T::FIELD,
            T::NAME
        )))
    }

    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object that begins with `{}`", T::FIELD)
    }
}

impl<'de, T: Named> Visitor<'de> for Body<T, Only<T>> {
    type Value = Only<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::expected(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let name = Self::name(&mut map)?;
        Self::body(&name, map).map(Only)
    }
}

impl<'de, T: Named> Visitor<'de> for Body<T, Reply<T>> {
    type Value = Reply<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::expected(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let name = Self::name(&mut map)?;
        if name == Refusal::NAME {
            let refusal = Refusal::deserialize(MapAccessDeserializer::new(map))?;
            return Ok(Reply(Err(refusal)));
        }
        Self::body(&name, map).map(|body| Reply(Ok(body)))
    }
}

#[cfg(test)]
mod tests;
