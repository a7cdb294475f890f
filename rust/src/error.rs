//! What can go wrong in the core: one enum, without PyO3; `python.rs` turns each kind into an exception.

use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

/// An error of the caller's input. A defect of the core itself is a panic, never one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A vocabulary that cannot be read; `place` says where in it.
    Vocabulary { what: String, place: String },
    /// A ceiling on work or memory was reached; `limit` names it and `value` is its setting.
    Limit { what: String, limit: &'static str, value: u64 },
    /// A format that cannot be enforced, or that has no text.
    Grammar { what: String, why: String, code: Option<&'static str> },
    /// An argument of a call that is out of range or of the wrong shape.
    Argument { what: String, argument: &'static str },
}

impl Error {
    pub fn vocabulary(what: impl Into<String>, place: impl Into<String>) -> Self {
        Error::Vocabulary { what: what.into(), place: place.into() }
    }

    pub fn grammar(what: impl Into<String>, why: impl Into<String>) -> Self {
        Error::Grammar { what: what.into(), why: why.into(), code: None }
    }

    pub fn argument(argument: &'static str, what: impl Into<String>) -> Self {
        Error::Argument { what: what.into(), argument }
    }

    /// The one-line message, without the place.
    pub fn what(&self) -> &str {
        match self {
            Error::Vocabulary { what, .. }
            | Error::Limit { what, .. }
            | Error::Grammar { what, .. }
            | Error::Argument { what, .. } => what,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}

impl std::error::Error for Error {}
