import { convert } from "../../numerics/arithmetic.ts";
import { DType, dtypeName, type Word } from "../../numerics/dtype.ts";
import { floatWord, greatestWord, minWord, numberWord } from "../../numerics/numbers.ts";
import { Op, signature, type OpName } from "../../program/operations.ts";
import { Reduce, type TensorRef } from "../../program/types.ts";
import { affineKey, constantAffine, substitute, type Affine } from "./affine.ts";
import type { Budget } from "../budget.ts";
import { OperandTypeError } from "../errors.ts";

/** The first number for reduction digits: changing the output's digits does not affect reduction digits. */
export const REDUCTION_DIGIT = 1 << 20;

/** One axis of a read: see `Axis` of src/program; digits are the compiler's. */
export type ReadAxis = {
  extent: number;
  stride: number;
  index: Affine;
  /** Above 1: the index must be a multiple of `div`, and the read divides the index by `div`. */
  div?: number;
  indirect?: ReadExpr;
};

/**
 * A tensor's value as an expression over the index digits. Expressions are interned: equal expressions are the same
 * object, and sharing is kept and found without search.
 */
export type Expr = ReadExpr | ConstantExpr | DigitExpr | OperationExpr | AccumulatorExpr | FoundExpr;
type Head = { id: number; dtype: DType; accumulators: readonly AccumulatorExpr[] };
export type ReadExpr = Head & { kind: "read"; source: TensorRef; fill: Word; axes: readonly ReadAxis[] };
export type ConstantExpr = Head & { kind: "constant"; value: Word };
type DigitExpr = Head & { kind: "digit"; digit: number };

/** `type` is the operands' type (for select, of the two choices), `dtype` the result's. */
type OperationExpr = Head & { kind: "operation"; op: Op; type: DType; args: readonly Expr[] };

/** The result of a reduction over digits REDUCTION_DIGIT + k of the given radices. */
export type AccumulatorExpr = Head & {
  kind: "accumulator";
  reduce: Reduce;
  type: DType;
  radices: readonly number[];
  a: Expr;
  b: Expr | undefined;
};

/** True if a `last` reduction met a term that counts. */
type FoundExpr = Head & { kind: "found"; of: AccumulatorExpr };

const refKey = (ref: TensorRef): string => `${ref.kind}${ref.kind === "constant" ? ref.root : ref.index}:${ref.dtype}`;

type Body<E> = E extends Expr ? Omit<E, "id" | "accumulators"> : never;

type Unary = (x: Expr) => Expr;
type Binary = (a: Expr, b: Expr) => Expr;
type Formulas = Record<Exclude<OpName, "digit" | "cast">, Unary | Binary | ((c: Expr, a: Expr, b: Expr) => Expr)>;

/** Makes and interns expressions: a method for each operation, under its name. */
export class Expressions implements Formulas {
  readonly #known = new Map<string, Expr>();
  readonly #budget: Budget;

  /** @param budget Each expression that is made counts. */
  constructor(budget: Budget) {
    this.#budget = budget;
  }

  readonly add = this.#binary(Op.add);
  readonly sub = this.#binary(Op.sub);
  readonly mul = this.#binary(Op.mul);
  readonly div = this.#binary(Op.div);
  readonly mod = this.#binary(Op.mod);
  readonly fmod = this.#binary(Op.fmod);
  readonly min = this.#binary(Op.min);
  readonly max = this.#binary(Op.max);
  readonly pow = this.#binary(Op.pow);
  readonly eq = this.#binary(Op.eq);
  readonly lt = this.#binary(Op.lt);
  readonly le = this.#binary(Op.le);
  readonly and = this.#binary(Op.and);
  readonly or = this.#binary(Op.or);
  readonly xor = this.#binary(Op.xor);
  readonly shl = this.#binary(Op.shl);
  readonly shr = this.#binary(Op.shr);

