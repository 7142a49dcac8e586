//! Common parts of the rules that say on which segment of the path delay or loss arises.

use analysis::view::{DirectionView, Lost, Segment, Segments, Share};
use model::{
    findings::{EvidenceItem, Value},
    run::{Spread, ThirdAnswers},
    text,
    text::Text,
};

use super::{bloat, percent, time};
use crate::{
    bound,
    cause::Need,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, text_figure, undecided},
};

/// Share of probes lost without a full queue from which the loss is located: below, the result
/// depends on a few probes.
const LOST: f64 = 0.003;
/// Minimum share of datagrams lost below the capacity from which a path has loss that no queue
/// causes.
const RANDOM: f64 = 0.001;
/// Share of unanswered idle probes from which a third point without an agent counts as answering
/// only some.
const SILENT: f64 = 0.01;
/// Share of the total from which a segment causes most of it.
const MAX: f64 = 0.5;
/// The same for strong evidence.
const NEARLY_ALL: f64 = 0.8;
/// Maximum excess of a third point's answer time over that of the far end behind it, µs: two sets
/// of probes in the same queue differ by chance.
const SLOWER_US: f64 = 20_000.0;

/// A segment of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Between the near end and the third point.
    Near,
    /// Between the third point and the far end.
    Beyond,
}

/// Fault of the whole path, and the share of it that arises near.
struct Fault {
    text: Text,
    near: f64,
    /// Of loss: the shares that were lost.
    lost: Option<Lost>,
}

/// Tests whether most of the faults of a direction arise on a segment.
pub(super) fn test(dir: &DirectionView, place: Place) -> Verdict {
    let (Some(segments), Some(third)) = (dir.segments(), dir.view.third()) else {
        return undecided(Need::Third.missing(), Need::Third.settle());
    };
    let faults = faults(dir, &segments);
    if faults.is_empty() {
        return ruled_out(text!(
            "the load adds {added} and {lost} of the probes are lost: nothing to assign to a segment",
            added = time(segments.whole.added_us.median),
            lost = percent(segments.whole.lost.value)
        ));
    }
    if let Some(verdict) = unreliable(third.answers, &segments) {
        return verdict;
    }
    let own = |fault: &&Fault| (fault.near >= MAX) == (place == Place::Near);
    let Some(fault) = faults.iter().find(own) else {
        return ruled_out(text!("most of it arises on the other segment"));
    };
    let share = match place {
        Place::Near => fault.near,
        Place::Beyond => 1.0 - fault.near,
    };
    let signs = [share >= NEARLY_ALL, third.answers == ThirdAnswers::Agent];
    let mut evidence = evidence(&segments, fault.lost);
    evidence.push(text_figure(text!("third point"), third.text()));
    confirmed(Strength::of(&signs), fault.text.clone(), evidence)
}

/// Returns the faults: added delay above the acceptable one, and loss.
fn faults(dir: &DirectionView, segments: &Segments) -> Vec<Fault> {
    let mut faults = Vec::new();
    let fine = dir.default_load().map(|load| bloat::fine_us(dir, &load));
    let (whole, near) = (
        segments.whole.added_us.median,
        segments.near.added_us.median,
    );
    if fine.is_some_and(|fine| whole > fine) {
        let text = text!(
            "of {added} that the load adds to the RTT, {near} arise before the third point and {beyond} beyond it",
            added = time(whole),
            near = time(near.min(whole)),
            beyond = time(segments.beyond.added_us.median)
        );
        let near = near / whole;
        faults.push(Fault {
            text,
            near,
            lost: None,
        });
    }
    faults.extend(loss(dir));
    faults
}

