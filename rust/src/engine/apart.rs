//! What is allowed where a text may be in several objects or lists at once, as under an `anyOf`?
//!
//! The union of what each of them allows, and each for itself has its masks from its drafts. Together they
//! would have to be read exactly: where two keys are open at once no doubt hangs on one of them.

use std::sync::Arc;

use super::compose::{Composer, Outcome};
use super::mask::{Mask, patch};
use super::stack::{ConfigId, Item};
use crate::error::Result;

impl Composer<'_> {
    /// The configurations of a configuration's items by the rule that remembers and what it keeps; `None` if there is one.
    pub(super) fn apart(&self, items: &[Item]) -> Option<Vec<ConfigId>> {
        let program = self.moves.program;
        let owner = |item: &Item| {
            let rule = program.states[item.state as usize].rule;
            program.rules[rule as usize].remembers().then_some((rule, item.data))
        };
        let mut owners: Vec<_> = items.iter().filter_map(owner).collect();
        owners.sort_unstable();
        owners.dedup();
        if owners.len() < 2 {
            return None;
        }
        let of = |wanted| {
            let theirs: Vec<Item> = items.iter().copied().filter(|item| owner(item) == wanted).collect();
            (!theirs.is_empty()).then(|| self.moves.part(&theirs))
        };
        Some(owners.into_iter().map(Some).chain([None]).filter_map(of).collect())
    }

    /// The union of the masks of some configurations, and the end of the text if it is `complete`.
    pub(super) fn compose_apart(self, configs: &[ConfigId], complete: bool) -> Result<Outcome> {
        let cache = self.moves.cache;
        let mut masks = Vec::with_capacity(configs.len());
        for &config in configs {
            let compose = || Composer::new(self.index, self.moves, self.work).compose_together(config);
            let Some(mask) = Outcome::remembered(cache, config, compose)? else {
                return Ok(Outcome::TooShallow);
            };
            masks.push(cache.masks.get(mask));
        }
        let eos = if complete { &self.index.vocabulary.eos[..] } else { &[] };
        Ok(Outcome::Mask(self.union(&masks, eos)))
    }

    /// A patch on shared bitmasks where none of the masks takes a token off its base; else word by word.
    fn union(&self, masks: &[&Mask], more: &[u32]) -> Mask {
        let all = &self.index.vocabulary.all;
        let added = masks.iter().flat_map(|mask| mask.add.iter()).chain(more);
        let ids: Vec<u32> = added.copied().collect();
        let bases: Vec<Arc<[u32]>> = masks.iter().filter_map(|mask| mask.base.clone()).collect();
        if bases.is_empty() || masks.iter().all(|mask| mask.remove.is_empty()) {
            let base = (!bases.is_empty()).then(|| self.moves.cache.united(bases));
            return patch(base, Vec::new(), ids, all);
        }
        let mut words = vec![0; all.len()];
        let mut row = vec![0; all.len()];
        for mask in masks {
            mask.fill(&mut row);
            words.iter_mut().zip(&row).for_each(|(word, more)| *word |= more);
        }
        patch(Some(words.into()), Vec::new(), ids, all)
    }
}
