// Every entry, as strict TypeScript sees it.
import { jobMarketAbi } from "refute-ml/abi";
import * as browser from "refute-ml/browser";
import { knownProgram, ProgramLibrary, readModel, compile, runWatcher, runWorker } from "refute-ml/node";
import {
  decodeOutputs,
  openSession,
  postJob,
  waitForResult,
  type JobTerms,
  type ProgramDescription,
} from "refute-ml/sdk";
import type { AddressFile, Session } from "refute-ml/sdk";
import { targetOf } from "refute-ml/sdk";
import { createWalletClient, http, type Hex } from "viem";

export async function ask(file: AddressFile, program: ProgramDescription, input: Uint8Array, terms: JobTerms) {
  const account = await browser.viemWallet(createWalletClient({ transport: http() }));
  const session: Session = await openSession({ endpoint: { rpcUrls: [] }, ...targetOf(file), account });
  const { jobId }: { jobId: Hex } = await postJob(session, program, [input], terms);
  const { outputs } = await waitForResult(session, jobId, { onPhase: (phase: string) => console.log(phase) });
  const output = decodeOutputs(program, outputs).get("y");
  return output === undefined ? undefined : browser.topScores(output);
}

export const library = (path: string): ProgramLibrary =>
  ProgramLibrary.of([knownProgram(compile(readModel(path), { shapes: {} }))]);
export const roles = [runWorker, runWatcher];
export const events: string[] = jobMarketAbi.flatMap((item) => (item.type === "event" ? [item.name] : []));
