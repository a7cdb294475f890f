//! How does Python see the engine? As three classes (vocabulary, index, constraint) and the filling of a batch.

use std::fs::Metadata;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PySequence, PyTuple};

use super::{Row, counted, guard, integer, integers, raise, vector};
use crate::compile::{CompileLimits, compile, ir::Ir};
use crate::engine::constraint::{Advance, Constraint};
use crate::engine::index::{Index, ServeLimits};
use crate::engine::saved;
use crate::engine::vocabulary::Vocabulary;
use crate::engine::work::Work;
use crate::error::Error;
use crate::mask::contains;
use crate::program::RuleNames;

/// A mask that takes no more steps than this (about 0.4 ms) is made with the GIL held: giving it up and asking for it again
/// can cost milliseconds when another thread is busy. One that takes more is begun anew without the GIL, and what
/// was done is lost: with 4,000 one mask in five of a JSON Schema was made twice. Python itself switches every 5 ms.
const QUICK_STEPS: u64 = 32_000;

/// What to do where a text is complete and no token ends it.
const NAME_THE_END: &str =
    "eos_id=... where the vocabulary is made (a name or an id), or stop where is_complete() is true";

#[pyclass(frozen, name = "EngineVocabulary", module = "maskwright._native")]
pub struct PyVocabulary {
    pub vocabulary: Arc<Vocabulary>,
}

#[pymethods]
impl PyVocabulary {
    /// `special_ids`: the ids without bytes that a format may name, by default all.
    #[new]
    #[pyo3(signature = (blob, offsets, eos_ids, special_ids = None))]
    fn new(
        py: Python<'_>,
        blob: PyBackedBytes,
        offsets: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = integers)] eos_ids: Vec<i64>,
        special_ids: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        guard(|| {
            let offsets = vector::<i64>(offsets, "offsets", "int64")?.to_vec(py)?;
            let eos = eos_ids.iter().map(|&id| token_id(id)).collect::<Result<_, _>>()?;
            let mut vocabulary = py.detach(|| Vocabulary::new(blob.to_vec(), &offsets, eos))?;
            if let Some(special) = special_ids {
                vocabulary = vocabulary.with_special(special);
            }
            Ok(PyVocabulary { vocabulary: Arc::new(vocabulary) })
        })
    }

    /// A vocabulary that `saved` wrote to a file; none if the file is absent, damaged, or another's.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, key: &str) -> PyResult<Option<Self>> {
        guard(|| {
            let read = || {
                let is_ours = |data: &Metadata| data.is_file() && data.len() <= saved::MAX_FILE_BYTES;
                std::fs::metadata(&path).ok().filter(is_ours)?;
                saved::read(&std::fs::read(&path).ok()?, key)
            };
            Ok(py.detach(read).map(|vocabulary| PyVocabulary { vocabulary: Arc::new(vocabulary) }))
        })
    }

    /// The content of a file for `load`.
    fn saved<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyBytes>> {
        guard(|| Ok(PyBytes::new(py, &py.detach(|| saved::write(&self.vocabulary, key)))))
    }

    /// Make the parts of classes of characters that requests will ask for.
    fn prebuild(&self, py: Python<'_>, classes: Vec<Vec<(u32, u32)>>) -> PyResult<()> {
        guard(|| {
            if let Some(at) = classes.iter().position(|class| !saved::is_class(class)) {
                return Err(
                    Error::argument("classes", format!("class {at} has no ascending code points")).into()
                );
            }
            py.detach(|| {
                let parts = classes.iter().filter_map(|class| self.vocabulary.part(class));
                parts.for_each(|part| part.warm(&self.vocabulary));
            });
            Ok(())
        })
    }

    #[getter]
    fn n_tokens(&self) -> u32 {
        self.vocabulary.n_tokens()
    }

    #[getter]
    fn n_bytes(&self) -> usize {
        self.vocabulary.heap_bytes()
    }

    #[getter]
    fn n_parts(&self) -> usize {
        self.vocabulary.n_parts()
    }
}

