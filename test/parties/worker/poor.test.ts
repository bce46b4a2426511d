import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { parseGwei, zeroAddress } from "viem";
import { withMargin } from "../../../src/chain/gasLimit.ts";
import { emptyHistory, type ClaimRecord, type GameRecord, type JobRecord } from "../../../src/chain/market/history.ts";
import { sideGas } from "../../../src/dispute/sideGas.ts";
import { programShape } from "../../../src/dispute/run/execution.ts";
import { Executions } from "../../../src/runs/executions.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { shortOfGas } from "../../../src/parties/role/shortFunds.ts";
import { WorkerGas } from "../../../src/parties/worker/gasNeeded.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";

const ARITY_BITS = 4;
const GAME = "0x01";

describe("a worker with little ether", function () {
  const players = usePlayers("test");
  const program = mlpProgram();

  it("claimsNothing_untilItCanPayForTheJobAndAGameOverIt", async function () {
    const key = await players().workerKey();
    const { jobId } = await players().post(program, [mlpInput(1)]);
    const { publicClient } = await players().chain.sessionOf(key);
    const setBalance = (wei: bigint): Promise<unknown> => {
      const params = [players().addressOf(key), `0x${wei.toString(16)}`];
      return players().chain.provider.request({ method: "hardhat_setBalance", params });
    };
    // A claim takes about 80,000 gas.
    await setBalance(200_000n * (await publicClient.getGasPrice()));
    let rounds = 0;
    const worker = await players().startWorker(key, program, reference(), { onRound: () => rounds++ });
    for (const end = rounds + 20; rounds < end;) await sleep(10);
    expect(worker.inbox.all).to.deep.equal([]);
    await setBalance(10n ** 18n);
    await first(worker, "submitted", (event) => event.jobId === jobId);
    await worker.stop();
  });

  it("needsGasForEachGameOverAClaim_howeverManyThereAre", function () {
    const shape = programShape(program);
    const root = program.model.programRoot;
    const executions = new Executions(ProgramLibrary.of([program]), reference());
    const terms = { callbackGas: 0, maxOutputBytes: 0, items: 1, answers: 0 };
    const needed = (games: number): number => {
      const history = emptyHistory();
      const job = { id: "0x02", job: { programRoot: root, deliverables: 0n, ...terms } };
      const claim = {
        id: "0x03",
        jobId: job.id,
        claim: { job: job.job, worker: zeroAddress },
        games: Array.from({ length: games }, () => ({ id: GAME }) as unknown as GameRecord),
        delivered: new Map(),
        finalised: false,
        refuted: false,
        reclaimed: false,
      };
      history.jobs.set("0x02", job as unknown as JobRecord);
      history.claims.set("0x03", claim as unknown as ClaimRecord);
      return new WorkerGas(ARITY_BITS).needed(history, zeroAddress, [shape], executions);
    };
    expect(needed(1)).to.equal(needed(0));
    expect(needed(50) - needed(1)).to.equal(49 * sideGas(shape, 1, "trace", ARITY_BITS).worker);
  });

  it("accountThatIsNotShort_hasTheGasLimitOfADearProofAtItsMaximumFee_asPoolsAskFor", function () {
    const [estimate, base, tip] = [11_000_000n, parseGwei("20"), parseGwei("1")];
    const gasPrice = base + tip;
    // What viem advises.
    const maxFeePerGas = (base * 12n) / 10n + tip;
    const poolAsksFor = withMargin(estimate) * maxFeePerGas;
    const account = { owner: zeroAddress, gasPrice };
    expect(shortOfGas({ ...account, balance: poolAsksFor - 1n }, 12_000_000, "a game")).to.not.equal(undefined);
  });
});
