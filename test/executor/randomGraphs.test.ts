import { expect } from "chai";
import fc from "fast-check";
import { compile } from "../../src/compiler/compile.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { modelOf } from "../../testkit/onnx/agreement.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { CASES } from "../../testkit/operators/cases.ts";
import { MICROSOFT_CASES } from "../../testkit/operators/microsoftCases.ts";
import { graphs } from "../../testkit/graphs/arbitrary.ts";
import { disagreement, executorsDisagree, newTally } from "../../testkit/graphs/check.ts";
import { disturb } from "../../testkit/graphs/data.ts";
import { openVariants } from "../../testkit/graphs/variants.ts";
import { RandomTensors } from "../../testkit/random/tensors.ts";
import { AT_LENGTH, itAtLength } from "../../testkit/atLength.ts";

const RUNS = Number(process.env.REFUTE_GRAPHS ?? (AT_LENGTH ? 250 : 40));
const SEED = Number(process.env.REFUTE_SEED ?? 1);
const NODES = 6;

describe("executors on random ONNX graphs", function () {
  this.timeout(600_000);
  let opened: Awaited<ReturnType<typeof openVariants>>;

  before(async () => void (opened = await openVariants()));
  after(() => opened.close());

  it("everyExecutorAndEveryFusion_givesTheSameBits", async () => {
    const tally = newTally();
    await fc.assert(
      fc.asyncProperty(graphs(NODES), async (graph) => {
        const what = await disagreement(graph, opened.variants, tally);
        if (what !== undefined) expect.fail(what);
      }),
      { seed: SEED, numRuns: RUNS },
    );
    if (process.env.REFUTE_SHOW) console.log(tally.graphs, tally.steps, tally.operators, tally.refused);
    const refused = [...tally.refused.values()].reduce((sum, times) => sum + times, 0);
    expect(refused).to.be.at.most(tally.graphs / 10);
    expect(tally.operators.size).to.be.at.least(Math.min(80, RUNS / 4));
  });

  itAtLength("everyOperator_onEdgeWords_givesTheSameBits", async () => {
    const microsoft = Object.entries(MICROSOFT_CASES).map(
      ([name, makers]) => [`com.microsoft.${name}`, makers] as const,
    );
    const random = new RandomTensors(new Prng(SEED));
    for (const [operator, makers] of [...Object.entries(CASES), ...microsoft]) {
      for (const make of makers) {
        const experiment = make(random);
        const model = compile(readModel(modelOf(experiment)), { shapes: {} });
        const inputs = model.inputs.map(({ name }, k) => disturb(experiment.operands[name]!, SEED + k).bytes);
        const what = await executorsDisagree(model, inputs, executeReference(model, inputs), opened.variants);
        if (what !== undefined) expect.fail(`${operator}: ${what}`);
      }
    }
  });
});
