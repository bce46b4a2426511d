import { renameSync, writeFileSync } from "node:fs";
import { isHex, type Hex } from "viem";
import { z } from "zod";
import { readRegularFile } from "../regularFile.ts";
import { SoftwareDevice } from "./device.ts";
import { StandInFileError } from "./errors.ts";
import { generateKey, keyFromPem, keyId, keyToPem, type P256Key } from "./keys.ts";
import { SoftwareManufacturer } from "./manufacturer.ts";

/** The maximum bytes of a stand-in's file: it has some 1,000. */
const MAX_BYTES = 2 ** 20;

const word = z.custom<Hex>((value) => isHex(value) && value.length === 66);
const manufacturerSchema = z.object({ standIn: z.literal("manufacturer"), privateKey: z.string() }).strict();
const deviceSchema = z
  .object({
    standIn: z.literal("device"),
    privateKey: z.string(),
    counter: z.number().int().nonnegative(),
    endorsement: z
      .object({
        manufacturer: z.object({ x: word, y: word }).strict(),
        signature: z.object({ r: word, s: word }).strict(),
      })
      .strict(),
  })
  .strict();

/**
 * Makes the file of a stand-in for a manufacturer.
 * @returns Its id, for a deployment's `manufacturers`.
 * @throws StandInFileError
 */
export function makeManufacturer(path: string): Hex {
  const key = generateKey();
  create(path, { standIn: "manufacturer", privateKey: keyToPem(key) });
  return keyId(key);
}

/**
 * Makes the file of a stand-in for a device, endorsed by a manufacturer of `makeManufacturer`.
 * @returns Its id.
 * @throws StandInFileError
 */
export function makeDevice(path: string, manufacturerPath: string): Hex {
  const { privateKey } = read(manufacturerPath, manufacturerSchema, "manufacturer");
  const key = generateKey();
  const endorsement = new SoftwareManufacturer(parseKey(manufacturerPath, privateKey)).endorse(key);
  create(path, { standIn: "device", privateKey: keyToPem(key), counter: 0, endorsement });
  return keyId(key);
}

/** The device of a file of `makeDevice`; the file keeps its counter. @throws StandInFileError */
export function openDevice(path: string): SoftwareDevice {
  const memory = read(path, deviceSchema, "device");
  return new SoftwareDevice(
    { endorse: () => memory.endorsement },
    {
      key: parseKey(path, memory.privateKey),
      counter: BigInt(memory.counter),
      saveCounter: (counter) => replace(path, { ...memory, counter: Number(counter) }),
    },
  );
}

function read<T>(path: string, schema: z.ZodType<T>, kind: string): T {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(readRegularFile(path, MAX_BYTES)));
  } catch (cause) {
    // JSON.parse quotes the text that it stumbles over: neither its message nor itself may get into an output.
    if (cause instanceof SyntaxError) throw new StandInFileError(path, `not JSON, so no stand-in ${kind}`);
    throw new StandInFileError(path, `cannot be read: it ${(cause as Error).message}`, { cause });
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const where = result.error.issues.map((issue) => issue.path.join(".") || "the whole").join(", ");
  throw new StandInFileError(path, `no stand-in ${kind} (${where}): make one with refute stand-in-${kind}`);
}

function parseKey(path: string, pem: string): P256Key {
  try {
    return keyFromPem(pem);
  } catch {
    throw new StandInFileError(path, "privateKey is no P-256 key in PKCS #8 PEM");
  }
}

const text = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

function create(path: string, value: object): void {
  try {
    writeFileSync(path, text(value), { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === "EEXIST";
    throw new StandInFileError(path, exists ? "exists; name a new file" : (cause as Error).message, { cause });
  }
}

function replace(path: string, value: object): void {
  try {
    // Renamed into place, so that a crash cannot leave half a file.
    writeFileSync(`${path}.new`, text(value), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (cause) {
    throw new StandInFileError(path, `the counter cannot be kept: ${(cause as Error).message}`, { cause });
  }
}
