import { CONSTANTS, INITIAL } from "../../../numerics/kernels/sha256.ts";

const words = (list: readonly number[]): string => list.map((word) => `${word >>> 0}u`).join(", ");

/** SHA-256 of whole blocks (FIPS 180-4). Words in memory are little-endian, those of a block big-endian. */
export const SHA256 = /* wgsl */ `
const ROUNDS = array<u32, 64>(${words(CONSTANTS)});
alias State = array<u32, 8>;
alias Block = array<u32, 16>;
fn rotated(x: u32, n: u32) -> u32 { return (x >> n) | (x << (32u - n)); }
fn swapped(x: u32) -> u32 {
  let y = ((x & 0xff00ff00u) >> 8u) | ((x & 0x00ff00ffu) << 8u);
  return (y >> 16u) | (y << 16u);
}
fn started() -> State { return State(${words(INITIAL)}); }
fn compress(s: State, block: Block) -> State {
  var w = block;
  var a = s[0]; var b = s[1]; var c = s[2]; var d = s[3];
  var e = s[4]; var f = s[5]; var g = s[6]; var h = s[7];
  for (var i = 0u; i < 64u; i++) {
    let j = i & 15u;
    if (i >= 16u) {
      let x = w[(i + 1u) & 15u]; let y = w[(i + 14u) & 15u];
      w[j] += w[(i + 9u) & 15u] + (rotated(x, 7u) ^ rotated(x, 18u) ^ (x >> 3u));
      w[j] += rotated(y, 17u) ^ rotated(y, 19u) ^ (y >> 10u);
    }
    let t = h + (rotated(e, 6u) ^ rotated(e, 11u) ^ rotated(e, 25u)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[j];
    let u = (rotated(a, 2u) ^ rotated(a, 13u) ^ rotated(a, 22u)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g; g = f; f = e; e = d + t; d = c; c = b; b = a; a = t + u;
  }
  return State(s[0] + a, s[1] + b, s[2] + c, s[3] + d, s[4] + e, s[5] + f, s[6] + g, s[7] + h);
}
fn ending(bits: u32) -> Block { var b = Block(); b[0] = 0x80000000u; b[15] = bits; return b; }
fn putState(at: u32, s: State) { for (var i = 0u; i < 8u; i++) { poke(at + i, swapped(s[i])); } }
fn hashChunk(c: u32) {
  var s = started();
  for (var b = 0u; b < 8u; b++) {
    var w = Block();
    for (var i = 0u; i < 16u; i++) {
      let at = 128u * c + 16u * b + i;
      if (at < P[0].y) { w[i] = swapped(peek(P[0].x + at)); }
    }
    s = compress(s, w);
  }
  putState(P[0].w + 8u * c, compress(s, ending(4096u)));
}
fn hashPair(n: u32) {
  var w = Block();
  for (var i = 0u; i < 16u; i++) {
    let isThere = 2u * n + (i >> 3u) < P[0].w;
    w[i] = swapped(peek(select(P[0].y + (i & 7u), P[0].x + 16u * n + i, isThere)));
  }
  putState(P[0].z + 8u * n, compress(compress(started(), w), ending(512u)));
}
`;

/** Leaves of a tensor's tree. Parameters: the tensor's first word, its words, its chunks, the leaves' first word. */
export const LEAVES = /* wgsl */ `
fn work(c: u32) { if (c < P[0].z) { hashChunk(c); } }`;

/**
 * Nodes above a level. Parameters: the first words of the level, of the node for what is missing (Z of the level's
 * height) and of the nodes; the level's width.
 */
export const NODES = /* wgsl */ `
fn work(n: u32) { if (n < (P[0].w + 1u) / 2u) { hashPair(n); } }`;

/**
 * Leaves for chunks different from the previous tensor; the previous tensor is updated. Further parameters: the first
 * words for the previous tensor and for the leaves' marks; the word that says how chunks are marked (`MARKING`).
 */
export const CHANGED_LEAVES = /* wgsl */ `
fn work(c: u32) {
  if (c >= P[0].z) { return; }
  var differs = peek(P[1].z) == 1u;
  for (var at = 128u * c; at < min(128u * c + 128u, P[0].y); at++) {
    let v = peek(P[0].x + at);
    if (v != peek(P[1].x + at)) { differs = true; poke(P[1].x + at, v); }
  }
  let mark = P[1].y + c;
  poke(mark, select(0u, 1u, differs || (peek(P[1].z) == 2u && peek(mark) != 0u)));
  if (differs) { hashChunk(c); }
}`;

/** Nodes above changed nodes. Further parameters: the first words for the level's marks and for the nodes' marks. */
export const CHANGED_NODES = /* wgsl */ `
fn work(n: u32) {
  if (n >= (P[0].w + 1u) / 2u) { return; }
  var mark = peek(P[1].x + 2u * n);
  if (2u * n + 1u < P[0].w) { mark |= peek(P[1].x + 2u * n + 1u); }
  poke(P[1].y + n, mark);
  if (mark != 0u) { hashPair(n); }
}`;
