//! Where the tokens are: a trie of byte strings, flat and in depth-first order, and the walk over it.
//!
//! Three arrays hold the nodes in preorder, siblings by ascending byte, so a walk reads memory forwards.
//! A walk keeps one state per depth: going back to an ancestor costs nothing, and a dead byte jumps to
//! the end of the subtree under it. Nothing recurses, so a token may be as long as `MAX_TOKEN_BYTES`.
//!
//! The strings need not be tokens: anything that wants the same walk can build a trie of its own
//! (suffixes of tokens, say) and read the ids as indices into its own table.

use crate::error::{Error, Result};

/// A node keeps its depth in 24 bits beside its byte.
pub const MAX_TOKEN_BYTES: usize = (1 << 24) - 1;
/// Nodes are counted in `u32`, and there are at most as many as bytes.
pub const MAX_VOCABULARY_BYTES: usize = (1 << 31) - 1;
/// Ids and the sink are `u32`; bitmask words are counted in `i32` on the Python side.
pub const MAX_TOKENS: usize = (1 << 31) - 1;

/// What a walk does at each node. Implementations are inlined into the loop.
pub trait Walker {
    /// The state after some bytes; kept once per depth, so it should be small.
    type State: Copy;

    /// Whether it is known that nothing is wanted under this byte; a step tells too, but takes longer.
    fn is_dead(&self, _state: &Self::State, _byte: u8) -> bool {
        false
    }

    /// The state after one more byte, or `None` where nothing under this byte is wanted.
    fn step(&mut self, state: Self::State, byte: u8) -> Option<Self::State>;

    /// Called at each node that was reached, with the id of the string that ends there, or
    /// `Trie::sink()` where none does.
    ///
    /// PERF: the sink is an id like any other, so that a walker can mark it without a branch. Whether a
    /// token ends at a node is close to a coin toss (128,000 of 274,520 nodes for Llama 3), and a branch
    /// on it is mispredicted accordingly.
    fn reach(&mut self, id: u32, state: Self::State);
}

/// A trie over strings numbered 0..n. Empty strings are not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trie {
    /// Byte in bits 0..8, depth of the node (0 for a first byte) in bits 8..32.
    heads: Vec<u32>,
    /// The lowest id whose bytes end at the node, else the sink.
    ids: Vec<u32>,
    /// Index of the first node after the subtree.
    ends: Vec<u32>,
    /// Nodes whose first byte is `b` are `firsts[b]..firsts[b + 1]`.
    ///
    /// PERF: a walk from a state with few live bytes must not touch the 256 subtrees to pass them by:
    /// each is a cache miss.
    firsts: Box<[u32; 257]>,
    /// For each first byte, the second bytes that follow it, with their nodes: `second_starts[b]..second_starts[b + 1]`.
    ///
    /// PERF: for the same reason: 150 bytes follow a blank in Llama 3's vocabulary, each with a subtree of hundreds of nodes.
    seconds: Vec<(u8, u32)>,
    second_starts: Box<[u32; 257]>,
    /// (id in the trie, higher id with the same bytes), by id.
    twins: Vec<(u32, u32)>,
    n_ids: u32,
    longest: u32,
}

impl Trie {
    /// Build the trie of `strings`; string i has id i. Equal strings share a node, empty ones have none.
    pub fn build(strings: &[&[u8]]) -> Result<Trie> {
        check_sizes(strings)?;
        let n_ids = strings.len() as u32;
        let mut builder = Builder::new(n_ids);
        for id in sorted_ids(strings) {
            builder.push(strings[id as usize], id);
        }
        Ok(builder.finish())
    }

