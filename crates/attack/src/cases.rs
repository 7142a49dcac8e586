//! The attacks, by target.

mod budget;
mod changes;
mod crowd;
mod documents;
mod files;
mod hostile;
mod iperf3;
mod lab;
mod scene;
mod solid;
mod strangers;
mod tokens;
mod web;

use crate::case::Case;

/// All attacks, with those that need processor time before those that wait.
pub fn all() -> impl Iterator<Item = &'static Case> {
    [
        hostile::CASES,
        documents::CASES,
        budget::CASES,
        iperf3::CASES,
        web::CASES,
        tokens::CASES,
        crowd::CASES,
        strangers::CASES,
        solid::CASES,
        files::CASES,
        changes::CASES,
        lab::CASES,
    ]
    .into_iter()
    .flatten()
}

/// The attack with a name.
pub fn find(name: &str) -> Option<&'static Case> {
    all().find(|case| case.name == name)
}
