import { hexToBigInt, type Hex } from "viem";
import { z } from "zod/v4";
import { KeyFileError } from "../errors.ts";
import { MAX_LOG_ROWS } from "../field.ts";
import type { Domain } from "../words.ts";
import type { Ceremony } from "./ceremony.ts";
import type { Curve } from "./curve.ts";
import { flawOf, isKeyLength, keyHash, keyOf, keyWords, type ProvingKey } from "./keys.ts";

type Point = ProvingKey["a"][number];
type Point2 = ProvingKey["b2"][number];

/** A proving key's file: a line of JSON, then the points; a byte before each point says whether coordinates follow. */
type Header = {
  format: typeof FORMAT;
  /** The numbers that have a proof, for each input of the program: the circuit is compiled with these domains. */
  domains: readonly Domain[];
  log: number;
  key: readonly Hex[];
  counts: Record<"a" | "b" | "c" | "h", number>;
  /** Of a key from a ceremony; numbers in decimal digits. */
  ceremony?: z.infer<typeof ceremonyText>;
};

/** What a proving key's file holds. */
export type KeyFile = { key: ProvingKey; domains: readonly Domain[]; ceremony?: Ceremony | undefined };

const FORMAT = "refute proving key 3";
const NEWLINE = 10;
const COORDINATE_BYTES = 32;
/** The longest name of a contributor. */
export const MAX_NAME = 100;

/** Writes a key as a file's bytes. */
export function writeKey(curve: Curve, key: ProvingKey, domains: readonly Domain[], ceremony?: Ceremony): Uint8Array {
  const header: Header = {
    ...{ format: FORMAT, domains },
    log: key.log,
    key: keyWords(key.verifying).map((word): Hex => `0x${word.toString(16)}`),
    counts: { a: key.a.length, b: key.b1.length, c: key.c.length, h: key.h.length },
  };
  const parts: Uint8Array[] = [new TextEncoder().encode(`${JSON.stringify({ ...header, ceremony }, digits)}\n`)];
  for (const point of [key.alpha1, key.beta1, key.delta1, ...key.a, ...key.b1, ...key.c, ...key.h])
    parts.push(pointBytes(curve.coordinates1(point)));
  for (const point of [key.beta2, key.delta2, ...key.b2]) parts.push(pointBytes(curve.coordinates2(point)));
  return Buffer.concat(parts);
}

/**
 * Reads a key. A wrong point off the group gives proofs that no verifier takes.
 * @throws KeyFileError, also for a key by which anybody could prove anything
 */
export function readKey(curve: Curve, bytes: Uint8Array): KeyFile {
  const file = readBegunKey(curve, bytes);
  const { verifying } = file.key;
  const flaw = flawOf(verifying);
  if (flaw === undefined) return file;
  const advice = file.ceremony?.contributions.length === 0 ? "refute zk contribute goes on" : "make another";
  throw new KeyFileError(`anybody could prove anything with the key ${keyHash(verifying)}: ${flaw}; ${advice}`);
}

/** Reads a key for a contribution; before the first one, anybody could prove anything. @throws KeyFileError */
export function readBegunKey(curve: Curve, bytes: Uint8Array): KeyFile {
  const end = bytes.indexOf(NEWLINE);
  const { domains, log, key, counts, ceremony } = headerOf(bytes.subarray(0, Math.max(end, 0)));
  const verifying = keyOf(key.map((word) => hexToBigInt(word)));
  const { a: wires, b: others, c: privates, h: rows } = counts;
  const isFit = others === wires && privates === wires - verifying.publics.length && rows === 2 ** log;
  if (!isFit || log + 1 > MAX_LOG_ROWS) throw damaged("its numbers of points do not fit each other");
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
  return { key: { verifying, log, ...points }, domains, ceremony: ceremony && ceremonyOf(ceremony) };
}

/** A transcript from its text. */
const ceremonyOf = ({ phase1, contributions }: z.infer<typeof ceremonyText>): Ceremony => ({
  phase1,
  contributions: contributions.map(({ name, delta1, delta2, commitment, response }) => ({
    name,
    delta1: [BigInt(delta1[0]), BigInt(delta1[1])],
    delta2: [BigInt(delta2[0]), BigInt(delta2[1]), BigInt(delta2[2]), BigInt(delta2[3])],
    commitment: [BigInt(commitment[0]), BigInt(commitment[1])],
    response: BigInt(response),
  })),
});

const digits = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

const domainList = z.array(z.object({ lowest: z.int(), highest: z.int(), signed: z.boolean() }));

const decimal = z.string().regex(/^\d{1,78}$/);
const point = z.tuple([decimal, decimal]);
const ceremonyText = z.object({
  phase1: z.string().regex(/^[0-9a-f]{128}$/),
  contributions: z.array(
    z.object({
      name: z.string().max(MAX_NAME),
      ...{ delta1: point, delta2: z.tuple([decimal, decimal, decimal, decimal]), commitment: point },
      response: decimal,
    }),
  ),
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
    const isKey = key !== undefined && isKeyLength(key.length);
    const hasDomains = domainList.safeParse(header.domains).success;
    const hasTranscript = ceremonyText.optional().safeParse(header.ceremony).success;
    if (
      format === FORMAT &&
      hasDomains &&
      hasTranscript &&
      isFit &&
      isKey &&
      key.every((word) => /^0x[0-9a-f]{1,64}$/.test(word))
    )
      return header as Header;
  } catch {
    // The refusal below says the same for any line.
  }
  throw damaged("another first line");
}

/** A presence byte, then coordinates unless all are 0. */
function pointBytes(coordinates: readonly bigint[]): Uint8Array {
  if (coordinates.every((coordinate) => coordinate === 0n)) return Uint8Array.of(0);
  return Buffer.from(`01${coordinates.map((each) => each.toString(16).padStart(64, "0")).join("")}`, "hex");
}
