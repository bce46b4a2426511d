import { Command } from "commander";
import type { Hex } from "viem";
import { z } from "zod";
import { connect } from "../../chain/connect.ts";
import { readDeployment } from "../../market/deployment.ts";
import type { Reader } from "../../market/session.ts";
import { jobState, type JobState } from "../../sdk/result.ts";
import { timeText } from "../amount.ts";
import { addChainOptions, chainShape, type ChainSettings } from "../chainSettings.ts";
import { parseJobId } from "../jobId.ts";
import { print } from "../output.ts";
import { readSettings } from "../settings.ts";
import { printOutputs, printResult, waitOnTerminal } from "../waiting.ts";

const shape = { ...chainShape, wait: z.boolean().default(false) };

/** `refute result`: what the chain says of a job, and its outputs. Reads only: no key and no model are needed. */
export function resultCommand(): Command {
  return addChainOptions(new Command("result"))
    .description("show a job's state, claims and delivered outputs, from the chain alone")
    .argument("<job>", "id of a job")
    .option("--wait", "wait until the result is final and delivered, also while no node answers")
    .action(async (job: string, _options: unknown, command: Command) => {
      const settings = readSettings(command, shape);
      const jobId = parseJobId(job);
      if (!settings.wait) return printState(jobId, await jobState(await readerFrom(settings), jobId));
      printResult(await waitOnTerminal(jobId, false, () => readerFrom(settings)), outputName);
    });
}

async function readerFrom({ rpcUrl, chainId, market, fromBlock }: ChainSettings): Promise<Reader> {
  const publicClient = await connect({ rpcUrls: rpcUrl }, chainId);
  return { publicClient, deployment: await readDeployment(publicClient, market), fromBlock };
}

/** The chain does not know the names of a model's outputs. */
const outputName = (output: number): string => `output ${output}`;

function printState(jobId: Hex, { status, claims, outputs }: JobState): void {
  print(`job ${jobId}`);
  print(`status ${status}`);
  for (const { worker, traceRoot, windowEnd, gamesOpen, refuted, finalised } of claims) {
    const open = gamesOpen === 0 ? "" : `, games open ${gamesOpen}`;
    const fate = refuted ? "refuted" : finalised ? "final" : `may be disputed until ${timeText(windowEnd)}${open}`;
    print(`claim by ${worker}, trace root ${traceRoot}: ${fate}`);
  }
  printOutputs(outputs, outputName);
}
