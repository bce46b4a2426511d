import { perWordOf, productOf, type Moduli, type ResidueKind } from "../product/moduli.ts";

/** The number of 16-bit words for the moduli's product, multiplied by the number of moduli. */
const LIMBS = 8;

const limbsOf = (value: bigint): number[] =>
  Array.from({ length: LIMBS }, (_, k) => Number((value >> BigInt(16 * k)) & 0xffffn));

const arrayText = (name: string, values: readonly (number | bigint)[]): string =>
  `const ${name} = array<u32, ${values.length}>(${values.map((value) => `${value}u`).join(", ")});`;

const inverse = (value: number, modulus: number): number => {
  for (let x = 1; ; x++) if ((value * x) % modulus === 1) return x;
};

/** A bound above every residue sum's magnitude: adding a larger multiple of the modulus gives a positive number. */
const MOST_SUM = 2 ** 30 + 2 ** 11;

function moduliText({ moduli }: Moduli): string {
  const whole = productOf(moduli);
  const rests = moduli.map((p) => whole / BigInt(p));
  return [
    arrayText("MOD", moduli),
    arrayText(
      "INVERSE",
      moduli.map((p, l) => inverse(Number(rests[l]! % BigInt(p)), p)),
    ),
    arrayText("REST", rests.flatMap(limbsOf)),
    arrayText("WHOLE", limbsOf(whole)),
    arrayText("HALF", limbsOf(whole / 2n)),
    arrayText(
      "ABOVE",
      moduli.map((p) => p * Math.ceil(MOST_SUM / p)),
    ),
  ].join("\n");
}

/**
 * Row scales. A row's elements are below 2^E and are rounded to multiples of 2^(E - alpha). D sums the rounding errors
 * in units 2^(E - alpha - 8), L the magnitudes in units 2^(E - 16); each term is rounded up. A row's four words: E, D,
 * L, and 1 for a row with a NaN or an infinity.
 * Parameters: the first words for the rows' elements and for the scales; rows, elements per row; alpha.
 */
export const SCALES = /* wgsl */ `
fn work(r: u32) {
  if (r >= P[0].z) { return; }
  let a = P[0].x + r * P[0].w; var top = 0u;
  for (var k = 0u; k < P[0].w; k++) { top = max(top, absf(peek(a + k))); }
  var E = i32(top >> 23u) - 126;
  if (top < 0x800000u) { E = -149 + 32 - i32(countLeadingZeros(top)); }
  var D = 0u; var L = 0u;
  for (var k = 0u; k < P[0].w; k++) {
    let p = part(peek(a + k)); if (p.m == 0u) { continue; }
    let y = p.x - E + 16;
    if (y >= 0) { L += 1u + (p.m << u32(y)); } else { L += 1u + shr32(p.m, u32(-y)); }
    let s = p.x - E + i32(P[1].x); if (s < 0) { D += roundingError(p.m, u32(-s)); }
  }
  let at = P[0].y + 4u * r;
  poke(at, bitcast<u32>(E)); poke(at + 1u, D); poke(at + 2u, L); poke(at + 3u, select(0u, 1u, top >= INF));
}
fn shr32(v: u32, s: u32) -> u32 { return select(0u, v >> (s & 31u), s < 32u); }
fn roundingError(m: u32, s: u32) -> u32 {
  if (s >= 39u) { return 1u; }
  let rest = select(m, m & ((1u << (s & 31u)) - 1u), s < 25u);
  let d = select(rest, min(rest, (1u << (s & 31u)) - rest), s < 25u);
  if (s <= 8u) { return d << (8u - s); }
  return (d + (1u << (s - 8u)) - 1u) >> (s - 8u);
}`;

/** Puts a symmetric residue x modulo p at a word's place q. */
const PLACED: Record<ResidueKind, string> = {
  bytes: "(select(x, x - p, x >= 128u) & 0xffu) << (8u * q)",
  floats: "(select(x, x - p, x >= 512u) & 0xffffu) << (16u * q)",
};

/**
 * Residues for rounded rows: by modulus, then by row; each row begins a word.
 * Parameters: the first words for the rows' elements, the scales and the residues, rows; elements per row, alpha.
 */
