//! Conversions into values.

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use super::template::{Text, Value};
use crate::{
    cause::CauseCode,
    net::{Direction, Layer, Side},
    text,
};

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<String> for Value {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<&str> for Value {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<&String> for Value {
    fn from(name: &String) -> Self {
        Self::Name(name.clone())
    }
}

impl From<&CauseCode> for Value {
    fn from(code: &CauseCode) -> Self {
        Self::Name(code.to_string())
    }
}

impl From<Direction> for Value {
    fn from(direction: Direction) -> Self {
        Self::Text(match direction {
            Direction::Down => text!("down"),
            Direction::Up => text!("up"),
        })
    }
}

impl From<Layer> for Value {
    fn from(layer: Layer) -> Self {
        Self::Text(match layer {
            Layer::Underlay => text!("underlay"),
            Layer::Tunnel => text!("tunnel"),
        })
    }
}

impl From<Side> for Value {
    fn from(side: Side) -> Self {
        Self::Text(match side {
            Side::Near => text!("near host"),
            Side::Far => text!("far host"),
        })
    }
}

/// An address is the same in every language.
impl From<IpAddr> for Value {
    fn from(address: IpAddr) -> Self {
        Self::Name(address.to_string())
    }
}

/// An address is the same in every language.
impl From<SocketAddr> for Value {
    fn from(address: SocketAddr) -> Self {
        Self::Name(address.to_string())
    }
}

/// A path is the same in every language.
impl From<&Path> for Value {
    fn from(path: &Path) -> Self {
        Self::Name(path.display().to_string())
    }
}

/// A path is the same in every language.
impl From<&PathBuf> for Value {
    fn from(path: &PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

/// The message of the parser is quoted.
impl From<&serde_json::Error> for Value {
    fn from(error: &serde_json::Error) -> Self {
        Self::Name(error.to_string())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Count(number.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Count(number as f64)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Count(number as f64)
    }
}
