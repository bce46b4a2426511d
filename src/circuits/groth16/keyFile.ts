import { hexToBigInt, type Hex } from "viem";
import { z } from "zod/v4";
import { KeyFileError } from "../errors.ts";
import type { Domain } from "../words.ts";
import type { Curve } from "./curve.ts";
import { keyWords, Origin, type ProvingKey, type VerifyingKey } from "./keys.ts";

type Point = ProvingKey["a"][number];
type Point2 = ProvingKey["b2"][number];

/** A proving key's file: a line of JSON, then the points; a byte before each point says whether coordinates follow. */
type Header = {
  format: "refute proving key 2";
  /** What the circuit is compiled from: a program, and for each input the numbers that have a proof. */
  programRoot: Hex;
  domains: readonly Domain[];
  log: number;
  key: readonly Hex[];
  counts: Record<"a" | "b" | "c" | "h", number>;
};

const FORMAT = "refute proving key 2";
const NEWLINE = 10;
const COORDINATE_BYTES = 32;
const HEAD_WORDS = 16;

/** A program whose circuit a key is for. */
type KeySubject = Pick<Header, "programRoot" | "domains">;

/** Writes a key as a file's bytes. */
export function writeKey(curve: Curve, key: ProvingKey, { programRoot, domains }: KeySubject): Uint8Array {
  const header: Header = {
    ...{ format: FORMAT, programRoot, domains },
    log: key.log,
    key: keyWords(key.verifying).map((word): Hex => `0x${word.toString(16)}`),
    counts: { a: key.a.length, b: key.b1.length, c: key.c.length, h: key.h.length },
  };
  const parts: Uint8Array[] = [new TextEncoder().encode(`${JSON.stringify(header)}\n`)];
  for (const point of [key.alpha1, key.beta1, key.delta1, ...key.a, ...key.b1, ...key.c, ...key.h])
    parts.push(pointBytes(curve.coordinates1(point)));
  for (const point of [key.beta2, key.delta2, ...key.b2]) parts.push(pointBytes(curve.coordinates2(point)));
  return Buffer.concat(parts);
}

/** Reads a key. A wrong point off the group gives proofs that no verifier takes. @throws KeyFileError */
export function readKey(curve: Curve, bytes: Uint8Array): { key: ProvingKey } & KeySubject {
  const end = bytes.indexOf(NEWLINE);
  const { programRoot, domains, log, key, counts } = headerOf(bytes.subarray(0, Math.max(end, 0)));
  let at = end + 1;
  const next = (count: number): bigint[] => {
    const present = bytes[at++];
    if (present === 0) return new Array<bigint>(count).fill(0n);
    const stop = at + count * COORDINATE_BYTES;
    if (present !== 1 || stop > bytes.length) throw damaged("points are missing");
    const hex = Buffer.from(bytes.subarray(at, stop)).toString("hex");
    at = stop;
    return Array.from({ length: count }, (_, k) => BigInt(`0x${hex.slice(64 * k, 64 * (k + 1))}`));
  };
  const points1 = (count: number): Point[] =>
    Array.from({ length: count }, () => curve.point1(next(2) as unknown as [bigint, bigint]) ?? fail());
  const points2 = (count: number): Point2[] =>
    Array.from(
      { length: count },
      () => curve.onCurve2(next(4) as unknown as [bigint, bigint, bigint, bigint]) ?? fail(),
    );
  const [alpha1, beta1, delta1] = points1(3) as [Point, Point, Point];
  const [a, b1, c, h] = [counts.a, counts.b, counts.c, counts.h].map(points1) as [Point[], Point[], Point[], Point[]];
  const [beta2, delta2] = points2(2) as [Point2, Point2];
  const b2 = points2(counts.b);
  if (at !== bytes.length) throw damaged("bytes are left over");
  const points = { alpha1, beta1, beta2, delta1, delta2, a, b1, b2, c, h };
  return { key: { verifying: verifyingOf(key), log, ...points }, programRoot, domains };
}

const subject = z.object({
  programRoot: z.string().regex(/^0x[0-9a-f]{64}$/),
  domains: z.array(z.object({ lowest: z.int(), highest: z.int(), signed: z.boolean() })),
});

const damaged = (why: string): KeyFileError =>
  new KeyFileError(`the file holds no proving key: ${why}; refute zk setup writes one`);

function fail(): never {
  throw damaged("coordinates off the curve");
}

function headerOf(line: Uint8Array): Header {
  try {
    const header = JSON.parse(new TextDecoder().decode(line)) as Partial<Header>;
    const { format, log, counts } = header;
    const key: readonly string[] | undefined = header.key;
    const sizes = [log, counts?.a, counts?.b, counts?.c, counts?.h];
    const isFit = sizes.every((size) => Number.isInteger(size) && size! >= 0 && size! < 2 ** 28);
    const isKey = key !== undefined && key.length >= HEAD_WORDS + 2 && key.length % 2 === 0;
    const isSubject = subject.safeParse(header).success;
    if (format === FORMAT && isSubject && isFit && isKey && key.every((word) => /^0x[0-9a-f]{1,64}$/.test(word)))
      return header as Header;
  } catch {
    // The refusal below says the same for any line.
  }
  throw damaged("another first line");
}

/** A key from the words of `keyWords`. */
export function verifyingOf(hexWords: readonly Hex[]): VerifyingKey {
  const words = hexWords.map((word) => hexToBigInt(word));
  const point2 = (at: number): VerifyingKey["beta"] => [words[at + 1]!, words[at]!, words[at + 3]!, words[at + 2]!];
  return {
    origin: words[0] === BigInt(Origin.ceremony) ? Origin.ceremony : Origin.knownSecrets,
    circuit: `0x${words[1]!.toString(16).padStart(64, "0")}`,
    alpha: [words[2]!, words[3]!],
    beta: point2(4),
    gamma: point2(8),
    delta: point2(12),
    publics: Array.from({ length: (words.length - HEAD_WORDS) / 2 }, (_, k) => [
      words[HEAD_WORDS + 2 * k]!,
      words[HEAD_WORDS + 2 * k + 1]!,
    ]),
  };
}

/** A presence byte, then coordinates unless all are 0. */
function pointBytes(coordinates: readonly bigint[]): Uint8Array {
  if (coordinates.every((coordinate) => coordinate === 0n)) return Uint8Array.of(0);
  return Buffer.from(`01${coordinates.map((each) => each.toString(16).padStart(64, "0")).join("")}`, "hex");
}
