/** Experiments of each operator of the table, with operands at the ends of their types. */
import { DType, dtypeBytes, dtypeName, isFloat, isSigned, writeWord } from "../../src/numerics/dtype.ts";
import { numberWord } from "../../src/numerics/numbers.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { MAKERS } from "../fuzz/hostile.ts";
import type { Experiment } from "../onnx/agreement.ts";
import { Prng } from "../random/prng.ts";
import { RandomTensors } from "../random/tensors.ts";

/** What float operands become: `undefined` keeps them floats. */
const TYPES = [
  ...[undefined, DType.int32, DType.int64, DType.uint8, DType.int8, DType.uint32, DType.uint64, DType.int16],
  DType.uint16,
] as const;
const FLOATS = [3e38, -3e38, 1e-45, 0, 1, -1, 2.5, 16_777_217];

/** A tensor of a type's ends and of numbers around 0; or of the greatest number alone, whose sums pass the end. */
function atTheEnds({ shape }: TensorData, dtype: DType, prng: Prng): TensorData {
  const bits = BigInt(8 * dtypeBytes(dtype));
  const all = (1n << bits) - 1n;
  const [least, greatest] = isSigned(dtype) ? [1n << (bits - 1n), all >> 1n] : [0n, all];
  const words = dtype === DType.bool ? [0n, 1n] : [greatest, least, all, 0n, 1n, ...(prng.below(2) ? [] : [greatest])];
  const isOne = dtype !== DType.bool && prng.below(2) === 0;
  const bytes = new Uint8Array(elementCount(shape) * dtypeBytes(dtype));
  for (let i = 0; i < elementCount(shape); i++) {
    const word = isFloat(dtype) ? numberWord(prng.pick(FLOATS), dtype) : prng.pick(words);
    writeWord(bytes, i, dtype, isOne && !isFloat(dtype) ? greatest : word);
  }
  return { dtype, shape, bytes };
}

/**
 * Yields each operator's experiments with extreme operands: of the types of the experiment, or with floats replaced by
 * integers of a type.
 * @param types How many of the types are tried for each experiment
 */
export function* extremeExperiments(types: number): Generator<{ what: string; experiment: Experiment }> {
  for (const [number, make] of MAKERS.entries())
    for (let turn = 0; turn < types; turn++) {
      const type = TYPES[(number + turn) % TYPES.length];
      const prng = new Prng(number * TYPES.length + turn);
      const made = make(new RandomTensors(prng));
      const inType = (dtype: DType): DType => (dtype === DType.float32 ? (type ?? dtype) : dtype);
      const changed = (all: Readonly<Record<string, TensorData>>, isOperand: boolean): Record<string, TensorData> =>
        Object.fromEntries(
          Object.entries(all).map(([name, one]) => {
            const isKept = one.narrow !== undefined || (!isOperand && inType(one.dtype) === one.dtype);
            return [name, isKept ? one : atTheEnds(one, inType(one.dtype), prng)];
          }),
        );
      const experiment = {
        ...made,
        operands: changed(made.operands, true),
        initializers: changed(made.initializers ?? {}, false),
        outputs: Object.fromEntries(Object.entries(made.outputs).map(([name, dtype]) => [name, inType(dtype)])),
      };
      yield { what: `${made.nodes.at(-1)!.op}, ${type === undefined ? "its types" : dtypeName(type)}`, experiment };
    }
}
