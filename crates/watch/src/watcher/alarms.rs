//! Suspicions, changes and messages.

use std::collections::BTreeMap;

use model::text::Text;
use stats::Random;

use super::Watcher;
use crate::{
    figures::Figure,
    lasting::Shift,
    message::{Cause, Event, FactChange, FigureChange, MESSAGE_SCHEMA, Message},
    moment::{HOUR_NS, Moment, SECOND_NS},
    path_state::{Incident, PathState},
    plan::TooSmall,
    schedule,
};

/// Repeats of a suspicious load, and maximum rounds of them per day.
const RETESTS: u32 = 3;
const ROUNDS: u32 = 4;
/// A change is reported by then, with or without a run of the full plan.
const REPORT_NS: u64 = 2 * HOUR_NS;
/// Changes of figures that began so close to each other are one.
const SAME_US: u64 = 6 * 3600 * 1_000_000;
/// A change of a host waits this long for figures that change with it, and while loads are
/// suspicious at most the longer time.
const NEWS_US: [u64; 2] = [12 * 3600 * 1_000_000, 40 * 3600 * 1_000_000];
/// Facts and changes of `tune` this close to a change are reported with it.
const AROUND_US: u64 = 24 * 3600 * 1_000_000;
/// Number of failures and time after which a far end counts as unreachable.
const GONE: (u32, u64) = (3, 300 * 1_000_000);
/// Messages that wait at most; the oldest is dropped.
const WAITING: usize = 1000;
/// Tries to deliver a message.
const TRIES: u32 = 200;

/// Results of the run after a change: its id, its causes, and changes of `tune`.
type After = (Option<String>, Vec<Cause>, Vec<(u64, String)>);

impl Watcher {
    /// A load was suspicious: repeat it soon.
    pub(super) fn suspect(&mut self, path: usize, now: Moment, random: &mut Random) {
        let wait = schedule::retest_wait(random);
        let retest = &mut self.state(path).retest;
        if retest.day != now.day() {
            (retest.day, retest.rounds) = (now.day(), 0);
        }
        if retest.due.is_some() || retest.rounds >= ROUNDS {
            return;
        }
        retest.rounds += 1;
        retest.left = RETESTS;
        retest.due = Some(now.boot_ns + wait);
    }

    /// Returns true if repeats confirm a change of a load's figure. Probes repeat themselves.
    pub(super) fn is_confirmed(&mut self, path: usize, figure: Figure, shift: &Shift) -> bool {
        let repeated = self.state(path).retest.done_us;
        figure.kind.is_of_probes() || repeated.is_some_and(|at| at >= shift.at_us)
    }

    /// A figure has changed, and stayed.
    pub(super) fn changed(&mut self, path: usize, figure: Figure, shift: &Shift, now: Moment) {
        let state = self.state(path);
        let change = FigureChange::of(figure, shift);
        let near = |at: u64| at.abs_diff(shift.at_us) <= SAME_US;
        if let Some(incident) = &mut state.incident {
            incident.at_us = incident.at_us.min(shift.at_us);
            incident.figures.retain(|own| own.figure != figure);
            incident.figures.push(change);
            return;
        }
        // Another figure of a change that is reported already.
        if state.reported_us.is_some_and(near) {
            return;
        }
        state.incident = Some(Incident {
            at_us: shift.at_us,
            found_us: now.wall_us,
            report_by: now.boot_ns + REPORT_NS,
            figures: vec![change],
        });
        state.full_due = Some(now.boot_ns);
    }

    /// Reports a change, with the results of the run after it.
    pub(super) fn report(&mut self, path: usize, after: Option<After>, now: Moment) {
        let state = self.state(path);
        let Some(incident) = state.incident.take() else {
            return;
        };
        (state.reported_us, state.told_us) = (Some(incident.at_us), Some(now.wall_us));
        let near = |at: u64| at.abs_diff(incident.at_us) <= AROUND_US;
        state.news_us = state.news_us.filter(|at| !near(*at));
        let facts = state.fact_changes.iter().filter(|fact| near(fact.at_us));
        let facts = facts.cloned().collect();
        let facts = self.by_the_clock(facts);
        let calendar = self.saved.calendar;
        let (run, causes, changes) = after.unwrap_or_default();
        let changes = changes
            .into_iter()
            .filter(|(at, _)| near(calendar.even_us(*at)));
        let message = Message {
            figures: incident.figures,
            facts,
            changes: changes.map(|(_, id)| id).collect(),
            causes,
            run,
            ..self.message(path, Event::Changed, (incident.at_us, incident.found_us))
        };
        self.tell(message);
    }

    /// Changes of facts with the times of the host's clock.
    fn by_the_clock(&self, mut facts: Vec<FactChange>) -> Vec<FactChange> {
        for fact in &mut facts {
            fact.at_us = self.saved.calendar.of_host_us(fact.at_us);
        }
        facts
    }

    /// Reports changes whose run of the full plan is overdue, and those of hosts that have waited
    /// for one.
    pub fn report_overdue(&mut self, now: Moment) {
        let now = self.even(now);
        // Usually there is none, and this is called in every iteration of the loop.
        let is_idle = |state: &PathState| state.incident.is_none() && state.news_us.is_none();
        if self.saved.paths.values().all(is_idle) {
            return;
        }
        for path in 0..self.config.paths.len() {
            let state = self.state(path);
            match &state.incident {
                Some(incident) if incident.report_by <= now.boot_ns => self.report(path, None, now),
                Some(_) => {}
                None => self.report_news(path, now),
            }
        }
    }

