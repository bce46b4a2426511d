import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { z } from "zod/v4";
import { endorseStandIn, NOT_AFTER, SoftwareDevice } from "./device.ts";
import { StandInFileError } from "./errors.ts";
import { deviceId, generateKey, keyToPem } from "./keys.ts";
import {
  createFile,
  openManufacturer,
  parseKey,
  point,
  readStandIn,
  readText,
  replaceFile,
  signature,
  uint64,
  word,
} from "./standInFile.ts";
import { writeProblem } from "../base/writable.ts";

/*
 * The folder of a stand-in for a device: its key with the endorsement, and its counter in a file of its own, so that
 * the key is not written again with each signature.
 */
const keyFile = (folder: string): string => join(folder, "device.json");
const counterFile = (folder: string): string => join(folder, "counter");

/** An endorsement as JSON: numbers as decimal text. */
export const endorsementSchema = z
  .object({ manufacturer: point, model: word, firmware: word, notAfter: uint64, signature })
  .strict();
const deviceSchema = z
  .object({ standIn: z.literal("device"), privateKey: z.string(), endorsement: endorsementSchema })
  .strict();

/**
 * Makes the folder of a stand-in device. A manufacturer made by `makeManufacturer` endorses the device.
 * @param notAfter End of the endorsement, unix time.
 * @returns The device's id.
 * @throws StandInFileError
 */
export function makeDevice(folder: string, manufacturerPath: string, notAfter = NOT_AFTER): Hex {
  const manufacturer = openManufacturer(manufacturerPath);
  const key = generateKey();
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === "EEXIST";
    throw new StandInFileError(
      folder,
      exists ? "exists; name a new one" : `cannot be made: ${writeProblem(folder, cause)}`,
      { cause },
    );
  }
  // The key last: a folder with a key has a counter.
  replaceFile(counterFile(folder), "0\n");
  const endorsement = endorsementJson(endorseStandIn(manufacturer, key, notAfter));
  createFile(keyFile(folder), { standIn: "device", privateKey: keyToPem(key), endorsement });
  return deviceId(key);
}

/**
 * Renews a stand-in's endorsement. A dongle that runs on the stand-in must be restarted.
 * @returns The device's id.
 * @throws StandInFileError
 */
export function endorseAgain(folder: string, manufacturerPath: string, notAfter = NOT_AFTER): Hex {
  const path = keyFile(folder);
  const { privateKey, ...rest } = readStandIn(path, deviceSchema, "device");
  const key = parseKey(path, privateKey);
  const endorsement = endorsementJson(endorseStandIn(openManufacturer(manufacturerPath), key, notAfter));
  replaceFile(path, { ...rest, privateKey, endorsement });
  return deviceId(key);
}

/** The device of a folder of `makeDevice`. Whoever opens it has claimed the folder. @throws StandInFileError */
export function openDevice(folder: string): SoftwareDevice {
  const path = keyFile(folder);
  const { privateKey, endorsement } = readStandIn(path, deviceSchema, "device");
  if ((statSync(folder).mode & 0o077) !== 0)
    throw new StandInFileError(folder, "is open to other users, and holds a key: chmod 700");
  const counter = /^(\d{1,20})\n$/.exec(readText(counterFile(folder)))?.[1];
  if (counter === undefined)
    throw new StandInFileError(
      counterFile(folder),
      "is no counter; without it numbers may be signed twice: make a new device",
    );
  return new SoftwareDevice({
    key: parseKey(path, privateKey),
    endorsement,
    counter: BigInt(counter),
    saveCounter: (next) => replaceFile(counterFile(folder), `${next}\n`),
  });
}

/** An endorsement with its number as text. */
export const endorsementJson = <T extends { notAfter: bigint }>(endorsement: T) => ({
  ...endorsement,
  notAfter: String(endorsement.notAfter),
});