    /// A trie from `heads`, `ids` and `twins` of another; `None` if no trie has them.
    pub fn from_nodes(n_ids: u32, heads: Vec<u32>, ids: Vec<u32>, twins: Vec<(u32, u32)>) -> Option<Trie> {
        let n = u32::try_from(heads.len()).ok()?;
        let known =
            ids.iter().all(|&id| id <= n_ids) && twins.iter().all(|pair| pair.0 < n_ids && pair.1 < n_ids);
        if ids.len() != heads.len()
            || n_ids as usize > MAX_TOKENS
            || n as usize > MAX_VOCABULARY_BYTES
            || !known
        {
            return None;
        }
        let mut builder = Builder::new(n_ids);
        builder.trie.ends = vec![0; heads.len()];
        for (node, head) in (0u32..).zip(&heads) {
            let depth = (head >> 8) as usize;
            if depth > builder.open.len() {
                return None;
            }
            builder.open.drain(depth..).for_each(|above| builder.trie.ends[above as usize] = node);
            builder.open.push(node);
            builder.trie.longest = builder.trie.longest.max(depth as u32 + 1);
        }
        (builder.trie.heads, builder.trie.ids, builder.trie.twins) = (heads, ids, twins);
        let trie = builder.finish();
        (trie.firsts[256] == n).then_some(trie)
    }

    /// Byte in bits 0..8 and depth in bits 8..32 of each node.
    pub fn heads(&self) -> &[u32] {
        &self.heads
    }

    /// The lowest id that ends at each node, or `sink()`.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The number of strings, empty ones too.
    pub fn n_ids(&self) -> u32 {
        self.n_ids
    }

    /// The id that stands for "no string ends here": one past the last.
    pub fn sink(&self) -> u32 {
        self.n_ids
    }

    pub fn n_nodes(&self) -> usize {
        self.heads.len()
    }

    /// The length in bytes of the longest string.
    pub fn longest(&self) -> usize {
        self.longest as usize
    }

    /// Pairs of (id that a walk reports, higher id with the same bytes).
    pub fn twins(&self) -> &[(u32, u32)] {
        &self.twins
    }

    /// The ids of the strings that are not empty, as a bitmask with room for the sink.
    pub fn nonempty(&self) -> Vec<u32> {
        let mut words = vec![0; (self.sink() / 32) as usize + 1];
        let twins = self.twins.iter().map(|&(_, twin)| twin);
        for id in self.ids.iter().copied().filter(|&id| id != self.sink()).chain(twins) {
            words[(id / 32) as usize] |= 1 << (id % 32);
        }
        words
    }

    /// The last byte of the node's string.
    pub fn byte(&self, node: usize) -> u8 {
        self.heads[node] as u8
    }

    /// The length of the node's string, less one.
    pub fn depth(&self, node: usize) -> usize {
        (self.heads[node] >> 8) as usize
    }

    /// The lowest id that ends at the node, or `sink()`.
    pub fn id(&self, node: usize) -> u32 {
        self.ids[node]
    }

    /// The node after the subtree of `node`.
    pub fn end(&self, node: usize) -> usize {
        self.ends[node] as usize
    }

    /// The subtree of the strings that start with `byte`, as a range of nodes.
    pub fn subtree(&self, byte: u8) -> std::ops::Range<usize> {
        let at = byte as usize;
        self.firsts[at] as usize..self.firsts[at + 1] as usize
    }

    /// The second bytes of the strings that start with `byte`, ascending, with their nodes.
    pub fn seconds(&self, byte: u8) -> &[(u8, u32)] {
        let at = byte as usize;
        &self.seconds[self.second_starts[at] as usize..self.second_starts[at + 1] as usize]
    }

