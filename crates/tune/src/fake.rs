//! A host in memory and an observer that stops, for tests of transactions without a kernel.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use model::{
    change::{CHANGE_SCHEMA, Change, ChangeId, Saved, Scope, Setting, State, Step},
    text::Text,
};

use crate::{
    error::{HostError, Refusal, RefusalReason},
    holds::holds,
    host::Host,
    observer::{Interrupted, Observer, Point},
};

/// A confirmed change of some settings.
pub(crate) fn confirmed(settings: impl IntoIterator<Item = Setting>) -> Change {
    let step = |setting| Step {
        setting,
        old: Saved::Parameter {
            value: "old".to_owned(),
            allowed: None,
        },
        new: None,
        link: None,
        origin: None,
    };
    Change {
        schema: CHANGE_SCHEMA,
        program: "0".to_owned(),
        id: ChangeId::from_random([7; 16]),
        state: State::Confirmed,
        scope: Scope {
            boot: String::new(),
            netns: 1,
            initial: Some(true),
            host: "fake".to_owned(),
        },
        created_unix_s: None,
        controller: None,
        keeper: None,
        deadline_boottime_ns: None,
        probes: Vec::new(),
        files: Vec::new(),
        steps: settings.into_iter().map(step).collect(),
        warnings: Vec::new(),
        events: Vec::new(),
        aside: false,
        undone_because: None,
    }
}

/// Stops at the n-th point.
pub(crate) struct StopAt(pub(crate) usize, pub(crate) Vec<Point>);

impl Observer for StopAt {
    fn at(&mut self, point: &Point) -> Result<(), Interrupted> {
        self.1.push(point.clone());
        match self.1.len() > self.0 {
            true => Err(Interrupted),
            false => Ok(()),
        }
    }
}

/// Network namespace of the first process.
const FIRST: u64 = 1;

/// Values by the text of the setting without its value; a clone shares them, as processes share a
/// kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fake {
    pub(crate) values: Rc<RefCell<BTreeMap<String, String>>>,
    pub(crate) boot: Rc<RefCell<String>>,
    pub(crate) netns: Rc<RefCell<u64>>,
    /// Names of parameters that cannot be written.
    pub(crate) stubborn: Rc<RefCell<Vec<String>>>,
    /// Names of parameters that a write leaves amid its operations.
    pub(crate) half: Rc<RefCell<Vec<String>>>,
    pub(crate) unprivileged: bool,
}

impl Fake {
    pub(crate) fn with(values: &[(&str, &str)]) -> Self {
        let fake = Self::default();
        *fake.netns.borrow_mut() = FIRST;
        for (name, value) in values {
            fake.set(name, value);
        }
        fake
    }

    pub(crate) fn set(&self, name: &str, value: &str) {
        let mut values = self.values.borrow_mut();
        values.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn dump(&self) -> BTreeMap<String, String> {
        self.values.borrow().clone()
    }

    fn put(&self, setting: &Setting, value: &str) -> Result<(), HostError> {
        let name = name(setting);
        if self.stubborn.borrow().iter().any(|s| s == name) {
            return Err(HostError::NotTaken(Text::name("nothing")));
        }
        if self.half.borrow().iter().any(|s| s == name) {
            self.set(name, "half");
            return Err(HostError::NotTaken(Text::name("half")));
        }
        self.set(name, value);
        Ok(())
    }
}

fn name(setting: &Setting) -> &str {
    match setting {
        Setting::Sysctl { name, .. } => name,
        _ => "",
    }
}

impl Host for Fake {
    fn scope(&mut self) -> Result<Scope, HostError> {
        Ok(Scope {
            boot: self.boot.borrow().clone(),
            netns: *self.netns.borrow(),
            initial: Some(*self.netns.borrow() == FIRST),
            host: "fake".to_owned(),
        })
    }

    fn link(&mut self, _: &str) -> Result<Option<u32>, HostError> {
        Ok(None)
    }

    fn read(&mut self, setting: &Setting) -> Result<Saved, HostError> {
        let value = self.values.borrow().get(name(setting)).cloned();
        let value = value.ok_or_else(|| HostError::Unusable(Box::new(setting.clone())))?;
        Ok(Saved::Parameter {
            value,
            allowed: None,
        })
    }

    fn check(&mut self, setting: &Setting, old: &Saved) -> Result<Vec<Text>, Refusal> {
        match name(setting).contains("refused") {
            true => Err(Refusal::new(setting, RefusalReason::Dependent)),
            false => Ok(vec![Text::name(holds(setting, old).to_string())]),
        }
    }

    fn lacks(&mut self, _: &Setting) -> Option<&'static str> {
        self.unprivileged.then_some("CAP_NET_ADMIN")
    }

    fn write(&mut self, setting: &Setting, _: &Saved) -> Result<(), HostError> {
        let Setting::Sysctl { value, .. } = setting else {
            return Err(HostError::Unusable(Box::new(setting.clone())));
        };
        self.put(setting, value)
    }

    fn restore(&mut self, setting: &Setting, old: &Saved) -> Result<(), HostError> {
        let Saved::Parameter { value, .. } = old else {
            return Err(HostError::Unusable(Box::new(setting.clone())));
        };
        self.put(setting, value)
    }
}