export function residuesText(moduli: Moduli): string {
  const perWord = perWordOf(moduli.kind);
  return `
${arrayText("MOD", moduli.moduli)}
fn work(w: u32) {
  let K = P[1].x; let width = (K + ${perWord - 1}u) / ${perWord}u; let r = w / width; if (r >= P[0].w) { return; }
  let first = ${perWord}u * (w - r * width); let E = bitcast<i32>(peek(P[0].y + 4u * r));
  var v = array<vec2u, ${perWord}>(); var below = array<bool, ${perWord}>();
  for (var q = 0u; q < ${perWord}u; q++) {
    if (first + q >= K) { continue; }
    let a = peek(P[0].x + r * K + first + q); let p = part(a);
    let s = p.x - E + i32(P[1].y); below[q] = (a & SIGN) != 0u;
    if (s >= 0) { v[q] = shl64(vec2u(p.m, 0u), u32(s)); }
    else if (s >= -24) { v[q] = vec2u((p.m + (1u << (u32(-s) - 1u))) >> u32(-s), 0u); }
  }
  for (var l = 0u; l < ${moduli.moduli.length}u; l++) {
    let p = MOD[l]; var word = 0u;
    for (var q = 0u; q < ${perWord}u; q++) {
      let high = ((v[q].x >> 20u) | (v[q].y << 12u)) % p;
      var x = (high * (0x100000u % p) + (v[q].x & 0xfffffu)) % p;
      if (below[q] && x != 0u) { x = p - x; }
      word |= ${PLACED[moduli.kind]};
    }
    poke(P[0].z + l * P[0].w * width + w, word);
  }
}`;
}

/**
 * Sums the products for two residue rows: a positive number, correct up to a multiple of the modulus. Integers up to
 * 2^24 are exact in float32 with additions in any order: 64 products with residues up to 2^9. An i32 takes 64 sums.
 */
const SUMMED: Record<ResidueKind, string> = {
  bytes: `
fn residueSum(a: u32, b: u32, width: u32, l: u32) -> u32 {
  var sum = 0;
  for (var k = 0u; k < width; k++) { sum += dot4I8Packed(peek(a + k), peek(b + k)); }
  return u32(sum + i32(ABOVE[l]));
}`,
  floats: `
fn lowOf(w: u32) -> f32 { return f32(bitcast<i32>(w << 16u) >> 16u); }
fn highOf(w: u32) -> f32 { return f32(bitcast<i32>(w) >> 16u); }
fn residueSum(a: u32, b: u32, width: u32, l: u32) -> u32 {
  var sum = 0;
  for (var k = 0u; k < width; k += 32u) {
    var few = 0.0;
    for (var j = k; j < min(k + 32u, width); j++) {
      let x = peek(a + j); let y = peek(b + j); few += lowOf(x) * lowOf(y) + highOf(x) * highOf(y);
    }
    sum += i32(few);
    if ((k & 2047u) == 2016u) { sum = i32(u32(sum + i32(ABOVE[l])) % MOD[l]); }
  }
  return u32(sum + i32(ABOVE[l]));
}`,
};

/**
 * Product sums by residues. In the scales' units the true sum is C + eps, with |eps| at most the certificate's bound.
 * If C - bound and C + bound round to the same number, the sum is settled; open sums are flagged.
 * Parameters: the first words for the left rows' residues and scales, and for the right rows'; left rows here, all
 * right rows, columns, terms; the first left row's number, rows per group, the first words for sums and flags; alpha,
 * format.
 */
