//! The quantities of a Run that later stages use, each defined once: the view of a Run by layer,
//! direction and host, and the theoretical rates of a flow. No I/O, and no judgement: `explain`
//! decides what a quantity means for a path.

mod bounds;
pub mod buckets;
pub mod changes;
pub mod curve;
pub mod datagrams;
pub mod distribution;
pub mod effects;
pub mod figures;
pub mod flow;
pub mod flows;
pub mod hotspots;
pub mod loss;
pub mod models;
pub mod over_time;
pub mod pace;
pub mod page;
pub mod percentile;
mod pooled;
pub mod probes;
pub mod processor;
pub mod repeats;
pub mod rows;
mod share;
pub mod shortfall;
pub mod start;
pub mod summary;
pub mod timeline;
pub mod traffic;
pub mod view;
