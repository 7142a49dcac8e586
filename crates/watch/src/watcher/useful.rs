//! Changes of `tune` that no longer help: doubt, retest, request.

use std::collections::BTreeMap;

use model::{
    change::ChangeId,
    text,
    text::{Text, Value},
};
use stats::Random;

use super::Watcher;
use crate::{
    figures::Figure,
    lasting::Track,
    message::{Cause, Event, FigureChange},
    moment::Moment,
    undo::{REQUEST_SCHEMA, Request},
    useless::{self, Gained, Left, Useful, WEEK_US},
};

/// A kept change of `tune` on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptChange {
    /// Its id.
    pub id: ChangeId,
    /// When it was made, µs since 1970.
    pub at_us: u64,
}

impl Watcher {
    /// Considers the kept changes of this host that the config permits to undo: one that certainly
    /// gains nothing any more is measured again, and then a request is made and reported.
    pub fn consider(&mut self, kept: &[KeptChange], now: Moment, random: &mut Random) {
        let now = self.even(now);
        let mut known = std::mem::take(&mut self.saved.useful);
        let mut considered = BTreeMap::new();
        for change in kept {
            let permits = |path: &usize| self.config.paths[*path].may_undo(&change.id);
            let paths: Vec<usize> = (0..self.config.paths.len()).filter(permits).collect();
            if !paths.is_empty() {
                let state = known.remove(&change.id).unwrap_or_default();
                let state = self.weigh(change, &paths, state, (now, random));
                considered.insert(change.id.clone(), state);
            }
        }
        // A listing can lack a change for a while; its gains cannot be found again.
        let is_permitted = |id: &ChangeId| self.config.paths.iter().any(|path| path.may_undo(id));
        for (id, state) in known.into_iter().filter(|(id, _)| is_permitted(id)) {
            let state = Useful {
                doubt_us: None,
                request: None,
                ..state
            };
            considered.insert(id, state);
        }
        self.saved.useful = considered;
    }

    /// The request to undo a change, the first if there are several.
    pub fn request(&self) -> Option<&Request> {
        let mut all = self.saved.useful.values();
        all.find_map(|state| state.request.as_ref())
    }

    fn weigh(
        &mut self,
        change: &KeptChange,
        paths: &[usize],
        mut state: Useful,
        (now, random): (Moment, &mut Random),
    ) -> Useful {
        let at_us = self.saved.calendar.even_us(change.at_us);
        if !state.is_known && now.wall_us >= at_us + WEEK_US {
            state.is_known = true;
            state.gained = self.gained(paths, at_us);
        }
        // A week that is neither the first nor partly before the change.
        let left = match now.wall_us >= at_us + 2 * WEEK_US {
            true => self.nothing_left(&state, now.wall_us),
            false => None,
        };
        let Some(left) = left else {
            (state.doubt_us, state.request) = (None, None);
            return state;
        };
        if state.request.is_some() {
            return state;
        }
        let since_us = *state.doubt_us.get_or_insert(now.wall_us);
        let mut doubtful: Vec<usize> = paths.to_vec();
        doubtful.retain(|path| {
            let name = &self.config.paths[*path].name;
            state.gained.iter().any(|(own, ..)| own == name)
        });
        let is_retested = |path: &usize| {
            let done_us = self.saved.paths[&self.config.paths[*path].name]
                .retest
                .done_us;
            done_us.is_some_and(|done_us| done_us > since_us)
        };
        if !doubtful.iter().all(is_retested) {
            doubtful
                .into_iter()
                .for_each(|path| self.suspect(path, now, random));
        } else if self.is_repeated(&state, since_us) {
            state.request = Some(self.ask(change, &state, &left, now));
        } else {
            state.doubt_us = None;
        }
        state
    }

    fn track_of(&self, path: &str, figure: Figure) -> Option<&Track> {
        let mut of_path = self.tracks.get(path)?.iter();
        of_path
            .find(|(own, _)| *own == figure)
            .map(|(_, track)| track)
    }

    fn gained(&self, paths: &[usize], at_us: u64) -> Vec<(String, Figure, Gained)> {
        let change = self.config.alarm.change;
        let names = paths.iter().map(|path| &self.config.paths[*path].name);
        let tracks = names.filter_map(|name| Some((name, self.tracks.get(name)?)));
        let tracks = tracks.flat_map(|(name, all)| all.iter().map(move |one| (name, one)));
        let gained = tracks.filter_map(|(name, (figure, track))| {
            let gained = useless::gained(track, figure.kind, at_us, change)?;
            Some((name.clone(), *figure, gained))
        });
        gained.collect()
    }

    /// What is left of each gain; `None` if one may still be there, or if none was proved.
    fn nothing_left(&self, state: &Useful, now_us: u64) -> Option<Vec<Left>> {
        let left = state.gained.iter().map(|(path, figure, gained)| {
            let track = self.track_of(path, *figure)?;
            let change = self.config.alarm.change;
            useless::nothing_left(gained, (track, figure.kind), now_us, change)
        });
        let left: Option<Vec<Left>> = left.collect();
        left.filter(|left| !left.is_empty())
    }

    fn is_repeated(&self, state: &Useful, since_us: u64) -> bool {
        state.gained.iter().all(|(path, figure, gained)| {
            let change = self.config.alarm.change;
            let track = self.track_of(path, *figure);
            track.is_some_and(|track| {
                useless::is_repeated(gained, (track, figure.kind), since_us, change)
            })
        })
    }

    /// Makes the request, and a message about it.
    fn ask(&mut self, change: &KeptChange, state: &Useful, left: &[Left], now: Moment) -> Request {
        let figures: Vec<FigureChange> = state
            .gained
            .iter()
            .zip(left)
            .map(|((_, figure, _), left)| FigureChange {
                figure: *figure,
                before: left.without,
                after: left.now,
                change: Some(left.now / left.without - 1.0),
            })
            .collect();
        let reasons = state.gained.iter().zip(left).map(|((_, figure, gained), left)| {
            text!(
                "{figure}: the change gained {gain} in its first week, and gains at most {most} now",
                figure = figure.text(),
                gain = Value::Share(gained.gain.exp() - 1.0),
                most = Value::Share(left.most.max(0.0))
            )
        });
        let reason = Text::list(reasons);
        let path = state
            .gained
            .first()
            .map_or_else(String::new, |(path, ..)| path.clone());
        let times = (now.wall_us.saturating_sub(WEEK_US), now.wall_us);
        let mut message = self.message_of(path, Event::Useless, times);
        message.figures.clone_from(&figures);
        message.changes.push(change.id.to_string());
        message.causes.push(Cause {
            code: "useless".to_owned(),
            text: reason.clone(),
        });
        let asked_us = message.found_us;
        self.tell(message);
        Request {
            schema: REQUEST_SCHEMA,
            change: change.id.clone(),
            asked_us,
            reason,
            figures,
        }
    }
}