    /// The nodes right below a node, with their bytes.
    pub fn children(&self, node: usize) -> impl Iterator<Item = (u8, u32)> + '_ {
        let mut next = node + 1;
        let end = self.end(node);
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.end(child);
            Some((self.byte(child), child as u32))
        })
    }

    /// Heap bytes held.
    pub fn heap_bytes(&self) -> usize {
        let nodes = self.heads.capacity() + self.ids.capacity() + self.ends.capacity();
        let pairs = self.twins.capacity() + self.seconds.capacity();
        nodes * 4 + pairs * 8 + 2 * size_of::<[u32; 257]>()
    }

    /// Walk every string from `start`. `stack` is scratch space, reused between walks.
    pub fn walk<W: Walker>(&self, walker: &mut W, start: W::State, stack: &mut Vec<W::State>) {
        stack.clear();
        stack.resize(self.longest() + 1, start);
        for byte in 0..=u8::MAX {
            let nodes = self.subtree(byte);
            if nodes.is_empty() || walker.is_dead(&start, byte) {
                continue;
            }
            if let Some(state) = walker.step(start, byte) {
                walker.reach(self.ids[nodes.start], state);
                stack[1] = state;
                self.walk_below(walker, nodes.start, stack);
            }
        }
    }

    /// Walk what is below a node. `stack[d]` is the state after d bytes, set for each d up to the length of the node's string,
    /// and `stack` has room for `longest() + 1` states.
    pub fn walk_below<W: Walker>(&self, walker: &mut W, node: usize, stack: &mut [W::State]) {
        if self.depth(node) > 0 {
            return self.walk_nodes(walker, node + 1..self.end(node), stack);
        }
        let above = stack[1];
        for &(byte, second) in self.seconds(self.byte(node)) {
            let second = second as usize;
            if walker.is_dead(&above, byte) {
                continue;
            }
            if let Some(state) = walker.step(stack[1], byte) {
                walker.reach(self.ids[second], state);
                stack[2] = state;
                self.walk_nodes(walker, second + 1..self.end(second), stack);
            }
        }
    }

    /// Walk a range of nodes that ends where a subtree does. `stack[d]` is the state after d bytes, set
    /// for each d up to the depth of the first node, and `stack` has room for `longest() + 1` states.
    pub fn walk_nodes<W: Walker>(
        &self,
        walker: &mut W,
        nodes: std::ops::Range<usize>,
        stack: &mut [W::State],
    ) {
        // PERF: with all three cut to the same length the loop has no bounds check on them.
        let n = nodes.end;
        let (heads, ids, ends) = (&self.heads[..n], &self.ids[..n], &self.ends[..n]);
        let mut node = nodes.start;
        while node < n {
            let head = heads[node];
            let depth = (head >> 8) as usize;
            if let Some(state) = walker.step(stack[depth], head as u8) {
                walker.reach(ids[node], state);
                stack[depth + 1] = state;
                node += 1;
            } else {
                node = ends[node] as usize;
            }
        }
    }

    fn list_seconds(&mut self) {
        for first in 0..=u8::MAX {
            self.second_starts[first as usize] = self.seconds.len() as u32;
            let nodes = self.subtree(first);
            let mut node = nodes.start + 1;
            while node < nodes.end {
                self.seconds.push((self.byte(node), node as u32));
                node = self.end(node);
            }
        }
        self.second_starts[256] = self.seconds.len() as u32;
        self.seconds.shrink_to_fit();
    }
}

/// Cut one blob into strings: string i is `blob[offsets[i]..offsets[i + 1]]`.
pub fn split_blob<'a>(blob: &'a [u8], offsets: &[i64]) -> Result<Vec<&'a [u8]>> {
    if offsets.first() != Some(&0) || offsets.last() != i64::try_from(blob.len()).ok().as_ref() {
        return Err(Error::argument(
            "offsets",
            format!("offsets must start at 0 and end at the length of the blob, {}", blob.len()),
        ));
    }
    let cut = |(i, pair): (usize, &[i64])| {
        usize::try_from(pair[0])
            .ok()
            .zip(usize::try_from(pair[1]).ok())
            .and_then(|(a, b)| blob.get(a..b))
            .ok_or_else(|| {
                Error::argument(
                    "offsets",
                    format!("offsets must not decrease: offset {} is {}", i + 1, pair[1]),
                )
            })
    };
    offsets.windows(2).enumerate().map(cut).collect()
}

fn check_sizes(strings: &[&[u8]]) -> Result<()> {
    let over = |what: String, limit, value: usize| Err(Error::Limit { what, limit, value: value as u64 });
    if strings.len() > MAX_TOKENS {
        return over(format!("a vocabulary of {} tokens is too large", strings.len()), "tokens", MAX_TOKENS);
    }
    let total: usize = strings.iter().map(|s| s.len()).sum();
    if total > MAX_VOCABULARY_BYTES {
        return over(
            format!("tokens of {total} bytes are too much"),
            "vocabulary_bytes",
            MAX_VOCABULARY_BYTES,
        );
    }
    match strings.iter().position(|s| s.len() > MAX_TOKEN_BYTES) {
        Some(id) => over(format!("token {id} is too long"), "token_bytes", MAX_TOKEN_BYTES),
        None => Ok(()),
    }
}

