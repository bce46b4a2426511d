import { expect } from "chai";
import { parseEther, zeroHash } from "viem";
import { ClaimStatus } from "../../../src/chain/structs.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { FACE, TicketPlayers, type Serving } from "../../../testkit/players/ticketPlayers.ts";
import { apartAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { runInputBytes } from "../../../testkit/programs/runProgram.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";

const program = apartAnswers("two");
const honest = executionOf();
const inputs = new RunInputs(program.model.program.inputs, { items: 1, firstItem: 0 }, runInputBytes(1));

/** All that a side writes to its disk or to the chain between a request and its money. */
const WRITES = {
  worker: ["reserve", "signed", "paid", "submitAndCash", "collect", "close"],
  payer: ["hold", "ticketed", "sent"],
} as const;
type Kill = { side: keyof typeof WRITES; write: string; when: "before" | "after" };
const KILLS: readonly Kill[] = Object.entries(WRITES).flatMap(([side, writes]) =>
  writes.flatMap((write) =>
    (["before", "after"] as const).map((when) => ({ side: side as Kill["side"], write, when })),
  ),
);

/** Ends a side's life at a write: nothing of all it does afterwards reaches disk or chain. */
function killAt(parts: readonly object[], { write, when }: Kill): void {
  let isDead = false;
  const all: readonly string[] = [...WRITES.worker, ...WRITES.payer, "release"];
  const die = (): never => {
    isDead = true;
    throw new Error("killed");
  };
  for (const part of parts as Record<string, (...args: unknown[]) => unknown>[])
    for (const name of all) {
      const own = part[name]?.bind(part);
      if (own === undefined) continue;
      part[name] = (...args) => {
        if (isDead || (name === write && when === "before")) die();
        const result = own(...args);
        if (name !== write) return result;
        return result instanceof Promise ? result.then(die) : die();
      };
    }
}

describe("a worker or a payer that is killed", function () {
  this.timeout(300_000);
  let world: TicketPlayers;
  let key: `0x${string}`;
  before(async () => {
    world = await TicketPlayers.create();
    key = await world.workerKey();
    await world.setClock();
  });
  after(() => world.close());

  it("atAnyWrite_losesAtMostOneRequest_andNobodysMoneyIsWrong", async () => {
    const cases: {
      kill: Kill;
      serving: Serving;
      asking: Awaited<ReturnType<TicketPlayers["ask"]>>;
      at: Serving["at"];
    }[] = [];
    for (const kill of KILLS) {
      let serving = await world.serve(key, program, honest);
      const at = await world.payer(serving.at.account.address);
      let asking = await world.ask(at, serving.url);
      killAt(kill.side === "worker" ? [serving.ledger, serving.at.tickets] : [asking.ledger], kill);
      try {
        const { digest } = await asking.payer.ask(program, inputs);
        await asking.payer.pay(digest);
        await serving.cashier.round();
      } catch {
        // Whoever lives sees an endpoint that fails, or none.
      }
      asking.ledger.end();
      await serving.stop();
      // Both come back with what they had written.
      serving = await world.serve(key, program, honest, {}, serving.path);
      asking = await world.ask(at, serving.url, {}, asking.path);
      await asking.payer.payRest();
      // Money comes later: these lives end then.
      if (kill.write === "collect" || kill.write === "close") killAt([serving.ledger, serving.at.tickets], kill);
      await serving.cashier.round();
      cases.push({ kill, serving, asking, at });
    }
    await makeFinal(cases.map(({ serving }) => serving));
    let paid = 0n;
    for (const { kill, serving, asking, at } of cases) {
      const name = `${kill.side} ${kill.when} ${kill.write}`;
      await serving.cashier.round();
      await serving.stop();
      const again = await world.serve(key, program, honest, {}, serving.path);
      await again.cashier.round();
      // Cashed by a life that was killed: by now it can be final.
      await makeFinal([again]);
      // What was collected is closed a round later.
      await again.cashier.round();
      await again.cashier.round();
      expect(again.ledger.winners(), name).to.deep.equal([]);
      // What the payer does not have it does not pay: its worker has worked for nothing, once.
      const isLost = ["reserve", "signed"].includes(kill.write) || (kill.write === "hold" && kill.when === "before");
      const { free } = await at.tickets.depositOf(at.account.address, asking.payer.worker);
      expect(free, name).to.equal(parseEther("1") - (isLost ? 0n : FACE));
      expect((again.ledger.counts().get("signed") ?? 0) <= 1, name).to.equal(true);
      if (!isLost) paid += FACE;
      asking.ledger.end();
      await again.stop();
    }
    const { at } = cases[0]!;
    expect(await at.tickets.earnings(cases[0]!.asking.payer.worker)).to.equal(paid);
  });

  /** Lets the windows of all claims pass, and has the worker end them. */
  async function makeFinal(all: readonly Serving[]): Promise<void> {
    const ids: `0x${string}`[] = [];
    for (const { ledger, at } of all)
      for (const { digest } of ledger.winners()) {
        const id = await at.tickets.claimIdOf(digest);
        if (id !== zeroHash) ids.push(id);
      }
    const { pledges } = all[0]!.at;
    const isOpen = async (id: `0x${string}`) => (await pledges.statusOf(id)).status === ClaimStatus.submitted;
    const open = async () => (await Promise.all(ids.map(isOpen))).some(Boolean);
    if (!(await open())) return;
    await world.players.chain.advance(2_000);
    await world.setClock();
    const following = world.follow(all[0]!, program, honest);
    for (let k = 0; k < 4_000 && (await open()); k++) await new Promise((resolve) => setTimeout(resolve, 25));
    await following.stop();
  }
});