fn token_id(id: i64) -> Result<u32, Error> {
    u32::try_from(id)
        .map_err(|_| Error::vocabulary(format!("EOS id {id} is out of range"), format!("id {id}")))
}

#[pyclass(frozen, name = "EngineIndex", module = "maskwright._native")]
pub struct PyIndex {
    index: Arc<Index>,
}

/// The names stay where they are until something asks for one.
fn rule_names(names: &Bound<'_, PySequence>, n_rules: usize) -> PyResult<RuleNames> {
    if names.len()? != n_rules {
        return Err(Error::argument("names", "each rule has one name").into());
    }
    let names: Py<PyTuple> = names.to_tuple()?.unbind();
    Ok(RuleNames::new(move |rule| {
        Python::attach(|py| {
            let name = names.bind(py).get_item(rule as usize);
            name.map(|name| name.to_string()).unwrap_or_default()
        })
    }))
}

#[pymethods]
impl PyIndex {
    /// `limits`: rules, states, dfa_states, edges, mask_work, stack_depth, cache_bytes.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one call hands the whole IR over")]
    #[pyo3(signature = (vocabulary, words, blob, rules, names, root, limits))]
    fn new(
        py: Python<'_>,
        vocabulary: &Bound<'_, PyVocabulary>,
        words: PyBackedBytes,
        blob: PyBackedBytes,
        rules: Vec<u32>,
        names: &Bound<'_, PySequence>,
        root: u32,
        limits: [u64; 7],
    ) -> PyResult<Self> {
        guard(|| {
            let vocabulary = Arc::clone(&vocabulary.get().vocabulary);
            let names = rule_names(names, rules.len())?;
            let index = py.detach(|| {
                let words: Vec<u32> = crate::compile::ir::little_words(&words).collect();
                let ir = Ir::read(&words, &blob, rules, names, root)?;
                let [rules, states, dfa_states, edges, mask_work, stack_depth, cache_bytes] = limits;
                let limits = CompileLimits { rules, states, dfa_states, edges };
                let program = compile(&ir, limits, &vocabulary.compiled)?;
                let stack_depth = u32::try_from(stack_depth).unwrap_or(u32::MAX);
                let serve = ServeLimits { mask_work, stack_depth, cache_bytes };
                Index::checked(program, vocabulary, serve)
            })?;
            Ok(PyIndex { index: Arc::new(index) })
        })
    }

    fn constraint(&self) -> PyResult<PyConstraint> {
        guard(|| Ok(PyConstraint { constraint: Constraint::new(Arc::clone(&self.index))? }))
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guard(|| {
            let (index, cache) = (&self.index, self.index.current());
            let stats = PyDict::new(py);
            stats.set_item("rules", index.program.rules.len())?;
            stats.set_item("states", index.program.states.len())?;
            stats.set_item("edges", index.program.n_edges())?;
            stats.set_item("program_bytes", index.program_bytes)?;
            stats.set_item("configurations", cache.configs.size())?;
            stats.set_item("frames", cache.frames.size())?;
            stats.set_item("masks", cache.masks.size())?;
            let [sparse, patched, dense] = cache.masks.kinds();
            stats.set_item("masks_sparse", sparse)?;
            stats.set_item("masks_patched", patched)?;
            stats.set_item("masks_dense", dense)?;
            stats.set_item("masks_shared", cache.masks.shared())?;
            stats.set_item("mask_bytes", cache.masks.bytes())?;
            stats.set_item(
                "mask_bytes_dense",
                (cache.masks.size() as usize + cache.masks.shared()) * index.vocabulary.n_words() * 4,
            )?;
            stats.set_item("cache_bytes", index.heap_bytes() - index.program_bytes)?;
            stats.set_item("caches", index.n_caches.load(Ordering::Relaxed))?;
            stats.set_item("hits", cache.hits.load(Ordering::Relaxed))?;
            stats.set_item("misses", cache.misses.load(Ordering::Relaxed))?;
            stats.set_item("rule_sizes", index.program.sizes_by_rule())?;
            Ok(stats)
        })
    }