export function productText(moduli: Moduli): string {
  const count = moduli.moduli.length;
  const perWord = perWordOf(moduli.kind);
  return `
${moduliText(moduli)}
alias Wide = array<u32, ${LIMBS}>;
${SUMMED[moduli.kind]}
fn error(D: u32, L: u32) -> vec2u {
  if (D == 0u) { return vec2u(0u); }
  let x = shl64(vec2u(D, 0u), P[3].x - 8u); let y = shl64(vec2u(L, 0u), P[3].x - 17u);
  return select(y, x, lt64(x, y));
}
fn minus(a: Wide, b: Wide) -> Wide {
  var r = Wide(); var c = 0;
  for (var j = 0u; j < ${LIMBS}u; j++) { let x = i32(a[j]) - i32(b[j]) + c; r[j] = u32(x) & 0xffffu; c = x >> 16u; }
  return r;
}
fn less(a: Wide, b: Wide) -> bool {
  var below = false;
  for (var j = 0u; j < ${LIMBS}u; j++) { below = select(a[j] < b[j], below, a[j] == b[j]); }
  return below;
}
fn roundedWide(sign: u32, v: Wide, x: i32) -> u32 {
  var top = ${LIMBS - 1}; while (top > 3 && v[top] == 0u) { top--; }
  var sticky = false; for (var j = 0; j < top - 3; j++) { sticky = sticky || v[j] != 0u; }
  let m = vec2u(v[top - 3] | (v[top - 2] << 16u), v[top - 1] | (v[top] << 16u));
  return rounded(P[3].y, sign, m, x + 16 * (top - 3), sticky);
}
fn work(i: u32) {
  let columns = P[1].z; if (i >= P[1].x * columns) { return; }
  let K = P[1].w; let width = (K + ${perWord - 1}u) / ${perWord}u;
  let m = i / columns; let f = P[2].x + m; let n = (f / P[2].y) * columns + i - m * columns;
  let ra = P[0].y + 4u * m; let rb = P[0].w + 4u * n;
  if (peek(ra + 3u) != 0u || peek(rb + 3u) != 0u) { poke(P[2].w + i, 1u); return; }
  var sum = Wide();
  for (var l = 0u; l < ${count}u; l++) {
    let c = residueSum(P[0].x + (l * P[1].x + m) * width, P[0].z + (l * P[1].y + n) * width, width, l) % MOD[l];
    let t = (c * INVERSE[l]) % MOD[l];
    for (var j = 0u; j < ${LIMBS}u; j++) { sum[j] += t * REST[${LIMBS}u * l + j]; }
  }
  for (var j = 0u; j + 1u < ${LIMBS}u; j++) { sum[j + 1u] += sum[j] >> 16u; sum[j] &= 0xffffu; }
  for (var q = 0u; q < ${count}u && !less(sum, WHOLE); q++) { sum = minus(sum, WHOLE); }
  var sign = 0u; if (less(HALF, sum)) { sign = SIGN; sum = minus(WHOLE, sum); }
  let bound = add64(error(peek(ra + 1u), peek(rb + 2u)), error(peek(rb + 1u), peek(ra + 2u)));
  var e = Wide(); for (var j = 0u; j < 4u; j++) { e[j] = (bound[j >> 1u] >> (16u * (j & 1u))) & 0xffffu; }
  let x = bitcast<i32>(peek(ra)) + bitcast<i32>(peek(rb)) - 2 * i32(P[3].x);
  var high = Wide(); var c = 0u;
  for (var j = 0u; j < ${LIMBS}u; j++) { let s = sum[j] + e[j] + c; high[j] = s & 0xffffu; c = s >> 16u; }
  let result = roundedWide(sign, high, x);
  let isOpen = less(sum, e) || roundedWide(sign, minus(sum, e), x) != result;
  poke(P[2].z + f * columns + i - m * columns, result); poke(P[2].w + i, select(0u, 1u, isOpen));
}`;
}

/**
 * Settles flagged sums by the definition. Parameters: the first words for left factors, right factors, sums and flags;
 * left rows here, columns, terms, format; the first left row's number, rows per group.
 * @param between The terms between two carries.
 */
export const settleText = (between: number): string => /* wgsl */ `
fn work(i: u32) {
  let columns = P[1].y; if (i >= P[1].x * columns) { return; }
  if (peek(P[0].w + i) == 0u) { return; }
  let m = i / columns; let f = P[2].x + m; let n = (f / P[2].y) * columns + i - m * columns;
  sumClear();
  for (var k = 0u; k < P[1].z; k++) {
    sumProduct(peek(P[0].x + m * P[1].z + k), peek(P[0].y + n * P[1].z + k));
    if (k % ${between}u == ${between - 1}u) { sumCarry(); }
  }
  poke(P[0].z + f * columns + i - m * columns, sumRounded(P[1].w));
}`;
