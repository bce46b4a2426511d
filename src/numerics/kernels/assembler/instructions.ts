import { float32Bytes, float64Bytes, signed, signed32, unsigned, type Code } from "./encoding.ts";

/*
 * Instructions as functions from the code of their operands to code that leaves their result on the stack. Opcodes:
 * WebAssembly Core Specification, "Binary Format", Instructions.
 */

type Instruction = (...operands: Code[]) => Code;

const plain =
  (opcode: number): Instruction =>
  (...operands) => [...operands, opcode];

const prefixed =
  (prefix: number, opcode: number): Instruction =>
  (...operands) => [...operands, prefix, unsigned(opcode)];

const SIMD = 0xfd;
const simd = (opcode: number): Instruction => prefixed(SIMD, opcode);
const saturating = (opcode: number): Instruction => prefixed(0xfc, opcode);

/** Functions for consecutive opcodes; "" leaves one out. */
function numbered<Name extends string>(
  make: (opcode: number) => Instruction,
  first: number,
  names: readonly Name[],
): Record<Exclude<Name, "">, Instruction> {
  const entries = names.map((key, n) => [key, make(first + n)] as const).filter(([key]) => key !== "");
  return Object.fromEntries(entries) as Record<Exclude<Name, "">, Instruction>;
}

/** A load or store at `address` (its operand) + `offset`. Addresses need not be aligned. `memory` is its number. */
type Access = (address: Code, offset?: number, memory?: number) => Code;
type Store = (address: Code, value: Code, offset?: number) => Code;

const OTHER_MEMORY = 0x40;
const place = (offset: number, memory: number): Code =>
  memory === 0 ? [0, unsigned(offset)] : [OTHER_MEMORY, unsigned(memory), unsigned(offset)];

const load =
  (...opcode: number[]): Access =>
  (address, offset = 0, memory = 0) => [address, opcode, place(offset, memory)];
const store =
  (...opcode: number[]): Store =>
  (address, value, offset = 0) => [address, value, opcode, 0, unsigned(offset)];

const INTEGER_ARITHMETIC = [
  ...["clz", "ctz", "popcnt", "add", "sub", "mul", "divS", "divU", "remS", "remU"],
  ...["and", "or", "xor", "shl", "shrS", "shrU"],
] as const;
const INTEGER_COMPARISON = ["eqz", "eq", "ne", "ltS", "ltU", "gtS", "gtU", "leS", "leU", "geS", "geU"] as const;
const FLOAT_COMPARISON = ["eq", "ne", "lt", "gt", "le", "ge"] as const;
const FLOAT_ARITHMETIC = [
  ...["abs", "neg", "ceil", "floor", "trunc", "nearest", "sqrt", "add", "sub", "mul", "div", "min", "max"],
  "copysign",
] as const;

export const i32 = {
  const: (value: number): Code => [0x41, signed32(value | 0)],
  load: load(0x28),
  load8S: load(0x2c),
  load8U: load(0x2d),
  load16S: load(0x2e),
  load16U: load(0x2f),
  store: store(0x36),
  store8: store(0x3a),
  store16: store(0x3b),
  ...numbered(plain, 0x45, INTEGER_COMPARISON),
  ...numbered(plain, 0x67, INTEGER_ARITHMETIC),
  extend8S: plain(0xc0),
  extend16S: plain(0xc1),
  wrapI64: plain(0xa7),
  reinterpretF32: plain(0xbc),
  truncSatF32S: saturating(0),
  truncSatF32U: saturating(1),
  truncSatF64S: saturating(2),
  truncSatF64U: saturating(3),
};

export const i64 = {
  const: (value: bigint): Code => [0x42, signed(BigInt.asIntN(64, value))],
  load: load(0x29),
  load32U: load(0x35),
  store: store(0x37),
  ...numbered(plain, 0x50, INTEGER_COMPARISON),
  ...numbered(plain, 0x79, INTEGER_ARITHMETIC),
  extendI32S: plain(0xac),
  extendI32U: plain(0xad),
  reinterpretF64: plain(0xbd),
  truncSatF32S: saturating(4),
  truncSatF32U: saturating(5),
  truncSatF64S: saturating(6),
  truncSatF64U: saturating(7),
};

export const f32 = {
  const: (value: number): Code => [0x43, float32Bytes(value)],
  /** By its bits, for NaNs. */
  constBits: (bits: number): Code => [0x43, bits & 0xff, (bits >>> 8) & 0xff, (bits >>> 16) & 0xff, bits >>> 24],
  load: load(0x2a),
  store: store(0x38),
  ...numbered(plain, 0x5b, FLOAT_COMPARISON),
  ...numbered(plain, 0x8b, FLOAT_ARITHMETIC),
  ...numbered(plain, 0xb2, ["convertI32S", "convertI32U", "convertI64S", "convertI64U", "demoteF64"]),
  reinterpretI32: plain(0xbe),
};

export const f64 = {
  const: (value: number): Code => [0x44, float64Bytes(value)],
  load: load(0x2b),
  store: store(0x39),
  ...numbered(plain, 0x61, FLOAT_COMPARISON),
  ...numbered(plain, 0x99, FLOAT_ARITHMETIC),
  ...numbered(plain, 0xb7, ["convertI32S", "convertI32U", "convertI64S", "convertI64U", "promoteF32"]),
  reinterpretI64: plain(0xbf),
};

