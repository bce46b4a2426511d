import { powers as powersOf, residue } from "../../src/circuits/field.ts";
import { BASE_ORDER, type Curve } from "../../src/circuits/groth16/curve.ts";
import type { Secrets } from "../../src/circuits/groth16/setup.ts";

/** Files hold coordinates times 2^256 (Montgomery's form). */
const FORM = 2n ** 256n;

function wordBytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse();
}

function section(id: number, content: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(id, 0);
  head.writeBigUInt64LE(BigInt(content.length), 4);
  return Buffer.concat([head, content]);
}

/** The coordinates of points as the file has the coordinates. */
export const pointBytes = (points: readonly (readonly bigint[])[]): Buffer =>
  Buffer.concat(points.flat().map((value) => wordBytes((value * FORM) % BASE_ORDER)));

/** A section's content in place of the right one, by the section's number. */
export type Sections = Record<number, Buffer>;

/** The sections of a .ptau file for 2^log rows, from secrets that everybody knows. */
export function powersSections(curve: Curve, log: number, { tau, alpha, beta }: Secrets): Sections {
  const header = Buffer.alloc(44);
  header.writeUInt32LE(32, 0);
  wordBytes(BASE_ORDER).copy(header, 4);
  header.writeUInt32LE(log, 36);
  header.writeUInt32LE(log, 40);
  const count = 2 ** log;
  const all = powersOf(tau, 2 * count - 1);
  const low = all.slice(0, count);
  const points1 = (scalars: readonly bigint[]): Buffer =>
    pointBytes(curve.multiples1(scalars).map((point) => curve.coordinates1(point)));
  const points2 = (scalars: readonly bigint[]): Buffer =>
    pointBytes(curve.multiples2(scalars).map((point) => curve.coordinates2(point)));
  return {
    1: header,
    2: points1(all),
    3: points2(low),
    4: points1(low.map((power) => residue(alpha * power))),
    5: points1(low.map((power) => residue(beta * power))),
    6: points2([beta]),
  };
}

/** A .ptau file's bytes. */
export function powersFile(sections: Sections, magic = "ptau"): Buffer {
  const head = Buffer.alloc(12);
  head.write(magic, "latin1");
  head.writeUInt32LE(1, 4);
  head.writeUInt32LE(Object.keys(sections).length, 8);
  return Buffer.concat([head, ...Object.entries(sections).map(([id, content]) => section(Number(id), content))]);
}
