import { createHash } from "node:crypto";
import type * as Mcl from "mcl-wasm";
import { FileError, withRegularFile, type RegularFile } from "../../base/regularFile.ts";
import { PowersFileError } from "../errors.ts";
import { BASE_ORDER, littleEndian, type Curve, type Point1, type Point2 } from "./curve.ts";
import { randomScalar } from "./randomScalar.ts";

/**
 * Points of a first phase, which serves all circuits: powers of a number tau times the generators, and times alpha and
 * beta. The contributors of the first phase know tau, alpha and beta only if all of them work together.
 */
export type Powers = {
  /** BLAKE2b-512 of the file, in hexadecimal digits: the hash by which public files are known. */
  readonly hash: string;
  /** log2 of a circuit's rows; the powers suffice for the circuit. */
  readonly log: number;
  /** From tau^0 to tau^(2n - 2), n rows. */
  readonly tau1: readonly Mcl.G1[];
  /** From tau^0 to tau^(n - 1), as the next two. */
  readonly tau2: readonly Mcl.G2[];
  readonly alpha1: readonly Mcl.G1[];
  readonly beta1: readonly Mcl.G1[];
  readonly beta2: Mcl.G2;
};

/** The format of .ptau files: a list of sections, each with a number and a length. */
const MAGIC = "ptau";
const VERSION = 1;
const SECTION = { header: 1, tau1: 2, tau2: 3, alpha1: 4, beta1: 5, beta2: 6 } as const;
const START_BYTES = 12;
const SECTION_BYTES = 12;
const HEADER_BYTES = 44;
const MAX_SECTIONS = 100;
const COORDINATE_BYTES = 32;
/** The inverse of 2^256: coordinates in files are multiples of 2^256 (Montgomery's form). */
const BY_FORM = 20988524275117001072002809824448087578619730785600314334253784976379291040311n;
const HASHED_AT_ONCE = 2 ** 24;

type Section = { at: number; size: number };

/**
 * Reads the powers for a circuit from a .ptau file, which may hold more. The points lie on the curve;
 * {@link powersFault} says whether the points are powers.
 * @param log log2 of the circuit's rows.
 * @throws PowersFileError
 */
export function readPowers(curve: Curve, path: string, log: number): Powers {
  try {
    return withRegularFile(path, (file) => readFrom(curve, path, file, log));
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw new PowersFileError(`${path}: the file ${cause.message}`, { cause });
  }
}

function readFrom(curve: Curve, path: string, file: RegularFile, log: number): Powers {
  const wrong = (why: string): PowersFileError =>
    new PowersFileError(`${path}: no powers of a first phase: ${why}; give a .ptau file over BN254`);
  const sections = sectionsOf(file);
  const bytesOf = (name: keyof typeof SECTION, length: number): Uint8Array => {
    const section = sections?.get(SECTION[name]);
    if (section === undefined || section.size < length) throw wrong(`section ${SECTION[name]} is missing or short`);
    return file.read(section.at, length);
  };
  const header = bytesOf("header", HEADER_BYTES);
  const view = new DataView(header.buffer);
  if (view.getUint32(0, true) !== COORDINATE_BYTES || littleEndian(header.subarray(4)) !== BASE_ORDER)
    throw wrong("the curve is another");
  const power = view.getUint32(4 + COORDINATE_BYTES, true);
  if (power < log)
    throw new PowersFileError(`${path}: powers for 2^${power} rows, and the circuit has 2^${log}: give a larger file`);
  const points = <P>(
    name: keyof typeof SECTION,
    count: number,
    size: number,
    point: (of: bigint[]) => P | undefined,
  ) => {
    const bytes = bytesOf(name, count * size * COORDINATE_BYTES);
    return Array.from({ length: count }, (_, k): P => {
      const coordinates = Array.from({ length: size }, (__, i) => {
        const value = littleEndian(bytes.subarray((k * size + i) * COORDINATE_BYTES));
        return value < BASE_ORDER ? (value * BY_FORM) % BASE_ORDER : BASE_ORDER;
      });
      const found = point(coordinates);
      if (found === undefined) throw wrong(`point ${k} of section ${SECTION[name]} is not on the curve`);
      return found;
    });
  };
  const points1 = (name: keyof typeof SECTION, count: number): Mcl.G1[] =>
    points(name, count, 2, (of) => curve.point1(of as unknown as Point1));
  const points2 = (name: keyof typeof SECTION, count: number): Mcl.G2[] =>
    points(name, count, 4, (of) => curve.onCurve2(of as unknown as Point2));
  const count = 2 ** log;
  return {
    hash: hashOf(file),
    log,
    tau1: points1("tau1", 2 * count - 1),
    tau2: points2("tau2", count),
    alpha1: points1("alpha1", count),
    beta1: points1("beta1", count),
    beta2: points2("beta2", 1)[0]!,
  };
}

