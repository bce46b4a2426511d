import { expect } from "chai";
import { DType } from "../../../src/numerics/dtype.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { jobRequest } from "../../../src/parties/requester/postJob.ts";
import { postingGas } from "../../../src/parties/requester/postingGas.ts";
import { runProgram } from "../../../testkit/programs/runProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { gasOf } from "../../../testkit/protocol/world.ts";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";

/** A program of which each item takes a tensor of a few bytes. */
function smallInputs(bytes: number) {
  const { model } = runProgram();
  const inputs = [{ dtype: DType.uint8, count: bytes, source: { kind: "each" } }] as const;
  const program = { ...model.program, inputs };
  return describeProgram(
    knownProgram({
      ...model,
      program,
      programRoot: commitProgram(program).programRoot,
      inputs: [{ name: "x", dtype: DType.uint8, shape: [bytes] }],
    }),
  );
}

describe("posting many small tensors", () => {
  const world = useWorld();
  const program = smallInputs(3);
  const request = async (items: number) => {
    const deadline = BigInt((await world().networkHelpers.time.latest()) + 86_400);
    const inputs = [Uint8Array.from({ length: 3 * items }, (_, k) => 1 + (k % 255))];
    return jobRequest(program, inputs, { items, fee: 1n, window: 80_000, claimSeconds: 600, deadline });
  };

  itAtLength("asManyAsOneTransactionTakes_goWithThePost", async () => {
    const posted = await request(4_000);
    expect(posted.inputs.length).to.equal(1);
    const gas = await gasOf(world(), await world().market.write.post([posted], { account: world().requester.account }));
    expect(gas < 12_000_000n, String(gas)).to.equal(true);
    const estimate = postingGas(program, 4_000);
    expect(Number(gas)).to.be.below(estimate.gas);
    expect(estimate.transactions).to.equal(3);
  });

  itInTime("more_goInPartsAfterIt", async () => {
    const posted = await request(4_001);
    expect(posted.inputs).to.deep.equal([]);
    expect(postingGas(program, 4_001).transactions).to.equal(3 + 4_001);
  });
});
