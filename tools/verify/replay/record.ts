/**
 * Runs tests for contracts without state and records every call, for replaying on a changed copy of the contracts:
 * `node record.ts OUTPUT FILES...`.
 */
import { relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import hre from "hardhat";
import Mocha from "mocha";
import type { Abi, Hex } from "viem";
import { writeRecording, type Call, type Creation, type Outcome } from "./calls.ts";
import { outcomeOf } from "./outcome.ts";
import { split } from "./split.ts";

const [output, ...files] = process.argv.slice(2);

/** The contracts on one test chain; undefined after a transaction other than a creation. */
type Chain = { creations: Creation[]; addresses: Map<string, number> } | undefined;
const chains = new Map<number, Chain>();
const calls = new Map<string, Call & { chainId: number }>();
let test = "";

const artifacts: { contract: string; bytecode: Hex }[] = [];
for (const contract of await hre.artifacts.getAllFullyQualifiedNames()) {
  const { bytecode } = await hre.artifacts.readArtifact(contract);
  if (bytecode.length > 2 && contract.startsWith("contracts/")) artifacts.push({ contract, bytecode: bytecode as Hex });
}

/** Finds the contract created by a creation's data. */
function creationOf(data: Hex): Omit<Creation, "address"> {
  const artifact = artifacts.find(({ bytecode }) => data.startsWith(bytecode));
  if (artifact === undefined) throw new Error(`no artifact begins with ${data.slice(0, 80)}: build the contracts`);
  return { contract: artifact.contract, args: `0x${data.slice(artifact.bytecode.length)}` };
}

function note(chainId: number, call: Omit<Call, "chain" | "test">): void {
  const key = `${chainId} ${call.to} ${call.data}`;
  if (!calls.has(key)) calls.set(key, { ...call, test, chain: 0, chainId });
}

hre.hooks.registerHandlers("network", {
  onRequest: async (context, connection, request, next) => {
    const [given] = (Array.isArray(request.params) ? request.params : []) as [{ to?: Hex; data?: Hex; input?: Hex }?];
    if (request.method === "eth_call" && given?.to !== undefined) {
      const chain = chains.get(connection.id);
      const to = chain?.addresses.get(given.to.toLowerCase());
      const outcome: Promise<{ result?: unknown }> = next(context, connection, request) as never;
      const kept = await outcomeOf(outcome.then(({ result }) => result as Hex));
      if (chain !== undefined && to !== undefined)
        note(connection.id, {
          to,
          contract: chain.creations[to]!.contract,
          data: given.data ?? given.input!,
          outcome: kept,
        });
      return outcome as never;
    }
    if (request.method !== "eth_sendTransaction") return next(context, connection, request);
    if (given?.to !== undefined) {
      chains.set(connection.id, undefined);
      return next(context, connection, request);
    }
    const creation = creationOf(given!.data ?? given!.input!);
    const sent = next(context, connection, request);
    const response = (await sent.catch((error: unknown) => error)) as { result?: Hex };
    if (typeof response.result !== "string") {
      const outcome: Outcome = await outcomeOf(sent.then(() => "0x"));
      note(connection.id, { contract: creation.contract, data: creation.args, outcome });
      return sent;
    }
    if (!chains.has(connection.id)) chains.set(connection.id, { creations: [], addresses: new Map() });
    const chain = chains.get(connection.id);
    const ask = { method: "eth_getTransactionReceipt", params: [response.result] };
    let receipt: { contractAddress: string } | null;
    // A busy node takes the transaction, and makes the block a little later.
    while ((receipt = (await connection.provider.request(ask)) as typeof receipt) === null) await sleep(50);
    const address = receipt.contractAddress.toLowerCase() as Hex;
    chain?.addresses.set(address, chain.creations.push({ ...creation, address }) - 1);
    return sent;
  },
});

const mocha = new Mocha({ timeout: 600_000, reporter: class {} as never });
for (const file of files) mocha.addFile(resolve(file));
await mocha.loadFilesAsync();
let failures = 0;
await new Promise<void>((done) => {
  const runner = mocha.run(() => done());
  runner.on("test", (running) => (test = `${relative("", running.file ?? "")}: ${running.fullTitle()}`));
  runner.on("test end", (ended) => console.log(ended.fullTitle()));
  runner.on("fail", (failed, error) => {
    failures++;
    console.log(`@${failed.fullTitle()}: ${String(error).split("\n")[0]}`);
  });
});
if (failures > 0) throw new Error(`${failures} tests fail: what they record is not right`);

// Chains with equal contracts are recorded as one.
const kinds = [...new Set([...calls.values()].map(({ chainId }) => kindOf(chainId)))];
const kept: Call[] = [];
for (const { chainId, ...call } of calls.values()) {
  if (chains.has(chainId) && chains.get(chainId) === undefined) continue;
  const { abi } = await hre.artifacts.readArtifact(call.contract);
  kept.push(...split({ ...call, chain: kinds.indexOf(kindOf(chainId)) }, abi as Abi));
}
writeRecording(output!, { chains: kinds.map((kind) => JSON.parse(kind) as Creation[]), calls: kept });
process.exit(0);

function kindOf(chainId: number): string {
  return JSON.stringify(chains.get(chainId)?.creations ?? []);
}
