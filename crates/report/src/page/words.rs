//! Texts of the page by language. Texts of the page and of documents are translated in the same
//! way: English templates, and catalogues in `locales/`.

mod catalogue;
pub(super) mod label;
mod lang;
mod rendered;

use model::{
    cause::CauseCode,
    findings::{CannotTell, Place, Severity},
    net::{Direction, IpVersion, Layer, Side},
    run::{Key, StepKind},
    text::{Catalogue, Text, Value},
};

use crate::documents::CauseTitles;

pub use lang::Lang;
pub(super) use rendered::Rendered;

/// The texts of one language.
pub(super) struct Words {
    pub(super) lang: Lang,
    /// Absent for English, the language of the templates.
    catalogue: Option<Catalogue>,
    causes: CauseTitles,
}

impl Words {
    pub(super) fn new(lang: Lang) -> Self {
        Self {
            lang,
            catalogue: catalogue::of(lang),
            causes: CauseTitles::new(),
        }
    }

    /// With the titles of causes.
    pub(super) fn with_causes(mut self, causes: &CauseTitles) -> Self {
        self.causes = causes.clone();
        self
    }

    /// A text of the page.
    pub(super) fn label(&self, text: Text) -> String {
        self.render(&text).text
    }

    /// Renders a text of a document.
    pub(super) fn render(&self, text: &Text) -> Rendered {
        match self.catalogue.as_ref().and_then(|c| text.render(c)) {
            Some(text) => Rendered {
                text,
                lang: None,
                english: false,
            },
            None => Rendered::english(text.to_string(), self.lang),
        }
    }

    /// Renders the reason and the deciding measurement of an undecided cause in one language.
    pub(super) fn undecided(&self, item: &CannotTell) -> Rendered {
        let because = self.render(&item.because);
        let settle = self.render(&item.settle);
        let own = !because.english && !settle.english;
        if !own && self.lang != Lang::English {
            return Rendered::english(
                format!("{}; to decide: {}", item.because, item.settle),
                self.lang,
            );
        }
        let text = self.label(label::undecided(item.because.clone(), item.settle.clone()));
        Rendered { text, ..because }
    }

    /// Renders a value of the evidence.
    pub(super) fn value(&self, value: &Value) -> String {
        let Some(catalogue) = &self.catalogue else {
            return value.to_string();
        };
        match value {
            // Documents of schema 1 do not distinguish texts from names.
            Value::Name(name) => catalogue.get(name).unwrap_or(name).to_owned(),
            value => value.render(catalogue),
        }
    }

    /// A name as a heading: texts begin with a capital, names of programs and settings stay.
    pub(super) fn heading(&self, name: &Value) -> String {
        match name {
            Value::Text(text) => self.render(text).capital().into_owned(),
            name => self.value(name),
        }
    }

    /// The name of a cause of which only the code is known, as a heading.
    pub(super) fn cause_code(&self, code: &CauseCode) -> String {
        self.causes.get(code.as_str()).map_or_else(
            || code.to_string(),
            |title| self.render(&Text::fixed(title)).capital().into_owned(),
        )
    }

    pub(super) fn layer(&self, layer: Layer) -> String {
        self.label(label::layer(layer))
    }

    pub(super) fn direction(&self, direction: Direction) -> String {
        self.value(&direction.into())
    }

    pub(super) fn side(&self, side: Side) -> String {
        self.value(&side.into())
    }

    pub(super) fn severity(&self, severity: Severity) -> String {
        self.label(match severity {
            Severity::Info => label::severity_info(),
            Severity::Low => label::severity_low(),
            Severity::Medium => label::severity_medium(),
            Severity::High => label::severity_high(),
        })
    }

    /// The place of a finding, if it has one.
    pub(super) fn place(&self, place: Place) -> Option<String> {
        let dir = place.direction.map(|d| match d {
            Direction::Down => self.label(label::direction_long_down()),
            Direction::Up => self.label(label::direction_long_up()),
        });
        let end = place.end.map(|e| self.side(e));
        match (dir, end) {
            (None, None) => None,
            (Some(one), None) | (None, Some(one)) => Some(one),
            (Some(dir), Some(end)) => Some(format!("{dir}{}{end}", self.label(label::comma()))),
        }
    }

    /// The measurement without its layer: `TCP down · 1 flow · cubic`. The family is included only
    /// if there is more than one.
    pub(super) fn key(&self, key: &Key, families: bool) -> String {
        let step = self.label(match key.step {
            StepKind::Idle => label::step_idle(),
            StepKind::UdpSweep => label::step_udp_sweep(),
            StepKind::Udp => label::step_udp(),
            StepKind::Tcp => label::step_tcp(),
            StepKind::Pmtu => label::step_pmtu(),
            StepKind::Sizes => label::step_sizes(),
            StepKind::Short => label::step_short(),
            StepKind::Http => label::step_http(),
            StepKind::Quic => label::step_quic(),
        });
        let mut parts = vec![match key.direction {
            Some(direction) => format!("{step} {}", self.direction(direction)),
            None => step,
        }];
        if let Some(flows) = key.flows {
            parts.push(self.label(label::flows(flows)));
        }
        parts.extend(key.cc.clone());
        if key.bidirectional {
            parts.push(self.label(label::bidirectional()));
        }
        if let Some(rate) = key.rate_bps {
            parts.push(model::units::Rate::from_bps(rate).to_string());
        }
        if let Some(bytes) = key.bytes {
            parts.push(model::units::Bytes(bytes).to_string());
        }
        if families {
            parts.push(match key.family {
                IpVersion::V4 => "IPv4".to_owned(),
                IpVersion::V6 => "IPv6".to_owned(),
            });
        }
        parts.join(" · ")
    }
}

#[cfg(test)]
mod tests;
