import { expect } from "chai";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zeroAddress, zeroHash } from "viem";
import type { JobRecord } from "../../../src/chain/market/history.ts";
import type { Logger } from "../../../src/base/log.ts";
import { PayerInputs } from "../../../src/parties/tickets/payerInputs.ts";
import { PayerLedger } from "../../../src/parties/tickets/payerLedger.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { bytesProgram } from "../../../testkit/models/bytesModel.ts";
import { publishedRun } from "../../../testkit/programs/publishedRun.ts";

const BYTES = 100;
const program = bytesProgram(BYTES);

describe("a watcher's inputs from a payer's ledger", () => {
  const folder = mkdtempSync(join(tmpdir(), "refute-"));
  after(() => rmSync(folder, { recursive: true }));

  /** A job whose inputs are on no chain, and their bytes. */
  function jobOf(seed: number): { job: JobRecord; bytes: Uint8Array } {
    const bytes = Uint8Array.from({ length: BYTES }, (_, k) => (k * 7 + seed) & 0x7f);
    const inputs = new RunInputs(program.model.program.inputs, { items: 1, firstItem: 0 }, [bytes]);
    return { job: { ...publishedRun(program, inputs, seed), parts: new Map() }, bytes };
  }
  function hold(ledger: PayerLedger, { job, bytes }: ReturnType<typeof jobOf>): void {
    const { programRoot, inputsRoot } = job.job;
    const claim = { worker: zeroAddress, programRoot, inputsRoot, items: 1, firstItem: 0, root: zeroHash, issued: 1n };
    const held = { claim: claim as never, signature: "0x", nodes: "0x", inputs: [bytes], fate: "open" } as const;
    ledger.hold({ digest: job.id, ...held });
  }

  it("areFound_alsoAfterAnotherProcessHadTheFile_andForgottenWithTheirJobs", async () => {
    const path = join(folder, "ask.db");
    const [one, other, third] = [jobOf(1), jobOf(2), jobOf(3)];
    const ledger = await PayerLedger.open(path);
    hold(ledger, one);
    hold(ledger, third);
    const warnings: string[] = [];
    const log = { warn: ({ reason }: { reason: string }) => void warnings.push(reason) } as unknown as Logger;
    const inputs = new PayerInputs(path, log);
    // The payer asks, and has the file.
    expect([inputs.of(one.job), inputs.awaits(one.job)]).to.deep.equal([undefined, true]);
    await inputs.settled();
    expect([inputs.of(one.job), inputs.awaits(one.job)]).to.deep.equal([undefined, false]);
    expect(warnings.join()).to.match(/in use by another process/);
    ledger.end();
    const again = new PayerInputs(path, log);
    again.of(one.job);
    again.of(other.job);
    again.of(third.job);
    await again.settled();
    // All in one look.
    expect(warnings).to.have.length(1);
    for (const { job } of [one, third]) expect(again.of(job)!.list.root).to.equal(job.job.inputsRoot);
    expect([again.of(other.job), again.awaits(other.job)]).to.deep.equal([undefined, false]);
    again.keep(new Map());
    expect([again.of(one.job), again.awaits(one.job)]).to.deep.equal([undefined, true]);
    await again.settled();
    // The payer can ask again.
    (await PayerLedger.open(path)).end();
  });
});
