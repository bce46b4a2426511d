import { expect } from "chai";
import { zeroAddress } from "viem";
import { rejection } from "../../testkit/rejection.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { ContractRevertError, TransactionRevertedError } from "../../src/chain/errors.ts";
import { ignoreOvertaken, playOnChain, type Players } from "../../web/playground/chainGame.ts";

/** Nobody is asked for a move. */
const nobody = {} as Players;

describe("web: a dispute on a chain", () => {
  it("movesThatAnotherWatcherCameBefore_areNoErrors", async () => {
    const before = new ContractRevertError("reveal", "StaleState", []);
    const meanwhile = new TransactionRevertedError("reveal", "0x12");
    for (const error of [before, meanwhile]) expect(await ignoreOvertaken(Promise.reject(error))).to.equal(false);
    expect(await ignoreOvertaken(Promise.resolve(1))).to.equal(1);
    const other = new ContractRevertError("reveal", "ClockOver", []);
    expect(await rejection(ignoreOvertaken(Promise.reject(other)))).to.equal(other);
  });

  it("keysThatEverybodyKnows_signOnDevelopmentChainsOnly", async () => {
    const asked: string[] = [];
    const request = ({ method }: { method: string }): Promise<unknown> => {
      asked.push(method);
      return Promise.resolve("0x1");
    };
    const rpc = await serveRpc({ request });
    try {
      const target = { rpc: rpc.url, market: zeroAddress, fromBlock: 0n, exams: undefined, panels: undefined };
      const error = await rejection(playOnChain(target, nobody, () => undefined, new AbortController().signal));
      expect(error).to.have.property("code", "PLAYGROUND_CHAIN");
      expect(error.message).to.include("the chain is 1");
      expect(asked).to.deep.equal(["eth_chainId"]);
    } finally {
      await rpc.close();
    }
  });
});