  readonly neg = this.#unary(Op.neg);
  readonly abs = this.#unary(Op.abs);
  readonly sign = this.#unary(Op.sign);
  readonly not = this.#unary(Op.not);
  readonly sqrt = this.#unary(Op.sqrt);
  readonly floor = this.#unary(Op.floor);
  readonly ceil = this.#unary(Op.ceil);
  readonly round = this.#unary(Op.round);
  readonly isNaN = this.#unary(Op.isNaN);
  readonly isInf = this.#unary(Op.isInf);
  readonly exp = this.#unary(Op.exp);
  readonly log = this.#unary(Op.log);
  readonly tanh = this.#unary(Op.tanh);
  readonly sigmoid = this.#unary(Op.sigmoid);
  readonly erf = this.#unary(Op.erf);
  readonly expm1 = this.#unary(Op.expm1);
  readonly log1p = this.#unary(Op.log1p);
  readonly sin = this.#unary(Op.sin);
  readonly cos = this.#unary(Op.cos);
  readonly tan = this.#unary(Op.tan);
  readonly asin = this.#unary(Op.asin);
  readonly acos = this.#unary(Op.acos);
  readonly atan = this.#unary(Op.atan);
  readonly sinh = this.#unary(Op.sinh);
  readonly cosh = this.#unary(Op.cosh);
  readonly asinh = this.#unary(Op.asinh);
  readonly acosh = this.#unary(Op.acosh);
  readonly atanh = this.#unary(Op.atanh);

  /** `then` where the condition, a bool, holds; elsewhere `otherwise`. */
  readonly select = (condition: Expr, then: Expr, otherwise: Expr): Expr =>
    this.operation(Op.select, condition, then, otherwise);

  /** `min(max(x, low), high)`: NaN wins. */
  clamp(x: Expr, low: Expr, high: Expr): Expr {
    return this.min(this.max(x, low), high);
  }

