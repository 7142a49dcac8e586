//! Errors in config keys.

use model::spec::quantity::QuantityError;

use crate::post::UrlError;

/// Error in a key, with valid alternatives. The message follows the key and a colon.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Reason {
    /// The file is not TOML.
    #[error("{}", .0.message().replace('\n', "; "))]
    Toml(toml::de::Error),
    /// A key that does not exist, with the nearest one.
    #[error("unknown key; did you mean \"{0}\"?")]
    UnknownNear(String),
    /// A key that does not exist, and none is near.
    #[error("unknown key; there are {0}")]
    Unknown(String),
    /// The file has no path.
    #[error("nothing to watch: add a [[path]] with its host")]
    NoPath,
    /// A path has no far end.
    #[error("the far end is not given: host = \"HOST[:PORT]\"")]
    NoHost,
    /// Two paths have the same name.
    #[error("there are two paths with the name \"{0}\"")]
    NameTwice(String),
    /// A key file for a far end without one.
    #[error("open = true needs no key; remove one of both")]
    KeyAndOpen,
    /// Not a table.
    #[error("must be a table: [{0}]")]
    NotTable(String),
    /// Not a list of tables.
    #[error("must be tables: [[{0}]]")]
    NotTables(String),
    /// Not a list.
    #[error("must be a list: [\"...\", \"...\"]")]
    NotList,
    /// Not a text.
    #[error("must be a text in quotes")]
    NotText,
    /// Neither true nor false.
    #[error("must be true or false")]
    NotSwitch,
    /// A text of blanks only.
    #[error("must not be empty")]
    Empty,
    /// A name that no label of metrics may be.
    #[error("must have 1 to 64 letters, digits, \".\", \"-\", \"_\", \":\"")]
    NotName,
    /// No IP address.
    #[error("\"{0}\" is no IP address; write for instance \"100.64.0.7\"")]
    NotAddress(String),
    /// No id of a change.
    #[error("\"{0}\" is no id of a change: at least eight digits of it, by pathtwin tune list")]
    NotChange(String),
    /// No layer.
    #[error("\"{0}\" is no layer: \"underlay\" or \"tunnel\"")]
    NotLayer(String),
    /// No rate, size, share or time.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// A share out of its range.
    #[error("{text} must be in {}% to {}%", 100.0 * least, 100.0 * most)]
    ShareRange {
        /// The text in the file.
        text: String,
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// A time out of its range.
    #[error("{text} must be in {least_s}s to {most_s}s, or \"never\"")]
    TimeRange {
        /// The text in the file.
        text: String,
        /// The shortest, s.
        least_s: u64,
        /// The longest, s.
        most_s: u64,
    },
    /// Neither metered nor not.
    #[error("\"{0}\" must be \"auto\", \"yes\" or \"no\"")]
    NotMetered(String),
    /// No URL.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// A URL of `https`, and no TLS.
    #[error("this pathtwin was built without TLS: post to http://, or name a program as command")]
    NoTls,
    /// A history, or flash with one.
    #[error("this pathtwin was built without a history; its state is enough to find changes")]
    NoHistory,
    /// No address with a port.
    #[error("\"{0}\" is no address with a port, such as \"127.0.0.1:5302\"")]
    NotListen(String),
    /// An address that other hosts reach.
    #[error(
        "{0} is not an address of this host alone; listen on 127.0.0.1 and put a reverse proxy \
         before it"
    )]
    NotLoopback(String),
    /// No hours of the day.
    #[error("\"{0}\" are no hours; write for instance \"22:00-07:00\"")]
    NotHours(String),
}
