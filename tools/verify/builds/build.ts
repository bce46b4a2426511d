/**
 * The ways to compile the contracts. The environment variable `REFUTE_BUILD` names a way; without the variable, the
 * contracts are compiled like for deployment.
 *
 * solc 0.8.19 to 0.8.37 may take a load for an earlier store's value, or drop a store, when a variable behind a
 * computed address is assigned again: the Yul optimizer's knowledge about distances between addresses goes stale. Fixed
 * in 0.8.38. Two optimizer steps act on the knowledge: LoadResolver (L) replaces loads and hashes by known values, and
 * EqualStoreEliminator (E) removes stores of values known to be stored already.
 *
 * UnusedStoreEliminator (S) asks a knowledge base too, but only about variables assigned once, whose values cannot go
 * stale. The step needs code in this form (SSA), made by the earlier steps in the sequence. The sequence therefore
 * otherwise equals the default sequence.
 */
import { errorWithCode } from "../../../src/base/errors.ts";

export class UnknownBuild extends errorWithCode("UNKNOWN_BUILD") {}

/** solc 0.8.37's own default sequence (test/contracts/builds/build.test.ts). */
export const DEFAULT_STEPS =
  "dfDvulfnTUtnIfxa[r]EscLMVcul [j]Trpeulxa[r]cLvifMCTUca[r]LSsTFOtfDnca[r]IulcscCTUtvifMx[scCTUt] TOntnfDIulvifMjmul" +
  "[jul] VcTOcul jmul";

type Settings = {
  readonly viaIR: boolean;
  readonly optimizer: {
    readonly enabled: true;
    readonly runs: number;
    readonly details?: { readonly yul: boolean; readonly yulDetails?: { readonly optimizerSteps: string } };
  };
};

type Build = {
  readonly settings: Settings;
  /** Where Hardhat keeps what it compiles. */
  readonly artifacts: string;
  readonly cache: string;
  /** Whether contracts may be larger than on a real network. */
  readonly unlimited: boolean;
};

const RUNS = 800;
const WITHOUT_L_AND_E = DEFAULT_STEPS.replace(/[LE]/g, "");

const SETTINGS = {
  /** As deployed. */
  shipped: { viaIR: true, optimizer: { enabled: true, runs: RUNS } },
  /** The deployed build, without the two steps that act on stale knowledge. */
  noStaleKnowledge: {
    viaIR: true,
    optimizer: {
      enabled: true,
      runs: RUNS,
      details: { yul: true, yulDetails: { optimizerSteps: WITHOUT_L_AND_E } },
    },
  },
  /** The older code generator, without the Yul optimizer. It cannot compile all contracts: "stack too deep". */
  legacy: { viaIR: false, optimizer: { enabled: true, runs: RUNS, details: { yul: false } } },
} as const satisfies Record<string, Settings>;

export type BuildName = keyof typeof SETTINGS;
export const BUILD_NAMES = Object.keys(SETTINGS) as BuildName[];

/**
 * The build of that name.
 * @throws UnknownBuild for any other name.
 */
export function buildOf(name: string): Build {
  const known = BUILD_NAMES.find((each) => each === name);
  if (known === undefined)
    throw new UnknownBuild(`REFUTE_BUILD: there is no build "${name}": use one of ${BUILD_NAMES.join(", ")}`);
  const folder = known === "shipped" ? "." : `./cache/builds/${known}`;
  return {
    settings: SETTINGS[known],
    artifacts: `${folder}/artifacts`,
    cache: `${folder}/cache`,
    unlimited: known !== "shipped",
  };
}
