//! What is a key or an item, whatever its spelling? Two spellings of one JSON value have one identity.

/// The identity of a text: its bytes, or the value that its JSON spells.
pub fn identity(json: bool, text: &[u8]) -> Box<[u8]> {
    if !json {
        return text.into();
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        match first {
            b' ' | b'\t' | b'\n' | b'\r' => rest = tail,
            b'"' => rest = string_value(tail, &mut out),
            b'-' | b'0'..=b'9' => {
                let (number, tail) = rest.split_at(number_end(rest));
                out.extend_from_slice(&number_value(number));
                rest = tail;
            }
            _ => {
                out.push(first);
                rest = tail;
            }
        }
    }
    out.into()
}

/// Write the value of a JSON string after its opening quote; returns what follows the closing one.
fn string_value<'t>(mut rest: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    out.push(b'"');
    while let Some((&first, tail)) = rest.split_first() {
        match first {
            b'"' => {
                out.push(b'"');
                return tail;
            }
            b'\\' => rest = escape_value(tail, out),
            _ => {
                out.push(first);
                rest = tail;
            }
        }
    }
    rest
}

/// Write the character of an escape after its backslash. Quotes and backslashes stay marked, so that values cannot be confused.
fn escape_value<'t>(rest: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    let Some((&kind, tail)) = rest.split_first() else { return rest };
    let unit = |text: &[u8]| {
        text.get(..4).and_then(|hex| u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok())
    };
    let mut push = |code: u32| match char::from_u32(code) {
        Some(c @ ('"' | '\\')) => out.extend([b'\\', c as u8]),
        Some(c) => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        // A lone surrogate is no character; its three bytes are those it would have if it were one.
        None => out.extend([
            0xE0 | (code >> 12) as u8,
            0x80 | (code >> 6 & 0x3F) as u8,
            0x80 | (code & 0x3F) as u8,
        ]),
    };
    match kind {
        b'u' => {
            let Some(high) = unit(tail) else { return tail };
            let low = tail.get(4..6).filter(|mark| *mark == b"\\u").and_then(|_| unit(&tail[6..]));
            match low {
                Some(low) if (0xD800..0xDC00).contains(&high) && (0xDC00..0xE000).contains(&low) => {
                    push(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
                    return &tail[10..];
                }
                _ => push(high),
            }
            return &tail[4..];
        }
        b'b' => push(8),
        b'f' => push(12),
        b'n' => push(10),
        b'r' => push(13),
        b't' => push(9),
        other => push(u32::from(other)),
    }
    tail
}

/// What follows a backslash in a JSON string, with the character that it begins with as it is. Half a surrogate pair stays escaped:
/// the other half may come before it.
pub fn escaped_char(rest: &[u8]) -> Box<[u8]> {
    let mut out = Vec::with_capacity(rest.len() + 1);
    let tail = escape_value(rest, &mut out);
    let is_half = matches!(out[..], [0xED, 0xA0..=0xBF, _]);
    if is_half {
        return [b"\\", rest].concat().into();
    }
    out.extend_from_slice(tail);
    out.into()
}

fn number_end(text: &[u8]) -> usize {
    text.iter().position(|byte| !b"+-.eE0123456789".contains(byte)).unwrap_or(text.len())
}

/// A text that begins with a number, with its value in place of the number.
pub fn first_number(text: Vec<u8>) -> Box<[u8]> {
    let end = number_end(&text);
    [&number_value(&text[..end]), &text[end..]].concat().into()
}

/// Digits without zeros at either end, and the power of ten that they stand for.
fn number_value(text: &[u8]) -> Vec<u8> {
    let (mantissa, exponent) = match text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e')) {
        Some(at) => {
            (&text[..at], std::str::from_utf8(&text[at + 1..]).ok().and_then(|e| e.parse::<i64>().ok()))
        }
        None => (text, Some(0)),
    };
    let mut digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    if digits.iter().all(|&digit| digit == b'0') {
        return b"0".to_vec();
    }
    let Some(exponent) = exponent else { return text.to_vec() };
    let negative = mantissa.first() == Some(&b'-');
    let fraction = mantissa.iter().position(|&byte| byte == b'.').map_or(0, |at| mantissa.len() - at - 1);
    let mut power = exponent - fraction as i64;
    while digits.last() == Some(&b'0') {
        digits.pop();
        power += 1;
    }
    let start = digits.iter().position(|&digit| digit != b'0').unwrap_or(digits.len());
    let digits = &digits[start..];
    let sign: &[u8] = if negative { b"-" } else { b"" };
    [sign, digits, b"e", power.to_string().as_bytes()].concat()
}
