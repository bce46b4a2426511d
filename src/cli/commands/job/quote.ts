import { Command } from "commander";
import { formatGwei } from "viem";
import { worstDispute } from "../../../dispute/worstDispute.ts";
import { followMarket } from "../../../chain/market/session.ts";
import type { Reader } from "../../../chain/market/reader.ts";
import { MAX_ITEMS } from "../../../program/run.ts";
import { describeProgram } from "../../../parties/requester/describeProgram.ts";
import { estimateFee } from "../../../parties/requester/estimateFee.ts";
import { minWindow } from "../../../parties/requester/postJob.ts";
import { postingGas } from "../../../parties/requester/postingGas.ts";
import { table } from "../../../base/text.ts";
import { amountText } from "../../amount.ts";
import { chainSettings, readerFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import { loadProgram } from "../../models.ts";
import { moneyOf, type Money } from "../../money.ts";
import type { Output } from "../../output.ts";
import { as, whole } from "../../parse.ts";
import { duration } from "../../progress.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** The latest jobs whose fees are shown. */
const RECENT_JOBS = 100;

/** `refute job quote`: what a job of a model costs now. Reads only: no key is needed. */
export function quoteCommand(output: Output): Command {
  const command = new Command("quote")
    .description("say what a job of this model costs now: gas of posting, fee, what others pay, window, worst dispute")
    .argument("<model>", "ONNX file")
    .option("--items <n>", "items of a run (default: 1)", as(whole(1, MAX_ITEMS), "--items"))
    .action(async (path: string, options: ModelOptions & { items?: number }, command: Command) => {
      const { items = 1 } = options;
      const known = loadProgram(modelSpec(path, options), output);
      const reader = await readerFrom(readSettings(command, chainSettings));
      const program = describeProgram(known);
      const { parameters, bond } = reader.deployment;
      const { fee, gas, gasPrice } = await estimateFee(reader, program, { items });
      const posting = postingGas(program, items);
      const dispute = worstDispute(known.model.program, parameters.arityBits, items);
      const window = minWindow(reader, program, items);
      const money = await moneyOf(reader);
      const paid = await recentFees(reader, program.programRoot);
      const value = {
        programRoot: program.programRoot,
        items,
        gasPrice,
        posting: { ...posting, cost: amountText(BigInt(posting.gas) * gasPrice) },
        fee: { least: amountText(fee), workerGas: gas.total },
        recentFees: { sameProgram: feesJson(paid.sameProgram), all: feesJson(paid.all) },
        windowSeconds: window,
        collateral: amountText(parameters.collateral),
        bond: amountText(bond),
        worstDispute: { transactions: dispute.moves.length, gas: dispute.gas },
      };
      output.answer(value, [
        ...table([
          ["program", program.programRoot],
          ["gas price", `${formatGwei(gasPrice)} gwei`],
          [
            "posting",
            `${value.posting.cost} ether: ${posting.gas} gas in ${posting.transactions} transactions at most`,
          ],
          ["", `inputs of ${posting.inputBytes} bytes go on the chain, and are public`],
          ["fee", `at least ${money(fee)}: ${gas.total} gas of the worker's and half as much again`],
          ["", "workers may ask for more: their --min-fee comes on top"],
          ["fees of this program", feesText(paid.sameProgram, money)],
          ["fees of all programs", feesText(paid.all, money)],
          ["window", `${duration(window * 1_000)} at least, until a result is final`],
          ["behind a result", `${money(parameters.collateral)}: the worker's collateral, lost for a wrong result`],
          ["to dispute it", `a bond of ${money(bond)}, which comes back if the result is wrong`],
          ["worst dispute", `${dispute.moves.length} transactions, ${dispute.gas} gas`],
        ]),
      ]);
    });
  return addExamples(
    addSettings(seedOption(modelOptions(command)), chainSettings),
    "job quote model.onnx",
    "job quote model.onnx --shape x=1,3,224,224 --json",
  );
}

/** Fees in the smallest unit of the stake asset; without jobs none. */
type Fees = { jobs: number; range?: { lowest: bigint; middle: bigint; highest: bigint } };

function feesText({ jobs, range }: Fees, money: Money): string {
  if (range === undefined) return "no job yet";
  const [lowest, middle, highest] = [range.lowest, range.middle, range.highest].map((fee) => money(fee));
  return `${lowest} to ${highest}, half of them up to ${middle} (the latest ${jobs} jobs)`;
}

/** The same for JSON, in whole units. */
const feesJson = ({ jobs, range = {} }: { jobs: number; range?: Record<string, bigint> }) => ({
  jobs,
  ...Object.fromEntries(Object.entries(range).map(([name, fee]) => [name, amountText(fee)])),
});

/** Returns the fees of the latest jobs taken by workers. */
async function recentFees(reader: Reader, programRoot: string): Promise<{ sameProgram: Fees; all: Fees }> {
  const { history } = await followMarket(reader)();
  const taken = [...history.jobs.values()].filter(({ claims }) => claims.length > 0);
  const fees = (jobs: typeof taken): Fees => {
    const sorted = jobs.slice(-RECENT_JOBS).map(({ job }) => job.fee);
    sorted.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    if (sorted.length === 0) return { jobs: 0 };
    const [lowest, middle, highest] = [sorted[0]!, sorted[(sorted.length - 1) >> 1]!, sorted.at(-1)!];
    return { jobs: sorted.length, range: { lowest, middle, highest } };
  };
  return { sameProgram: fees(taken.filter(({ job }) => job.programRoot === programRoot)), all: fees(taken) };
}