/// The ids of the strings that are not empty, by bytes, then by id.
///
/// PERF: most comparisons end in the first 8 bytes, which are kept beside the id; following the pointer
/// for each takes about three times as long.
fn sorted_ids(strings: &[&[u8]]) -> impl Iterator<Item = u32> {
    let mut keys: Vec<(u64, u32)> = (0u32..)
        .zip(strings)
        .filter(|(_, string)| !string.is_empty())
        .map(|(id, string)| (leading_bytes(string), id))
        .collect();
    keys.sort_unstable_by(|a, b| {
        let rest = || strings[a.1 as usize].cmp(strings[b.1 as usize]).then(a.1.cmp(&b.1));
        a.0.cmp(&b.0).then_with(rest)
    });
    keys.into_iter().map(|(_, id)| id)
}

/// The first 8 bytes as a number that sorts like them; a shorter string is filled up with zeros.
pub fn leading_bytes(string: &[u8]) -> u64 {
    let mut key = [0; 8];
    let n = string.len().min(8);
    key[..n].copy_from_slice(&string[..n]);
    u64::from_be_bytes(key)
}

/// Takes strings in ascending order and lays out their nodes.
struct Builder<'a> {
    trie: Trie,
    /// The nodes of the last string, from its first byte on: subtrees still growing.
    open: Vec<u32>,
    last: &'a [u8],
}

impl<'a> Builder<'a> {
    fn new(n_ids: u32) -> Self {
        let trie = Trie {
            heads: Vec::new(),
            ids: Vec::new(),
            ends: Vec::new(),
            firsts: Box::new([0; 257]),
            seconds: Vec::new(),
            second_starts: Box::new([0; 257]),
            twins: Vec::new(),
            n_ids,
            longest: 0,
        };
        Builder { trie, open: Vec::new(), last: &[] }
    }

    fn push(&mut self, string: &'a [u8], id: u32) {
        let shared = self.last.iter().zip(string).take_while(|(a, b)| a == b).count();
        if shared == string.len() {
            // In ascending order only an equal string can be a prefix of the last one.
            let first = *self.trie.ids.last().expect("an equal string came before");
            self.trie.twins.push((first, id));
            return;
        }
        self.close(shared);
        for (depth, &byte) in string.iter().enumerate().skip(shared) {
            self.open.push(self.trie.heads.len() as u32);
            self.trie.heads.push((depth as u32) << 8 | u32::from(byte));
            self.trie.ids.push(self.trie.n_ids);
            self.trie.ends.push(0);
        }
        *self.trie.ids.last_mut().expect("at least one byte is new") = id;
        self.trie.longest = self.trie.longest.max(string.len() as u32);
        self.last = string;
    }

    /// End the subtrees of the last string below its first `shared` bytes.
    fn close(&mut self, shared: usize) {
        let end = self.trie.heads.len() as u32;
        for node in self.open.drain(shared..) {
            self.trie.ends[node as usize] = end;
        }
    }