/// Loss without a full queue, and its location. A queue that overflows under a load is a separate
/// cause. Probes are lost in both directions, so both have the same verdict.
fn loss(dir: &DirectionView) -> Option<Fault> {
    let directions = dir.view.directions();
    let below = directions.iter().filter_map(|dir| dir.sweep());
    let known = below.map(|sweep| sweep.below.loss_interval().0);
    known.reduce(f64::max).filter(|lost| *lost > RANDOM)?;
    let lost = dir.view.lost_by_segment()?;
    (lost.whole.value > LOST).then(|| Fault {
        text: text!(
            "of {lost} of the probes that are lost, {near} are lost before the third point and {beyond} beyond it",
            lost = percent(lost.whole.value),
            near = percent(lost.near.value),
            beyond = percent(lost.beyond.value)
        ),
        near: lost.near.value / lost.whole.value,
        lost: Some(lost),
    })
}

/// The verdict if the third point answers like a busy or silent host.
fn unreliable(answers: ThirdAnswers, segments: &Segments) -> Option<Verdict> {
    if answers == ThirdAnswers::Agent {
        return None;
    }
    let settle = || text!("the same plan with `pathtwin serve` on the third point");
    if let Some(lost) = segments.idle_lost.filter(|lost| *lost > SILENT) {
        return Some(undecided(
            text!(
                "the third point leaves {lost} of idle probes without an answer",
                lost = percent(lost)
            ),
            settle(),
        ));
    }
    let (whole, near) = (
        segments.whole.added_us.median,
        segments.near.added_us.median,
    );
    (near > whole + SLOWER_US).then(|| {
        let because = text!(
            "the third point answers {near} later under load, the far end behind it only {whole}: its answers are slow, not the segment",
            near = time(near),
            whole = time(whole)
        );
        undecided(because, settle())
    })
}

fn evidence(segments: &Segments, lost: Option<Lost>) -> Vec<EvidenceItem> {
    let mut all = vec![
        figure(
            text!("added by TCP"),
            Value::Us(segments.whole.added_us.median),
        )
        .bound(bloat::levels())
        .samples(&segments.samples),
    ];
    if let Some(lost) = lost {
        all.push(
            figure(
                text!("probes lost without a full queue"),
                Value::Share(lost.whole.value),
            )
            .bound(bound::above(Value::Share(LOST))),
        );
    }
    let named = [
        (
            text!("before the third point"),
            &segments.near,
            lost.map(|lost| lost.near),
        ),
        (
            text!("beyond the third point"),
            &segments.beyond,
            lost.map(|lost| lost.beyond),
        ),
    ];
    for (name, segment, lost) in named {
        all.extend(of_segment(name, segment, lost, &segments.samples));
    }
    all
}

/// The figures of a segment. Those that name the fault are decisive: of loss its share without a
/// full queue, otherwise the delay.
fn of_segment(
    name: Text,
    segment: &Segment,
    lost: Option<Share>,
    samples: &[u32],
) -> Vec<EvidenceItem> {
    let added = text!("added {place}", place = name.clone());
    let added = text_figure(added, spread(&segment.added_us, Value::Us)).samples(samples);
    let share_of = text!("lost {place}", place = name.clone());
    let mut all = match lost {
        Some(lost) => vec![added, text_figure(share_of, share(lost)).decisive()],
        None => vec![added.decisive(), text_figure(share_of, share(segment.lost))],
    };
    if let Some(goodput) = &segment.goodput_bps {
        let name = text!("goodput {place}", place = name);
        all.push(text_figure(name, spread(goodput, Value::Bps)));
    }
    all
}

fn share(share: Share) -> Text {
    text!(
        "{value}, {low} to {high}",
        value = percent(share.value),
        low = percent(share.low),
        high = percent(share.high)
    )
}

/// Median and interval, or range where there are too few values.
fn spread(spread: &Spread, unit: fn(f64) -> Value) -> Text {
    let interval = spread.low.zip(spread.high);
    let interval = interval.or_else(|| spread.range.map(|range| (range.low, range.high)));
    match interval {
        Some((low, high)) => text!(
            "{value}, {low} to {high}",
            value = unit(spread.median),
            low = unit(low),
            high = unit(high)
        ),
        None => text!("{value}", value = unit(spread.median)),
    }
}
