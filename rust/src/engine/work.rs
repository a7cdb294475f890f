//! How much an operation may do: a count of steps, never a time.

use crate::error::{Error, Result};

/// Steps left of one operation.
#[derive(Debug, Clone)]
pub struct Work {
    left: u64,
    limit: u64,
    name: &'static str,
}

impl Work {
    pub fn new(name: &'static str, limit: u64) -> Work {
        Work { left: limit, limit, name }
    }

    #[inline(always)]
    pub fn spend(&mut self, steps: u64) -> Result<()> {
        if steps > self.left {
            return Err(self.exhausted());
        }
        self.left -= steps;
        Ok(())
    }

    /// The same limit, with nothing spent: for a part of the work that is done once and remembered.
    ///
    /// What is remembered costs nothing the next time. If it counted towards the operation that happened to come first, a
    /// verdict would depend on what others had asked before.
    pub fn fresh(&self) -> Work {
        Work::new(self.name, self.limit)
    }

    #[cold]
    pub fn exhausted(&self) -> Error {
        let what = format!("this step needs more than {} units of work", self.limit);
        Error::Limit { what, limit: self.name, value: self.limit }
    }
}
