//! What a remedy makes worse: the guards that do not hold, and the user's own bounds.

use model::{
    advice::{Change, Keep, Outcome, guards},
    text,
    text::{Text, Value},
};

/// The guards that do not hold, and the user's bounds that cannot be checked.
pub(super) fn broken(
    before: &[Outcome],
    after: &[Outcome],
    competitor: &[Change],
    keep: &[Keep],
) -> Vec<Text> {
    let mut all = Vec::new();
    for (a, b) in before.iter().zip(after) {
        all.extend(costs(a, b));
        all.extend(keep.iter().filter_map(|keep| bound(keep, a, b)));
    }
    all.extend(
        competitor
            .iter()
            .filter(|c| guards::starves(c.ratio))
            .map(|c| {
                text!(
                    "{direction}: a competing cubic flow keeps {share} of its goodput",
                    direction = c.direction,
                    share = Value::Share(c.ratio)
                )
            }),
    );
    all
}

/// The figures that are worse beyond their bounds, of those measured before and after.
fn costs(a: &Outcome, b: &Outcome) -> impl Iterator<Item = Text> {
    guards::beyond(a, b).filter_map(|figure| {
        let (before, after) = (a.value(figure)?, b.value(figure)?);
        Some(text!(
            "{direction}: {figure} goes from {before} to {after}",
            direction = a.direction,
            figure = figure.measured(),
            before = figure.value(before),
            after = figure.value(after)
        ))
    })
}

/// Remark on a bound of the user's; `None` if it holds.
fn bound(keep: &Keep, a: &Outcome, b: &Outcome) -> Option<Text> {
    match keep.holds(a, b) {
        Some(true) => None,
        Some(false) => Some(text!(
            "{direction}: {bound} does not hold",
            direction = a.direction,
            bound = keep.text()
        )),
        None => Some(text!(
            "{direction}: cannot tell whether {bound} holds; {figure} was not measured",
            direction = a.direction,
            bound = keep.text(),
            figure = keep.figure.measured()
        )),
    }
}

#[cfg(test)]
mod tests {
    use model::{advice::AdviceFigure, net::Direction};

    use super::*;
    use crate::advise::judge::tests::outcome;

    #[test]
    fn guards_name_the_figure_that_gets_worse() {
        let before = [outcome(1e7, 3e4)];
        let mut after = [outcome(3e7, 6.1e4)];
        after[0].retransmitted = Some(0.06);
        let taken = [Change {
            direction: Direction::Down,
            figure: AdviceFigure::Goodput,
            ratio: 0.3,
            low: 0.2,
            high: 0.4,
        }];
        let broken = broken(
            &before,
            &after,
            &taken,
            &["goodput<=20mbit".parse().unwrap()],
        );
        let broken: Vec<String> = broken.iter().map(ToString::to_string).collect();
        assert_eq!(broken.len(), 5, "{broken:?}");
        assert!(broken[0].contains("from 30 ms to 61 ms"), "{broken:?}");
    }

    #[test]
    fn a_bound_on_what_was_not_measured_is_named_and_not_passed() {
        let before = [outcome(1e7, 3e4)];
        let mut after = before;
        after[0].retransmitted = None;
        let keep = ["retransmitted<=2%".parse().unwrap()];
        let texts = broken(&before, &after, &[], &keep);
        assert_eq!(texts.len(), 1, "{texts:?}");
        let text = texts[0].to_string();
        assert!(
            text.contains("cannot tell whether the share of retransmitted bytes <= 2 % holds"),
            "{text}"
        );
        after[0].retransmitted = Some(0.01);
        assert!(broken(&before, &after, &[], &keep).is_empty());
    }
}
