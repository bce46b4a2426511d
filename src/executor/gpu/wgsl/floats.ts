/**
 * float32, float16 and bfloat16 in integers: the exact result rounded once, one zero, one NaN (src/numerics/float.ts).
 * A value is the bits of a float32, also for the 16-bit formats, whose values are float32 values too. The format F that
 * a result is rounded to is 0 for float32, 1 for float16, 2 for bfloat16. `Part` is a finite value m 2^x, m < 2^24.
 * `native` rounds m 2^x (larger by something below 2^x if sticky) to the bits of a format, without the sign: half to
 * even, subnormals kept. With sticky, m has more bits than the format keeps.
 */
export const FLOATS = /* wgsl */ `
const NAN = 0x7fc00000u;
const INF = 0x7f800000u;
const SIGN = 0x80000000u;
fn fractionOf(F: u32) -> i32 { return select(select(7, 10, F == 1u), 23, F == 0u); }
fn lowestOf(F: u32) -> i32 { return select(select(-133, -24, F == 1u), -149, F == 0u); }
fn highestOf(F: u32) -> i32 { return select(127, 15, F == 1u); }
fn infinityOf(F: u32) -> u32 { return select(select(0x7f80u, 0x7c00u, F == 1u), INF, F == 0u); }
fn length64(m: vec2u) -> i32 {
  return 64 - i32(select(countLeadingZeros(m.y), 32u + countLeadingZeros(m.x), m.y == 0u));
}
fn native(F: u32, m: vec2u, x: i32, sticky: bool) -> u32 {
  if (all(m == vec2u(0u))) { return 0u; }
  let top = x + length64(m) - 1; let lowest = lowestOf(F);
  if (top > highestOf(F)) { return infinityOf(F); }
  if (top < lowest - 1) { return 0u; }
  let quantum = max(top - fractionOf(F), lowest); let drop = quantum - x;
  var kept: u32;
  if (drop <= 0) { kept = shl64(m, u32(-drop)).x; }
  else {
    let d = u32(drop); kept = shr64(m, d).x;
    let toHalf = shr64(m, d - 1u);
    let more = sticky || any(shl64(toHalf, d - 1u) != m);
    if ((toHalf.x & 1u) == 1u && (more || (kept & 1u) == 1u)) { kept += 1u; }
  }
  return (u32(quantum - lowest) << u32(fractionOf(F))) + kept;
}
fn widen(F: u32, w: u32) -> u32 {
  if (F == 0u) { return w; }
  if (F == 2u) { return w << 16u; }
  let s = (w & 0x8000u) << 16u; let e = (w >> 10u) & 31u; let m = w & 1023u;
  if (e == 31u) { return s | INF | (m << 13u); }
  if (e != 0u) { return s | ((e + 112u) << 23u) | (m << 13u); }
  if (m == 0u) { return s; }
  let length = 32u - countLeadingZeros(m);
  return s | ((length + 102u) << 23u) | ((m << (24u - length)) & 0x7fffffu);
}
fn narrow(F: u32, a: u32) -> u32 {
  if (F == 2u) { return a >> 16u; }
  if (isNaNf(a)) { return 0x7e00u; }
  if (isInff(a)) { return ((a & SIGN) >> 16u) | 0x7c00u; }
  let p = part(a); return ((a & SIGN) >> 16u) | native(1u, vec2u(p.m, 0u), p.x, false);
}
fn rounded(F: u32, sign: u32, m: vec2u, x: i32, sticky: bool) -> u32 {
  let w = native(F, m, x, sticky); return select(sign | widen(F, w), 0u, w == 0u);
}
struct Part { m: u32, x: i32 }
fn part(a: u32) -> Part {
  let f = (a >> 23u) & 255u; return Part((a & 0x7fffffu) | select(0u, 0x800000u, f != 0u), i32(max(f, 1u)) - 150);
}
fn isNaNf(a: u32) -> bool { return (a & 0x7fffffffu) > INF; }
fn isInff(a: u32) -> bool { return (a & 0x7fffffffu) == INF; }
fn canonf(a: u32) -> u32 { if (isNaNf(a)) { return NAN; } return select(a, 0u, a == SIGN); }
fn negf(a: u32) -> u32 { return select(a ^ SIGN, a, isNaNf(a) || a == 0u); }
fn absf(a: u32) -> u32 { return a & 0x7fffffffu; }
fn signf(a: u32) -> u32 { return select((a & SIGN) | 0x3f800000u, a, isNaNf(a) || a == 0u); }
fn addf(F: u32, a0: u32, b0: u32) -> u32 {
  if (isNaNf(a0) || isNaNf(b0)) { return NAN; }
  let swap = absf(b0) > absf(a0); let a = select(a0, b0, swap); let b = select(b0, a0, swap);
  let differ = ((a ^ b) & SIGN) != 0u;
  if (isInff(a)) { return select(a, NAN, isInff(b) && differ); }
  let p = part(a); let q = part(b); let d = min(u32(p.x - q.x), 64u);
  let large = shl64(vec2u(p.m, 0u), 38u); let whole = shl64(vec2u(q.m, 0u), 38u);
  let small = shr64(whole, d); let sticky = any(shl64(small, d) != whole);
  var s = add64(large, small);
  if (differ) { s = sub64(large, small); if (sticky) { s = sub64(s, vec2u(1u, 0u)); } }
  return rounded(F, a & SIGN, s, p.x - 38, sticky);
}
fn subf(F: u32, a: u32, b: u32) -> u32 { return addf(F, a, negf(b)); }
fn mulf(F: u32, a: u32, b: u32) -> u32 {
  if (isNaNf(a) || isNaNf(b)) { return NAN; }
  let s = (a ^ b) & SIGN; let p = part(a); let q = part(b);
  if (isInff(a) || isInff(b)) { return select(s | INF, NAN, p.m == 0u || q.m == 0u); }
  return rounded(F, s, mul32(p.m, q.m), p.x + q.x, false);
}
fn divf(F: u32, a: u32, b: u32) -> u32 {
  if (isNaNf(a) || isNaNf(b)) { return NAN; }
  let s = (a ^ b) & SIGN; let p = part(a); let q = part(b);
  if (isInff(a)) { return select(s | INF, NAN, isInff(b)); }
  if (q.m == 0u) { return select((a & SIGN) | INF, NAN, p.m == 0u); }
  if (isInff(b) || p.m == 0u) { return 0u; }
  let la = countLeadingZeros(p.m) - 8u; let lb = countLeadingZeros(q.m) - 8u;
  var r = p.m << la; let d = q.m << lb;
  let high = r / d; r -= high * d; var low = 0u;
  for (var k = 0; k < 4; k++) { r = r << 8u; let t = r / d; r -= t * d; low = (low << 8u) | t; }
  return rounded(F, s, vec2u(low, high), p.x - i32(la) - q.x + i32(lb) - 32, r != 0u);
}
fn fmodf(a: u32, b: u32) -> u32 {
  if (isNaNf(a) || isNaNf(b) || isInff(a) || b == 0u) { return NAN; }
  let p = part(a); let q = part(b);
  if (isInff(b) || p.x < q.x) { return a; }
  var r = p.m % q.m;
  for (var k = p.x - q.x; k > 0; k--) { r = (r << 1u) % q.m; }
  return rounded(0u, a & SIGN, vec2u(r, 0u), q.x, false);
}
fn sqrtf(F: u32, a: u32) -> u32 {
  if (isNaNf(a) || (a & SIGN) != 0u) { return NAN; }
  if (a == 0u || a == INF) { return a; }
  let p = part(a); let l = countLeadingZeros(p.m) - 8u; var x = p.x - i32(l);
  let up = select(30u, 31u, (x & 1) != 0); var rest = shl64(vec2u(p.m << l, 0u), up); x -= i32(up);
  var root = vec2u(0u); var bit = vec2u(0u, 0x400000u);
  for (var k = 0; k < 28; k++) {
    let t = add64(root, bit); root = shr64(root, 1u);
    if (!lt64(rest, t)) { rest = sub64(rest, t); root = add64(root, bit); }
    bit = shr64(bit, 2u);
  }
  return rounded(F, 0u, root, x >> 1u, any(rest != vec2u(0u)));
}
fn lessf(a: u32, b: u32) -> bool {
  if (((a ^ b) & SIGN) != 0u) { return (a & SIGN) != 0u; }
  return select(a < b, b < a, (a & SIGN) != 0u);
}
fn orderedf(a: u32, b: u32) -> bool { return !isNaNf(a) && !isNaNf(b); }
fn eqf(a: u32, b: u32) -> u32 { return select(0u, 1u, a == b && !isNaNf(a)); }
fn ltf(a: u32, b: u32) -> u32 { return select(0u, 1u, orderedf(a, b) && lessf(a, b)); }
fn lef(a: u32, b: u32) -> u32 { return select(0u, 1u, orderedf(a, b) && !lessf(b, a)); }
fn maxf(a: u32, b: u32) -> u32 { return select(NAN, select(a, b, lessf(a, b)), orderedf(a, b)); }
fn minf(a: u32, b: u32) -> u32 { return select(NAN, select(b, a, lessf(a, b)), orderedf(a, b)); }
fn integralf(a: u32, mode: u32) -> u32 {
  let f = (a >> 23u) & 255u; if (f >= 150u) { return a; }
  let p = part(a); let s = min(150u - max(f, 1u), 31u); let below = (a & SIGN) != 0u;
  var k = p.m >> s; let rest = p.m & ((1u << s) - 1u); let half = 1u << (s - 1u);
  let up = select(rest > half || (rest == half && (k & 1u) == 1u), rest != 0u && below != (mode == 1u), mode < 2u);
  if (up) { k += 1u; }
  return rounded(0u, a & SIGN, vec2u(k, 0u), 0, false);
}
fn castf(F: u32, a: u32) -> u32 {
  if (isNaNf(a) || isInff(a)) { return a; }
  let p = part(a); return rounded(F, a & SIGN, vec2u(p.m, 0u), p.x, false);
}
fn magnitudef(a: u32) -> vec2u {
  if (isNaNf(a)) { return vec2u(0u); }
  let p = part(a); if (p.x > 40) { return vec2u(0xffffffffu); }
  let m = vec2u(p.m, 0u); if (p.x >= 0) { return shl64(m, u32(p.x)); } return shr64(m, u32(-p.x));
}
`;
