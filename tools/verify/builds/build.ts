/**
 * The ways in which the contracts are compiled. The environment variable `REFUTE_BUILD` names one; without it, the
 * contracts are compiled as they are deployed.
 *
 * solc 0.8.19 to 0.8.37 may take a load for the value of an earlier store, or drop a store, when a variable that an
 * address was computed from is assigned again: what the Yul optimizer knows about distances between addresses goes
 * stale. Fixed in 0.8.38. Two steps of the optimizer act on this knowledge: LoadResolver (L) replaces loads and hashes
 * by known values, and EqualStoreEliminator (E) removes stores of what is known to stand there.
 *
 * UnusedStoreEliminator (S) asks a knowledge base too, but only about variables that are assigned once, whose values
 * cannot go stale. It needs code of this form (SSA), which the steps before it in the sequence make: the sequence is
 * therefore otherwise the default one.
 */
import { errorWithCode } from "../../../src/base/errors.ts";

export class UnknownBuild extends errorWithCode("UNKNOWN_BUILD") {}

/** The default sequence of solc 0.8.37, as its program has it (test/contracts/builds/build.test.ts). */
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
  /** As deployed, without the two steps that act on stale knowledge. */
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
