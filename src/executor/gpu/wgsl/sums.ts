/** The limbs of 16 bits in a sum's finite part, of 768 bits; and how many terms fit between two carries. */
const LIMBS = 48;
export const TERMS_BETWEEN_CARRIES = 2 ** 14;

/**
 * Exact sums of one invocation, as src/numerics/exactSum.ts defines them: units of 2^-298 modulo 2^768, and flags. A
 * limb takes at most 2^14 terms below 2^16 between two carries, so that an i32 never overflows.
 */
export const SUMS = /* wgsl */ `
var<private> limbs: array<i32, ${LIMBS}>;
var<private> flags: u32;
fn sumClear() { for (var i = 0u; i < ${LIMBS}u; i++) { limbs[i] = 0; } flags = 0u; }
fn sumCarry() {
  var c = 0;
  for (var i = 0u; i < ${LIMBS}u; i++) { let s = limbs[i] + c; limbs[i] = s & 0xffff; c = s >> 16u; }
}
fn sumPut(at: u32, v: u32, below: bool) { let t = i32(v); limbs[at] += select(t, -t, below); }
fn sumProduct(a: u32, b: u32) {
  let below = ((a ^ b) & SIGN) != 0u; let p = part(a); let q = part(b);
  if (absf(a) >= INF || absf(b) >= INF) {
    flags |= select(select(2u, 4u, below), 1u, isNaNf(a) || isNaNf(b) || a == 0u || b == 0u); return;
  }
  if (p.m == 0u || q.m == 0u) { return; }
  let e = u32(p.x + q.x + 298); let v = shl64(mul32(p.m, q.m), e & 15u); let at = e >> 4u;
  sumPut(at, v.x & 0xffffu, below); sumPut(at + 1u, v.x >> 16u, below);
  sumPut(at + 2u, v.y & 0xffffu, below); sumPut(at + 3u, v.y >> 16u, below);
}
fn sumWord(k: u32, w: B) {
  if (k == 3u) { flags |= w[0] & 7u; return; }
  for (var i = 0u; i < 8u; i++) {
    sumPut(16u * k + 2u * i, w[i] & 0xffffu, false); sumPut(16u * k + 2u * i + 1u, w[i] >> 16u, false);
  }
}
fn sumLimb(k: u32) -> B {
  var w = B();
  if (k >= 3u) { w[0] = flags; return w; }
  sumCarry();
  for (var i = 0u; i < 8u; i++) { w[i] = u32(limbs[16u * k + 2u * i]) | (u32(limbs[16u * k + 2u * i + 1u]) << 16u); }
  return w;
}
fn sumRounded(F: u32) -> u32 {
  if ((flags & 1u) != 0u || (flags & 6u) == 6u) { return NAN; }
  if ((flags & 6u) != 0u) { return select(SIGN | INF, INF, (flags & 2u) != 0u); }
  sumCarry();
  let below = limbs[${LIMBS - 1}] >= 0x8000;
  if (below) { for (var i = 0u; i < ${LIMBS}u; i++) { limbs[i] = -limbs[i]; } sumCarry(); }
  var top = ${LIMBS - 1};
  while (top > 3 && limbs[top] == 0) { top--; }
  var sticky = false; for (var i = 0; i < top - 3; i++) { sticky = sticky || limbs[i] != 0; }
  let m = vec2u(u32(limbs[top - 3]) | (u32(limbs[top - 2]) << 16u), u32(limbs[top - 1]) | (u32(limbs[top]) << 16u));
  return rounded(F, select(0u, SIGN, below), m, -298 + 16 * (top - 3), sticky);
}
`;
