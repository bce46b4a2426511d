import { getAddress, isAddress, isHex, type Address, type Hex } from "viem";
import { withoutKeys } from "../base/redact.ts";
import { UsageError } from "./errors.ts";

/**
 * Reads a value given by a user as text.
 * @param name The source of the value, for messages: a flag, an argument, an environment variable.
 * @throws UsageError
 */
export type Parse<T> = (text: string, name: string) => T;

/** Reads what names files or folders. `place` puts a text's paths, as written in a config file, beside that file. */
export type PathParse<T> = Parse<T> & { place: (text: string, beside: (path: string) => string) => string };

/** Returns the error for an unusable value. A possible key in the text does not appear. */
export const unfit = (text: string, name: string, expected: string): UsageError =>
  new UsageError(`${name} ${text === "" ? '""' : withoutKeys(text)}: expected ${expected}`);

/** Whole numbers from `min` on, up to `max` if given. */
export const whole =
  (min: number, max?: number): Parse<number> =>
  (text, name) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (number >= min && number <= (max ?? Number.MAX_SAFE_INTEGER)) return number;
    throw unfit(text, name, `a whole number ${max === undefined ? `from ${min} on` : `from ${min} to ${max}`}`);
  };

/** Ports; 0 takes any free one. */
export const port = whole(0, 65_535);

/** Numbers above 0, with decimals or without. */
export const positive: Parse<number> = (text, name) => {
  const number = /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : 0;
  if (number > 0) return number;
  throw unfit(text, name, "a number above 0");
};

/** Parts of a whole, from 0 to 1. */
export const share: Parse<number> = (text, name) => {
  const number = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
  if (number >= 0 && number <= 1) return number;
  throw unfit(text, name, "a part from 0 to 1, such as 0.05");
};

const UNITS: Record<string, number> = { "": 1, s: 1, m: 60, min: 60, h: 3_600, d: 86_400 };

/** Times: whole seconds, or with a unit such as `30m`, `2h` or `1d`. In seconds, from `min` on, to at most `max`. */
export const seconds =
  (min: number, max = 10 * 365 * 86_400): Parse<number> =>
  (text, name) => {
    const [, digits = "", unit = ""] = /^(\d{1,12})([a-z]*)$/.exec(text) ?? [];
    const number = digits === "" ? NaN : Number(digits) * (UNITS[unit] ?? NaN);
    if (number >= min && number <= max) return number;
    throw unfit(text, name, `seconds from ${min} to ${max}, or a time such as 30m, 2h or 1d`);
  };

/** Block numbers. */
export const blockNumber: Parse<bigint> = (text, name) => {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw unfit(text, name, "the number of a block, from 0 on");
};

/**
 * Addresses of accounts and contracts, with EIP-55 capitals: file names contain them. Capitals in the text must be
 * correct.
 */
export const address: Parse<Address> = (text, name) => {
  if (isAddress(text)) return getAddress(text);
  const form = isAddress(text, { strict: false });
  throw unfit(
    text,
    name,
    form ? "an address whose capitals are its checksum: a digit is wrong" : "an address, 0x and 40 hexadecimal digits",
  );
};

/** Ids of jobs. */
export const jobId: Parse<Hex> = (text, name) => {
  if (isHex(text) && text.length === 66) return text;
  throw unfit(text, name, "a job's id, 0x and 64 hexadecimal digits, as refute submit prints it");
};

/** 32 bytes. */
export const bytes32: Parse<Hex> = (text, name) => {
  if (isHex(text) && text.length === 66) return text;
  throw unfit(text, name, "32 bytes, 0x and 64 hexadecimal digits");
};

/** One of some words. */
export const oneOf =
  <T extends string>(...words: readonly T[]): Parse<T> =>
  (text, name) => {
    const word = words.find((known) => known === text);
    if (word !== undefined) return word;
    throw unfit(text, name, `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`);
  };

/** Text that is not empty. */
export const text: Parse<string> = (given, name) => {
  if (given !== "") return given;
  throw unfit(given, name, "a text that is not empty");
};

/** Texts with commas between them. */
export const list: Parse<string[]> = (given, name) => {
  const parts = given.split(",").map((part) => part.trim());
  if (parts.every((part) => part !== "")) return parts;
  throw unfit(given, name, "one text, or several with commas between them");
};

/** A file or a folder. */
export const filePath: PathParse<string> = atPlace(text, (path, beside) => beside(path));

/** Files with commas between them. */
export const filePaths: PathParse<string[]> = atPlace(list, (paths, beside) =>
  paths
    .split(",")
    .map((path) => beside(path.trim()))
    .join(),
);

/** A file or a folder, or a URL. */
export const fileOrUrl: PathParse<string> = atPlace(text, (place, beside) =>
  /^\w+:\/\//.test(place) ? place : beside(place),
);

/** A folder behind a name and an equals sign. */
export const namedFolder: PathParse<string> = atPlace(text, (given, beside) => {
  const at = given.indexOf("=") + 1;
  return given.slice(0, at) + beside(given.slice(at));
});

function atPlace<T>(parse: Parse<T>, place: PathParse<T>["place"]): PathParse<T> {
  return Object.assign((given: string, name: string) => parse(given, name), { place });
}

/** Addresses on the web. */
export const webUrl: Parse<string> = (given, name) => {
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given;
  throw unfit(given, name, "an http or https URL");
};

/** `true` or `false`. */
export const yesOrNo: Parse<boolean> = (given, name) => oneOf("true", "false")(given, name) === "true";

/** Returns a parser for commander's arguments and flags: commander passes only the text. */
export const as =
  <T>(parse: Parse<T>, name: string) =>
  (given: string): T =>
    parse(given, name);
