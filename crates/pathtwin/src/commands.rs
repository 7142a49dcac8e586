//! Commands, one file each: wiring only.

#[cfg(feature = "lab")]
pub(crate) mod advise;
pub(crate) mod compare;
#[cfg(all(feature = "history", feature = "page"))]
pub(crate) mod dashboard;
pub(crate) mod explain;
pub(crate) mod facts;
#[cfg(feature = "lab")]
pub(crate) mod fix;
#[cfg(feature = "history")]
pub(crate) mod history;
pub(crate) mod iperf3;
#[cfg(feature = "lab")]
pub mod lab;
#[cfg(feature = "manual")]
pub(crate) mod manual;
pub(crate) mod measure;
pub(crate) mod observe;
#[cfg(feature = "page")]
pub(crate) mod report;
pub(crate) mod serve;
#[cfg(feature = "tune")]
pub(crate) mod tune;
#[cfg(feature = "lab")]
pub(crate) mod twin;
#[cfg(feature = "watch")]
pub(crate) mod watch;
