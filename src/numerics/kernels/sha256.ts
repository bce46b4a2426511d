import { doWhile, whileLoop } from "./assembler/control.ts";
import type { Code } from "./assembler/encoding.ts";
import { FunctionBuilder, type Local } from "./assembler/functionBuilder.ts";
import { i32, i32x4, v128 } from "./assembler/instructions.ts";

/*
 * SHA-256 (FIPS 180-4) of four messages of the same length at a time, one in each lane: hashing many small ones with a
 * library costs more in calls than in hashing.
 */

const BLOCK = 64;
const ROUNDS = 64;
const GROUP = 16;
const WORD = 4;
const LANES = 4;
const DIGEST = 32;

/** The first primes' roots (square, cube): the fractional parts' first 32 bits, FIPS 180-4, 4.2.2 and 5.3.3. */
function rootBits(count: number, root: bigint): number[] {
  const primes: bigint[] = [];
  for (let n = 2n; primes.length < count; n++) if (primes.every((p) => n % p !== 0n)) primes.push(n);
  return primes.map((prime) => {
    const scaled = prime << (32n * root);
    let low = 0n;
    let high = 1n << 40n;
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle ** root <= scaled) low = middle;
      else high = middle;
    }
    return Number(BigInt.asUintN(32, low));
  });
}

export const CONSTANTS = rootBits(ROUNDS, 3n);
export const INITIAL = rootBits(8, 2n);

const rotated = (x: number, by: number): number => (x >>> by) | (x << (32 - by));

/**
 * Returns, for each round of the last block (pure padding, for messages of whole blocks), the round's constant plus its
 * word.
 */
function paddingWords(blocks: number): number[] {
  const words = [0x80000000, ...new Array<number>(14).fill(0), blocks * BLOCK * 8];
  for (let k = GROUP; k < ROUNDS; k++) {
    const [a, b] = [words[k - 15]!, words[k - 2]!];
    const low = rotated(a, 7) ^ rotated(a, 18) ^ (a >>> 3);
    const high = rotated(b, 17) ^ rotated(b, 19) ^ (b >>> 10);
    words.push((words[k - 16]! + low + words[k - 7]! + high) | 0);
  }
  return words.map((word, k) => (word + CONSTANTS[k]!) >>> 0);
}

/** The table read by a hash function besides messages: the rounds' constants, then the padding's words. */
export const hashTable = (blocks: number): Uint32Array<ArrayBuffer> =>
  Uint32Array.from([...CONSTANTS, ...paddingWords(blocks)]);

const rotate = (x: Local, by: number): Code =>
  v128.or(i32x4.shrU(x.get, i32.const(by)), i32x4.shl(x.get, i32.const(32 - by)));
const xor = (first: Code, ...others: Code[]): Code => others.reduce((sum, other) => v128.xor(sum, other), first);
const add = (first: Code, ...others: Code[]): Code => others.reduce((sum, other) => i32x4.add(sum, other), first);
const shift = (x: Local, by: number): Code => i32x4.shrU(x.get, i32.const(by));
const next = (local: Local, by: number): Code => local.set(i32.add(local.get, i32.const(by)));

/** The bytes of each word in reverse order. */
const SWAP = Array.from({ length: 16 }, (_, k) => (k & ~3) | (3 - (k & 3)));
const byWords = (...words: number[]): number[] => words.flatMap((word) => [0, 1, 2, 3].map((k) => word * WORD + k));
const LOW = byWords(0, 4, 1, 5);
const HIGH = byWords(2, 6, 3, 7);
const EVEN = byWords(0, 1, 4, 5);
const ODD = byWords(2, 3, 6, 7);

/** `[a, b, c, d]` as rows of a matrix, transposed into `to`. */
function transpose(rows: readonly Local[], to: readonly Local[], spare: readonly Local[]): Code[] {
  const [a, b, c, d] = rows as [Local, Local, Local, Local];
  const [p, q, r, s] = spare as [Local, Local, Local, Local];
  const [w, x, y, z] = to as [Local, Local, Local, Local];
  return [
    p.set(v128.shuffle(a.get, b.get, LOW)),
    q.set(v128.shuffle(c.get, d.get, LOW)),
    r.set(v128.shuffle(a.get, b.get, HIGH)),
    s.set(v128.shuffle(c.get, d.get, HIGH)),
    w.set(v128.shuffle(p.get, q.get, EVEN)),
    x.set(v128.shuffle(p.get, q.get, ODD)),
    y.set(v128.shuffle(r.get, s.get, EVEN)),
    z.set(v128.shuffle(r.get, s.get, ODD)),
  ];
}