/** @returns undefined for another format */
function sectionsOf(file: RegularFile): Map<number, Section> | undefined {
  if (file.size < START_BYTES) return undefined;
  const start = new DataView(file.read(0, START_BYTES).buffer);
  const count = start.getUint32(8, true);
  const magic = String.fromCharCode(...new Uint8Array(start.buffer, 0, 4));
  if (magic !== MAGIC || start.getUint32(4, true) !== VERSION || count > MAX_SECTIONS) return undefined;
  const sections = new Map<number, Section>();
  let at = START_BYTES;
  for (let k = 0; k < count && at + SECTION_BYTES <= file.size; k++) {
    const view = new DataView(file.read(at, SECTION_BYTES).buffer);
    const size = Number(view.getBigUint64(4, true));
    at += SECTION_BYTES;
    sections.set(view.getUint32(0, true), { at, size: Math.min(size, file.size - at) });
    at += size;
  }
  return sections;
}

function hashOf({ size, read }: RegularFile): string {
  const hash = createHash("blake2b512");
  for (let at = 0; at < size; at += HASHED_AT_ONCE) hash.update(read(at, Math.min(HASHED_AT_ONCE, size - at)));
  return hash.digest("hex");
}

/**
 * Why points are not powers of one number with multiples by two others; undefined if the points are. Who made the
 * points, and who knows the numbers, no check can say: the file's hash names the file.
 */
export function powersFault(curve: Curve, { log, tau1, tau2, alpha1, beta1, beta2 }: Powers): string | undefined {
  const { product1, product2, pairsAlike } = curve;
  const [one1, one2] = [curve.multiples1([1n])[0]!, curve.multiples2([1n])[0]!];
  const [byTau, alpha, beta] = [tau2[1]!, alpha1[0]!, beta1[0]!];
  if (!tau1[0]!.isEqual(one1) || !tau2[0]!.isEqual(one2)) return "the powers do not begin with the generators";
  if ([byTau, alpha, beta, beta2].some((point) => point.isZero())) return "a point is at infinity";
  // Random weights: a wrong point among right ones leaves the sums right by a chance of 2^-254.
  const weights = tau1.slice(1).map(randomScalar);
  const [lower, upper] = [tau1.slice(0, -1), tau1.slice(1)].map((points) => product1(points, weights)) as [
    Mcl.G1,
    Mcl.G1,
  ];
  const count = 2 ** log;
  const sum1 = (points: readonly Mcl.G1[]): Mcl.G1 => product1(points.slice(0, count), weights);
  const sum2 = product2(tau2, weights);
  // One of 10,000 points outside the group would pass within the sum: keys with such a point give proofs that fail.
  if (![byTau, beta2, sum2].every((point) => point.isValidOrder())) return "a point lies outside the group";
  if (!pairsAlike([lower, byTau], [upper, one2])) return "the points of tau in the first group are no powers";
  if (!pairsAlike([sum1(tau1), one2], [one1, sum2])) return "the points of tau in the second group are no powers";
  if (!pairsAlike([sum1(alpha1), one2], [alpha, sum2])) return "the points of alpha are no multiples of powers";
  if (!pairsAlike([sum1(beta1), one2], [beta, sum2])) return "the points of beta are no multiples of powers";
  return pairsAlike([beta, one2], [one1, beta2]) ? undefined : "the points of beta in both groups differ";
}
