import { expect } from "chai";
import { answerRun } from "../../../src/parties/tickets/answerRun.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { TicketPlayers } from "../../../testkit/players/ticketPlayers.ts";
import { carriedAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { runInputBytes } from "../../../testkit/programs/runProgram.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";
import { rejection } from "../../../testkit/rejection.ts";

const ITEMS = 8;
const PAYERS = 3;
const program = carriedAnswers();
const alone = executionOf();
/** The number of a payer's seed, and the byte that shows it. */
const SEED = 2;

const inputsOf = (payer: number): RunInputs => {
  const bytes = runInputBytes(ITEMS);
  bytes[SEED] = bytes[SEED]!.map((byte, k) => (k === 0 ? payer : byte));
  return new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, bytes);
};

describe("answers to payers at the same time", function () {
  this.timeout(240_000);
  let world: TicketPlayers;
  before(async () => {
    world = await TicketPlayers.create();
    await world.setClock();
  });
  after(() => world.close());

  it("areExecutedTogether_andAreThoseOfEachAlone_whetherOrNotOneIsLost", async () => {
    const together: number[][] = [];
    /** How many more items of the last payer are executed. */
    let left = Infinity;
    const item: Execute = (...args) =>
      args[1][SEED]![0] === PAYERS && left-- <= 0 ? Promise.reject(new Error("lost")) : alone(...args);
    const execute: Execute = Object.assign(item, {
      apart: (...[model, items]: Parameters<NonNullable<Execute["apart"]>>) => {
        together.push(items.map((inputs) => inputs[SEED]![0]!));
        return Promise.all(items.map((inputs) => item(model, inputs)));
      },
    });
    const serving = await world.serve(await world.workerKey(), program, execute);
    const payers = await Promise.all(
      Array.from({ length: PAYERS + 1 }, async (_, k) => {
        const asking = await world.ask(await world.payer(serving.at.account.address), serving.url);
        return { ...asking, inputs: inputsOf(k) };
      }),
    );
    const expected = await Promise.all(payers.map(({ inputs }) => answerRun(program, inputs, alone)));
    for (const isLost of [false, true]) {
      left = isLost ? 3 : Infinity;
      const asked = payers.map(({ payer, inputs }) => payer.ask(program, inputs));
      const lost = isLost ? rejection(asked[PAYERS]!) : undefined;
      const answers = await Promise.all(isLost ? asked.slice(0, PAYERS) : asked);
      answers.forEach(({ claim, outputs }, k) => {
        expect(claim.root).to.equal(expected[k]!.root);
        expect(outputs).to.deep.equal(expected[k]!.outputs);
      });
      await lost;
    }
    expect(together.some((of) => new Set(of).size > 1)).to.equal(true);
    for (const { ledger } of payers) ledger.end();
    await serving.stop();
  });
});