/** Extracts or replaces a lane; the lane's number is part of the instruction. */
const extract =
  (opcode: number) =>
  (value: Code, lane: number): Code => [value, SIMD, unsigned(opcode), lane];
const replace =
  (opcode: number) =>
  (value: Code, lane: number, by: Code): Code => [value, by, SIMD, unsigned(opcode), lane];

const INTEGER_LANES = ["eq", "ne", "ltS", "ltU", "gtS", "gtU", "leS", "leU", "geS", "geU"] as const;

export const v128 = {
  const: (bytes: readonly number[]): Code => [SIMD, unsigned(12), ...bytes],
  load: load(SIMD, 0),
  /** Eight bytes widened to four (two) times their number of bits. */
  load16x4S: load(SIMD, 3),
  load16x4U: load(SIMD, 4),
  load32x2S: load(SIMD, 5),
  load32Splat: load(SIMD, 9),
  load64Splat: load(SIMD, 10),
  load32Zero: load(SIMD, 0x5c),
  load64Zero: load(SIMD, 0x5d),
  /** `(address, vector)`: the upper 64 bits replaced by those at the address. */
  load64High: (address: Code, value: Code, offset = 0, memory = 0): Code => [
    address,
    value,
    SIMD,
    unsigned(0x57),
    place(offset, memory),
    1,
  ],
  store: store(SIMD, 11),
  shuffle: (a: Code, b: Code, lanes: readonly number[]): Code => [a, b, SIMD, unsigned(13), ...lanes],
  not: simd(0x4d),
  and: simd(0x4e),
  andNot: simd(0x4f),
  or: simd(0x50),
  xor: simd(0x51),
  /** `(a, b, mask)`: bits from a for a set mask bit, else from b. */
  bitselect: simd(0x52),
  anyTrue: simd(0x53),
};

export const i32x4 = {
  splat: simd(0x11),
  extract: extract(0x1b),
  replace: replace(0x1c),
  ...numbered(simd, 0x37, INTEGER_LANES),
  ...numbered(simd, 0xa0, ["abs", "neg", "", "allTrue", "bitmask"]),
  ...numbered(simd, 0xa7, ["extendLowI16S", "extendHighI16S", "extendLowI16U", "extendHighI16U"]),
  ...numbered(simd, 0xab, ["shl", "shrS", "shrU", "add", "", "", "sub", "", "", "", "mul"]),
  ...numbered(simd, 0xb6, ["minS", "minU", "maxS", "maxU"]),
  ...numbered(simd, 0xf8, ["truncSatF32S", "truncSatF32U"]),
  /** Two float64 to the lower two lanes. */
  truncSatZeroF64S: simd(0xfc),
};

export const i16x8 = {
  narrowS: simd(0x85),
  narrowU: simd(0x86),
  ...numbered(simd, 0x87, ["extendLowI8S", "extendHighI8S", "extendLowI8U", "extendHighI8U"]),
};

export const i8x16 = {
  narrowS: simd(0x65),
  narrowU: simd(0x66),
  /** `(a, lanes)`: bytes of a by their numbers. */
  swizzle: simd(0x0e),
};

export const i64x2 = {
  splat: simd(0x12),
  extract: extract(0x1d),
  replace: replace(0x1e),
  ...numbered(simd, 0xc7, ["extendLowI32S", "extendHighI32S", "extendLowI32U", "extendHighI32U"]),
  ...numbered(simd, 0xcb, ["shl", "shrS", "shrU", "add", "", "", "sub", "", "", "", "mul"]),
  ...numbered(simd, 0xd6, ["eq", "ne", "ltS", "gtS", "leS", "geS"]),
};

export const f32x4 = {
  splat: simd(0x13),
  extract: extract(0x1f),
  replace: replace(0x20),
  ...numbered(simd, 0x41, FLOAT_COMPARISON),
  demoteZeroF64: simd(0x5e),
  ...numbered(simd, 0x67, ["ceil", "floor", "trunc", "nearest"]),
  /** `pmin(a, b)` is b < a ? b : a, `pmax(a, b)` a < b ? b : a: one instruction each. */
  ...numbered(simd, 0xe0, ["abs", "neg", "", "sqrt", "add", "sub", "mul", "div", "min", "max", "pmin", "pmax"]),
  ...numbered(simd, 0xfa, ["convertI32S", "convertI32U"]),
};

export const f64x2 = {
  splat: simd(0x14),
  extract: extract(0x21),
  replace: replace(0x22),
  ...numbered(simd, 0x47, FLOAT_COMPARISON),
  promoteLowF32: simd(0x5f),
  ceil: simd(0x74),
  floor: simd(0x75),
  trunc: simd(0x7a),
  nearest: simd(0x94),
  ...numbered(simd, 0xec, ["abs", "neg", "", "sqrt", "add", "sub", "mul", "div", "min", "max", "pmin", "pmax"]),
  convertLowI32S: simd(0xfe),
  convertLowI32U: simd(0xff),
};
