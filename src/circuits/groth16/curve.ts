import type * as Mcl from "mcl-wasm";
import { withPackages } from "../../base/optionalPackage.ts";
import { ORDER, residue } from "../field.ts";

/** A point over the base field: x, y. Infinity has zeros, like in Ethereum's precompiles. */
export type Point1 = readonly [x: bigint, y: bigint];
/** A point over the extension: x and y, each with real and imaginary part; infinity has zeros. */
export type Point2 = readonly [x: bigint, xi: bigint, y: bigint, yi: bigint];

/** A group's points in the library's form. */
type Points<P> = readonly P[];

/** Both groups, for setting up, proving and verifying. */
export type Curve = {
  /** Multiples of the generators. */
  multiples1: (scalars: readonly bigint[]) => Mcl.G1[];
  multiples2: (scalars: readonly bigint[]) => Mcl.G2[];
  /** The sum of points, each times a scalar. */
  product1: (points: Points<Mcl.G1>, scalars: readonly bigint[]) => Mcl.G1;
  product2: (points: Points<Mcl.G2>, scalars: readonly bigint[]) => Mcl.G2;
  coordinates1: (point: Mcl.G1) => Point1;
  coordinates2: (point: Mcl.G2) => Point2;
  /** @returns undefined for coordinates off the curve or outside the group */
  point1: (coordinates: Point1) => Mcl.G1 | undefined;
  point2: (coordinates: Point2) => Mcl.G2 | undefined;
  /** The same without a look at the group, which takes half a millisecond a point: for keys of a prover. */
  onCurve2: (coordinates: Point2) => Mcl.G2 | undefined;
  add: <P extends Mcl.G1 | Mcl.G2>(left: P, right: P) => P;
  subtract: <P extends Mcl.G1 | Mcl.G2>(left: P, right: P) => P;
  times: <P extends Mcl.G1 | Mcl.G2>(point: P, scalar: bigint) => P;
  /** Whether all pairings multiply to 1. */
  pairsToOne: (pairs: readonly Pair[]) => boolean;
  /** Whether two pairings are the same. */
  pairsAlike: (left: Pair, right: Pair) => boolean;
};

type Pair = readonly [Mcl.G1, Mcl.G2];

/** The generator of the second group: EIP-197. */
const GENERATOR2: Point2 = [
  10857046999023057135944570762232829481370756359578518086990519993285655852781n,
  11559732032986387107991004021392285783925812861821192530917403151452391805634n,
  8495653923123431417604973247489272438418190587263600148770280649306958101930n,
  4082367875863433681332203403145435568316851327593401208105741076214120093531n,
];
/** The order of the base field. */
export const BASE_ORDER = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
/** Batch sizes: larger batches would overflow the library's stack. */
const BATCH1 = 4096;
const BATCH2 = 1024;

const COORDINATE_BYTES = 32;

let curve: Promise<Curve> | undefined;

/** Loads the groups. @throws MissingPackageError */
export const loadCurve = (): Promise<Curve> => (curve ??= load());

async function load(): Promise<Curve> {
  const mcl = await withPackages(["mcl-wasm"], "proofs of programs", () => import("mcl-wasm"));
  await mcl.init(mcl.BN_SNARK1);
  // `isValid` then looks at the curve alone, and `point2` asks for the order.
  mcl.verifyOrderG2(false);
  const generator1 = toPoint1(mcl, [1n, 2n])!;
  const generator2 = toPoint2(mcl, GENERATOR2)!;
  const pairsToOne = (pairs: readonly Pair[]): boolean => {
    const product = pairs.map(([a, b]) => mcl.millerLoop(a, b)).reduce((sum, each) => mcl.mul(sum, each));
    return mcl.finalExp(product).isOne();
  };
  return {
    multiples1: (scalars) => scalars.map((scalar) => mcl.mul(generator1, toScalar(mcl, scalar))),
    multiples2: (scalars) => scalars.map((scalar) => mcl.mul(generator2, toScalar(mcl, scalar))),
    product1: (points, scalars) => productOf(mcl, points, scalars, new mcl.G1(), BATCH1),
    product2: (points, scalars) => productOf(mcl, points, scalars, new mcl.G2(), BATCH2),
    coordinates1: (point) => coordinates1(mcl, point),
    coordinates2: (point) => coordinates2(mcl, point),
    point1: (coordinates) => toPoint1(mcl, coordinates),
    point2: (coordinates) => {
      const point = toPoint2(mcl, coordinates);
      return point?.isValidOrder() === true ? point : undefined;
    },
    onCurve2: (coordinates) => toPoint2(mcl, coordinates),
    add: (left, right) => mcl.add(left, right),
    subtract: (left, right) => mcl.sub(left, right),
    times: (point, scalar) => timesOf(mcl, point, scalar),
    pairsToOne,
    pairsAlike: (left, [a, b]) => pairsToOne([left, [mcl.neg(a), b]]),
  };
}

