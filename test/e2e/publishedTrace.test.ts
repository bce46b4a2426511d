import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { DisputeGame } from "../../src/chain/clients/disputeGame.ts";
import { TransactionRevertedError } from "../../src/chain/errors.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { httpTensors, type TensorSource } from "../../src/program/trace/published.ts";
import { TracePublisher } from "../../src/parties/worker/publisher.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

describe("a published trace, end to end", function () {
  const program = mlpProgram();
  const lie = { step: 0, element: 150 };
  const players = usePlayers("suite");

  let seed = 60;
  /** A liar, who publishes its trace, and a watcher; the moves of the game between them, up to its end. */
  async function movesWith(sourceAt: (url: string) => TensorSource): Promise<string[]> {
    const publisher = new TracePublisher();
    const url = `http://127.0.0.1:${await publisher.listen(0)}`;
    const { requester, jobId, job } = await players().post(program, [mlpInput(seed++)]);
    const cheat = await players().startWorker(await players().workerKey(), program, reference(lie), { publisher });
    const key = await players().watcherKey();
    const watcher = await players().startWatcher(key, program, reference(), { tensors: sourceAt(url) });
    const { claimId } = await first(watcher, "differs", (e) => e.jobId === jobId);
    await first(watcher, "moved", ({ move, claimId: id }) => move === "prove" && id === claimId);
    await Promise.all([cheat.stop(), watcher.stop(), publisher.close()]);
    // Else the next liar would serve it.
    const { market } = requester.deployment;
    await requester.sender.send({ address: market, abi: jobMarketAbi, functionName: "cancel", args: [job] });
    const { history } = await followMarket(requester)();
    const claim = history.claims.get(claimId)!;
    expect(claim.refuted).to.equal(true);
    const [game] = claim.games;
    expect([game!.proved?.step, Number(game!.proved?.element)]).to.deep.equal([lie.step, lie.element]);
    return game!.moves.map(({ move }) => ["open", "reveal", "pick", "expand"][move]!);
  }

  it("ofAWrongClaim_isRead_andTheGameEndsWithTheProofAtOnce", async () => {
    expect(await movesWith((url) => httpTensors(url))).to.deep.equal(["open", "expand"]);
  });

  const lies: [string, (honest: TensorSource) => TensorSource][] = [
    ["thatIsNotThere", () => () => Promise.resolve(undefined)],
    ["whoseServerFails", () => () => Promise.reject(new Error("connection refused"))],
    [
      "cutShort",
      (tensors) =>
        async (...of) =>
          (await tensors(...of))?.subarray(4),
    ],
    [
      "tooLong",
      (tensors) =>
        async (...of) =>
          Buffer.concat([(await tensors(...of))!, Buffer.alloc(4)]),
    ],
    [
      "ofZeros",
      () =>
        ({ bytes }) =>
          Promise.resolve(new Uint8Array(bytes)),
    ],
    [
      "thatIsRightWhereTheClaimIsWrong",
      (tensors) =>
        async (...of) => {
          const tensor = Uint8Array.from((await tensors(...of))!);
          tensor[lie.element * 4 + 3]! ^= 0x3f;
          return tensor;
        },
    ],
    [
      "withAnotherLieThanTheClaims",
      (tensors) =>
        async (...of) =>
          (await tensors(...of))?.map((byte) => byte ^ 1),
    ],
  ];
  for (const [what, liar] of lies) {
    it(`${what}_costsNothing_theGameIsPlayedToItsEnd`, async () => {
      const moves = await movesWith((url) => liar(httpTensors(url)));
      expect(moves.slice(0, 2)).to.deep.equal(["open", "expand"]);
      expect(moves.filter((move) => move === "reveal").length).to.be.above(0);
    });
  }

  it("givenOnlyInTheWorkersTurn_whoseProofIsOvertakenByAReveal_isTriedOnceAGame", async () => {
    const publisher = new TracePublisher();
    const url = `http://127.0.0.1:${await publisher.listen(0)}`;
    const { jobId } = await players().post(program, [mlpInput(seed++)]);
    const cheat = await players().startWorker(await players().workerKey(), program, reference(lie), { publisher });
    const key = await players().watcherKey();
    const session = await players().chain.sessionOf(key);
    let proofs = 0;
    /** A reveal is always included first. */
    class Overtaken extends DisputeGame {
      override prove(): Promise<never> {
        proofs++;
        return Promise.reject(new TransactionRevertedError("prove", `0x${"00".repeat(32)}`));
      }
    }
    const game = new Overtaken(session.deployment.game, session);
    let isBait = false;
    const honest = httpTensors(url);
    const tensors: TensorSource = async (...of) => (isBait ? honest(...of) : undefined);
    let rounds = 0;
    const watcher = await players().startWatcher(key, program, reference(), {
      session: { ...session, game },
      tensors,
      onRound: () => rounds++,
    });
    await first(watcher, "differs", (event) => event.jobId === jobId);
    await first(cheat, "moved", ({ move }) => move === "expand");
    await cheat.stop();
    await first(watcher, "moved", ({ move }) => move === "pick");
    isBait = true;
    for (const end = rounds + 30; rounds < end;) await sleep(10);
    await Promise.all([watcher.stop(), publisher.close()]);
    expect(proofs).to.equal(1);
  });

  it("ofAServerThatNeverEnds_isGivenUp", async () => {
    const server = createServer((request, response) => {
      response.writeHead(200);
      if (request.url!.endsWith("/1")) response.write(Buffer.alloc(100_000));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const tensors = httpTensors(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 200);
    const named = { claimId: "0x", item: 0, bytes: 512 } as const;
    expect(await tensors({ ...named, step: 0 }).catch(() => "given up")).to.equal("given up");
    expect(await tensors({ ...named, step: 1 })).to.equal(undefined);
    server.closeAllConnections();
    server.close();
  });

  it("publisher_answersNothingButTheStepsOfItsClaims", async () => {
    const publisher = new TracePublisher();
    const url = `http://127.0.0.1:${await publisher.listen(0)}`;
    for (const path of ["", "/", "/0x12/0", `/0x${"0".repeat(64)}/0`, `/0x${"0".repeat(64)}/x`]) {
      expect((await fetch(`${url}${path}`)).status, path).to.equal(404);
    }
    await publisher.close();
  });
});
