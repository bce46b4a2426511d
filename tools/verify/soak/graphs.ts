import fc from "fast-check";
import { graphs } from "../../../testkit/graphs/arbitrary.ts";
import { disagreement, type Tally, type Variant } from "../../../testkit/graphs/check.ts";

const NODES = 12;

/**
 * Random ONNX graphs from a seed: every executor and every fusion must give the same bits.
 * @returns the smallest graph that was found to disagree, in words, or undefined
 */
export async function soakGraphs(
  seed: number,
  numRuns: number,
  variants: readonly Variant[],
  tally: Tally,
): Promise<string | undefined> {
  const property = fc.asyncProperty(graphs(NODES), async (graph) => {
    const what = await disagreement(graph, variants, tally);
    if (what !== undefined) throw new Error(what);
  });
  const result = await fc.check(property, { seed, numRuns });
  return result.failed ? fc.defaultReportMessage(result) : undefined;
}
