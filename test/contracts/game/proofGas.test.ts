import { expect } from "chai";
import { serializeTransaction, size } from "viem";
import { constantBytes } from "../../../src/program/constants.ts";
import { estimateStepProof, gameGas } from "../../../src/program/gas.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { lyingTrace } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { wideProgram } from "../../../testkit/protocol/wideProgram.ts";
import { openStepGasMeter } from "../../../testkit/verifier/stepGas.ts";
import { submitted } from "../../../testkit/protocol/world.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";

/** Elements, checkpoints before the last range, steps of the last range, tensors that a step reads, outputs. */
const PROGRAMS: readonly Parameters<typeof wideProgram>[] = [
  [130, 2, 3, 1],
  [130, 40, 20, 3],
  [2_000, 120, 60, 7],
  [4_000, 30, 14, 12],
  [1_000, 250, 4, 16],
  [4_000, 250, 60, 16, 64],
];

/** The bytes of the last transaction, as it was sent. */
async function sentBytes({ client }: World): Promise<number> {
  const { transactions } = await client.getBlock({ includeTransactions: true });
  const { input, to, chainId, nonce, gas, maxFeePerGas = 0n, r, s } = transactions.at(-1)!;
  const fees = { gas, maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas };
  const transaction = { type: "eip1559", to, data: input, chainId: chainId!, nonce, ...fees } as const;
  return size(serializeTransaction(transaction, { r, s, yParity: 1 }));
}

describe("estimateStepProof against whole games", function () {
  this.timeout(120_000);
  const world = useWorld();

  for (const shape of PROGRAMS) {
    it(`aStepOf${shape[3]}Inputs_inAProgramOf${shape[4] ?? 1}Outputs_estimateIsNotBelowTheTransaction`, async () => {
      const [count, checkpoints] = shape;
      const subject = wideProgram(...shape);
      const step = subject.program.steps.length - 1;
      const element = count - 1;
      const trace = lyingTrace(subject, step, element);
      const game = new GameDriver(world(), subject, trace, await submitted(world(), subject, trace));
      await game.descend(checkpoints, step, element);
      await game.prove(element);
      const { move, gas } = game.gas.at(-1)!;
      const { inputs } = subject.program.steps[step]!;
      const meter = await openStepGasMeter();
      const sources = inputs.map((ref) =>
        ref.kind === "constant"
          ? constantBytes(subject.model.constants, ref)
          : ref.kind === "input"
            ? subject.input
            : trace.tensor(ref.index),
      );
      const own = Number(gas) - (await meter.measure(subject.program.steps[step]!, element, sources));
      const reserved = gameGas(inputs.length);
      const { gas: estimate, bytes } = estimateStepProof(subject.program.steps[step]!);
      const sent = await sentBytes(world());
      if (process.env.REFUTE_SHOW)
        console.log(
          shape.join(),
          Number(gas),
          estimate,
          (estimate / Number(gas)).toFixed(2),
          own,
          reserved,
          sent,
          bytes,
        );
      expect(move).to.equal("prove");
      expect(reserved).to.be.at.least(own);
      expect(estimate).to.be.at.least(Number(gas));
      expect(bytes).to.be.at.least(sent);
    });
  }
});
