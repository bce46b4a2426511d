/** How many terms fit between two carries. */
export const TERMS_BETWEEN_CARRIES = 2 ** 14;

/**
 * Exact sums of one invocation, as src/numerics/exactSum.ts defines them: a finite part in limbs of 16 bits, two's
 * complement, and flags. A limb takes at most 2^14 terms below 2^16 between two carries, so that an i32 never
 * overflows.
 * @param d The suffix of the names.
 * @param words The 256-bit words of the finite part.
 */
const sumText = (d: string, words: number): string => `
var<private> limbs${d}: array<i32, ${16 * words}>;
fn sumClear${d}() { for (var i = 0u; i < ${16 * words}u; i++) { limbs${d}[i] = 0; } flags = 0u; }
fn sumCarry${d}() {
  var c = 0;
  for (var i = 0u; i < ${16 * words}u; i++) { let s = limbs${d}[i] + c; limbs${d}[i] = s & 0xffff; c = s >> 16u; }
}
fn sumPut${d}(at: u32, v: u32, below: bool) { let t = i32(v); limbs${d}[at] += select(t, -t, below); }
fn sumWord${d}(k: u32, w: B) {
  if (k == ${words}u) { flags |= w[0] & 7u; return; }
  for (var i = 0u; i < 16u; i++) { sumPut${d}(16u * k + i, (w[i >> 1u] >> (16u * (i & 1u))) & 0xffffu, false); }
}
fn sumSlice${d}(at: u32) -> B {
  var w = B(); for (var i = 0u; i < 16u; i++) { w[i >> 1u] |= u32(limbs${d}[at + i]) << (16u * (i & 1u)); } return w;
}
fn sumLimb${d}(k: u32) -> B {
  if (k >= ${words}u) { return bOf(vec2u(flags, 0u)); }
  sumCarry${d}(); return sumSlice${d}(16u * k);
}
fn sumBelow${d}() -> bool {
  sumCarry${d}();
  let below = limbs${d}[${16 * words - 1}] >= 0x8000;
  if (below) { for (var i = 0u; i < ${16 * words}u; i++) { limbs${d}[i] = -limbs${d}[i]; } sumCarry${d}(); }
  return below;
}
fn sumTop${d}(least: i32) -> i32 {
  var top = ${16 * words - 1}; while (top > least && limbs${d}[top] == 0) { top--; } return top;
}
fn sumSticky${d}(end: i32) -> bool {
  var sticky = false; for (var i = 0; i < end; i++) { sticky = sticky || limbs${d}[i] != 0; } return sticky;
}
`;

/** Sums of floats of up to 32 bits, in units of 2^-298; those of float64 (suffix `d`), in units of 2^-2148. */
export const SUMS = /* wgsl */ `
var<private> flags: u32;
fn sumFlag(below: bool, isNaN: bool) { flags |= select(select(2u, 4u, below), 1u, isNaN); }
fn sumProduct(a: u32, b: u32) {
  let below = ((a ^ b) & SIGN) != 0u; let p = part(a); let q = part(b);
  if (absf(a) >= INF || absf(b) >= INF) { sumFlag(below, isNaNf(a) || isNaNf(b) || a == 0u || b == 0u); return; }
  if (p.m == 0u || q.m == 0u) { return; }
  let e = u32(p.x + q.x + 298); let v = shl64(mul32(p.m, q.m), e & 15u); let at = e >> 4u;
  sumPut(at, v.x & 0xffffu, below); sumPut(at + 1u, v.x >> 16u, below);
  sumPut(at + 2u, v.y & 0xffffu, below); sumPut(at + 3u, v.y >> 16u, below);
}
fn sumPair(at: u32) -> u32 { return u32(limbs[at]) | (u32(limbs[at + 1u]) << 16u); }
fn sumNaN() -> bool { return (flags & 1u) != 0u || (flags & 6u) == 6u; }
fn sumRounded(F: u32) -> u32 {
  if (sumNaN()) { return NAN; }
  if ((flags & 6u) != 0u) { return select(SIGN | INF, INF, (flags & 2u) != 0u); }
  let sign = select(0u, SIGN, sumBelow()); let at = sumTop(3) - 3;
  let m = vec2u(sumPair(u32(at)), sumPair(u32(at) + 2u));
  return rounded(F, sign, m, -298 + 16 * at, sumSticky(at));
}
fn sumProductd(a: vec2u, b: vec2u) {
  let below = ((a.y ^ b.y) & SIGN) != 0u; let p = partd(a); let q = partd(b);
  if (isNaNd(a) || isNaNd(b) || isInfd(a) || isInfd(b)) {
    sumFlag(below, isNaNd(a) || isNaNd(b) || isZerod(a) || isZerod(b)); return;
  }
  let e = u32(p.x + q.x + 2148); let v = bShl(bMul(bOf(p.m), bOf(q.m)), e & 15u);
  for (var i = 0u; i < 8u; i++) { sumPutd((e >> 4u) + i, (v[i >> 1u] >> (16u * (i & 1u))) & 0xffffu, below); }
}
fn sumRoundedd() -> vec2u {
  if (sumNaN()) { return NAND; }
  if ((flags & 6u) != 0u) { return signedd(select(SIGN, 0u, (flags & 2u) != 0u), INFD); }
  let sign = select(0u, SIGN, sumBelowd()); let at = sumTopd(15) - 15;
  return roundedd(sign, sumSliced(u32(at)), -2148 + 16 * at, sumStickyd(at));
}
${sumText("", 3)}${sumText("d", 17)}`;
