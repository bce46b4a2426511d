import json5 from "json5";
import { isAddress, zeroAddress } from "viem";
import { z } from "zod/v4";
import { DEFAULT_SINK } from "../../../ignition/defaults.ts";
import type { Parameters } from "../../chain/structs.ts";
import { FileError, readRegularFile } from "../../base/regularFile.ts";
import { DeployParametersError } from "../../chain/market/errors.ts";
import { packageFile } from "../../chain/market/packageFiles.ts";

/** More than a parameter file needs. */
const MAX_BYTES = 2 ** 20;
/** The kinds of networks with parameters in the package. */
export const NETWORK_KINDS = ["l1", "op-stack", "arbitrum-like", "pricier-calldata"] as const;
export type NetworkKind = (typeof NETWORK_KINDS)[number];

/** The file of a kind of network. */
export const parametersOfKind = (kind: NetworkKind): string => packageFile("ignition", "parameters", `${kind}.json5`);

/** A whole number, or a text with a whole number and a final n: Ignition's form for numbers too large for JSON. */
const whole = (bits: number) =>
  z.unknown().transform((value, context) => {
    const digits = typeof value === "string" && value.endsWith("n") ? value.slice(0, -1) : "";
    const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : digits;
    if (/^\d{1,39}$/.test(text) && BigInt(text) < 1n << BigInt(bits)) return BigInt(text);
    const message = `expected a whole number of at most ${bits} bits, or "123n" for one beyond 2^53`;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });
const number = (bits: number) => whole(bits).transform(Number);

/** The fields of contracts/types/Parameters.sol. */
const parametersSchema = z
  .object({
    baseWindow: number(32),
    maxWindow: number(32),
    baseClock: number(32),
    withdrawalDelay: number(32),
    rate: whole(64),
    maxWork: whole(64),
    arityBits: number(8),
    maxStepGas: number(32),
    maxStepBytes: number(32),
    bondGas: number(32),
    priceCap: whole(128),
    bounty: whole(128),
    collateral: whole(128),
    penaltyBps: number(16),
    sink: z.custom<`0x${string}`>((text) => isAddress(String(text)) && text !== zeroAddress, "expected an address"),
  })
  .strict();

/**
 * Reads a parameter file: JSON5, `{ Refute: { ... } }` with each of the market's parameters. `sink` may be left out.
 * @throws DeployParametersError that names the file and the parameter
 */
export function readParameters(path: string): Parameters {
  const fail = (what: string, cause?: unknown): DeployParametersError =>
    new DeployParametersError(`the parameter file ${path} ${what}`, { cause });
  let json: unknown;
  try {
    json = json5.parse(new TextDecoder().decode(readRegularFile(path, MAX_BYTES)));
  } catch (cause) {
    throw fail(cause instanceof FileError ? cause.message : "is not JSON5", cause);
  }
  const outer = z
    .object({ Refute: z.record(z.string(), z.unknown()) })
    .strict()
    .safeParse(json);
  if (!outer.success)
    throw fail("must hold one object Refute with the parameters, as ignition/parameters/l1.json5 has");
  const result = parametersSchema.safeParse({ sink: DEFAULT_SINK, ...outer.data.Refute });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue!.code !== "unrecognized_keys") throw fail(`has ${issue!.path.join(".")}: ${issue!.message}`);
  throw fail(
    `names ${issue.keys.join(", ")}, which is no parameter of a market: asset, verifier and ` +
      "manufacturers are flags of refute deploy",
  );
}
