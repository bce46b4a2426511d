import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { zeroHash, type Address, type Hex } from "viem";
import { runWatcher } from "../../../../watcher/watcher.ts";
import { PledgedClaimsReader } from "../../../chain/clients/pledgedClaims.ts";
import { TicketsReader } from "../../../chain/clients/tickets.ts";
import { SILENT } from "../../../base/log.ts";
import { ReceiptError } from "../../../parties/gateway/errors.ts";
import { firstLie } from "../../../parties/gateway/receiptParts.ts";
import { answerOfBytes } from "../../../parties/tickets/answerRun.ts";
import { landClaim } from "../../../parties/tickets/landClaim.ts";
import { ticketSession, type TicketSession } from "../../../parties/tickets/ticketSession.ts";
import { ClaimStatus, PledgeStatus } from "../../../chain/structs.ts";
import { digestOf } from "../../../parties/tickets/typedData.ts";
import { heldInputs } from "../../../runs/inputs/heldInputs.ts";
import { FastExecutors } from "../../../runs/fastExecutors.ts";
import { ProgramLibrary } from "../../../runs/programLibrary.ts";
import type { Execute } from "../../../runs/execute.ts";
import { timeText } from "../../amount.ts";
import { readerFrom, sessionFrom } from "../../chainSettings.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadAccount } from "../../keys.ts";
import type { Output } from "../../output.ts";
import { openReceiptFile, receiptSettings, type Opened } from "../../receipts.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** Pause between rounds and looks, milliseconds. */
const INTERVAL_MS = 2_000;

/** `refute text receipt`: check a receipt, or refute a lie that it shows. */
export function receiptCommand(output: Output): Command {
  const command = new Command("receipt")
    .description("verify a receipt: render, tokenise, check each signature and execute again; or refute a lie in it")
    .argument("<what>", "verify, or refute: put the lie on chain and play until it is refuted")
    .argument("<file>", "the receipt, or an answer of the gateway that has it")
    .action(async (what: string, file: string, _options: unknown, command: Command) => {
      if (what !== "verify" && what !== "refute")
        throw new UsageError(`${what}: expected verify or refute, for example refute text receipt verify FILE`);
      const values = readSettings(command, receiptSettings);
      const reader = await readerFrom(values);
      const claimLifetime = await new TicketsReader(values.tickets, reader).claimLifetime();
      const opened = await openReceiptFile(file, values, claimLifetime, output);
      const executors = new FastExecutors();
      try {
        const lie = await firstLie(opened, executors.execute);
        const { receipt, runs } = opened;
        const { timestamp } = await reader.publicClient.getBlock();
        const until = (k: number): bigint => runs[k]!.claim.issued + BigInt(claimLifetime);
        const { worker } = runs[lie ?? 0]!.claim;
        if (what === "verify") {
          const pledge = await new PledgedClaimsReader(values.market, reader).pledgeOf(worker);
          return answerVerdict(output, {
            opened,
            lie,
            worker,
            pledge: pledge.status,
            isLate: timestamp > until(lie ?? 0),
          });
        }
        if (lie === undefined) throw new ReceiptError("blocks", "are all right: there is nothing to refute");
        if (timestamp > until(lie))
          throw new ReceiptError(
            "refutableUntil",
            `is over: block ${lie} could be put on chain until ${timeText(until(lie))}. ` +
              "The receipt still shows the lie",
          );
        const account = await loadAccount(values);
        const at = await ticketSession(await sessionFrom(values, undefined, account), values.tickets, account);
        const claimId = await refuteBlock(at, opened, lie, executors.execute);
        output.answer(
          { id: receipt.id, block: lie, worker, claim: claimId, refuted: true },
          `block ${lie} of ${receipt.id} is refuted: the worker ${worker} lied`,
        );
      } finally {
        await executors.close();
      }
    });
  return addExamples(
    addSettings(command, receiptSettings),
    "text receipt verify answer.json --request request.json --models models.json --texts texts.json --tickets 0x...",
    "text receipt refute answer.json --request request.json --models models.json --texts texts.json --tickets 0x...",
  );
}

const PLEDGES = Object.fromEntries(Object.entries(PledgeStatus).map(([name, status]) => [status, name]));

function answerVerdict(
  output: Output,
  of: { opened: Opened; lie: number | undefined; worker: Address; pledge: PledgeStatus; isLate: boolean },
): void {
  const { opened, lie, worker, pledge, isLate } = of;
  const { id, usage, refutableUntil } = opened.receipt;
  const when = timeText(BigInt(refutableUntil));
  const backed = `pledge of ${worker}: ${PLEDGES[pledge]}`;
  const verdict = { id, right: lie === undefined, worker, pledge: PLEDGES[pledge], ...usage, refutableUntil };
  if (lie !== undefined) {
    const next = isLate ? "too late to refute it" : "refute it with refute text receipt refute";
    throw new ReceiptError(`blocks[${lie}]`, `is a lie of ${worker}: exact execution gives something else; ${next}`);
  }
  const late = isLate ? `could be refuted until ${when}` : `can be refuted until ${when}`;
  const count = opened.runs.length;
  const bought = usage.completion === undefined ? `${count} embeddings` : `${count} blocks, ${usage.completion} tokens`;
  output.answer(verdict, `right: ${bought}; ${backed}; ${late}`);
}

/** Puts a lie on chain, and plays until the claim is refuted. @returns the claim's id */
async function refuteBlock(at: TicketSession, opened: Opened, lie: number, execute: Execute): Promise<Hex> {
  const { program, runs } = opened;
  const { claim, signature, inputs, outputs } = runs[lie]!;
  const { nodes } = answerOfBytes(program.model.program, claim.items, outputs)!;
  const digest = digestOf(at.at, "SignedClaim", claim);
  const held = { digest, claim, signature, nodes, inputs: inputs.bytes };
  if ((await at.tickets.claimIdOf(digest)) === zeroHash)
    await landClaim(at, { ...held, sent: false, fate: "wrong" }, program, false);
  const claimId = await at.tickets.claimIdOf(digest);
  const ended = new AbortController();
  const watching = runWatcher({
    ...{ session: at.session, programs: ProgramLibrary.of([program]), execute, signal: ended.signal },
    ...{ intervalMs: INTERVAL_MS, log: SILENT, mode: "defend", claims: new Set([claimId]) },
    heldInputs: heldInputs((root) => (root === claim.inputsRoot ? inputs.bytes : undefined)),
  });
  try {
    for (;;) {
      const { status } = await at.pledges.statusOf(claimId);
      if (status === ClaimStatus.refuted) return claimId;
      if (status === ClaimStatus.finalised)
        throw new ReceiptError(`blocks[${lie}]`, "became final before it could be refuted");
      await Promise.race([watching, sleep(INTERVAL_MS)]);
    }
  } finally {
    ended.abort();
    await watching;
  }
}
