//! Which items belong to each row? Pairs of a row and an item, sorted by counting: two arrays, whatever the number of rows.

#[derive(Debug, Default)]
pub struct Rows<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Rows<T> {
    /// Items of a row keep their order. `pairs` is run through twice; what was held before goes, its memory stays.
    pub fn sort(&mut self, n_rows: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) {
        self.starts.clear();
        self.starts.resize(n_rows + 2, 0);
        let mut n = 0;
        for (row, _) in pairs.clone() {
            self.starts[row as usize + 2] += 1;
            n += 1;
        }
        for row in 2..n_rows + 2 {
            self.starts[row] += self.starts[row - 1];
        }
        self.items.clear();
        self.items.resize(n, T::default());
        // One place further on while filling: each start moves up to where its row ends, which is where the next begins.
        for (row, item) in pairs {
            let at = &mut self.starts[row as usize + 1];
            self.items[*at as usize] = item;
            *at += 1;
        }
    }

    pub fn of(&self, row: u32) -> &[T] {
        &self.items[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn rows_keep_the_order_of_their_items() {
        let mut rows = Rows::default();
        for pairs in [&[(2, 'a'), (0, 'b'), (2, 'c')][..], &[(1, 'd')]] {
            rows.sort(4, pairs.iter().copied());
            for row in 0..4 {
                let expected: Vec<char> =
                    pairs.iter().filter(|pair| pair.0 == row).map(|pair| pair.1).collect();
                assert_eq!(rows.of(row), expected);
            }
        }
    }
}
