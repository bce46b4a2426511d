import { LN2, PI_OVER_2, FIXED_ONE } from "../../../numerics/elementary/fixed.ts";
import { TWO_OVER_PI } from "../../../numerics/elementary/trigCore.ts";
import { bigText } from "./big.ts";

/** 2/pi as words, lowest first, and zeros for what a window of 222 bits may reach beyond. */
const turnWords = Array.from({ length: 16 }, (_, k) => `${(TWO_OVER_PI >> BigInt(32 * k)) & 0xffffffffn}u`);

/**
 * The elementary functions of src/numerics/elementary, integer by integer: each function here computes the same
 * integers as the function of that name there, so the proofs there hold here. The names: `f_` and the operation's name.
 */
export const ELEMENTARY = /* wgsl */ `
const ONE = ${bigText(FIXED_ONE)};
const LN2 = ${bigText(LN2)};
const LOG2E = ${bigText(0x171547652b82fe177n)};
const HALF189 = ${bigText(1n << 189n)};
const QUARTER = ${bigText(PI_OVER_2)};
const EIGHTH = ${bigText(PI_OVER_2 >> 1n)};
const KUMMER = ${bigText(1n << 112n)};
const TWO_OVER_ROOT_PI = ${bigText(0x120dd750429b6d11ae3a914fed7fen)};
const TURNS = array<u32, 16>(${turnWords.join(", ")});
struct Scaled { m: B, x: i32, below: bool }
fn mantissa(a: u32) -> B { return bOf(vec2u(part(a).m, 0u)); }
fn shifted(m: B, s: i32) -> B { if (s >= 0) { return bShl(m, u32(s)); } return bShr(m, u32(-s)); }
fn fixed(m: B, x: i32) -> B { return shifted(m, x + 126); }
fn scaledMul(a: B, b: B) -> B { return bSar(bMul(a, b), 126u); }
fn isBelow(a: u32) -> bool { return a >= SIGN; }
fn isTiny(a: u32) -> bool { return absf(a) < 0x39800000u; }
fn infinite(below: bool) -> u32 { return select(INF, SIGN | INF, below); }
fn expm1Quotient(r: B) -> B {
  var sum = ONE;
  for (var k = 26u; k > 1u; k--) { sum = bAdd(ONE, bDivSigned(scaledMul(r, sum), k)); }
  return sum;
}
fn expFixed(t: B) -> Scaled {
  let n = bSar(bAdd(bMul(t, LOG2E), HALF189), 190u); let r = bSub(t, bMul(n, LN2));
  return Scaled(bAdd(ONE, scaledMul(r, expm1Quotient(r))), bitcast<i32>(n[0]) - 126, false);
}
fn f_exp(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  if (absf(a) >= 0x43000000u) { return select(INF, 0u, isBelow(a)); }
  let e = expFixed(bNegIf(fixed(mantissa(a), part(a).x), isBelow(a))); return enclose(F, false, e.m, e.x);
}
fn f_expm1(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  let below = isBelow(a); let magnitude = absf(a);
  if (magnitude < 0x33000000u) { return castf(F, a); }
  if (magnitude >= 0x42b20000u) { return select(INF, 0xbf800000u, below); }
  let p = part(a); let r = bNegIf(fixed(mantissa(a), p.x), below);
  let near = magnitude < 0x3e800000u; var m: B; var x = -126;
  if (near) { m = bMul(mantissa(a), expm1Quotient(r)); x += p.x; }
  else { let e = expFixed(r); m = bNegIf(bSub(fixed(e.m, e.x), ONE), below); }
  return enclose(F, below, m, x);
}
fn f_sigmoid(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  let below = isBelow(a);
  if (absf(a) >= 0x42d00000u) { return select(0x3f800000u, 0u, below); }
  let e = expFixed(bNegIf(fixed(mantissa(a), part(a).x), true));
  let d = bAdd(ONE, bShr(e.m, u32(-e.x - 126)));
  var n = ONE; if (below) { n = e.m; }
  return enclose(F, false, bDiv(bShl(n, 126u), d), select(-126, e.x, below));
}
fn f_tanh(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  if (isTiny(a)) { return castf(F, a); }
  let below = isBelow(a);
  if (absf(a) >= 0x41800000u) { return select(0x3f800000u, 0xbf800000u, below); }
  let e = expFixed(bNegIf(fixed(mantissa(a), part(a).x + 1), true)); let u = bShr(e.m, u32(-e.x - 126));
  return enclose(F, below, bDiv(bShl(bSub(ONE, u), 126u), bAdd(ONE, u)), -126);
}
fn f_erf(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  let below = isBelow(a); if (absf(a) >= 0x40800000u) { return select(0x3f800000u, 0xbf800000u, below); }
  let m = mantissa(a); let p = part(a); let square = fixed(bMul(m, m), 2 * p.x);
  let e = expFixed(bNegIf(square, true)); let w = bShr(square, 13u);
  var term = KUMMER; var sum = term;
  for (var k = 3u; bLength(term) > 0; k += 2u) {
    term = bDivSmall(bShr(bMul(term, w), 112u), k);
    sum = bAdd(sum, term);
  }
  let c = bShr(bMul(bShr(sum, u32(-e.x - 126)), e.m), 126u);
  return enclose(F, below, bMul(bMul(c, m), TWO_OVER_ROOT_PI), p.x - 224);
}
struct Both { growing: B, decaying: B, x: i32 }
fn expBoth(t: B) -> Both {
  let e = expFixed(t);
  return Both(e.m, bShr(bDiv(bShl(ONE, 126u), e.m), u32(2 * (e.x + 126))), e.x);
}
fn f_sinh(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  if (isTiny(a)) { return castf(F, a); }
  if (absf(a) >= 0x42b40000u) { return infinite(isBelow(a)); }
  let e = expBoth(fixed(mantissa(a), part(a).x)); return enclose(F, isBelow(a), bSub(e.growing, e.decaying), e.x - 1);
}
fn f_cosh(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  if (absf(a) >= 0x42b40000u) { return INF; }
  let e = expBoth(fixed(mantissa(a), part(a).x)); return enclose(F, false, bAdd(e.growing, e.decaying), e.x - 1);
}
fn seriesOf(p: B, q: B, last: u32, alternates: bool) -> Scaled {
  let shift = 126 - bLength(p) + bLength(q); let s = bDiv(bShl(p, u32(shift)), q);
  let z = bShr(bMul(s, s), u32(2 * shift - 126));
  var sum = bDivSmall(ONE, last);
  for (var k = last - 2u; k >= 1u; k -= 2u) {
    let t = scaledMul(z, sum); sum = bAdd(bDivSmall(ONE, k), bNegIf(t, alternates)); if (k == 1u) { break; }
  }
  return Scaled(scaledMul(s, sum), -shift, false);
}
fn logPositive(m: B, x: i32) -> Scaled {
  let bits = bLength(m); let above = bLess(bShl(bInt(1), u32(2 * bits - 1)), bMul(m, m));
  let unitBits = select(bits - 1, bits, above); let unit = bShl(bInt(1), u32(unitBits)); let k = x + unitBits;
  if (bSame(m, unit)) { return Scaled(bMul(bInt(abs(k)), LN2), -126, k < 0); }
  let below = bLess(m, unit); let l = seriesOf(bNegIf(bSub(m, unit), below), bAdd(m, unit), 49u, false);
  if (k == 0) { return Scaled(l.m, l.x + 1, below); }
  let total = bAdd(bMul(bInt(k), LN2), bNegIf(bShr(l.m, u32(-(l.x + 1) - 126)), below));
  return Scaled(bNegIf(total, bBelow(total)), -126, bBelow(total));
}
fn logRounded(F: u32, m: B, x: i32) -> u32 { let l = logPositive(m, x); return enclose(F, l.below, l.m, l.x); }
fn f_log(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  if (a == 0u) { return SIGN | INF; }
  if (isBelow(a)) { return NAN; }
  if (a == INF) { return INF; }
  return logRounded(F, mantissa(a), part(a).x);
}
fn f_log1p(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  let below = isBelow(a); let magnitude = absf(a);
  if (magnitude < 0x33000000u) { return castf(F, a); }
  if (below && magnitude >= 0x3f800000u) { return select(NAN, SIGN | INF, magnitude == 0x3f800000u); }
  if (magnitude == INF) { return INF; }
  var m = mantissa(a); var x = part(a).x;
  if (x <= 100) { m = bAdd(bShl(bInt(1), u32(max(-x, 0))), bNegIf(bShl(m, u32(max(x, 0))), below)); x = min(x, 0); }
  return logRounded(F, m, x);
}
fn f_asinh(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  if (isTiny(a)) { return castf(F, a); }
  if (isInff(a)) { return a; }
  let x = part(a).x; let fraction = 100 - max(x, -24); let m = bShl(mantissa(a), u32(x + fraction));
  var square = bMul(m, m); if (fraction >= 0) { square = bAdd(square, bShl(bInt(1), u32(2 * fraction))); }
  let l = logPositive(bAdd(m, bSqrt(square)), -fraction); return enclose(F, isBelow(a), l.m, l.x);
}
fn f_acosh(F: u32, a: u32) -> u32 {
  if (isNaNf(a) || isBelow(a) || a < 0x3f800000u) { return NAN; }
  if (a == 0x3f800000u) { return 0u; }
  if (a == INF) { return INF; }
  let fraction = 100 - part(a).x; let m = bShl(mantissa(a), 100u);
  var square = bMul(m, m); if (fraction >= 0) { square = bSub(square, bShl(bInt(1), u32(2 * fraction))); }
  let l = logPositive(bAdd(m, bSqrt(square)), -fraction); return enclose(F, false, l.m, l.x);
}
fn f_atanh(F: u32, a: u32) -> u32 {
  let magnitude = absf(a); if (magnitude > 0x3f800000u) { return NAN; }
  if (isTiny(a)) { return castf(F, a); }
  if (magnitude == 0x3f800000u) { return infinite(isBelow(a)); }
  let m = mantissa(a); let one = bShl(bInt(1), u32(-part(a).x)); let p = bAdd(one, m); let q = bSub(one, m);
  let shift = 126 - bLength(p) + bLength(q); let l = logPositive(bDiv(bShl(p, u32(shift)), q), -shift);
  return enclose(F, isBelow(a), l.m, l.x - 1);
}
struct Angle { quadrant: u32, below: bool, m: B, x: i32 }
fn reduceAngle(m: B, x: i32) -> Angle {
  var window = B(); let s = u32(164 - x);
  for (var k = 0u; k < 7u; k++) {
    let w = (s >> 5u) + k; let b = s & 31u;
    window[k] = TURNS[w] >> b; if (b != 0u) { window[k] |= TURNS[w + 1u] << (32u - b); }
  }
  window[6] &= 0x3fffffffu;
  let turns = bMul(m, window); var above = turns; above[6] &= 0x0fffffffu; above[7] = 0u;
  let unit = bShl(bInt(1), 220u); let below = bLess(bShl(bInt(1), 219u), above);
  var fraction = above; if (below) { fraction = bSub(unit, above); }
  let quadrant = ((bShr(turns, 220u)[0] & 3u) + select(0u, 1u, below)) & 3u; let drop = bLength(fraction) - 126;
  return Angle(quadrant, below, scaledMul(shifted(fraction, -drop), QUARTER), drop - 220);
}
fn angleSeries(g: Angle, last: u32) -> B {
  let z = shifted(bMul(g.m, g.m), 2 * g.x + 126); var sum = ONE;
  for (var k = last; k > 1u; k -= 2u) { sum = bSub(ONE, bDivSmall(scaledMul(z, sum), k * (k - 1u))); }
  return sum;
}
fn sinShifted(F: u32, a: u32, quarters: u32, flips: bool) -> u32 {
  let g = reduceAngle(mantissa(a), part(a).x); let quadrant = g.quadrant + quarters;
  let below = ((quadrant & 2u) != 0u) != flips;
  let odd = (quadrant & 1u) == 1u;
  let series = angleSeries(g, select(31u, 32u, odd));
  var m = series; if (!odd) { m = bMul(g.m, series); }
  return enclose(F, below != (g.below && !odd), m, select(g.x - 126, -126, odd));
}
fn f_sin(F: u32, a: u32) -> u32 {
  if (absf(a) >= INF) { return NAN; }
  if (isTiny(a)) { return castf(F, a); }
  return sinShifted(F, a, 0u, isBelow(a));
}
fn f_cos(F: u32, a: u32) -> u32 {
  if (absf(a) >= INF) { return NAN; }
  if (isTiny(a)) { return 0x3f800000u; }
  return sinShifted(F, a, 1u, false);
}
fn f_tan(F: u32, a: u32) -> u32 {
  if (absf(a) >= INF) { return NAN; }
  if (isTiny(a)) { return castf(F, a); }
  let g = reduceAngle(mantissa(a), part(a).x); let below = isBelow(a) != g.below;
  let sine = bMul(g.m, angleSeries(g, 31u)); let cosine = angleSeries(g, 32u);
  let odd = (g.quadrant & 1u) == 1u; var n = sine; var d = cosine;
  if (odd) { n = bShl(cosine, 126u); d = bShr(sine, 126u); }
  return enclose(F, below != odd, bDiv(n, d), select(g.x, -252 - g.x, odd));
}
fn lessFrom(whole: B, a: Scaled) -> Scaled { return Scaled(bSub(whole, fixed(a.m, a.x)), -126, false); }
fn atanUpTo1(p: B, q: B) -> Scaled {
  let far = bLess(bAdd(q, q), bAdd(bShl(p, 2u), p));
  var top = p; var bottom = q; if (far) { top = bSub(q, p); bottom = bAdd(q, p); }
  let s = seriesOf(top, bottom, 101u, true); if (far) { return lessFrom(EIGHTH, s); } return s;
}
fn atanQuotient(p: B, q: B) -> Scaled {
  let swap = bLess(q, p); var top = p; var bottom = q; if (swap) { top = q; bottom = p; }
  let s = atanUpTo1(top, bottom); if (swap) { return lessFrom(QUARTER, s); } return s;
}
fn f_atan(F: u32, a: u32) -> u32 {
  if (isNaNf(a)) { return NAN; }
  if (isTiny(a)) { return castf(F, a); }
  if (isInff(a)) { return enclose(F, isBelow(a), QUARTER, -126); }
  let x = part(a).x; let s = atanQuotient(bShl(mantissa(a), u32(max(x, 0))), bShl(bInt(1), u32(max(-x, 0))));
  return enclose(F, isBelow(a), s.m, s.x);
}
fn otherLeg(leg: B) -> B { return bSqrt(bSub(bShl(ONE, 126u), bMul(leg, leg))); }
fn f_asin(F: u32, a: u32) -> u32 {
  if (absf(a) > 0x3f800000u) { return NAN; }
  if (isTiny(a)) { return castf(F, a); }
  let sine = fixed(mantissa(a), part(a).x); let s = atanQuotient(sine, otherLeg(sine));
  return enclose(F, isBelow(a), s.m, s.x);
}
fn f_acos(F: u32, a: u32) -> u32 {
  if (absf(a) > 0x3f800000u) { return NAN; }
  let cosine = fixed(mantissa(a), part(a).x); var s = atanQuotient(otherLeg(cosine), cosine);
  if (isBelow(a)) { s = lessFrom(bAdd(QUARTER, QUARTER), s); }
  return enclose(F, false, s.m, s.x);
}
fn f_pow(F: u32, a: u32, b: u32) -> u32 {
  let one = 0x3f800000u; let x = absf(a); let y = absf(b); let down = isBelow(b);
  if (y == 0u || a == one) { return one; }
  if (x > INF || y > INF) { return NAN; }
  if (y == INF) { return select(select(INF, 0u, (x > one) == down), one, x == one); }
  if (x == 0u) { return select(0u, INF, down); }
  let p = part(y);
  let whole = p.x > 0 || (p.x >= -23 && (p.m & ((1u << u32(-p.x)) - 1u)) == 0u);
  let odd = whole && p.x <= 0 && ((p.m >> u32(-p.x)) & 1u) == 1u;
  let below = isBelow(a) && odd;
  if (x == INF) { return select(infinite(below), 0u, down); }
  if (isBelow(a) && !whole) { return NAN; }
  let l = logPositive(mantissa(x), part(x).x);
  let m = bMul(l.m, mantissa(y)); let e = l.x + p.x; let shrinks = l.below != down;
  if (bLength(m) + e > 8) { return select(infinite(below), 0u, shrinks); }
  let r = expFixed(bNegIf(fixed(m, e), shrinks)); return enclose(F, below, r.m, r.x);
}
`;
