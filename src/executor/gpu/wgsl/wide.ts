/** Integers of 64 bits as `vec2u` (lower word first), modulo 2^64. Shifts by 64 and more give 0. */
export const WIDE = /* wgsl */ `
fn shl64(v: vec2u, s: u32) -> vec2u {
  if (s == 0u) { return v; }
  if (s >= 64u) { return vec2u(0u); }
  if (s >= 32u) { return vec2u(0u, v.x << (s - 32u)); }
  return vec2u(v.x << s, (v.y << s) | (v.x >> (32u - s)));
}
fn shr64(v: vec2u, s: u32) -> vec2u {
  if (s == 0u) { return v; }
  if (s >= 64u) { return vec2u(0u); }
  if (s >= 32u) { return vec2u(v.y >> (s - 32u), 0u); }
  return vec2u((v.x >> s) | (v.y << (32u - s)), v.y >> s);
}
fn add64(a: vec2u, b: vec2u) -> vec2u { let l = a.x + b.x; return vec2u(l, a.y + b.y + select(0u, 1u, l < a.x)); }
fn sub64(a: vec2u, b: vec2u) -> vec2u { return vec2u(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x)); }
fn neg64(a: vec2u) -> vec2u { return sub64(vec2u(0u), a); }
fn lt64(a: vec2u, b: vec2u) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }
fn slt64(a: vec2u, b: vec2u) -> bool {
  return lt64(vec2u(a.x, a.y ^ 0x80000000u), vec2u(b.x, b.y ^ 0x80000000u));
}
fn below64(v: vec2u) -> bool { return v.y >= 0x80000000u; }
fn abs64(v: vec2u) -> vec2u { return select(v, neg64(v), below64(v)); }
fn mul32(a: u32, b: u32) -> vec2u {
  let al = a & 0xffffu; let ah = a >> 16u; let bl = b & 0xffffu; let bh = b >> 16u;
  let ll = al * bl; let lh = al * bh; let hl = ah * bl; let hh = ah * bh;
  let mid = (ll >> 16u) + (lh & 0xffffu) + (hl & 0xffffu);
  return vec2u((ll & 0xffffu) | (mid << 16u), hh + (lh >> 16u) + (hl >> 16u) + (mid >> 16u));
}
fn mul64(a: vec2u, b: vec2u) -> vec2u { let p = mul32(a.x, b.x); return vec2u(p.x, p.y + a.x * b.y + a.y * b.x); }
fn sar64(v: vec2u, s: u32) -> vec2u { return select(shr64(v, s), ~shr64(~v, s), below64(v)); }
struct Division { q: vec2u, r: vec2u }
fn divide64(a: vec2u, b: vec2u) -> Division {
  if (all(b == vec2u(0u))) { return Division(vec2u(0u), vec2u(0u)); }
  if (a.y == 0u && b.y == 0u) { return Division(vec2u(a.x / b.x, 0u), vec2u(a.x % b.x, 0u)); }
  var left = a; var q = vec2u(0u); var r = vec2u(0u);
  for (var k = 0u; k < 64u; k++) {
    let over = r.y >= 0x80000000u;
    r = shl64(r, 1u); r.x |= left.y >> 31u; left = shl64(left, 1u); q = shl64(q, 1u);
    if (over || !lt64(r, b)) { r = sub64(r, b); q.x |= 1u; }
  }
  return Division(q, r);
}
fn sdiv64(a: vec2u, b: vec2u) -> vec2u {
  let q = divide64(abs64(a), abs64(b)).q; return select(q, neg64(q), below64(a) != below64(b));
}
fn sfmod64(a: vec2u, b: vec2u) -> vec2u {
  let r = divide64(abs64(a), abs64(b)).r; return select(r, neg64(r), below64(a));
}
fn smod64(a: vec2u, b: vec2u) -> vec2u {
  let r = sfmod64(a, b);
  return select(r, add64(r, b), any(r != vec2u(0u)) && below64(r) != below64(b));
}
fn below32(v: u32) -> bool { return v >= 0x80000000u; }
fn abs32(v: u32) -> u32 { return select(v, 0u - v, below32(v)); }
fn slt32(a: u32, b: u32) -> bool { return (a ^ 0x80000000u) < (b ^ 0x80000000u); }
fn udiv32(a: u32, b: u32) -> u32 { if (b == 0u) { return 0u; } return a / b; }
fn umod32(a: u32, b: u32) -> u32 { if (b == 0u) { return 0u; } return a % b; }
fn sdiv32(a: u32, b: u32) -> u32 {
  let q = udiv32(abs32(a), abs32(b)); return select(q, 0u - q, below32(a) != below32(b));
}
fn sfmod32(a: u32, b: u32) -> u32 { let r = umod32(abs32(a), abs32(b)); return select(r, 0u - r, below32(a)); }
fn smod32(a: u32, b: u32) -> u32 {
  let r = sfmod32(a, b); return select(r, r + b, r != 0u && below32(r) != below32(b));
}
fn index64(v: vec2u, extent: i32) -> i32 {
  if (v.y == 0u && v.x < 0x20000000u) { return i32(v.x); }
  if (v.y == 0xffffffffu && v.x >= 0xe0000000u) { return bitcast<i32>(v.x) + extent; }
  return -0x60000000;
}
fn toInt(neg: bool, magnitude: vec2u, up: vec2u, down: vec2u) -> vec2u {
  let limit = select(up, down, neg);
  let m = select(magnitude, limit, lt64(limit, magnitude));
  return select(m, neg64(m), neg);
}
`;
