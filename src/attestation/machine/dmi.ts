import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SeenProcessors } from "./observation.ts";

/*
 * Tables of the firmware (SMBIOS), which a hypervisor writes where there is one. Only root can read them.
 */
const FOLDER = "sys/firmware/dmi/entries";

/** The machine as its firmware's tables have it: the number of its threads, and its memory. Empty if not readable. */
export function physicalMachine(root: string): SeenProcessors[] {
  const units = sum(tables(root, 4).map(threadsOf));
  const memoryMiB = sum(tables(root, 17).map(sizeOf));
  if (units === undefined && memoryMiB === undefined) return [];
  return [{ layer: "hypervisor", source: "SMBIOS", units, memoryMiB }];
}

/** Tables of a type, without their texts. */
function tables(root: string, type: number): Buffer[] {
  try {
    return readdirSync(join(root, FOLDER))
      .filter((name) => name.startsWith(`${type}-`))
      .map((name) => readFileSync(join(root, FOLDER, name, "raw")))
      .flatMap((raw) => (raw.length >= 4 && raw.length >= raw[1]! ? [raw.subarray(0, raw[1])] : []));
  } catch {
    return [];
  }
}

/** Reads a processor's thread count (type 4): a byte, or a word if the byte is too small (0xff). */
function threadsOf(table: Buffer): number {
  const [short, long] = [0x25, 0x2e];
  if (table.length <= short) return 0;
  return table[short] === 0xff && table.length >= long + 2 ? table.readUInt16LE(long) : table[short]!;
}

/** MiB of a module of memory (type 17): a word in MiB, or in KiB with the highest bit; 0x7fff: a long beside it. */
function sizeOf(table: Buffer): number {
  const [short, long] = [0x0c, 0x1c];
  if (table.length < short + 2) return 0;
  const size = table.readUInt16LE(short);
  if (size === 0xffff) return 0;
  if (size === 0x7fff) return table.length >= long + 4 ? table.readUInt32LE(long) & 0x7fffffff : 0;
  return size & 0x8000 ? Math.floor((size & 0x7fff) / 1_024) : size;
}

/** A sum; undefined if it is 0. */
const sum = (numbers: number[]): number | undefined => numbers.reduce((a, b) => a + b, 0) || undefined;
