import { EXACT } from "../../../../src/executor/loops/exactFunctions.ts";
import { HALF_HELPERS, halfName } from "../../../../src/executor/loops/halfHelpers.ts";
import { ELEMENTARY } from "../../../../src/numerics/kernels/elementary/estimates.ts";
import { DType, type DType as DTypeCode } from "../../../../src/numerics/dtype.ts";
import { toNumber } from "../../../../src/numerics/float32.ts";
import { applyOperation } from "../../../../src/program/expression.ts";
import { Op } from "../../../../src/program/operations.ts";
import { relevantOperands } from "../../../../testkit/numerics/elementaryCases.ts";
import { relevantOperands64, word64 } from "../../../../testkit/numerics/elementaryCases64.ts";
import { plainStep, whole } from "./elements.ts";
import { against, processorSeconds, type Worst } from "./measure.ts";

type Name = (typeof ELEMENTARY)[number];
type Exact = (x: number, y: number) => number;

/** Numbers of operands that need the definition, and of repeated evaluations with the same operands. */
const OPERANDS = 2 ** 12;
const AGAIN = 2 ** 18;
const OPERANDS_64 = 2 ** 10;

/**
 * Measures elementary functions on operands unsettled by any estimate. The functions are called like in loops, because
 * such operands are rare (one in 2^19). The programs in `operations` have settled operands.
 */
export async function measureElementary(): Promise<Worst[]> {
  const rows: Worst[] = [];
  for (const name of ELEMENTARY) {
    rows.push(...(await measured(name, DType.float32, EXACT[name]!)));
    for (const dtype of [DType.float16, DType.bfloat16])
      rows.push(...(await measured(name, dtype, HALF_HELPERS[halfName(name, dtype)]!)));
    rows.push(await ofFloat64(name));
  }
  return rows;
}

async function measured(name: Name, dtype: DTypeCode, exact: Exact): Promise<Worst[]> {
  const words = relevantOperands(name, 1, OPERANDS);
  const operands = words.map(([x, y]) => [toNumber(x), toNumber(y)] as const);
  const evaluate = (times: number) => () => {
    for (let n = 0; n < times; n++) exact(...operands[n % operands.length]!);
  };
  const sources = [dtype, dtype].map((type) => [type, AGAIN] as const);
  const code = [{ op: Op[name], dtype, a: 0, b: name === "pow" ? 1 : 0, c: 0 }];
  const programOf = (count: number) => ({
    inputs: [],
    steps: [plainStep(dtype, [count], sources, [whole(0, count), whole(1, count)], code)],
  });
  const first = await processorSeconds(evaluate(operands.length));
  const again = await processorSeconds(evaluate(AGAIN));
  return [
    against(`${name} of type ${dtype}, by the definition`, first, programOf(operands.length)),
    against(`${name} of type ${dtype}, kept results`, again, programOf(AGAIN)),
  ];
}

/**
 * Measures a float64 function: the definition computes every operand, and no result is kept; the slowest function is
 * erf next to 6.
 */
async function ofFloat64(name: Name): Promise<Worst> {
  const dtype = DType.float64;
  const operands = name === "erf" ? [[word64(5.99), 0n] as const] : relevantOperands64(name, OPERANDS_64);
  const seconds = await processorSeconds(() => {
    for (let n = 0; n < OPERANDS_64; n++) applyOperation(Op[name], dtype, ...operands[n % operands.length]!, 0n);
  });
  const sources = [dtype, dtype].map((type) => [type, OPERANDS_64] as const);
  const code = [{ op: Op[name], dtype, a: 0, b: name === "pow" ? 1 : 0, c: 0 }];
  const reads = [whole(0, OPERANDS_64), whole(1, OPERANDS_64)];
  const steps = [plainStep(dtype, [OPERANDS_64], sources, reads, code)];
  return against(`${name} of float64, by the definition`, seconds, { inputs: [], steps });
}