    #[getter]
    fn n_bytes(&self) -> usize {
        self.index.heap_bytes()
    }
}

#[pyclass(name = "Constraint", module = "maskwright._native")]
pub struct PyConstraint {
    pub constraint: Constraint,
}

#[pymethods]
impl PyConstraint {
    /// Write one whole row: int32, token t is bit t % 32 of word t // 32, surplus words zero.
    ///
    /// `bitmask` is [words] or [rows, words], a NumPy array or a torch tensor on the CPU, writable and contiguous. False if
    /// nothing is masked. Raises MaskwrightError for an array or row that does not fit, LimitError.
    #[pyo3(signature = (bitmask, row = 0))]
    fn fill_bitmask(
        &self,
        py: Python<'_>,
        bitmask: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = integer)] row: i64,
    ) -> PyResult<bool> {
        guard(|| {
            let constraint = &self.constraint;
            let row = Row::new(bitmask, row, constraint.index().vocabulary.n_words())?;
            match self.mask_id(py)? {
                Some(id) => Ok(row.write_mask(constraint.mask_at(id))),
                None => Ok(row.clear()),
            }
        })
    }

    /// The mask as a NumPy array of bools.
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| {
            let vocabulary = &self.constraint.index().vocabulary;
            let mut words = vec![0; vocabulary.n_words()];
            if let Some(id) = self.mask_id(py)? {
                self.constraint.mask_at(id).fill(&mut words);
            }
            let bools: Vec<u8> =
                (0..vocabulary.n_tokens()).map(|id| u8::from(contains(&words, id))).collect();
            let array = py.import("numpy")?.call_method1("frombuffer", (PyBytes::new(py, &bools), "?"))?;
            array.call_method0("copy")
        })
    }

    /// Two constraints of one index with equal numbers have equal futures.
    #[getter]
    fn state(&self) -> u64 {
        self.constraint.state()
    }

    /// Whether the token may come next; false for an id outside the vocabulary.
    fn allows(&self, #[pyo3(from_py_with = integer)] token_id: i64) -> PyResult<bool> {
        guard(|| Ok(self.constraint.allows(token_id)?))
    }

    /// Take a token; raises TokenNotAllowed with what was expected, and then nothing has changed.
    fn advance(slf: &Bound<'_, Self>, token_id: &Bound<'_, PyAny>) -> PyResult<()> {
        guard(|| {
            let token = integer(token_id)?;
            match moved(slf, |constraint| constraint.advance(token))? {
                Advance::Taken => Ok(()),
                refused => Err(borrow(slf)?.refusal(token_id, refused)),
            }
        })
    }

    /// Take the longest allowed beginning, no further than an end, and return its length.
    fn try_advance(
        slf: &Bound<'_, Self>,
        #[pyo3(from_py_with = integers)] token_ids: Vec<i64>,
    ) -> PyResult<usize> {
        guard(|| moved(slf, |constraint| constraint.try_advance(&token_ids)))
    }

    /// What `try_advance` would return, without moving.
    fn count_allowed(&self, #[pyo3(from_py_with = integers)] token_ids: Vec<i64>) -> PyResult<usize> {
        guard(|| Ok(self.constraint.count_allowed(&token_ids)?))
    }

    /// Undo the last n tokens; raises MaskwrightError if n is negative or more than were taken.
    fn rollback(slf: &Bound<'_, Self>, n: &Bound<'_, PyAny>) -> PyResult<()> {
        guard(|| {
            let back = usize::try_from(integer(n)?).ok();
            let (taken, done) = moved(slf, |constraint| {
                let taken = constraint.tokens().len();
                Ok((taken, back.map_or(Ok(false), |n| constraint.rollback(n))?))
            })?;
            let what = || format!("cannot roll back {n} tokens: {taken} were taken");
            if done { Ok(()) } else { Err(Error::argument("n", what()).into()) }
        })
    }

    /// Another constraint at the same place that shares nothing that moves.
    fn fork(&self) -> PyConstraint {
        PyConstraint { constraint: self.constraint.clone() }
    }

    fn __copy__(&self) -> PyConstraint {
        self.fork()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyConstraint {
        self.fork()
    }

    /// Go back to the beginning and forget what was taken.
    fn reset(slf: &Bound<'_, Self>) -> PyResult<()> {
        guard(|| moved(slf, Constraint::reset))
    }

    /// Whether the text so far is in the format; it stays true after the end.
    fn is_complete(&self) -> bool {
        self.constraint.is_complete()
    }

    /// Whether the end was taken.
    #[getter]
    fn done(&self) -> bool {
        self.constraint.done()
    }

    /// The tokens taken so far, an end of text among them.
    #[getter]
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.constraint.tokens())
    }

    /// The bytes that every completion continues with, at most 65,536 of them.
    fn forced_text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guard(|| Ok(PyBytes::new(py, &self.constraint.forced_text())))
    }

    /// How many token ids there are, special ones and padding among them.
    #[getter]
    fn vocab_size(&self) -> u32 {
        self.constraint.index().vocabulary.n_tokens()
    }

    fn __repr__(&self) -> String {
        let state = if self.constraint.done() {
            "done"
        } else if self.constraint.is_complete() {
            "may end"
        } else {
            "must go on"
        };
        format!("<Constraint after {}, {state}>", counted(self.constraint.tokens().len(), "token"))
    }
}

