//! Accuracy of predictions: the gain predicted by an Advice compared with the gain measured by its
//! proof.

use model::{
    advice::AdviceFigure,
    proof::{Calibration, Predicted, Proof, Proved, Role},
};

/// Compares predictions with outcomes.
pub fn calibration(proofs: &[Proof]) -> Calibration {
    let has_prediction = |proof: &&Proof| proof.figures.iter().any(|f| f.as_predicted().is_some());
    let proofs: Vec<&Proof> = proofs.iter().filter(has_prediction).collect();
    let all: Vec<&Proved> = proofs.iter().flat_map(|p| &p.figures).collect();
    let roles = [Role::Target, Role::Guard];
    let of = |role| AdviceFigure::PREDICTED.map(|figure| (role, figure));
    let figures = roles.into_iter().flat_map(of);
    let is_kept = |proof: &&&Proof| proof.decision.is_kept();
    Calibration {
        proofs: proofs.len(),
        kept: proofs.iter().filter(is_kept).count(),
        figures: figures
            .filter_map(|(role, figure)| predicted(&all, role, figure))
            .collect(),
    }
}

fn predicted(all: &[&Proved], role: Role, figure: AdviceFigure) -> Option<Predicted> {
    let ours = all.iter().filter(|f| f.role == role && f.figure == figure);
    let known: Vec<(bool, f64)> = ours
        .filter_map(|f| Some((f.as_predicted()?, f.ratio?.value / f.predicted?.value)))
        .collect();
    let ratios: Vec<f64> = known.iter().map(|(_, ratio)| *ratio).collect();
    let within = known.iter().filter(|(within, _)| *within).count();
    Some(Predicted {
        figure,
        role,
        count: known.len(),
        within,
        hit_rate: within as f64 / known.len() as f64,
        ratio: stats::median(&ratios)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A proof of one figure that changed from 1 to `with`, with the prediction `predicted`.
    fn proof(with: f64, predicted: [f64; 3]) -> Proof {
        let [low, value, high] = predicted;
        let json = format!(
            r#"{{"schema": 1, "program": "t", "changes": [], "goal": "balanced", "decision": "kept",
            "says": "kept", "acted": [], "turns": [], "figures": [{{"direction": "down",
            "figure": "goodput", "role": "asked", "without": 1.0, "with": {with},
            "ratio": {{"value": {with}, "low": {with}, "high": {with}}}, "verdict": "better",
            "predicted": {{"value": {value}, "low": {low}, "high": {high}}}}}],
            "comparison": {{"schema": 1, "before": {{"name": "", "runs": []}},
            "after": {{"name": "", "runs": []}}, "threshold": 0.02, "share_threshold": 0.001,
            "lines": []}}}}"#
        );
        Proof::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn outcomes_inside_and_outside_of_the_interval_are_counted() {
        let all = [
            proof(2.0, [1.8, 2.0, 2.2]),
            proof(3.0, [1.8, 2.0, 2.2]),
            proof(1.9, [1.8, 2.0, 2.2]),
        ];
        let found = calibration(&all);
        assert_eq!((found.proofs, found.kept), (3, 3));
        assert_eq!(found.figures.len(), 1);
        let goodput = found.figures[0];
        assert_eq!((goodput.count, goodput.within), (3, 2));
        assert!((goodput.hit_rate - 2.0 / 3.0).abs() < 1e-9);
        assert!((goodput.ratio - 1.0).abs() < 1e-9, "{goodput:?}");
        assert_eq!(calibration(&[]), Calibration::default());
    }
}
