//! Tables of a run's figures: one table per kind, with a row per measurement and a column per
//! layer.

use model::{
    net::Layer,
    run::{Figure, FigureKind, Key, Ratio, Run},
};

/// The figures of one kind.
#[derive(Debug)]
pub(crate) struct FigureTable<'a> {
    pub(crate) kind: FigureKind,
    pub(crate) layers: Vec<Layer>,
    pub(crate) rows: Vec<FigureRow<'a>>,
}

/// The figures of one measurement.
#[derive(Debug)]
pub(crate) struct FigureRow<'a> {
    /// The measurement, on the first layer it was run on.
    pub(crate) key: &'a Key,
    /// Figures by layer.
    pub(crate) figures: Vec<Option<&'a Figure>>,
    /// Ratio of tunnel to underlay.
    pub(crate) ratio: Option<&'a Ratio>,
}

/// Tables of all kinds of figures in the run, in the order of [`FigureKind::ALL`].
pub(crate) fn tables(run: &Run) -> Vec<FigureTable<'_>> {
    let all = FigureKind::ALL.into_iter();
    all.filter_map(|kind| table(run, kind)).collect()
}

fn table<'a>(run: &'a Run, kind: FigureKind) -> Option<FigureTable<'a>> {
    let figures: Vec<&Figure> = run.figures.iter().filter(|f| f.kind == kind).collect();
    let mut layers: Vec<Layer> = figures.iter().map(|f| f.key.layer).collect();
    layers.sort();
    layers.dedup();
    let mut keys: Vec<&Key> = Vec::new();
    for figure in &figures {
        if !keys.iter().any(|k| same_but_layer(k, &figure.key)) {
            keys.push(&figure.key);
        }
    }
    keys.sort_by_key(|k| row_name(k));
    let rows: Vec<FigureRow<'_>> = keys
        .into_iter()
        .map(|key| row(run, kind, key, &layers, &figures))
        .collect();
    (!rows.is_empty()).then_some(FigureTable { kind, layers, rows })
}

fn row<'a>(
    run: &'a Run,
    kind: FigureKind,
    key: &'a Key,
    layers: &[Layer],
    figures: &[&'a Figure],
) -> FigureRow<'a> {
    let of = |layer: &Layer| {
        let mut all = figures.iter();
        all.find(|f| f.key.layer == *layer && same_but_layer(&f.key, key))
            .copied()
    };
    let ratio = run.ratios.iter().find(|r| {
        r.kind == kind
            && r.of.layer == Layer::Tunnel
            && r.to.layer == Layer::Underlay
            && same_but_layer(&r.of, key)
    });
    FigureRow {
        key,
        figures: layers.iter().map(of).collect(),
        ratio,
    }
}

fn same_but_layer(a: &Key, b: &Key) -> bool {
    let layer = b.layer;
    Key { layer, ..a.clone() } == *b
}

/// Name of a row: the key without its layer.
pub(crate) fn row_name(key: &Key) -> String {
    format!("{} {}", key.family, key.load())
}