impl PyConstraint {
    fn mask_id(&self, py: Python<'_>) -> Result<Option<u32>, Error> {
        let constraint = &self.constraint;
        if constraint.index().limits.mask_work <= QUICK_STEPS {
            return constraint.mask(&mut constraint.index().work());
        }
        let quick = constraint.mask(&mut Work::new("quick", QUICK_STEPS));
        match quick {
            Err(Error::Limit { limit: "quick", .. }) => {
                py.detach(|| constraint.mask(&mut constraint.index().work()))
            }
            result => result,
        }
    }

    /// `token` is what the caller gave, which may have more than 64 bits.
    fn refusal(&self, token: &Bound<'_, PyAny>, reason: Advance) -> PyErr {
        let constraint = &self.constraint;
        let (what, why) = match reason {
            Advance::AfterEnd => {
                (format!("token {token} comes after the end of the text"), "the constraint is done".into())
            }
            _ => (
                format!(
                    "token {token} ({}) is not allowed here",
                    constraint.describe(integer(token).unwrap_or(-1))
                ),
                constraint.expected(),
            ),
        };
        raise("TokenNotAllowed", &what, |fields| {
            fields.set_item("token_id", token)?;
            fields.set_item("where", format!("after {}", counted(constraint.tokens().len(), "token")))?;
            if constraint.lacks_end() && !constraint.done() {
                fields.set_item("try_", NAME_THE_END)?;
            }
            fields.set_item("why", why)
        })
    }
}

