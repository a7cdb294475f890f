//! Which numbers in plain decimal are in a set, and which beginnings can still become one: by arithmetic, not by states.
//!
//! A beginning such as `12` stands for a few intervals: 12 and its fractions, 120 to 129.9.., 1200 to 1299.9.., and so on.
//! Scaled to whole numbers, each is asked for a multiple that is allowed.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::error::{Error, Result};

/// How many candidates are tried one by one before arithmetic takes over.
const MAX_TRIED: u32 = 1_000;

/// An interval of decimals that are multiples of some numbers and of none of others. All fields are scaled by 10^`fraction`.
#[derive(Debug, Clone)]
pub struct DecimalSet {
    low: Option<BigInt>,
    high: Option<BigInt>,
    step: BigInt,
    /// Multiples of these are left out; each is a multiple of `step`.
    holes: Vec<BigInt>,
    /// Digits after the point: at most this many, and none if a fraction is not written.
    fraction: u32,
    written_fraction: u32,
    max_digits: u32,
}

impl DecimalSet {
    /// `fields` are lines: minimum, maximum, multiples of, no multiples of; flags: exclusive minimum, exclusive maximum, integer.
    pub fn read(fields: &[u8], flags: u32, max_fraction: u32, max_digits: u32) -> Result<DecimalSet> {
        let text = std::str::from_utf8(fields).map_err(|_| malformed())?;
        let lines: Vec<&str> = text.split('\n').collect();
        let [low, high, multiples, holes] = lines[..] else { return Err(malformed()) };
        if max_fraction > 1_000 || max_digits > 1_000 {
            return Err(malformed());
        }
        let numbers = |line: &str| -> Result<Vec<Plain>> {
            line.split(',').filter(|number| !number.is_empty()).map(Plain::read).collect()
        };
        let (multiples, holes) = (numbers(multiples)?, numbers(holes)?);
        let bound = |line: &str| if line.is_empty() { Ok(None) } else { Plain::read(line).map(Some) };
        let (low, high) = (bound(low)?, bound(high)?);
        let written_fraction = if flags & 4 != 0 { 0 } else { max_fraction };
        let all = || multiples.iter().chain(&holes).chain(&low).chain(&high);
        let fraction = all().map(|number| number.fraction).max().unwrap_or(0).max(written_fraction);
        // What may be written bounds the step from below: with no fraction, whole numbers only.
        let unit = BigInt::from(10).pow(fraction - written_fraction);
        let step = multiples.iter().map(|number| number.scaled(fraction).abs()).fold(unit, |a, b| a.lcm(&b));
        let holes = holes.iter().map(|number| number.scaled(fraction).abs().lcm(&step)).collect();
        let inward = |exclusive: bool| BigInt::from(u32::from(exclusive));
        Ok(DecimalSet {
            low: low.map(|number| number.scaled(fraction) + inward(flags & 1 != 0)),
            high: high.map(|number| number.scaled(fraction) - inward(flags & 2 != 0)),
            step,
            holes,
            fraction,
            written_fraction,
            max_digits,
        })
    }

    /// Whether some number of the set begins with `text`.
    pub fn goes_on(&self, text: &[u8]) -> bool {
        let (negative, digits) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, text),
        };
        if digits.is_empty() {
            let some = |negative: bool| (b'0'..=b'9').any(|digit| self.some_beyond(negative, &[digit]));
            return some(negative) || (text.is_empty() && some(true));
        }
        self.some_beyond(negative, digits)
    }

    fn some_beyond(&self, negative: bool, digits: &[u8]) -> bool {
        let Some(number) = self.parse(digits) else { return false };
        let width = BigInt::from(10).pow(self.fraction - number.fraction);
        let mut start = number.digits.clone() * &width;
        let mut width = width;
        if self.has(negative, &start, &width) {
            return true;
        }
        // More digits before the point: only where there is none yet, and no zero leads.
        if digits.contains(&b'.') || number.digits.is_zero() {
            return false;
        }
        (digits.len()..self.max_digits as usize).any(|_| {
            start *= 10;
            width *= 10;
            self.has(negative, &start, &width)
        })
    }

    /// Whether `text` is a number of the set.
    pub fn accepts(&self, text: &[u8]) -> bool {
        let (negative, digits) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, text),
        };
        if digits.last() == Some(&b'.') {
            return false;
        }
        let Some(number) = self.parse(digits) else { return false };
        self.has(negative, &number.scaled(self.fraction), &BigInt::one())
    }

    /// The number of a beginning, if it is written as it should be.
    fn parse(&self, digits: &[u8]) -> Option<Plain> {
        let (whole, fraction) = match digits.iter().position(|&byte| byte == b'.') {
            Some(at) => (&digits[..at], Some(&digits[at + 1..])),
            None => (digits, None),
        };
        let leads = whole.len() > 1 && whole[0] == b'0';
        if whole.is_empty() || leads || whole.len() > self.max_digits as usize {
            return None;
        }
        let length = fraction.map_or(0, <[u8]>::len) as u32;
        if fraction.is_some() && (self.written_fraction == 0 || length > self.written_fraction) {
            return None;
        }
        let all: Vec<u8> = whole.iter().chain(fraction.unwrap_or_default()).copied().collect();
        if !all.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(Plain { digits: BigInt::parse_bytes(&all, 10)?, fraction: length })
    }

    /// Whether the set has a number from `start` up to below `start + width`, or its negative; -0 is none.
    fn has(&self, negative: bool, start: &BigInt, width: &BigInt) -> bool {
        let end: BigInt = start + width - 1;
        let (mut low, mut high) = if negative { (-end, -start) } else { (start.clone(), end) };
        if negative && high.is_zero() {
            high -= 1;
        }
        if let Some(bound) = &self.low {
            low = low.max(bound.clone());
        }
        if let Some(bound) = &self.high {
            high = high.min(bound.clone());
        }
        let (first, last) = (low.div_ceil(&self.step), high.div_floor(&self.step));
        first <= last && self.some_outside_holes(first, &last)
    }

    /// Whether some k from `first` to `last` has `k * step` in no hole.
    fn some_outside_holes(&self, first: BigInt, last: &BigInt) -> bool {
        let holes: Vec<BigInt> = self.holes.iter().map(|hole| hole / &self.step).collect();
        if holes.iter().any(One::is_one) {
            return false;
        }
        let mut k = first;
        for _ in 0..MAX_TRIED {
            if &k > last {
                return false;
            }
            if holes.iter().all(|hole| !k.is_multiple_of(hole)) {
                return true;
            }
            k += 1;
        }
        // A k that leaves 1 when divided by all of them is in no hole; there is one in every period.
        let period = holes.iter().fold(BigInt::one(), |a, b| a.lcm(b));
        let next = &k + (BigInt::one() - &k).mod_floor(&period);
        &next <= last
    }
}

fn malformed() -> Error {
    Error::argument("grammar", "the IR has a malformed decimal")
}

/// A number as its digits and how many of them come after the point.
#[derive(Debug, Clone)]
struct Plain {
    digits: BigInt,
    fraction: u32,
}

impl Plain {
    fn read(text: &str) -> Result<Plain> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if fraction.len() > 1_000 || whole.len() > 10_000 {
            return Err(malformed());
        }
        let digits = format!("{whole}{fraction}").parse().map_err(|_| malformed())?;
        Ok(Plain { digits, fraction: fraction.len() as u32 })
    }

    fn scaled(&self, fraction: u32) -> BigInt {
        &self.digits * BigInt::from(10).pow(fraction - self.fraction)
    }
}
