/** The functions that `proofs` models, pinned by hashes of their texts. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/**
 * The functions of contracts/verifier and of contracts/merkle that a definition in `proofs` models by hand, each with
 * the hash of its text, and the constants and structs of their libraries. A changed function needs a changed model
 * first.
 */
export const MODELLED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ExactSum: {
    constants: "2763337b59bb1eae",
    Acc: "792069f850b9ccc0",
    addProducts: "ddb92d6584dbc04d",
    round: "70e8d35936893ecb",
    special: "795d6725d7a811a2",
    _roundWords: "3883e82576afb02e",
  },
  Float: {
    constants: "90eb9b52f9b6bba4",
    roundTo: "8f754b7ba7e6b535",
    canonical: "7a57407d0f835bf4",
    isNaN: "b6ddbeb6659b52a3",
    isInfinite: "387a689dfa559bfd",
    decode: "b93a1665d11f55a2",
    convert: "526bf5bce5a0d117",
    add: "cd2898d7b9780317",
    sub: "d8b25cc2bb97d705",
    mul: "9c3e1cc86c364dd4",
    div: "b040d9b446689c29",
    neg: "818115414174f3bd",
    abs: "739ff0236ac3980e",
    min: "4fb7673ad17c1eab",
    max: "1a1c12ebd4de70b1",
    eq: "71b8c665e076d2a3",
    lt: "332924616f138497",
    le: "04c32466d1db3e4b",
    order: "ca6d26db260223de",
    _magnitude: "755f05ab72e0d598",
    _isNegative: "da4131f17fc2a30c",
    _infinity: "c8134f0378c59506",
    _decodeSigned: "6e407c8a0751bdf4",
    _roundSigned: "fd446f94d4644702",
  },
  Float32: {
    constants: "2a595614aca20a7e",
    roundToFloat32: "d0d61da938d26bd6",
    roundBits: "ab90aab560e6461b",
    leadingZeros: "8f8a2d9752ce15c4",
    isNaN: "42ef0ebb9bec41fe",
    decode: "1bb326321d4a8c4e",
    mul: "04342abb7ac7bc41",
    areFinite: "92573606939f7c30",
    isNegative: "fe50afbd57911848",
    isZero: "6226d4124afb31a8",
    canonical: "fd8a4ad3dd42fbcf",
    isInfinite: "376ef04069164fc7",
    add: "297f5239bee07a24",
    addSpecial: "1b0f016acb046f4c",
    sub: "0e754fef3d16af23",
    div: "d473c31a81f092ad",
    neg: "9b066e978b473f5f",
    abs: "53951157b2d6b8a0",
    min: "720ad1c942fb6544",
    max: "b742801e14d36cfd",
    eq: "f1d9eb331f3bfd29",
    lt: "d32750c6e73c13e6",
    le: "45fe8e52832d11f8",
    areNumbers: "ce47573175142316",
    decodeSigned: "bf25f8d3ade866e5",
    roundSigned: "726a38852f3e5f00",
    order: "cda528adc27272c0",
    applySign: "653aeef45d7618ed",
    isIntegral: "09fd4aa6c045e029",
    decodeFraction: "a7dd6867539a2bfa",
    floor: "2b4e113159422c91",
    ceil: "1d892bce11c8e015",
    round: "549d257e5cfe52cc",
    sign: "d72bdef3206d3d42",
    sqrt: "8b6e3fb86256cd6d",
    mantissaSqrt: "2e908688528e65b1",
  },
  Cast: {
    cast: "9f16bf5e91b751e7",
  },
  DType: {
    constants: "152f6b1383b9de0f",
  },
  PositionalMerkle: {
    depth: "ec5dce3e96fd8a1f",
    rootFromPath: "536cc40bd55b4851",
    _climb: "319afb1ca57d319f",
    nodeUnder: "e2e623a11f96b265",
    leafUnder: "7c13843730c5d4a9",
  },
  ViewDecoder: {
    constants: "65ab97111b30fcfd",
    View: "9ca6b0a5e3229b45",
    read: "dbed6c425d970db1",
    _axes: "b92c14aeaf4b3146",
    _checkCoefficients: "1a6e50615bca2d94",
  },
  Views: {
    constants: "64dd3def672cf5ef",
    advanceAll: "3112420d0e0c5118",
    _place: "0db3b1c9129eb621",
    _coordinate: "d3fed3bc51e63010",
    _termsInside: "cc6f998b928913d6",
    _detour: "fda49706cc6d1942",
    _termsOutside: "add53b5615e90b39",
    _placeOnFill: "4ca7e057d6a8e705",
    _placeOnElement: "5197b9b4bed1f15c",
  },
  Tensor: {
    constants: "4d74180b5c2137ca",
    Tensor: "e0b6b363e6074d71",
    open: "a669f37c0d57b9b1",
    seek: "9806287ffd7486b6",
  },
  Format: {
    constants: "a0c38280f9ef3128",
    fractionBits: "118faa4550c881ae",
    highestExponent: "ccd9ef3b0a6b0083",
    lowestExponent: "28d5cbd3eb8ad0f4",
    sign: "47a3bb241cb035db",
    infinity: "e54a07d39f4a9f44",
    nan: "235a571f8cc31cf2",
  },
};

/** The modelled functions that are translated from the compiler's intermediate code and proven to be their models. */
export const FROM_IR: Readonly<Record<string, readonly string[]>> = {
  Float32: [
    "roundToFloat32",
    "roundBits",
    "leadingZeros",
    "isNaN",
    "decode",
    "mul",
    "areFinite",
    "isNegative",
    "isZero",
    "canonical",
    "isInfinite",
    "add",
    "addSpecial",
    "sub",
    "neg",
    "abs",
    "min",
    "max",
    "eq",
    "lt",
    "le",
    "areNumbers",
    "decodeSigned",
    "roundSigned",
    "order",
    "applySign",
    "isIntegral",
    "decodeFraction",
    "floor",
    "ceil",
    "round",
    "sign",
  ],
};

/** The file of a modelled library. */
export const sourceOf = (library: string): string =>
  `contracts/${library === "PositionalMerkle" ? "merkle" : "verifier"}/${library}.sol`;

/** The functions whose text has changed since a model was written. Empty if all are. */
export function changedFunctions(read = (path: string): string => readFileSync(path, "utf8")): string[] {
  return Object.entries(MODELLED).flatMap(([library, functions]) => {
    const source = read(sourceOf(library));
    return Object.entries(functions).flatMap(([name, hash]) => {
      const found = hashOf(source, name);
      return found === hash ? [] : [`${library}.${name} is ${found}, but ${hash} was modelled`];
    });
  });
}

/** The hash of a function's or struct's text, or of all constants of a library, without comments and spaces. */
function hashOf(source: string, name: string): string {
  const text = (source.match(name === "constants" ? /^(?: .*|\w+) constant .*$/gm : definitionOf(name)) ?? []).join("");
  const bare = text.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, "");
  return createHash("sha256").update(bare).digest("hex").slice(0, 16);
}

const definitionOf = (name: string): RegExp =>
  new RegExp(`\\n(    |)(?:function ${name}\\(|struct ${name} )[^]*?\\n\\1\\}\\n`, "g");

/** The first and the last line of each function or struct of a name. */
export const linesOf = (source: string, name: string): (readonly [number, number])[] =>
  [...source.matchAll(definitionOf(name))].map(({ 0: text, index }) => {
    const before = source.slice(0, index).split("\n").length;
    return [before + 1, before + text.split("\n").length - 2];
  });