/// Fill one row a constraint; returns the error of each row, or `None` where all went well.
#[pyfunction]
pub fn fill_bitmasks<'py>(
    py: Python<'py>,
    constraints: &Bound<'py, PyList>,
    bitmask: &Bound<'py, PyAny>,
    rows: Option<Vec<i64>>,
    vocabulary: &Bound<'py, PyVocabulary>,
    threads: usize,
) -> PyResult<Option<Bound<'py, PyList>>> {
    guard(|| {
        let vocabulary = &vocabulary.get().vocabulary;
        let rows = rows.unwrap_or_else(|| (0..constraints.len() as i64).collect());
        if rows.len() != constraints.len() {
            let what = format!("{} rows are given for {} constraints", rows.len(), constraints.len());
            return Err(Error::argument("rows", what).into());
        }
        each_once(&rows)?;
        let all = super::Rows::new(bitmask, &rows, vocabulary.n_words())?;
        let objects = constraint_objects(constraints)?;
        let held = objects
            .iter()
            .map(|object| object.as_ref().map(borrow).transpose())
            .collect::<PyResult<Vec<_>>>()?;
        let list: Vec<Option<&Constraint>> =
            held.iter().map(|held| held.as_ref().map(|c| &c.constraint)).collect();
        if let Some(at) = list
            .iter()
            .position(|c| c.is_some_and(|c| c.index().vocabulary.n_tokens() != vocabulary.n_tokens()))
        {
            return Err(Error::argument(
                "constraints",
                format!("constraint {at} has a vocabulary of another size"),
            )
            .into());
        }
        let cold: Vec<&Constraint> = list.iter().flatten().copied().filter(|c| !c.is_hit()).collect();
        let made = if cold.is_empty() {
            Vec::new()
        } else {
            py.detach(|| crate::engine::batch::prepare(&cold, threads))
        };
        let mut made = made.into_iter();
        let mut errors: Vec<(usize, Error)> = Vec::new();
        let mut was_cold = cold.iter().peekable();
        for (at, constraint) in list.iter().enumerate() {
            let Some(constraint) = constraint else {
                all.write_words(at, &vocabulary.tokens);
                continue;
            };
            if was_cold.next_if(|cold| std::ptr::eq(**cold, *constraint)).is_some()
                && let Some(error) = made.next().flatten()
            {
                all.clear(at);
                errors.push((at, error));
                continue;
            }
            match constraint.mask(&mut constraint.index().work())? {
                Some(id) => all.write_mask(at, constraint.mask_at(id)),
                None => all.clear(at),
            };
        }
        report(py, list.len(), errors)
    })
}

/// One row for two requests would hold the mask of one of them.
fn each_once(rows: &[i64]) -> Result<(), Error> {
    let mut sorted = rows.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::argument("rows", format!("row {} is given twice", pair[0]))),
        None => Ok(()),
    }
}

fn constraint_objects<'py>(
    constraints: &Bound<'py, PyList>,
) -> PyResult<Vec<Option<Bound<'py, PyConstraint>>>> {
    let object = |(at, object): (usize, Bound<'py, PyAny>)| {
        if object.is_none() {
            return Ok(None);
        }
        let wrong = || Error::argument("constraints", format!("entry {at} is neither a Constraint nor None"));
        object.cast_into().map(Some).map_err(|_| wrong().into())
    };
    constraints.iter().enumerate().map(object).collect()
}

fn borrow<'py>(object: &Bound<'py, PyConstraint>) -> PyResult<PyRef<'py, PyConstraint>> {
    object.try_borrow().map_err(|_| busy())
}

/// Move a constraint. It is held for that alone: an error is made, and may hand the GIL on, when it is free again.
fn moved<T>(
    object: &Bound<'_, PyConstraint>,
    change: impl FnOnce(&mut Constraint) -> Result<T, Error>,
) -> PyResult<T> {
    let result = change(&mut object.try_borrow_mut().map_err(|_| busy())?.constraint);
    Ok(result?)
}

/// PyO3's own error for this is a bare RuntimeError.
fn busy() -> PyErr {
    raise("MaskwrightError", "the constraint is in use by another thread", |fields| {
        fields.set_item("where", "constraint")?;
        fields
            .set_item("why", "a constraint belongs to one request, and two threads may not use it at once")?;
        fields.set_item("try_", "fork() for each thread, or a lock")?;
        fields.set_item("code", "constraint.busy")
    })
}

/// The errors by row, if there are any.
fn report<'py>(
    py: Python<'py>,
    rows: usize,
    errors: Vec<(usize, Error)>,
) -> PyResult<Option<Bound<'py, PyList>>> {
    if errors.is_empty() {
        return Ok(None);
    }
    let report = PyList::new(py, (0..rows).map(|_| py.None()))?;
    for (at, error) in errors {
        report.set_item(at, PyErr::from(error).into_value(py))?;
    }
    Ok(Some(report))
}
