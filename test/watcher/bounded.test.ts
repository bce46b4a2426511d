import { expect } from "chai";
import type { Hex } from "viem";
import { emptyHistory, type ClaimRecord, type JobRecord } from "../../src/chain/market/history.ts";
import { programFacts } from "../../src/dispute/run/execution.ts";
import { ONE_ITEM } from "../../src/program/run.ts";
import { Executions } from "../../src/runs/executions.ts";
import { reference } from "../../testkit/players/players.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { Auditor } from "../../watcher/auditor.ts";

const idOf = (k: number): Hex => `0x${k.toString(16).padStart(64, "0")}`;

describe("what a watcher remembers of thousands of claims", () => {
  it("verdictsAndExecutions_areBounded", async function () {
    const history = emptyHistory();
    const unknown = { job: { programRoot: idOf(0) }, parts: new Map() } as JobRecord;
    const auditor = new Auditor(new Executions(new ProgramLibrary(), reference()), 4);
    const claimOf = (k: number): ClaimRecord => ({ id: idOf(k), claim: {} }) as ClaimRecord;
    for (let k = 0; k < 25_000; k++) {
      const claim = claimOf(k);
      history.claims.set(claim.id, claim);
      history.claims.delete(idOf(k - 100));
      await auditor.judge(unknown, claim, 0);
      auditor.forget(history);
    }
    const remembered = Array.from({ length: 25_000 }, (_, k) => k).filter((k) => auditor.isDone(unknown, claimOf(k)));
    expect(remembered.length).to.be.at.most(10_001);
    expect(remembered).to.include(24_999);
  });

  it("executions_takeTheBudget_andTheLatestOne", async () => {
    const program = mlpProgram();
    const input = mlpInput(1);
    const budget = 2e5;
    const executions = new Executions(ProgramLibrary.of([program]), reference(), budget);
    const inputRoots = [tensorRoot(input)];
    const { root } = MerkleList.fromHashes(inputRoots);
    let largest = 0;
    for (let k = 0; k < 200; k++) {
      const parts = new Map([[0, new Map([[0, toHex(input)]])]]);
      const job = { programRoot: program.model.programRoot, inputsRoot: root, ...ONE_ITEM, answers: 0 };
      const record = { id: idOf(k), job, program: programFacts(program.commitment), inputRoots, parts, claims: [] };
      expect(await executions.of(record as unknown as JobRecord)).not.to.equal(undefined);
      largest = Math.max(largest, executions.bytes);
    }
    expect(largest).to.be.within(budget / 4, budget);
  });
});
