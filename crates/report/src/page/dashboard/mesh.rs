//! Hosts against hosts: the newest value of one figure between each two.

use maud::{Markup, html};
use model::{
    facts::Connection,
    run::{FigureKind, Key},
};

use super::{
    Frame,
    frame::{figure_kind, measurement, page, to, to_path},
};
use crate::{
    page::heat::Scale,
    page::words::{
        Words,
        label::{self, dashboard},
    },
    plain,
};

/// The matrix of one figure.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// The step and the figure that are shown.
    pub shown: (Key, FigureKind),
    /// Steps and figures that there are between the hosts.
    pub choices: Vec<(Key, FigureKind)>,
    /// The hosts that measure.
    pub near: Vec<String>,
    /// The far ends.
    pub far: Vec<String>,
    /// Values by near host, then by far end.
    pub cells: Vec<Vec<Option<Cell>>>,
}

/// A value from one host to another.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The path in the history.
    pub path: String,
    /// The newest value.
    pub value: f64,
    /// Connection of the tunnel to the far end.
    pub connection: Option<Connection>,
}

/// The page of the matrix.
pub fn mesh(mesh: &Mesh, frame: &Frame) -> String {
    let words = Words::new(frame.lang);
    let (step, figure) = &mesh.shown;
    let values: Vec<f64> = mesh
        .cells
        .iter()
        .flatten()
        .flatten()
        .map(|c| c.value)
        .collect();
    let name = format!(
        "{} · {}",
        figure_kind(*figure, &words),
        measurement(step, &words)
    );
    let body = html! {
        h1 { (words.label(dashboard::mesh())) }
        p.note { (words.label(dashboard::mesh_note())) }
        nav.choices aria-label=(words.label(label::what())) { ul {
            @for (step, figure) in &mesh.choices {
                @let (name, here) = (step.to_string(), (step, figure) == (&mesh.shown.0, &mesh.shown.1));
                @let query = [("step", name.as_str()), ("figure", figure.name())];
                li { a href=(to(frame, "/mesh", &query)) aria-current=[here.then_some("true")] {
                    (figure_kind(*figure, &words)) " · " (measurement(step, &words))
                } }
            }
        } }
        div id="matrix" data-live { div.wide tabindex="0" role="group" aria-label=(name) {
            table.heat {
                caption { (name) }
                thead { tr {
                    th scope="col" { (words.label(dashboard::from_to())) }
                    @for far in &mesh.far { th scope="col" { (far) } }
                } }
                tbody { @for (near, row) in mesh.near.iter().zip(&mesh.cells) { tr {
                    th scope="row" { (near) }
                    @for cell in row { (value(cell.as_ref(), *figure, Scale::new(&values).as_ref(), frame, &words)) }
                } } }
            }
        } }
    };
    page(
        frame,
        &format!("{} · pathtwin", words.label(dashboard::mesh())),
        "/mesh",
        &body,
    )
}

fn value(
    cell: Option<&Cell>,
    figure: FigureKind,
    scale: Option<&Scale>,
    frame: &Frame,
    words: &Words,
) -> Markup {
    let Some((cell, scale)) = cell.zip(scale) else {
        return html! { td.none { "–" } };
    };
    html! {
        td class={ "h" (scale.shade(cell.value)) } {
            a href=(to_path(frame, &cell.path)) { data value=(cell.value) { (plain::figure(figure, cell.value)) } }
            @if let Some(connection) = &cell.connection {
                span.interval { (words.render(&connection.text()).text) }
            }
        }
    }
}
