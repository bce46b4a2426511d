import { concatHex, hexToString, isHex, numberToHex, size, slice, stringToHex, type Hex } from "viem";
import { errorWithCode } from "../../base/errors.ts";

/** A text does not name a valid place of a job's inputs. */
export class InputReferenceError extends errorWithCode("INPUT_REFERENCE") {}

/** Maximum number of places that a job may name, and maximum total characters for all places. */
const MAX_REFERENCES = 4;
const MAX_CHARACTERS = 2_048;

/** Transactions with blobs that a place names. */
export const MAX_BLOB_TRANSACTIONS = 30;

/** The last bytes of calldata naming the inputs' places. */
const MARK = stringToHex("refute:inputs/1");
const LENGTH_BYTES = 2;
const TRAILER_BYTES = LENGTH_BYTES + size(MARK);

/** The kinds of places. */
export type Reference =
  /** A file on the web, over https; over http on hosts that an operator allows. */
  | { kind: "web"; uri: string; url: string }
  /** A file named by its content and served by a gateway. @param path The content's id, and names below it. */
  | { kind: "ipfs"; uri: string; path: string }
  /** An object that an S3-compatible endpoint serves. */
  | { kind: "s3"; uri: string; bucket: string; key: string }
  /** Blobs of transactions on the job's chain, in order. */
  | { kind: "blobs"; uri: string; transactions: Hex[] };

const IPFS = /^ipfs:\/\/([A-Za-z0-9]{32,128}(?:\/[\w.~!$&'()*+,;=:@-]+)*)$/;
const BLOBS = new RegExp(`^blobs:(0x[0-9a-f]{64}(?:,0x[0-9a-f]{64}){0,${MAX_BLOB_TRANSACTIONS - 1}})$`);
const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/([\w!.*'()/-]{1,512})$/;

/**
 * Reads where inputs lie: `https://...`, `ipfs://CID` with a path or without, `s3://BUCKET/KEY`,
 * `blobs:TRANSACTION,...`.
 * @throws InputReferenceError
 */
export function parseReference(uri: string): Reference {
  // Readers could mistake characters outside printable ASCII for other characters.
  if (!/^[\x21-\x7e]+$/.test(uri)) throw unfit(uri);
  const [, path] = IPFS.exec(uri) ?? [];
  if (path !== undefined && staysBelow(path)) return { kind: "ipfs", uri, path };
  const [, bucket, key] = S3.exec(uri) ?? [];
  if (bucket !== undefined && staysBelow(key!)) return { kind: "s3", uri, bucket, key: key! };
  const [, hashes] = BLOBS.exec(uri) ?? [];
  if (hashes !== undefined) return { kind: "blobs", uri, transactions: hashes.split(",") as Hex[] };
  const isWeb = /^https?:\/\//.test(uri) && URL.canParse(uri);
  if (!isWeb || new URL(uri).username !== "") throw unfit(uri);
  return { kind: "web", uri, url: uri };
}

/** Returns the place of a file stored in these transactions' blobs, in order. */
export const blobsReference = (transactions: readonly Hex[]): string => `blobs:${transactions.join()}`;

const staysBelow = (path: string): boolean => !path.split("/").some((name) => name === "." || name === "..");

const unfit = (uri: string): InputReferenceError =>
  new InputReferenceError(
    `${JSON.stringify(uri.slice(0, 200))} says no place of inputs: expected https://..., ipfs://CID or ` +
      "s3://BUCKET/KEY or blobs:TRANSACTION,..., without spaces or a user's name",
  );

/**
 * Returns bytes naming the places of a job's inputs. The bytes follow the posting transaction's calldata. The contracts
 * ignore these bytes. The bytes bind nobody and need no trust, since the job's roots decide about the inputs.
 * @throws InputReferenceError
 */
export function referenceSuffix(uris: readonly string[]): Hex {
  for (const uri of uris) parseReference(uri);
  const text = uris.join("\n");
  if (uris.length === 0 || uris.length > MAX_REFERENCES || text.length > MAX_CHARACTERS)
    throw new InputReferenceError(
      `${uris.length} places of ${text.length} characters: name 1 to ${MAX_REFERENCES} of ${MAX_CHARACTERS} together`,
    );
  return concatHex([stringToHex(text), numberToHex(text.length, { size: LENGTH_BYTES }), MARK]);
}

/**
 * Returns the places that a transaction's calldata names at its end, for any called contract.
 * @returns An empty list if the calldata names no place, or anything invalid.
 */
export function referencesIn(calldata: Hex): Reference[] {
  if (!isHex(calldata) || size(calldata) < TRAILER_BYTES || !calldata.toLowerCase().endsWith(MARK.slice(2))) return [];
  const end = size(calldata) - TRAILER_BYTES;
  const length = Number(slice(calldata, end, end + LENGTH_BYTES));
  if (length === 0 || length > Math.min(end, MAX_CHARACTERS)) return [];
  try {
    const uris = hexToString(slice(calldata, end - length, end)).split("\n");
    return uris.length > MAX_REFERENCES ? [] : uris.map(parseReference);
  } catch (error) {
    if (error instanceof InputReferenceError) return [];
    throw error;
  }
}