/**
 * `(messages, quads, out, table)`: hashes 4 x `quads` messages with `blocks` x 64 bytes each, lying side by side, to
 * `out`, 32 bytes each. `table` is the address of {@link hashTable}.
 */
export function hashesFunction(blocks: number): FunctionBuilder {
  const fn = new FunctionBuilder(["i32", "i32", "i32", "i32"]);
  const [messages, quads, out, table] = fn.parameters as [Local, Local, Local, Local];
  const [at, block, constant, group] = [fn.local("i32"), fn.local("i32"), fn.local("i32"), fn.local("i32")];
  const vectors = (count: number): Local[] => Array.from({ length: count }, () => fn.local("v128"));
  const [state, before, words, rows, spare] = [vectors(8), vectors(8), vectors(GROUP), vectors(4), vectors(4)];
  const sum = fn.local("v128");
  const stride = blocks * BLOCK;

  /** Round `k`, with its word plus its constant. The variables swap their names instead of their values. */
  const round = (k: number, wordAndConstant: Code): Code[] => {
    const [a, b, c, d, e, f, g, h] = state.map((_, n) => state[(((n - k) % 8) + 8) % 8]!) as Eight;
    const choice = xor(g.get, v128.and(e.get, v128.xor(f.get, g.get)));
    const majority = xor(b.get, v128.and(v128.xor(a.get, b.get), v128.xor(b.get, c.get)));
    return [
      sum.set(add(h.get, wordAndConstant, choice, xor(rotate(e, 6), rotate(e, 11), rotate(e, 25)))),
      d.set(add(d.get, sum.get)),
      h.set(add(sum.get, majority, xor(rotate(a, 2), rotate(a, 13), rotate(a, 22)))),
    ];
  };
  const constantOf = (k: number): Code => v128.load32Splat(constant.get, k * WORD);
  const extended = (k: number): Code => {
    const [w, w1, w9, w14] = [0, 1, 9, 14].map((n) => words[(k + n) % GROUP]!) as [Local, Local, Local, Local];
    const low = xor(rotate(w1, 7), rotate(w1, 18), shift(w1, 3));
    const high = xor(rotate(w14, 17), rotate(w14, 19), shift(w14, 10));
    return w.set(add(w.get, low, w9.get, high));
  };
  const rounds = (wordOf: (k: number) => Code): Code[] => words.flatMap((_, k) => round(k, wordOf(k)));
  const withWords = rounds((k) => i32x4.add(words[k]!.get, constantOf(k)));
  const inGroups = (count: number, ...body: Code[]): Code[] => [
    group.set(i32.const(count)),
    doWhile(group.get, ...body, next(constant, GROUP * WORD), next(group, -1)),
  ];
  const keep = state.map((part, n) => before[n]!.set(part.get));
  const conclude = state.map((part, n) => part.set(i32x4.add(part.get, before[n]!.get)));
  const loadWords = [0, 1, 2, 3].flatMap((quarter) => [
    ...rows.map((row, lane) => {
      const loaded = v128.load(at.get, lane * stride + quarter * 16);
      return row.set(v128.shuffle(loaded, loaded, SWAP));
    }),
    ...transpose(rows, words.slice(4 * quarter, 4 * quarter + 4), spare),
  ]);
  const storeHalf = (half: number): Code[] => [
    ...transpose(state.slice(4 * half, 4 * half + 4), rows, spare),
    ...rows.map((row, lane) =>
      v128.store(out.get, v128.shuffle(row.get, row.get, SWAP), lane * DIGEST + half * (DIGEST / 2)),
    ),
  ];
  return fn.emit(
    whileLoop(
      quads.get,
      ...state.map((part, n) => part.set(i32x4.splat(i32.const(INITIAL[n]!)))),
      at.set(messages.get),
      block.set(i32.const(blocks)),
      doWhile(
        block.get,
        ...keep,
        constant.set(table.get),
        ...loadWords,
        ...withWords,
        next(constant, GROUP * WORD),
        ...inGroups(ROUNDS / GROUP - 1, ...words.flatMap((_, k) => extendedRound(k))),
        ...conclude,
        next(at, BLOCK),
        next(block, -1),
      ),
      // The padding's block: its words are the same for all messages. Its table lies behind the constants.
      ...keep,
      ...inGroups(ROUNDS / GROUP, ...rounds(constantOf)),
      ...conclude,
      ...storeHalf(0),
      ...storeHalf(1),
      next(messages, LANES * stride),
      next(out, LANES * DIGEST),
      next(quads, -1),
    ),
  );

  function extendedRound(k: number): Code[] {
    return [extended(k), ...round(k, i32x4.add(words[k]!.get, constantOf(k)))];
  }
}

type Eight = [Local, Local, Local, Local, Local, Local, Local, Local];
