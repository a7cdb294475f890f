//! How are sets of characters kept, and compared?

/// Inclusive ranges of code points, ascending and apart.
pub type CharSet = Vec<(u32, u32)>;

/// How many characters begin in a text.
pub fn n_chars(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| !(0x80..0xC0).contains(&byte)).count()
}

/// How many ASCII letters are in it.
pub fn n_letters(class: &CharSet) -> usize {
    let has = |c: &u8| class.iter().any(|&(low, high)| low <= u32::from(*c) && u32::from(*c) <= high);
    (b'A'..=b'Z').chain(b'a'..=b'z').filter(has).count()
}

/// How many characters past ASCII are in it.
pub fn n_others(class: &CharSet) -> u32 {
    class.iter().filter(|range| range.1 >= 0x80).map(|range| range.1 - range.0.max(0x80) + 1).sum()
}

/// Whether two sets have a character in common.
pub fn intersects(a: &CharSet, b: &CharSet) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].1 < b[j].0 {
            i += 1;
        } else if b[j].1 < a[i].0 {
            j += 1;
        } else {
            return true;
        }
    }
    false
}

/// The characters of both sets.
pub fn intersection(a: &CharSet, b: &CharSet) -> CharSet {
    let (mut i, mut j) = (0, 0);
    let mut both = CharSet::new();
    while i < a.len() && j < b.len() {
        let (low, high) = (a[i].0.max(b[j].0), a[i].1.min(b[j].1));
        if low <= high {
            both.push((low, high));
        }
        if a[i].1 < b[j].1 { i += 1 } else { j += 1 }
    }
    both
}

/// Whether the first set has all characters of the second.
pub fn contains(outer: &CharSet, inner: &CharSet) -> bool {
    inner.iter().all(|&(low, high)| {
        let at = outer.partition_point(|range| range.1 < low);
        outer.get(at).is_some_and(|range| range.0 <= low && high <= range.1)
    })
}

/// Sorted, merged, and without surrogates.
pub fn normal(mut ranges: CharSet) -> CharSet {
    ranges.sort_unstable();
    let mut merged: CharSet = Vec::with_capacity(ranges.len());
    for (low, high) in ranges.into_iter().flat_map(without_surrogates).flatten() {
        match merged.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    merged
}

fn without_surrogates((low, high): (u32, u32)) -> [Option<(u32, u32)>; 2] {
    let some = |low: u32, high: u32| (low <= high).then_some((low, high));
    [some(low, high.min(0xD7FF)), some(low.max(0xE000), high)]
}
