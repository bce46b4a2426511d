import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { numberToHex } from "viem";
import { programFacts } from "../../../src/dispute/run/execution.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { ONE_ITEM } from "../../../src/program/run.ts";
import { coveringFee, jobGas, jobShape } from "../../../src/dispute/jobCost.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { programShape } from "../../../src/dispute/run/execution.ts";

describe("a worker whose policy asks for no profit", function () {
  const players = usePlayers("test");
  const program = mlpProgram();
  const policy = { minFee: 0n, marginSeconds: 10 };

  /** Starts a worker, and keeps what it logs about jobs that pay too little. @param says How such lines begin. */
  async function startWorker(says = "job not taken") {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string): void => {
      const read = JSON.parse(line) as Record<string, unknown>;
      if (String(read.msg).startsWith(says)) lines.push(read);
    };
    let rounds = 0;
    const options = { policy, log: pino({}, { write }), onRound: () => rounds++ };
    const worker = await players().startWorker(await players().workerKey(), program, reference(), options);
    const someRounds = async (): Promise<void> => {
      for (const end = rounds + 10; rounds < end;) await sleep(10);
    };
    return { worker, lines, someRounds };
  }

  it("takesNoJobWhoseFeeIsBelowItsGas_saysSoOnceWithTheNumbers_andTakesOneThatCoversIt", async function () {
    const { worker, lines, someRounds } = await startWorker();
    const { jobId } = await players().post(program, [mlpInput(1)], { fee: 10n ** 12n });
    await someRounds();
    expect(worker.inbox.all.map(({ kind }) => kind)).to.deep.equal([]);
    expect(lines).to.have.length(1);
    const [{ job, fee, gas, gasPrice, cost }] = lines as [Record<string, string>];
    expect([job, fee]).to.deep.equal([jobId, String(10n ** 12n)]);
    expect(Number(gasPrice)).to.be.at.least(10 ** 9);
    expect(cost).to.equal(String(coveringFee({ total: Number(gas) }, BigInt(gasPrice!))));
    const covering = await players().post(program, [mlpInput(2)], { fee: 2n * BigInt(cost!) });
    const { jobId: claimed } = await first(worker, "claimed");
    expect(claimed).to.equal(covering.jobId);
    await worker.stop();
    expect(lines).to.have.length(1);
  });

  it("isNotMadeToDeliverForNothing_byAJobThatTheMarketTookWithoutAFee", async function () {
    const { worker, lines, someRounds } = await startWorker();
    const requester = await players().chain.newSession();
    const inputs = [mlpInput(3)];
    await requester.market.post({
      program: programFacts(program.commitment),
      inputRoots: inputs.map(tensorRoot),
      inputs: inputs.map(toHex),
      ...ONE_ITEM,
      fee: 0n,
      window: 3_600,
      claimSeconds: 1_800,
      deadline: (await players().chain.now()) + 86_400n,
      callbackGas: 0,
      maxOutputBytes: 4_096,
      rootOnly: false,
      terms: [],
      answer: false,
      salt: tensorRoot(inputs[0]!),
    });
    await someRounds();
    await worker.stop();
    expect(worker.inbox.all.map(({ kind }) => kind)).to.deep.equal([]);
    expect(lines.map(({ fee }) => fee)).to.deep.equal(["0"]);
  });

  it("whatItEarns_isAboveWhatItsGasCost_atTheLeastFeeThatItTakes", async function () {
    const { worker } = await startWorker();
    const session = await players().chain.newSession();
    const { arityBits } = session.deployment.parameters;
    const gas = jobGas(
      jobShape(programShape(program), { callbackGas: 0, maxOutputBytes: 4_096, items: 1, answers: 0 }, arityBits),
    );
    const fee = coveringFee(gas, 2n * 10n ** 9n);
    await players().post(program, [mlpInput(4)], { fee, maxOutputBytes: 4_096 });
    await first(worker, "submitted");
    await players().chain.advance(3_601);
    await first(worker, "delivered");
    await worker.stop();
    const receipts = worker.inbox.all.flatMap((event) => ("receipt" in event ? [event.receipt] : []));
    expect(receipts).to.have.length(3);
    const spent = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n);
    expect(spent < fee, `${spent} of ${fee}`).to.equal(true);
  });

  it("deliversAtNoCostAboveTheFee_finalises_saysSoOnceWithTheNumbers_andDeliversAtALowerPrice", async function () {
    const { worker, lines, someRounds } = await startWorker("not delivered now");
    const { chain } = players();
    const { arityBits } = (await chain.newSession()).deployment.parameters;
    const gas = jobGas(
      jobShape(programShape(program), { callbackGas: 0, maxOutputBytes: 4_096, items: 1, answers: 0 }, arityBits),
    );
    const fee = coveringFee(gas, 2n * 10n ** 9n);
    const { jobId } = await players().post(program, [mlpInput(5)], { fee, maxOutputBytes: 4_096 });
    await first(worker, "submitted");
    const setBaseFee = (wei: bigint) =>
      chain.provider.request({ method: "hardhat_setNextBlockBaseFeePerGas", params: [numberToHex(wei)] });
    await setBaseFee(100n * 10n ** 9n);
    await chain.advance(3_601);
    const { claimId } = await first(worker, "finalised");
    await chain.advance(60);
    await someRounds();
    expect(worker.inbox.all.map(({ kind }) => kind)).to.not.include("delivered");
    expect(lines).to.have.length(1);
    const [line] = lines as [Record<string, string>];
    expect(line).to.include({ jobId, claimId, fee: String(fee) });
    expect(line.cost).to.equal(String(BigInt(line.gas!) * BigInt(line.gasPrice!)));
    expect(BigInt(line.cost!) > fee).to.equal(true);
    await setBaseFee(10n ** 9n);
    await chain.advance(600);
    await first(worker, "delivered");
    await worker.stop();
  });
});
