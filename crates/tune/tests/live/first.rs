//! The real host, in a namespace that stands for the one of the first process: the only one that is
//! there at each boot. No test can move the first process.

use model::{
    change::{Saved, Setting},
    text::Text,
};
use tune::{Host, HostError, Live, Refusal};

pub(super) struct First(pub(super) Live);

impl Host for First {
    fn scope(&mut self) -> Result<model::change::Scope, HostError> {
        let scope = self.0.scope()?;
        Ok(model::change::Scope {
            initial: Some(true),
            ..scope
        })
    }

    fn link(&mut self, device: &str) -> Result<Option<u32>, HostError> {
        self.0.link(device)
    }

    fn name(&mut self, link: u32) -> Result<Option<String>, HostError> {
        self.0.name(link)
    }

    fn read(&mut self, setting: &Setting) -> Result<Saved, HostError> {
        self.0.read(setting)
    }

    fn check(&mut self, setting: &Setting, old: &Saved) -> Result<Vec<Text>, Refusal> {
        self.0.check(setting, old)
    }

    fn module(&mut self, setting: &Setting) -> Option<String> {
        self.0.module(setting)
    }

    fn lacks(&mut self, setting: &Setting) -> Option<&'static str> {
        self.0.lacks(setting)
    }

    fn write(&mut self, setting: &Setting, old: &Saved) -> Result<(), HostError> {
        self.0.write(setting, old)
    }

    fn restore(&mut self, setting: &Setting, old: &Saved) -> Result<(), HostError> {
        self.0.restore(setting, old)
    }

    fn clear(&mut self, setting: &Setting, link: u32) -> Result<(), HostError> {
        self.0.clear(setting, link)
    }
}