    fn finish(mut self) -> Trie {
        self.close(0);
        let mut trie = self.trie;
        let mut node = 0;
        for byte in 0..256 {
            trie.firsts[byte] = node;
            if trie.heads.get(node as usize) == Some(&(byte as u32)) {
                node = trie.ends[node as usize];
            }
        }
        trie.firsts[256] = node;
        trie.list_seconds();
        trie.twins.sort_unstable();
        for array in [&mut trie.heads, &mut trie.ids, &mut trie.ends] {
            array.shrink_to_fit();
        }
        trie
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects the ids reached by bytes below a bound, with the bytes read (as a hash-free check sum).
    struct Below {
        bound: u8,
        reached: Vec<(u32, u64)>,
        sink: u32,
    }

    impl Walker for Below {
        type State = u64;

        fn step(&mut self, state: u64, byte: u8) -> Option<u64> {
            (byte < self.bound).then(|| fold(state, byte))
        }

        fn reach(&mut self, id: u32, state: u64) {
            if id != self.sink {
                self.reached.push((id, state));
            }
        }
    }

    fn fold(state: u64, byte: u8) -> u64 {
        state.wrapping_mul(1_000_003).wrapping_add(u64::from(byte) + 1)
    }

    fn reached(trie: &Trie, bound: u8) -> Vec<(u32, u64)> {
        let mut walker = Below { bound, reached: Vec::new(), sink: trie.sink() };
        trie.walk(&mut walker, 7, &mut Vec::new());
        let mut all = walker.reached;
        for &(first, other) in trie.twins() {
            let state = all.iter().find(|(id, _)| *id == first).map(|(_, state)| *state);
            all.extend(state.map(|state| (other, state)));
        }
        all.sort_unstable();
        all
    }

    fn expected(strings: &[&[u8]], bound: u8) -> Vec<(u32, u64)> {
        let alive = |s: &&[u8]| !s.is_empty() && s.iter().all(|&b| b < bound);
        let state = |s: &[u8]| s.iter().fold(7, |state, &byte| fold(state, byte));
        (0u32..).zip(strings).filter(|(_, s)| alive(s)).map(|(id, s)| (id, state(s))).collect()
    }

    #[test]
    fn layout_is_preorder_with_siblings_ascending() {
        let trie = Trie::build(&[b"ab", b"a", b"", b"b", b"abd", b"ac", b"a"]).unwrap();
        let nodes: Vec<_> =
            (0..trie.n_nodes()).map(|n| (trie.byte(n), trie.depth(n), trie.id(n), trie.end(n))).collect();
        assert_eq!(
            nodes,
            [(b'a', 0, 1, 4), (b'b', 1, 0, 3), (b'd', 2, 4, 3), (b'c', 1, 5, 4), (b'b', 0, 3, 5)]
        );
        assert_eq!(trie.twins(), [(1, 6)]);
        assert_eq!((trie.subtree(b'a'), trie.subtree(b'b')), (0..4, 4..5));
        assert!(trie.subtree(b'c').is_empty() && trie.subtree(0).is_empty());
        assert_eq!((trie.n_ids(), trie.sink(), trie.longest()), (7, 7, 3));
    }

    #[test]
    fn a_walk_equals_reading_each_string() {
        let mut seed = 1u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..300 {
            let owned: Vec<Vec<u8>> = (0..random(60))
                .map(|_| {
                    (0..random(12)).map(|_| [0, 1, b'a', b'b', 0x7f, 0xff][random(6) as usize]).collect()
                })
                .collect();
            let strings: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
            let trie = Trie::build(&strings).unwrap();
            for bound in [0, 1, 2, b'b', 0x80, 255] {
                assert_eq!(reached(&trie, bound), expected(&strings, bound), "{strings:?} below {bound}");
            }
        }
    }

    #[test]
    fn strings_that_end_in_zero_bytes_differ() {
        let strings: [&[u8]; 4] = [b"a\0\0", b"a", b"a\0", b"a\0\0\0\0\0\0\0\0"];
        let trie = Trie::build(&strings).unwrap();
        assert!(trie.twins().is_empty());
        assert_eq!(reached(&trie, 255), expected(&strings, 255));
    }

    #[test]
    fn long_tokens_do_not_recurse() {
        let long = vec![b'x'; 3_000_000];
        let trie = Trie::build(&[&long, &long[1..], b"x"]).unwrap();
        assert_eq!((trie.longest(), trie.n_nodes()), (3_000_000, 3_000_000));
        assert_eq!(reached(&trie, 255).len(), 3);
        let too_long = vec![0; MAX_TOKEN_BYTES + 1];
        assert!(matches!(Trie::build(&[&too_long]), Err(Error::Limit { limit: "token_bytes", .. })));
    }

    #[test]
    fn an_empty_vocabulary_has_no_nodes() {
        let trie = Trie::build(&[]).unwrap();
        assert_eq!((trie.n_nodes(), reached(&trie, 255)), (0, vec![]));
        let trie = Trie::build(&[b"", b""]).unwrap();
        assert_eq!((trie.n_nodes(), trie.sink(), reached(&trie, 255)), (0, 2, vec![]));
    }

    #[test]
    fn blobs_are_cut_where_offsets_say() {
        assert_eq!(split_blob(b"abc", &[0, 1, 1, 3]).unwrap(), [&b"a"[..], b"", b"bc"]);
        assert!(split_blob(b"", &[0]).unwrap().is_empty());
        for offsets in
            [&[][..], &[0], &[1, 3], &[0, 2], &[0, 2, 1, 3], &[0, 4, 3], &[0, -1, 3], &[0, i64::MAX, 3]]
        {
            assert!(split_blob(b"abc", offsets).is_err(), "{offsets:?}");
        }
    }
}
