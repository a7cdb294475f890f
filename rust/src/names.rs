//! Which keys have a member of their own? All of them in one piece of memory.

use std::borrow::Cow;

/// A set of texts.
#[derive(Debug, Default)]
pub struct Names {
    /// The texts, ascending, one after the other.
    text: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<u32>,
}

impl Names {
    pub fn new(mut names: Vec<Cow<[u8]>>) -> Names {
        names.sort_unstable();
        names.dedup();
        let mut made = Names {
            text: Vec::with_capacity(names.iter().map(|name| name.len()).sum()),
            ends: Vec::with_capacity(names.len()),
        };
        for name in names {
            made.text.extend_from_slice(&name);
            made.ends.push(made.text.len() as u32);
        }
        made
    }

    pub fn contains(&self, name: &[u8]) -> bool {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle).cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }

    /// Ascending.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|at| self.name(at))
    }

    fn name(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start as usize..self.ends[at] as usize]
    }

    pub fn heap_bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::Names;

    #[test]
    fn a_set_has_what_was_put_into_it() {
        for n in 0..6 {
            let all = [&b"b"[..], b"", b"ab", b"b", b"a"];
            let names = Names::new(all[..n.min(5)].iter().map(|&name| Cow::Borrowed(name)).collect());
            for asked in [&b""[..], b"a", b"ab", b"abc", b"b", b"c"] {
                assert_eq!(names.contains(asked), all[..n.min(5)].contains(&asked));
            }
            assert!(names.iter().is_sorted());
        }
    }
}
