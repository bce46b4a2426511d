/**
 * Mutants of the modelled functions. Operands kill a mutant whose bytecode gives other words than the model; the file
 * `test/golden/proofMutants.json` names the others, with reasons.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeFunctionResult, encodeFunctionData, type Abi, type Hex } from "viem";
import { Anvil } from "../../../src/deploy/devnet/anvil.ts";
import { NodeError } from "../../../src/deploy/devnet/askNode.ts";
import { Workspace } from "../instrument/workspace.ts";
import { coinbaseOf } from "../mutate/alive.ts";
import { constantsIn, draw } from "../mutate/draw.ts";
import { SWITCH } from "../mutate/onTests.ts";
import { withMutants, type Mutant } from "../mutate/schemata.ts";
import {
  hasSurvived,
  keepVerdicts,
  nameOf,
  report,
  survivorLine,
  withoutKnown,
  type Tried,
} from "../mutate/verdicts.ts";
import { linesOf, MODELLED, sourceOf } from "./modelled.ts";
import type { Call } from "./compared.ts";
import { asText, GOLDEN, VECTORS, type ModelWords } from "./vectors.ts";

/** Mutants that no operands kill, by name, each with the reason. */
const SURVIVORS = "test/golden/proofMutants.json";
export const reasons = (): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(SURVIVORS, "utf8")) as Record<string, string>;

const HARNESSES = ["Float32Harness", "FloatHarness", "MerkleHarness", "ViewHarness"];
/** No mutant has this number. */
const NOBODY = 2 ** 32;

/** A source with mutants, and the mutants in the modelled functions. */
type Mutated = { readonly file: string; readonly source: string; readonly mutants: readonly Mutant[] };

/** All mutants of the modelled functions; each source holds the wanted mutants. */
export function modelledMutants(
  copy: Pick<Workspace, "files" | "read">,
  wanted: (mutant: Mutant) => boolean = () => true,
): Mutated[] {
  const constants = constantsIn(copy);
  let id = 1;
  return Object.entries(MODELLED).map(([library, functions]) => {
    const file = sourceOf(library);
    const text = copy.read(file);
    const ranges = Object.keys(functions).flatMap((name) => linesOf(text, name));
    const isModelled = ({ line }: Mutant): boolean => ranges.some(([first, last]) => first <= line && line <= last);
    const all = withMutants(file, text, id, constants(file), (mutant) => isModelled(mutant) && wanted(mutant));
    id += all.mutants.length;
    return { file, source: all.source, mutants: all.mutants.filter(isModelled) };
  });
}

type Campaign = {
  readonly count: number;
  readonly seed: number;
  readonly json: string | undefined;
  readonly in: string | undefined;
};

/**
 * Tries `count` drawn mutants. `json` keeps the verdicts, and a run goes on where an earlier one ended.
 * @returns Whether each survivor has a reason.
 */
export async function tryMutants({ count, seed, json, in: folder }: Campaign): Promise<boolean> {
  const workspace = new Workspace(folder);
  try {
    const made = modelledMutants(workspace).flatMap(({ mutants }) => mutants);
    const drawn = draw(made, count, seed);
    const { known, left } = withoutKnown(drawn, json);
    const tried: Tried[] = [...known];
    if (left.length > 0) {
      await build(workspace, new Set(left.map(({ id }) => id)));
      await play(workspace, left, (verdict) => {
        tried.push(verdict);
        if (hasSurvived(verdict)) console.log(survivorLine(verdict));
        keepVerdicts(json, tried);
      });
    }
    report(drawn, tried);
    const named = reasons();
    const open = tried.filter((mutant) => hasSurvived(mutant) && named[nameOf(mutant)] === undefined);
    for (const mutant of open) console.error(`no reason in ${SURVIVORS}: ${nameOf(mutant)}`);
    return open.length === 0;
  } finally {
    workspace.remove();
  }
}

async function build(workspace: Workspace, ids: ReadonlySet<number>): Promise<void> {
  workspace.addLibrary(SWITCH.file, "tools/verify/mutate/Mutants.sol");
  for (const { file, source, mutants } of modelledMutants(workspace, ({ id }) => ids.has(id)))
    if (mutants.some(({ id }) => ids.has(id))) workspace.writeContract(file, source, SWITCH);
  await workspace.build(HARNESSES.map((name) => `contracts/test/${name}.sol`));
}

/** Plays all vectors on each mutant, the deadliest vectors first, up to the first other word. */
async function play(workspace: Workspace, mutants: readonly Mutant[], over: (verdict: Tried) => void): Promise<void> {
  const golden = JSON.parse(readFileSync(GOLDEN, "utf8")) as ModelWords;
  const chain = await Anvil.start({ unlimited: true });
  try {
    const call = await opened(workspace, chain);
    const kills = new Map(Object.keys(VECTORS).map((name) => [name, 0]));
    /** Where the active mutant gives another word than the model. */
    const killer = async (): Promise<{ name: string; at: number } | undefined> => {
      for (const [name] of [...kills].sort((a, b) => b[1] - a[1])) {
        const words = asText(await VECTORS[name]!.play(call)).split(" ");
        const at = golden[name]!.split(" ").findIndex((word, k) => words[k] !== word);
        if (at >= 0) return { name, at };
      }
      return undefined;
    };
    await chain.request("anvil_setCoinbase", [coinbaseOf(NOBODY)]);
    await chain.request("evm_mine");
    const wrong = await killer();
    if (wrong !== undefined) throw new Error(`without a mutant, the bytecode differs from the model: ${wrong.name}`);
    for (const mutant of mutants) {
      const begun = performance.now();
      await chain.request("anvil_setCoinbase", [coinbaseOf(mutant.id)]);
      await chain.request("evm_mine");
      const found = await killer();
      if (found !== undefined) kills.set(found.name, kills.get(found.name)! + 1);
      const milliseconds = Math.round(performance.now() - begun);
      const verdict = { ...mutant, tests: kills.size, milliseconds };
      over(found === undefined ? verdict : { ...verdict, killer: `${found.name}, operands ${found.at}` });
    }
  } finally {
    await chain.close();
  }
}

/** Puts the copy's test contracts on a chain. */
async function opened(workspace: Workspace, chain: Anvil): Promise<Call> {
  const contracts = new Map<string, { abi: Abi; to: string }>();
  for (const [k, name] of HARNESSES.entries()) {
    const path = join("artifacts", `contracts/test/${name}.sol`, `${name}.json`);
    const { abi, deployedBytecode } = JSON.parse(workspace.read(path)) as { abi: Abi; deployedBytecode: Hex };
    const to = `0x${String(k + 1).padStart(40, "5")}`;
    await chain.request("anvil_setCode", [to, deployedBytecode]);
    contracts.set(name, { abi, to });
  }
  return async (contract, functionName, args) => {
    const { abi, to } = contracts.get(contract)!;
    const data = encodeFunctionData({ abi, functionName, args });
    try {
      const result = (await chain.request("eth_call", [{ to, data, gas: "0x3000000" }, "latest"])) as Hex;
      return decodeFunctionResult({ abi, functionName, args, data: result });
    } catch (error) {
      // A revert, or no gas left.
      if (error instanceof NodeError) return undefined;
      throw error;
    }
  };
}
