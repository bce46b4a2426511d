import { globSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import hardhatIgnitionViem from "@nomicfoundation/hardhat-ignition-viem";
import hardhatMocha from "@nomicfoundation/hardhat-mocha";
import hardhatNetworkHelpers from "@nomicfoundation/hardhat-network-helpers";
import hardhatViem from "@nomicfoundation/hardhat-viem";
import hardhatViemAssertions from "@nomicfoundation/hardhat-viem-assertions";
import { configVariable, defineConfig } from "hardhat/config";
import type { HardhatPlugin } from "hardhat/types/plugins";
import { buildOf } from "./tools/verify/builds/build.ts";

const require = createRequire(import.meta.url);
const build = buildOf(process.env.REFUTE_BUILD ?? "shipped");

// The WASM compiler inside the npm package `solc`: nothing is downloaded, and every machine
// compiles with the same bytes. `version` equals the package's version in package.json.
const solc = {
  version: "0.8.37",
  path: require.resolve("solc/soljson.js"),
  // The optimizer first, as Hardhat writes it in `production`: builds are told apart by their text.
  settings: { optimizer: build.settings.optimizer, viaIR: build.settings.viaIR, evmVersion: "osaka" },
};

/**
 * Both flags are said because Hardhat's profiles differ in what is left out. With `isolated`, each file is compiled
 * alone, and `hardhat node` cannot read what the compiler says of a file that holds types only, and so no contract.
 */
const profile = { compilers: [solc], isolated: false, toolVersionsInBuildInfo: false };

/**
 * Solidity tests deploy the contracts that are built for deployment (`Shipped.sol`). What calls them is large and need
 * not be optimised. Tests of libraries have these in their own code: they are compiled like the contracts.
 */
const OF_LIBRARIES = ["ProtocolLibraries", "TensorTreeGas"];
const unoptimised = {
  ...solc,
  settings: { optimizer: { enabled: false, runs: 1 }, viaIR: false, evmVersion: "osaka" },
};
const callers = globSync("test/contracts/solidity/*.t.sol").filter(
  (file) => !OF_LIBRARIES.includes(basename(file, ".t.sol")),
);
/**
 * Compiled alone: the optimiser orders functions by names that number all sources compiled together, so this code would
 * change with contracts it does not use.
 */
const ALONE = ["contracts/attestation/tdx/TdxReader.sol", "contracts/extras/proofs/ProofVerifier.sol"];
type Compiler = typeof solc | typeof unoptimised;
const overrides = Object.fromEntries<Compiler>([
  ...callers.map((file): [string, Compiler] => [file, unoptimised]),
  ...ALONE.map((file): [string, Compiler] => [file, solc]),
]);
const sources = { ...profile, overrides };

/** Whether errors of an embedded chain say where in the contracts they come from. */
const STACK_TRACES = process.env.REFUTE_STACK_TRACES === "true";

/**
 * Saves time. Files with the same settings are compiled together: Hardhat does so where their settings are one object,
 * and copies them for each override. An embedded chain gets no output of the compiler, which each process would read
 * for the sake of stack traces: errors are known by their data.
 */
const savings: HardhatPlugin = {
  id: "refute-savings",
  hookHandlers: {
    hre: () =>
      Promise.resolve({
        default: () =>
          Promise.resolve({
            created: (_, { artifacts, config }) => {
              for (const { overrides: all } of Object.values(config.solidity.profiles)) {
                const settings = all[callers[0]!]!;
                for (const file of callers) all[file] = settings;
              }
              if (!STACK_TRACES) artifacts.getAllBuildInfoIds = () => Promise.resolve(new Set<string>());
              return Promise.resolve();
            },
          }),
      }),
  },
};

/** A transaction pool with the limits of real nodes stands before each embedded chain. */
const pool: HardhatPlugin = {
  id: "refute-pool",
  hookHandlers: {
    network: async () => {
      const { poolHooks } = await import("./testkit/nodes/poolPlugin.ts");
      return { default: () => Promise.resolve(poolHooks()) };
    },
  },
};

export default defineConfig({
  plugins: [
    hardhatIgnitionViem,
    hardhatMocha,
    hardhatNetworkHelpers,
    hardhatViem,
    hardhatViemAssertions,
    savings,
    pool,
  ],
  // Ignition builds with `production`: equal to `default`, so that tests and gas tables measure what gets deployed.
  solidity: { profiles: { default: sources, production: sources } },
  networks: {
    default: { type: "edr-simulated", chainType: "l1", hardfork: "osaka", allowUnlimitedContractSize: build.unlimited },
    localhost: { type: "http", chainType: "l1", url: "http://127.0.0.1:8545" },
    // Any chain (docs/deploying.md). Both variables are read from the environment when this network is used.
    target: {
      type: "http",
      chainType: "generic",
      url: configVariable("REFUTE_DEPLOY_URL"),
      accounts: [configVariable("REFUTE_DEPLOY_KEY")],
    },
  },
  paths: {
    artifacts: build.artifacts,
    cache: build.cache,
    tests: { mocha: "./test", solidity: "./test/contracts/solidity" },
  },
  test: {
    mocha: { timeout: 120_000 },
    solidity: {
      fuzz: { runs: 256, seed: "0x6f6e6e78" },
      invariant: { runs: process.env.REFUTE_AT_LENGTH === "true" ? 64 : 16, depth: 64, failOnRevert: false },
    },
  },
});