  #unary(op: Op): Unary {
    return (x) => this.operation(op, x);
  }

  #binary(op: Op): Binary {
    return (a, b) => this.operation(op, a, b);
  }

  #intern<E extends Expr>(key: string, body: Body<E>, parts: readonly Expr[]): E {
    const known = this.#known.get(key);
    this.#budget.tick();
    if (known !== undefined) return known as E;
    this.#budget.expression();
    const accumulators = [...new Set(parts.flatMap((part) => part.accumulators))];
    const made = { ...body, id: this.#known.size, accumulators } as unknown as E;
    if (made.kind === "accumulator") made.accumulators = [made];
    this.#known.set(key, made);
    return made;
  }

  constant(dtype: DType, value: Word): ConstantExpr {
    return this.#intern<ConstantExpr>(`k${dtype}:${value}`, { kind: "constant", dtype, value }, []);
  }

  /** A constant of float32. */
  float(value: number): ConstantExpr {
    return this.constant(DType.float32, floatWord(value));
  }

  /** A constant of int64. */
  int64(value: number): ConstantExpr {
    return this.constant(DType.int64, BigInt(value));
  }

  /** Returns a constant in `x`'s type, rounded to the type. */
  like(x: Expr, value: number): ConstantExpr {
    return this.constant(x.dtype, numberWord(value, x.dtype));
  }

  digit(digit: number): DigitExpr {
    return this.#intern<DigitExpr>(`d${digit}`, { kind: "digit", dtype: DType.int64, digit }, []);
  }

  read(source: TensorRef, axes: readonly ReadAxis[], fill: Word = 0n): ReadExpr {
    const axesKey = axes
      .map((a) => `${a.extent}*${a.stride}@${affineKey(a.index)}/${a.div ?? 1}~${a.indirect?.id ?? ""}`)
      .join(";");
    const body = { kind: "read", dtype: source.dtype, source, fill, axes } as const;
    return this.#intern<ReadExpr>(`r${refKey(source)}?${fill}[${axesKey}]`, body, []);
  }

  /**
   * Returns an operation given as a parameter, on operands with one type (a select's condition must be bool).
   * @throws OperandTypeError
   */
  operation(op: Op, ...given: readonly Expr[]): Expr {
    const args = given.some((arg) => arg.dtype === DType.float64) ? given.map((arg) => this.#inFloat64(arg)) : given;
    const type = args.at(-1)!.dtype;
    const { name, accepts, bool } = signature(op)!;
    if (!accepts(type) || args.some((arg, k) => arg.dtype !== (op === Op.select && k === 0 ? DType.bool : type)))
      throw new OperandTypeError(
        name,
        args.map((arg) => dtypeName(arg.dtype)),
      );
    const dtype = bool ? DType.bool : type;
    const key = `o${op}:${type}(${args.map((a) => a.id).join()})`;
    return this.#intern<OperationExpr>(key, { kind: "operation", dtype, op, type, args }, args);
  }

  /** The constants of an operator's body are float32: among float64 they are that number. */
  #inFloat64(arg: Expr): Expr {
    if (arg.kind !== "constant" || arg.dtype !== DType.float32) return arg;
    return this.constant(DType.float64, convert(arg.value, DType.float32, DType.float64));
  }

  /** Converts to another type; nothing if it is that type already. */
  cast(arg: Expr, dtype: DType): Expr {
    if (arg.dtype === dtype) return arg;
    const body = { kind: "operation", dtype, op: Op.cast, type: arg.dtype, args: [arg] } as const;
    return this.#intern<OperationExpr>(`c${dtype}(${arg.id})`, body, [arg]);
  }

  accumulator(
    reduce: Reduce,
    type: DType,
    dtype: DType,
    radices: readonly number[],
    a: Expr,
    b?: Expr,
  ): AccumulatorExpr | ConstantExpr {
    if (radices.includes(0)) return this.constant(dtype, overNothing(reduce, dtype));
    if (b !== undefined && reduce === Reduce.dot && (a.dtype !== type || b.dtype !== type))
      throw new OperandTypeError("dot", [dtypeName(a.dtype), dtypeName(b.dtype)]);
    const key = `a${reduce}:${type}[${radices.join()}](${a.id},${b?.id ?? ""})`;
    return this.#intern<AccumulatorExpr>(key, { kind: "accumulator", dtype, reduce, type, radices, a, b }, []);
  }

  /** Returns a bool: true if a `last` reduction met a term that counts. */
  found(of: AccumulatorExpr | ConstantExpr): Expr {
    if (of.kind === "constant") return this.constant(DType.bool, 0n);
    return this.#intern<FoundExpr>(`f(${of.id})`, { kind: "found", dtype: DType.bool, of }, [of]);
  }

  /** Returns an affine function's value for given digits, as int64. */
  affine(value: Affine): Expr {
    let sum: Expr = this.int64(value.base);
    for (const [digit, coeff] of value.coeffs) {
      const factor = this.int64(coeff);
      const term = coeff === 1 ? this.digit(digit) : this.mul(this.digit(digit), factor);
      sum = sum.kind === "constant" && sum.value === 0n ? term : this.add(sum, term);
    }
    return sum;
  }

  /** The expression over other digits: each digit replaced by an affine function of the new ones. */
  remap(expr: Expr, of: (digit: number) => Affine | undefined): Expr {
    return rewritten(expr, (e, visit) => this.#remapOne(e, of, visit));
  }

  /** Returns the expression with other values in place of its reads, except reads at places decided by another read. */
  withReads(expr: Expr, of: (read: ReadExpr) => Expr): Expr {
    return rewritten(expr, (e, visit) => {
      if (e.kind === "read") return e.axes.some(({ indirect }) => indirect !== undefined) ? e : of(e);
      return e.kind === "operation" ? this.#withArguments(e, visit) : e;
    });
  }

  #withArguments({ op, dtype, args }: OperationExpr, visit: (e: Expr) => Expr): Expr {
    return op === Op.cast ? this.cast(visit(args[0]!), dtype) : this.operation(op, ...args.map(visit));
  }

  #remapOne(e: Expr, of: (digit: number) => Affine | undefined, visit: (e: Expr) => Expr): Expr {
    switch (e.kind) {
      case "constant":
        return e;
      case "digit":
        return this.affine(of(e.digit) ?? { ...constantAffine(0), coeffs: new Map([[e.digit, 1]]) });
      case "read": {
        const axes = e.axes.map((axis): ReadAxis => ({
          ...axis,
          index: substitute(axis.index, of),
          ...(axis.indirect ? { indirect: visit(axis.indirect) as ReadExpr } : {}),
        }));
        return this.read(e.source, axes, e.fill);
      }
      case "found":
        return this.found(visit(e.of) as AccumulatorExpr);
      case "operation":
        return this.#withArguments(e, visit);
      case "accumulator":
        return this.accumulator(e.reduce, e.type, e.dtype, e.radices, visit(e.a), e.b && visit(e.b));
    }
  }
}

/** Returns the result of a reduction without terms. @throws RangeError if the result would be a term's place */
function overNothing(reduce: Reduce, dtype: DType): Word {
  if (reduce === Reduce.max) return minWord(dtype);
  if (reduce === Reduce.min) return greatestWord(dtype);
  if (reduce === Reduce.sum || reduce === Reduce.dot || reduce === Reduce.last) return 0n;
  throw new RangeError("the place of one of no elements");
}

/** Rebuilds an expression, each part once. @param one Makes a part from parts made by `visit`. */
function rewritten(expr: Expr, one: (e: Expr, visit: (part: Expr) => Expr) => Expr): Expr {
  const done = new Map<Expr, Expr>();
  const visit = (e: Expr): Expr => {
    let result = done.get(e);
    if (result === undefined) done.set(e, (result = one(e, visit)));
    return result;
  };
  return visit(expr);
}
