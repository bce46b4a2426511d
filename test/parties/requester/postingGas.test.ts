import { expect } from "chai";
import { parseEther } from "viem";
import { deposit } from "../../../src/chain/market/deposit.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { estimateFee } from "../../../src/parties/requester/estimateFee.ts";
import { minWindow, postJob } from "../../../src/parties/requester/postJob.ts";
import { postingGas } from "../../../src/parties/requester/postingGas.ts";
import { startLocalChain, type LocalChain } from "../../../src/deploy/demo/localChain.ts";
import { coveringFee } from "../../../src/dispute/jobCost.ts";
import { bytesProgram } from "../../../testkit/models/bytesModel.ts";

describe("quotes", function () {
  this.timeout(120_000);
  let chain: LocalChain;
  before(async () => void (chain = await startLocalChain()));
  after(() => chain.close());

  const cases: [bytes: number, references?: string[]][] = [[64], [10_000], [65_536], [140_000]];
  cases.push([140_000, ["https://files.example/inputs.bin"]]);
  for (const [bytes, references] of cases)
    it(`postingGas_of${bytes}Bytes${references ? "ThatLieElsewhere" : ""}_isAnUpperBoundNearWhatIsBurnt`, async () => {
      const program = describeProgram(bytesProgram(bytes));
      const session = await chain.newSession(parseEther("1"));
      const { address } = session.sender;
      const block = await session.publicClient.getBlockNumber();
      await deposit(session, parseEther("0.1"));
      const deadline = (await chain.now()) + 86_000n;
      const terms = {
        fee: parseEther("0.1"),
        window: minWindow(session, program),
        claimSeconds: 1_800,
        deadline,
        references,
      };
      const input = Uint8Array.from({ length: bytes }, (_, k) => 1 + (k % 255));
      await postJob(session, program, [input], terms);
      const estimate = postingGas(program, 1, undefined, references);
      let [burnt, sent] = [0n, 0];
      for (let at = block + 1n; at <= (await session.publicClient.getBlockNumber()); at++) {
        const { transactions, gasUsed } = await session.publicClient.getBlock({
          blockNumber: at,
          includeTransactions: true,
        });
        if (!transactions.some(({ from }) => from === address.toLowerCase())) continue;
        burnt += gasUsed;
        sent += transactions.length;
      }
      expect(sent).to.equal(estimate.transactions);
      expect(estimate.inputBytes).to.equal(references ? 0 : bytes);
      expect(estimate.gas)
        .to.be.at.least(Number(burnt))
        .and.lessThan(Number(burnt) * 1.3);
    });

  it("estimateFee_isTheCoveringFeeAtThePriceOfNow", async () => {
    const session = await chain.newSession();
    const { fee, gas, gasPrice } = await estimateFee(session, describeProgram(bytesProgram(64)));
    expect(fee).to.equal(coveringFee(gas, gasPrice));
    expect(gas.total).to.be.greaterThan(100_000);
  });
});
