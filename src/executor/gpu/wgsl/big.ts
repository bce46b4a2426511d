/** The WGSL text of an integer of up to 256 bits. */
export const bigText = (value: bigint): string =>
  `B(${Array.from({ length: 8 }, (_, k) => `${(value >> BigInt(32 * k)) & 0xffffffffn}u`).join(", ")})`;

/**
 * Integers of 256 bits, lowest word first, modulo 2^256: unsigned, or two's complement in `bSar`, `bDivSigned` and
 * `bBelow`. Shifts by 256 and more give 0 (`bSar`: the sign). `enclose` is roundEnclosure of
 * src/numerics/elementary/enclosure.ts.
 */
export const BIG = /* wgsl */ `
alias B = array<u32, 8>;
fn bOf(v: vec2u) -> B { return B(v.x, v.y, 0u, 0u, 0u, 0u, 0u, 0u); }
fn bInt(v: i32) -> B { let s = bitcast<u32>(v >> 31u); return B(bitcast<u32>(v), s, s, s, s, s, s, s); }
fn bLow(a: B) -> vec2u { return vec2u(a[0], a[1]); }
fn bBelow(a: B) -> bool { return a[7] >= 0x80000000u; }
fn bSame(a: B, b: B) -> bool {
  var same = true; for (var i = 0u; i < 8u; i++) { same = same && a[i] == b[i]; } return same;
}
fn bAdd(a: B, b: B) -> B {
  var r = B(); var c = 0u;
  for (var i = 0u; i < 8u; i++) {
    let s = a[i] + b[i]; let t = s + c; c = select(0u, 1u, s < b[i] || t < s); r[i] = t;
  }
  return r;
}
fn bFlip(a: B, flips: bool) -> B {
  let mask = select(0u, 0xffffffffu, flips);
  var r = B(); for (var i = 0u; i < 8u; i++) { r[i] = a[i] ^ mask; } return r;
}
fn bNegIf(a: B, negates: bool) -> B {
  let mask = select(0u, 0xffffffffu, negates);
  var r = B(); var c = mask & 1u;
  for (var i = 0u; i < 8u; i++) { let t = (a[i] ^ mask) + c; c = select(0u, c, t == 0u); r[i] = t; }
  return r;
}
fn bSub(a: B, b: B) -> B {
  var r = B(); var c = 0u;
  for (var i = 0u; i < 8u; i++) {
    let s = a[i] - b[i]; let t = s - c; c = select(0u, 1u, a[i] < b[i] || s < c); r[i] = t;
  }
  return r;
}
fn bLess(a: B, b: B) -> bool {
  var less = false;
  for (var i = 0u; i < 8u; i++) { less = select(a[i] < b[i], less, a[i] == b[i]); }
  return less;
}
fn bLength(a: B) -> i32 {
  var n = 0;
  for (var i = 0; i < 8; i++) { if (a[i] != 0u) { n = 32 * i + 32 - i32(countLeadingZeros(a[i])); } }
  return n;
}
fn bShl(a: B, s: u32) -> B {
  var r = B(); let w = i32(min(s, 256u) >> 5u); let b = s & 31u;
  for (var i = 7; i >= w; i--) {
    let k = i - w; r[i] = a[k] << b; if (b != 0u && k > 0) { r[i] |= a[k - 1] >> (32u - b); }
  }
  return r;
}
fn bShr(a: B, s: u32) -> B {
  var r = B(); let w = min(s, 256u) >> 5u; let b = s & 31u;
  for (var k = w; k < 8u; k++) {
    let i = k - w; r[i] = a[k] >> b; if (b != 0u && k < 7u) { r[i] |= a[k + 1u] << (32u - b); }
  }
  return r;
}
fn bSar(a: B, s: u32) -> B { let below = bBelow(a); return bFlip(bShr(bFlip(a, below), s), below); }
fn bMul(a: B, b: B) -> B {
  var r = B();
  for (var i = 0u; i < 8u; i++) {
    if (a[i] == 0u) { continue; }
    var c = 0u;
    for (var j = 0u; i + j < 8u; j++) {
      let p = add64(add64(mul32(a[i], b[j]), vec2u(r[i + j], 0u)), vec2u(c, 0u)); r[i + j] = p.x; c = p.y;
    }
  }
  return r;
}
fn bDivSmall(a: B, k: u32) -> B {
  var q = B(); var r = 0u;
  for (var i = 7; i >= 0; i--) {
    let h = (r << 16u) | (a[i] >> 16u); let u = h / k; r = h - u * k;
    let l = (r << 16u) | (a[i] & 0xffffu); let v = l / k; r = l - v * k; q[i] = (u << 16u) | v;
  }
  return q;
}
fn bDivSigned(a: B, k: u32) -> B { let below = bBelow(a); return bNegIf(bDivSmall(bNegIf(a, below), k), below); }
fn bDiv(a: B, b: B) -> B {
  var q = B(); var r = B();
  for (var k = bLength(a) - 1; k >= 0; k--) {
    let over = bBelow(r); r = bShl(r, 1u); r[0] |= (a[k >> 5u] >> (u32(k) & 31u)) & 1u;
    if (over || !bLess(r, b)) { r = bSub(r, b); q[k >> 5u] |= 1u << (u32(k) & 31u); }
  }
  return q;
}
fn bSqrt(a: B) -> B {
  var rest = a; var root = B(); let length = bLength(a);
  for (var k = (length - 1) & ~1; k >= 0; k -= 2) {
    var t = root; t[k >> 5u] |= 1u << (u32(k) & 31u); root = bShr(root, 1u);
    if (!bLess(rest, t)) { rest = bSub(rest, t); root[k >> 5u] |= 1u << (u32(k) & 31u); }
  }
  return root;
}
fn bNative(F: u32, m: B, x: i32) -> u32 {
  let s = u32(max(bLength(m) - 64, 0)); let top = bShr(m, s);
  return native(F, bLow(top), x + i32(s), !bSame(bShl(top, s), m));
}
fn enclose(F: u32, below: bool, m: B, x: i32) -> u32 {
  let half = bShr(m, 100u); var ends = vec2u(0u);
  for (var k = 0u; k < 2u; k++) { ends[k] = bNative(F, bAdd(m, bNegIf(half, k == 0u)), x); }
  let w = select(ends.y, ends.x, ends.x == ends.y || (ends.x & 1u) == 0u);
  return select(select(0u, SIGN, below) | widen(F, w), 0u, w == 0u);
}
`;