    /// Reports changes of a host that have waited for a change of a figure.
    fn report_news(&mut self, path: usize, now: Moment) {
        let state = self.state(path);
        let Some(at_us) = state.news_us else {
            return;
        };
        let repeated = state.retest.done_us.is_some_and(|at| at >= at_us);
        let is_suspicious = repeated || state.retest.due.is_some();
        if now.wall_us.saturating_sub(at_us) < NEWS_US[usize::from(is_suspicious)] {
            return;
        }
        state.news_us = None;
        let facts = state.news(at_us);
        let (run, causes) = (state.run.clone(), state.causes.clone());
        if facts.is_empty() {
            return;
        }
        let message = Message {
            facts: self.by_the_clock(facts),
            causes,
            run,
            ..self.message(path, Event::HostChanged, (at_us, now.wall_us))
        };
        self.tell(message);
    }

    /// The far end has answered.
    pub(super) fn answered(&mut self, path: usize, now: Moment) {
        let reach = std::mem::take(&mut self.state(path).reach);
        self.state(path).reach.answered = true;
        if reach.reported {
            let message = self.message(path, Event::Reachable, (now.wall_us, now.wall_us));
            self.tell(message);
        }
    }

    /// The far end has not answered.
    pub(super) fn unanswered(&mut self, path: usize, error: Text, now: Moment) {
        let reach = &mut self.state(path).reach;
        reach.failures = reach.failures.saturating_add(1);
        let since = *reach.since_us.get_or_insert(now.wall_us);
        reach.error = Some(error.clone());
        let long = now.wall_us.saturating_sub(since) >= GONE.1;
        if reach.failures >= GONE.0 && long && !reach.reported {
            reach.reported = true;
            let mut message = self.message(path, Event::Unreachable, (since, now.wall_us));
            message.causes.push(Cause {
                code: "unreachable".to_owned(),
                text: error,
            });
            self.tell(message);
        }
    }

    /// Takes the kept changes of `tune` on this host whose settings somebody else has set since, by
    /// id with those settings. Each is reported once, and again if it was set back in between, or
    /// if other settings have drifted.
    pub fn drifted(&mut self, host: &str, found: BTreeMap<String, Vec<Text>>, now: Moment) {
        let now = self.even(now);
        let known = std::mem::take(&mut self.saved.drifted);
        for (id, settings) in &found {
            // By their words: older versions stored these.
            if known
                .get(id)
                .is_some_and(|known| same_words(known, settings))
            {
                continue;
            }
            let mut message =
                self.message_of(host.to_owned(), Event::Drifted, (now.wall_us, now.wall_us));
            message.changes.push(id.clone());
            message.causes.push(Cause {
                code: "drift".to_owned(),
                text: Text::list(settings.iter().cloned()),
            });
            self.tell(message);
        }
        self.saved.drifted = found;
    }

    /// A short load has measured goodputs, or none because its bytes are too few. This is reported
    /// once for each size that is configured.
    pub(super) fn sized(&mut self, path: usize, found: Option<TooSmall>, now: Moment) {
        let state = self.state(path);
        let known = std::mem::replace(&mut state.too_small, found);
        let Some(found) = found else {
            return;
        };
        if known.is_some_and(|known| known.load_bytes == found.load_bytes) {
            return;
        }
        let mut message = self.message(path, Event::LoadsTooSmall, (now.wall_us, now.wall_us));
        message.causes.push(Cause {
            code: "load_bytes".to_owned(),
            text: found.text(),
        });
        self.tell(message);
    }

    fn message(&mut self, path: usize, event: Event, times: (u64, u64)) -> Message {
        self.message_of(self.config.paths[path].name.clone(), event, times)
    }

    pub(super) fn message_of(
        &mut self,
        path: String,
        event: Event,
        (at_us, found_us): (u64, u64),
    ) -> Message {
        self.saved.next_message += 1;
        let calendar = self.saved.calendar;
        let (at_us, found_us) = (calendar.of_host_us(at_us), calendar.of_host_us(found_us));
        Message {
            schema: MESSAGE_SCHEMA,
            id: self.saved.next_message,
            path,
            event,
            at_us,
            found_us,
            figures: Vec::new(),
            facts: Vec::new(),
            changes: Vec::new(),
            causes: Vec::new(),
            run: None,
        }
    }

    pub(super) fn tell(&mut self, message: Message) {
        let outbox = &mut self.saved.outbox;
        outbox.push(message);
        let surplus = outbox.len().saturating_sub(WAITING);
        outbox.drain(..surplus);
    }

    /// The message to send now; none in quiet hours.
    pub fn outgoing(&self, now: Moment) -> Option<&Message> {
        let quiet = self.config.alarm.quiet;
        if quiet.is_some_and(|hours| hours.has(now.minute_of_day())) {
            return None;
        }
        let early = |id| {
            self.late
                .iter()
                .any(|(own, _, at)| *own == id && *at > now.boot_ns)
        };
        self.saved.outbox.iter().find(|message| !early(message.id))
    }

    /// A message was delivered.
    pub fn delivered(&mut self, id: u64) {
        self.saved.outbox.retain(|message| message.id != id);
        self.late.retain(|(own, ..)| *own != id);
    }

    /// A message could not be delivered: it is retried with increasing intervals.
    pub fn undelivered(&mut self, id: u64, now: Moment) {
        let at = self.late.iter().position(|(own, ..)| *own == id);
        let tries = at.map_or(1, |at| self.late.swap_remove(at).1 + 1);
        if tries >= TRIES {
            return self.delivered(id);
        }
        let minutes = 1u64 << tries.min(6);
        let next = now.boot_ns + minutes * 60 * SECOND_NS;
        self.late.push((id, tries, next));
    }
}

fn same_words(one: &[Text], other: &[Text]) -> bool {
    let words = |texts: &[Text]| texts.iter().map(Text::to_string).collect::<Vec<_>>();
    words(one) == words(other)
}
