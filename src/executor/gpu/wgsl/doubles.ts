/** float64 as `vec2u` bits, in integers of 64 and 256 bits: the exact result rounded once (src/numerics/float.ts). */
export const DOUBLES = /* wgsl */ `
const NAND = vec2u(0u, 0x7ff80000u);
const INFD = vec2u(0u, 0x7ff00000u);
struct Partd { m: vec2u, x: i32 }
fn partd(a: vec2u) -> Partd {
  let f = (a.y >> 20u) & 2047u;
  return Partd(vec2u(a.x, (a.y & 0xfffffu) | select(0u, 0x100000u, f != 0u)), i32(max(f, 1u)) - 1075);
}
fn absd(a: vec2u) -> vec2u { return vec2u(a.x, a.y & 0x7fffffffu); }
fn isNaNd(a: vec2u) -> bool { return lt64(INFD, absd(a)); }
fn isInfd(a: vec2u) -> bool { return all(absd(a) == INFD); }
fn isZerod(a: vec2u) -> bool { return all(a == vec2u(0u)); }
fn canond(a: vec2u) -> vec2u {
  if (isNaNd(a)) { return NAND; } return select(a, vec2u(0u), isZerod(absd(a)));
}
fn signedd(sign: u32, a: vec2u) -> vec2u { return select(vec2u(a.x, a.y | sign), a, isZerod(a)); }
fn negd(a: vec2u) -> vec2u { return select(vec2u(a.x, a.y ^ SIGN), a, isNaNd(a) || isZerod(a)); }
fn signd(a: vec2u) -> vec2u { return select(vec2u(0u, (a.y & SIGN) | 0x3ff00000u), a, isNaNd(a) || isZerod(a)); }
fn roundedd(sign: u32, m: B, x: i32, sticky: bool) -> vec2u {
  let length = bLength(m); if (length == 0) { return vec2u(0u); }
  let top = x + length - 1;
  if (top > 1023) { return signedd(sign, INFD); }
  if (top < -1075) { return vec2u(0u); }
  let quantum = max(top - 52, -1074); let drop = quantum - x;
  var kept: vec2u;
  if (drop <= 0) { kept = bLow(bShl(m, u32(-drop))); }
  else {
    let d = u32(drop); kept = bLow(bShr(m, d));
    let toHalf = bShr(m, d - 1u); let more = sticky || !bSame(bShl(toHalf, d - 1u), m);
    if ((toHalf[0] & 1u) == 1u && (more || (kept.x & 1u) == 1u)) { kept = add64(kept, vec2u(1u, 0u)); }
  }
  return signedd(sign, add64(vec2u(0u, u32(quantum + 1074) << 20u), kept));
}
fn addd(a0: vec2u, b0: vec2u) -> vec2u {
  if (isNaNd(a0) || isNaNd(b0)) { return NAND; }
  let swap = lt64(absd(a0), absd(b0)); let a = select(a0, b0, swap); let b = select(b0, a0, swap);
  let differ = ((a.y ^ b.y) & SIGN) != 0u;
  if (isInfd(a)) { return select(a, NAND, isInfd(b) && differ); }
  let p = partd(a); let q = partd(b); let d = min(u32(p.x - q.x), 255u);
  let large = bShl(bOf(p.m), 120u); let whole = bShl(bOf(q.m), 120u);
  let small = bShr(whole, d); let sticky = !bSame(bShl(small, d), whole);
  var s = bAdd(large, small);
  if (differ) { s = bSub(large, small); if (sticky) { s = bSub(s, bOf(vec2u(1u, 0u))); } }
  return roundedd(a.y & SIGN, s, p.x - 120, sticky);
}
fn subd(a: vec2u, b: vec2u) -> vec2u { return addd(a, negd(b)); }
fn muld(a: vec2u, b: vec2u) -> vec2u {
  if (isNaNd(a) || isNaNd(b)) { return NAND; }
  let s = (a.y ^ b.y) & SIGN;
  if (isInfd(a) || isInfd(b)) { return select(signedd(s, INFD), NAND, isZerod(a) || isZerod(b)); }
  let p = partd(a); let q = partd(b); return roundedd(s, bMul(bOf(p.m), bOf(q.m)), p.x + q.x, false);
}
fn divd(a: vec2u, b: vec2u) -> vec2u {
  if (isNaNd(a) || isNaNd(b)) { return NAND; }
  let s = (a.y ^ b.y) & SIGN;
  if (isInfd(a)) { return select(signedd(s, INFD), NAND, isInfd(b)); }
  if (isZerod(b)) { return select(signedd(a.y & SIGN, INFD), NAND, isZerod(a)); }
  if (isInfd(b) || isZerod(a)) { return vec2u(0u); }
  let p = partd(a); let q = partd(b); let n = bShl(bOf(p.m), 130u); let d = bOf(q.m);
  let t = bDiv(n, d); return roundedd(s, t, p.x - 130 - q.x, !bSame(bMul(t, d), n));
}
fn fmodd(a: vec2u, b: vec2u) -> vec2u {
  if (isNaNd(a) || isNaNd(b) || isInfd(a) || isZerod(b)) { return NAND; }
  let p = partd(a); let q = partd(b);
  if (isInfd(b) || p.x < q.x) { return a; }
  var r = divide64(p.m, q.m).r;
  for (var k = p.x - q.x; k > 0; k--) { r = shl64(r, 1u); if (!lt64(r, q.m)) { r = sub64(r, q.m); } }
  return roundedd(a.y & SIGN, bOf(r), q.x, false);
}
fn sqrtd(a: vec2u) -> vec2u {
  if (isNaNd(a) || (a.y & SIGN) != 0u) { return NAND; }
  if (isZerod(a) || isInfd(a)) { return a; }
  let p = partd(a); let up = select(130, 131, (p.x & 1) != 0);
  let n = bShl(bOf(p.m), u32(up)); let root = bSqrt(n);
  return roundedd(0u, root, (p.x - up) >> 1u, !bSame(bMul(root, root), n));
}
fn lessd(a: vec2u, b: vec2u) -> bool {
  if (((a.y ^ b.y) & SIGN) != 0u) { return (a.y & SIGN) != 0u; }
  return select(lt64(a, b), lt64(b, a), (a.y & SIGN) != 0u);
}
fn orderedd(a: vec2u, b: vec2u) -> bool { return !isNaNd(a) && !isNaNd(b); }
fn eqd(a: vec2u, b: vec2u) -> u32 { return select(0u, 1u, all(a == b) && !isNaNd(a)); }
fn ltd(a: vec2u, b: vec2u) -> u32 { return select(0u, 1u, orderedd(a, b) && lessd(a, b)); }
fn led(a: vec2u, b: vec2u) -> u32 { return select(0u, 1u, orderedd(a, b) && !lessd(b, a)); }
fn maxd(a: vec2u, b: vec2u) -> vec2u { return select(NAND, select(a, b, lessd(a, b)), orderedd(a, b)); }
fn mind(a: vec2u, b: vec2u) -> vec2u { return select(NAND, select(b, a, lessd(a, b)), orderedd(a, b)); }
fn integrald(a: vec2u, mode: u32) -> vec2u {
  let f = (a.y >> 20u) & 2047u; if (f >= 1075u) { return a; }
  let p = partd(a); let s = min(1075u - max(f, 1u), 63u); let below = (a.y & SIGN) != 0u;
  var k = shr64(p.m, s); let rest = sub64(p.m, shl64(k, s)); let half = shl64(vec2u(1u, 0u), s - 1u);
  let near = lt64(half, rest) || (all(rest == half) && (k.x & 1u) == 1u);
  if (select(near, any(rest != vec2u(0u)) && below != (mode == 1u), mode < 2u)) { k = add64(k, vec2u(1u, 0u)); }
  return roundedd(a.y & SIGN, bOf(k), 0, false);
}
fn fromf(a: u32) -> vec2u {
  if (isNaNf(a)) { return NAND; }
  if (isInff(a)) { return signedd(a & SIGN, INFD); }
  let p = part(a); return roundedd(a & SIGN, bOf(vec2u(p.m, 0u)), p.x, false);
}
fn castd(F: u32, a: vec2u) -> u32 {
  if (isNaNd(a)) { return NAN; }
  if (isInfd(a)) { return (a.y & SIGN) | INF; }
  let p = partd(a); return rounded(F, a.y & SIGN, p.m, p.x, false);
}
fn magnituded(a: vec2u) -> vec2u {
  if (isNaNd(a)) { return vec2u(0u); }
  let p = partd(a); if (p.x > 11) { return vec2u(0xffffffffu); }
  if (p.x >= 0) { return shl64(p.m, u32(p.x)); } return shr64(p.m, u32(-p.x));
}
`;
