import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  decodeFunctionData,
  encodeAbiParameters,
  getAbiItem,
  hexToBytes,
  parseAbiParameters,
  toFunctionSelector,
  type Abi,
  type AbiFunction,
  type AbiParameter,
  type Hex,
} from "viem";
import type { Workspace } from "../instrument/workspace.ts";
import type { Call, Recording } from "./calls.ts";

/** Calls, as indices in the recording, that are made under one coinbase, up to the first with another outcome. */
export type Group = { coinbase: Hex; attempts: readonly { call: number; gasLimit: bigint }[] };

/**
 * A replayed call: the gas, or 0 for an outcome unlike the recorded outcome, and the points reported by the execution.
 */
export type Heard = { call: number; gas: bigint; places: ReadonlySet<number> };

const TEST = "contracts/test/Replay.t.sol";
const CALL: readonly AbiParameter[] = parseAbiParameters([
  "Call call",
  "struct Call { uint256 chain; address to; bool reverts; bytes4[] errors; uint256[] ignored; " +
    "bytes returned; bytes data; }",
]);
const PLAN: readonly AbiParameter[] = parseAbiParameters([
  "bool heard, Group[] groups",
  "struct Group { address coinbase; Attempt[] attempts; }",
  "struct Attempt { uint256 call; uint256 gasLimit; }",
]);
/** More than a call can use. */
const NO_LIMIT = 10n ** 13n;

type Artifact = { abi: Abi; bytecode: Hex };

/** Makes recorded calls on a copy's built contracts, by Replay.sol. */
export class Replay {
  readonly #workspace: Workspace;
  readonly #recording: Recording;
  readonly #written = new Set<number>();
  readonly #artifacts = new Map<string, Artifact>();

  constructor(workspace: Workspace, recording: Recording) {
    this.#workspace = workspace;
    this.#recording = recording;
    workspace.write(TEST, workspace.read("tools/verify/replay/Replay.sol"));
    rmSync(this.#path(""), { recursive: true, force: true });
    mkdirSync(this.#path(""));
    recording.chains.forEach((creations, k) => {
      const codes = creations.map(({ contract, args }): Hex => `${this.#artifact(contract).bytecode}${args.slice(2)}`);
      const places = creations.map(({ address }) => address);
      this.#write(`chain-${k}.bin`, parseAbiParameters("address[] places, bytes[] codes"), [places, codes]);
    });
  }

  /** Makes calls under a coinbase and collects the points that they report. The gas is that without reports. */
  async hear(coinbase: Hex, calls: readonly number[]): Promise<Heard[]> {
    const attempts = calls.map((call) => ({ call, gasLimit: NO_LIMIT }));
    const lines = await this.#run(true, [{ coinbase, attempts }]);
    return lines.map(([call, gas]) => {
      const bytes = readFileSync(this.#path(`heard-${call}.bin`));
      const places = new Set<number>();
      // A bytes32[] is encoded by offset, length and words. The general decoder is slow.
      for (let word = 64; word < bytes.length; word += 32) places.add(bytes.readUInt32BE(word + 28));
      return { call: Number(call), gas, places };
    });
  }

  /**
   * Makes the calls of groups.
   * @returns For each group, the number of the first attempt with another outcome, if any.
   */
  async compare(groups: readonly Group[]): Promise<(number | undefined)[]> {
    const lines = await this.#run(false, groups);
    return lines.map(([group, first]) =>
      Number(first) < groups[Number(group)]!.attempts.length ? Number(first) : undefined,
    );
  }

  async #run(heard: boolean, groups: readonly Group[]): Promise<[bigint, bigint][]> {
    for (const { attempts } of groups) for (const { call } of attempts) this.#writeCall(call);
    this.#write("plan.bin", PLAN, [heard, groups]);
    const output = this.#path("out.txt");
    rmSync(output, { force: true });
    const lines: string[] = [];
    const status = await this.#workspace.run("hardhat", ["test", "solidity", TEST], (line) => void lines.push(line));
    if (status !== 0) throw new Error(`the replay failed:\n${lines.slice(-40).join("\n")}`);
    if (!existsSync(output)) return [];
    const pairs = readFileSync(output, "utf8").trimEnd().split("\n");
    return pairs.map((line) => line.split(" ").map(BigInt) as [bigint, bigint]);
  }

  #writeCall(n: number): void {
    if (this.#written.has(n)) return;
    this.#written.add(n);
    const call = this.#recording.calls[n]!;
    const { chain, to, outcome } = call;
    const { abi, bytecode } = this.#artifact(call.contract);
    this.#write(`call-${n}.bin`, CALL, [
      {
        chain: BigInt(chain),
        to:
          to === undefined ? "0x0000000000000000000000000000000000000000" : this.#recording.chains[chain]![to]!.address,
        reverts: "reverts" in outcome,
        errors: "reverts" in outcome ? acceptedErrors(call, outcome.reverts, abi) : [],
        ignored: to === undefined ? [] : measurements(abi, call.data),
        returned: "returns" in outcome ? outcome.returns : "0x",
        data: to === undefined ? `${bytecode}${call.data.slice(2)}` : call.data,
      },
    ]);
  }

  #artifact(contract: string): Artifact {
    let artifact = this.#artifacts.get(contract);
    if (artifact === undefined) {
      const [source, name] = contract.split(":") as [string, string];
      artifact = JSON.parse(this.#workspace.read(`artifacts/${source}/${name}.json`)) as Artifact;
      this.#artifacts.set(contract, artifact);
    }
    return artifact;
  }

  #write(name: string, types: readonly AbiParameter[], contents: readonly unknown[]): void {
    writeFileSync(this.#path(name), hexToBytes(encodeAbiParameters(types, contents)));
  }

  #path(name: string): string {
    return join(this.#workspace.path, "replay", name);
  }
}

/** The words of a result that measure gas: tests compare these only with bounds. */
function measurements(abi: Abi, data: Hex): bigint[] {
  const { functionName } = decodeFunctionData({ abi, data });
  const { outputs } = getAbiItem({ abi, name: functionName }) as AbiFunction;
  // The other values that a harness returns are words or dynamic: each takes one word of the head.
  return outputs.flatMap(({ name }, k) => (/gas/i.test(name ?? "") ? [BigInt(k)] : []));
}

/** The mutated-body test accepts any decoder error, or only the error `but`. */
const ANY_REFUSAL = { test: "test/contracts/verifier/stepDecoder.test.ts", but: "ElementPastEnd" };

/** Returns the errors accepted by a call's test in place of the recorded error. */
function acceptedErrors({ test }: Call, data: Hex, abi: Abi): Hex[] {
  const given = `${data.slice(0, 10)}`.padEnd(10, "0") as Hex;
  if (!test.startsWith(ANY_REFUSAL.test)) return [given];
  const errors = abi.flatMap((item) =>
    item.type === "error" && item.name !== ANY_REFUSAL.but
      ? [toFunctionSelector(`${item.name}(${item.inputs.map(({ type }) => type).join()})`)]
      : [],
  );
  return errors.includes(given) ? errors : [given];
}