const bytesOf = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(COORDINATE_BYTES);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < 4; k++) view.setBigUint64(8 * k, BigInt.asUintN(64, value >> BigInt(64 * k)), true);
  return bytes;
};

/** The number of 32 bytes, the lowest first. */
export function littleEndian(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  let value = 0n;
  for (let k = 3; k >= 0; k--) value = (value << 64n) | view.getBigUint64(8 * k, true);
  return value;
}

function toScalar(mcl: typeof Mcl, value: bigint): Mcl.Fr {
  const scalar = new mcl.Fr();
  scalar.setLittleEndian(bytesOf(residue(value)));
  return scalar;
}

function toBase(mcl: typeof Mcl, value: bigint): Mcl.Fp {
  const number = new mcl.Fp();
  number.setLittleEndian(bytesOf(value));
  return number;
}

function toPoint1(mcl: typeof Mcl, [x, y]: Point1): Mcl.G1 | undefined {
  const point = new mcl.G1();
  if (x === 0n && y === 0n) return point;
  if (x >= BASE_ORDER || y >= BASE_ORDER) return undefined;
  point.setX(toBase(mcl, x));
  point.setY(toBase(mcl, y));
  point.setZ(toBase(mcl, 1n));
  return point.isValid() ? point : undefined;
}

function toPoint2(mcl: typeof Mcl, [x, xi, y, yi]: Point2): Mcl.G2 | undefined {
  const point = new mcl.G2();
  if ([x, xi, y, yi].every((each) => each === 0n)) return point;
  if ([x, xi, y, yi].some((each) => each >= BASE_ORDER)) return undefined;
  const extended = (real: bigint, imaginary: bigint): Mcl.Fp2 => {
    const number = new mcl.Fp2();
    number.set_a(toBase(mcl, real));
    number.set_b(toBase(mcl, imaginary));
    return number;
  };
  point.setX(extended(x, xi));
  point.setY(extended(y, yi));
  point.setZ(extended(1n, 0n));
  return point.isValid() ? point : undefined;
}

function coordinates1(mcl: typeof Mcl, point: Mcl.G1): Point1 {
  if (point.isZero()) return [0n, 0n];
  const affine = mcl.normalize(point);
  return [littleEndian(affine.getX().serialize()), littleEndian(affine.getY().serialize())];
}

function coordinates2(mcl: typeof Mcl, point: Mcl.G2): Point2 {
  if (point.isZero()) return [0n, 0n, 0n, 0n];
  const affine = mcl.normalize(point);
  const [x, y] = [affine.getX(), affine.getY()];
  const parts = [x.get_a(), x.get_b(), y.get_a(), y.get_b()].map((part) => littleEndian(part.serialize()));
  return parts as unknown as Point2;
}

/** The library's types name each group by itself. */
const timesOf = <P extends Mcl.G1 | Mcl.G2>(mcl: typeof Mcl, point: P, scalar: bigint): P =>
  mcl.mul(point as Mcl.G1, toScalar(mcl, scalar)) as P;

/** Most scalars are bits: 0 needs nothing, and 1 and -1 need no multiplication. */
function productOf<P extends Mcl.G1 | Mcl.G2>(
  mcl: typeof Mcl,
  points: Points<P>,
  scalars: readonly bigint[],
  zero: P,
  batch: number,
): P {
  let sum = zero;
  const [chosen, factors]: [P[], Mcl.Fr[]] = [[], []];
  points.forEach((point, k) => {
    const scalar = scalars[k]!;
    if (scalar === 0n || point.isZero()) return;
    if (scalar === 1n) sum = mcl.add(sum, point);
    else if (scalar === ORDER - 1n) sum = mcl.sub(sum, point);
    else {
      chosen.push(point);
      factors.push(toScalar(mcl, scalar));
    }
  });
  for (let first = 0; first < chosen.length; first += batch)
    sum = mcl.add(sum, mcl.mulVec(chosen.slice(first, first + batch), factors.slice(first, first + batch)));
  return sum;
}
