import { DECODER } from "../../compiler/wraps/wrapDecoder.ts";
import { textInfos } from "../../native/decoder/text.ts";
import { isZeros } from "../../program/merkle/tensor.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { carriesState } from "../../program/run.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";

/** The native executions that make up a run: how many, and what the runtime takes for each. */
type NativeExecutions = { count: number; inputs: (execution: number) => readonly Uint8Array[] };

/**
 * Inputs of a wrapped decoder not taken by a runtime. The inputs have no effect on a text without randomly drawn
 * tokens.
 */
const WITHOUT_EFFECT: readonly string[] = [DECODER.topK, DECODER.topP, DECODER.seed];

/**
 * Returns one execution for each item, or one execution for a wrapped decoder's whole text. @returns the reason, for a
 * run that has no native executions
 */
export function nativeExecutions(model: CompiledModel, run: RunInputs): NativeExecutions | string {
  const { items, firstItem } = run.length;
  if (!carriesState(model.program.inputs)) return { count: items, inputs: (item) => run.of(item) };
  const taken = textInfos(model).map(({ name }) => name);
  const given = new Map(model.inputs.map(({ name }, k) => [name, run.bytes[k]!]));
  if (firstItem !== 0) return `the run begins with item ${firstItem}, not with 0`;
  for (const [name, bytes] of given)
    if (!taken.includes(name) && !WITHOUT_EFFECT.includes(name) && !isZeros(bytes))
      return name === DECODER.temperature ? "its tokens are drawn" : `${name} does not begin with zeros`;
  given.set(DECODER.index, new Uint8Array(BigInt64Array.of(BigInt(items - 1)).buffer));
  return { count: 1, inputs: () => taken.map((name) => given.get(name)!) };
}
